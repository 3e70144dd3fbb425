/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.c - see stats.h.
 *
 * Sums and sums of squares of integers are exact; those of doubles lose digits, so their deviation is taken
 * around the mean in a second pass. Quantile q sits at position q * (n - 1) of the sorted samples, linear in between.
 */
#include "model/numbers/stats.h"

#include "base/checked.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So many are sorted by inserting. */
#define SMALL 24

static void insert(int64_t *values, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		int64_t value = values[i];
		size_t k = i;
		for (; k && values[k - 1] > value; k--)
			values[k] = values[k - 1];
		values[k] = value;
	}
}

static int64_t middle_of(int64_t a, int64_t b, int64_t c)
{
	int64_t low = a < b ? a : b, high = a < b ? b : a;
	return c < low ? low : c > high ? high : c;
}

/* How many of the values stand left of the border: those below the pivot, and some that equal it. Neither side is
 * empty. */
static size_t split(int64_t *values, size_t n)
{
	int64_t pivot = middle_of(values[0], values[n / 2], values[n - 1]);
	size_t i = 0, k = n - 1;
	for (;; i++, k--) {
		while (values[i] < pivot)
			i++;
		while (values[k] > pivot)
			k--;
		if (i >= k)
			return k + 1 < n ? k + 1 : k;
		int64_t value = values[i];
		values[i] = values[k];
		values[k] = value;
	}
}

/* Quicksort, which needs no call per comparison; where it splits badly too often, the library's. */
void ht_sort_i64(int64_t *values, size_t n)
{
	for (int left = 64; n > SMALL; left--) {
		if (!left) {
			qsort(values, n, sizeof *values, ht_compare_i64);
			return;
		}
		size_t border = split(values, n), rest = n - border;
		if (border < rest) {
			ht_sort_i64(values, border);
			values += border;
			n = rest;
		} else {
			ht_sort_i64(values + border, rest);
			n = border;
		}
	}
	insert(values, n);
}

/* The k-th smallest value, at place k afterwards: none before it is larger, none behind it smaller. */
static int64_t select_i64(int64_t *values, size_t n, size_t k)
{
	for (int left = 64; n > SMALL && left; left--) {
		size_t border = split(values, n);
		bool is_before = k < border;
		values += is_before ? 0 : border;
		k -= is_before ? 0 : border;
		n = is_before ? border : n - border;
	}
	ht_sort_i64(values, n);
	return values[k];
}

int64_t ht_median_i64(int64_t *values, size_t n)
{
	return select_i64(values, n, (n - 1) / 2);
}

int64_t ht_middle_i64(int64_t *values, size_t n)
{
	int64_t low = ht_median_i64(values, n), high = INT64_MAX;
	/* what stands behind the place of the median is not less than it */
	for (size_t i = n / 2; i < n; i++)
		high = values[i] < high ? values[i] : high;
	return n % 2 ? low : low + ht_sub_sat(high, low) / 2;
}

/* Numbers that are in the order of doubles, and back: negative ones turn round. */
static int64_t turned(int64_t bits)
{
	return bits < 0 ? bits ^ INT64_MAX : bits;
}

static double from_key(int64_t key)
{
	double value;
	key = turned(key);
	memcpy(&value, &key, sizeof value);
	return value;
}

double ht_middle_f64(const double *values, size_t n, void *room)
{
	int64_t *keys = room, high = INT64_MAX;
	for (size_t i = 0; i < n; i++) {
		int64_t bits;
		memcpy(&bits, &values[i], sizeof bits);
		keys[i] = turned(bits);
	}
	int64_t low = ht_median_i64(keys, n);
	/* what stands behind the place of the median is not less than it */
	for (size_t i = n / 2; i < n; i++)
		high = keys[i] < high ? keys[i] : high;
	return n % 2 ? from_key(low) : (from_key(low) + from_key(high)) / 2;
}

size_t ht_sorted_find(const int64_t *sorted, size_t n, int64_t value)
{
	const int64_t *at = bsearch(&value, sorted, n, sizeof value, ht_compare_i64);
	return at ? (size_t)(at - sorted) : n;
}

/* The quantile between two neighbours, as pandas rounds it: from the nearer end. */
static double between(double low, double high, double part)
{
	double gap = high - low;
	return part >= 0.5 ? high - gap * (1 - part) : low + gap * part;
}

static void position(double q, size_t n, size_t *ret_low, size_t *ret_high, double *ret_part)
{
	double at = q * (double)(n - 1);
	*ret_low = (size_t)at;
	*ret_high = *ret_low + 1 < n ? *ret_low + 1 : *ret_low;
	*ret_part = at - (double)*ret_low;
}

/* None of the first values is larger than one behind them; of those up to the quantile none is, afterwards. */
static double quantile_i64(int64_t *values, size_t n, double q, size_t *first)
{
	size_t low, high, from = *first;
	double part;
	position(q, n, &low, &high, &part);
	int64_t below = select_i64(values + from, n - from, low - from);
	*first = low;
	return between((double)below, (double)select_i64(values + low, n - low, high - low), part);
}

static double quantile_f64(const double *sorted, size_t n, double q)
{
	size_t low, high;
	double part;
	position(q, n, &low, &high, &part);
	return between(sorted[low], sorted[high], part);
}

double ht_exact_std(uint64_t n, __int128 sum, unsigned __int128 squares)
{
	if (n < 2)
		return NAN;
	/* distances = squares - sum^2 / n, in integers: whole part and rest of the division apart */
	unsigned __int128 size = sum < 0 ? -(unsigned __int128)sum : (unsigned __int128)sum;
	unsigned __int128 whole = size / n, rest = size % n;
	/* sum^2 / n = (whole n + rest)^2 / n = whole^2 n + 2 whole rest + rest^2 / n */
	unsigned __int128 taken = whole * whole * n + 2 * whole * rest;
	double distances = (double)(squares - taken) - (double)rest * (double)rest / (double)n;
	return sqrt((distances > 0 ? distances : 0) / (double)(n - 1));
}

static void describe_nothing(struct ht_describe *ret_describe)
{
	*ret_describe = (struct ht_describe){
		.mean = NAN, .std = NAN, .min = NAN, .p25 = NAN, .p50 = NAN, .p75 = NAN, .max = NAN
	};
}

void ht_describe_i64(int64_t *values, size_t n, struct ht_describe *ret_describe)
{
	describe_nothing(ret_describe);
	if (!n)
		return;
	__int128 sum = 0;
	unsigned __int128 squares = 0;
	int64_t min = values[0], max = values[0];
	for (size_t i = 0; i < n; i++) {
		sum += values[i];
		squares += ht_square(values[i]);
		min = values[i] < min ? values[i] : min;
		max = values[i] > max ? values[i] : max;
	}
	size_t first = 0;
	double p25 = quantile_i64(values, n, 0.25, &first);
	double p50 = quantile_i64(values, n, 0.5, &first);
	*ret_describe = (struct ht_describe){
		.count = n,
		.mean = (double)sum / (double)n,
		.std = ht_exact_std(n, sum, squares),
		.min = (double)min,
		.p25 = p25,
		.p50 = p50,
		.p75 = quantile_i64(values, n, 0.75, &first),
		.max = (double)max,
	};
}

void ht_describe_f64(double *values, size_t n, struct ht_describe *ret_describe)
{
	describe_nothing(ret_describe);
	if (!n)
		return;
	qsort(values, n, sizeof *values, ht_compare_f64);
	double sum = 0, squares = 0;
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	double mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	*ret_describe = (struct ht_describe){
		.count = n,
		.mean = mean,
		.std = n > 1 ? sqrt(squares / (double)(n - 1)) : NAN,
		.min = values[0],
		.p25 = quantile_f64(values, n, 0.25),
		.p50 = quantile_f64(values, n, 0.5),
		.p75 = quantile_f64(values, n, 0.75),
		.max = values[n - 1],
	};
}

static void put_end(ht_table *table, size_t column, double value, bool whole)
{
	if (whole)
		ht_table_put_i64(table, column, ht_cut_sat(value));
	else
		ht_table_put_f64(table, column, value);
}

void ht_describe_put(ht_table *table, size_t column, const struct ht_describe *describe, bool whole)
{
	ht_table_put_i64(table, column + HT_DESCRIBED_COUNT, (int64_t)describe->count);
	ht_table_put_f64(table, column + HT_DESCRIBED_MEAN, describe->mean);
	ht_table_put_f64(table, column + HT_DESCRIBED_STD, describe->std);
	put_end(table, column + HT_DESCRIBED_MIN, describe->min, whole);
	ht_table_put_f64(table, column + HT_DESCRIBED_P25, describe->p25);
	ht_table_put_f64(table, column + HT_DESCRIBED_P50, describe->p50);
	ht_table_put_f64(table, column + HT_DESCRIBED_P75, describe->p75);
	put_end(table, column + HT_DESCRIBED_MAX, describe->max, whole);
}
