/*
 * stats.c - see stats.h.
 *
 * The deviation is taken around the mean in a second pass: sums of squares of nanoseconds lose all
 * their digits. Quantile q sits at position q * (n - 1) of the sorted samples, linear in between.
 */
#include "model/stats.h"

#include <math.h>
#include <stdlib.h>

static int compare_i64(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

static int compare_f64(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
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

static double quantile_i64(const int64_t *sorted, size_t n, double q)
{
	size_t low, high;
	double part;
	position(q, n, &low, &high, &part);
	return between((double)sorted[low], (double)sorted[high], part);
}

static double quantile_f64(const double *sorted, size_t n, double q)
{
	size_t low, high;
	double part;
	position(q, n, &low, &high, &part);
	return between(sorted[low], sorted[high], part);
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
	qsort(values, n, sizeof *values, compare_i64);
	double sum = 0, squares = 0;
	for (size_t i = 0; i < n; i++)
		sum += (double)values[i];
	double mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += ((double)values[i] - mean) * ((double)values[i] - mean);
	*ret_describe = (struct ht_describe){
		.count = n,
		.mean = mean,
		.std = n > 1 ? sqrt(squares / (double)(n - 1)) : NAN,
		.min = (double)values[0],
		.p25 = quantile_i64(values, n, 0.25),
		.p50 = quantile_i64(values, n, 0.5),
		.p75 = quantile_i64(values, n, 0.75),
		.max = (double)values[n - 1],
	};
}

void ht_describe_f64(double *values, size_t n, struct ht_describe *ret_describe)
{
	describe_nothing(ret_describe);
	if (!n)
		return;
	qsort(values, n, sizeof *values, compare_f64);
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
