/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats_test.c - descriptions with known answers; quartiles are pandas' linear ones.
 */
#include "model/numbers/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void assert_close(double value, double expected)
{
	if (fabs(value - expected) > 1e-12 * (1 + fabs(expected)))
		fail_msg("%.17g is not %.17g", value, expected);
}

static void describes_a_few(void **state)
{
	(void)state;
	int64_t values[] = { 12, 2, 4 };
	struct ht_describe d;
	ht_describe_i64(values, 3, &d);
	assert_int_equal(d.count, 3);
	assert_close(d.mean, 6);
	assert_close(d.std, sqrt(28));
	assert_close(d.min, 2);
	assert_close(d.p25, 3);
	assert_close(d.p50, 4);
	assert_close(d.p75, 8);
	assert_close(d.max, 12);
}

static void describes_doubles_alike(void **state)
{
	(void)state;
	double values[] = { 0.5, 2.25, -1, 10 };
	struct ht_describe d;
	ht_describe_f64(values, 4, &d);
	assert_close(d.mean, 2.9375);
	assert_close(d.std, 4.8920641519369576);
	assert_close(d.p25, 0.125);
	assert_close(d.p50, 1.375);
	assert_close(d.p75, 4.1875);
}

static void keeps_digits_of_large_values(void **state)
{
	(void)state;
	int64_t values[] = { 4000000000000001, 4000000000000002, 4000000000000003 };
	struct ht_describe d;
	ht_describe_i64(values, 3, &d);
	assert_close(d.std, 1);
	assert_close(d.p50, 4000000000000002.0);
}

static void one_sample_has_no_deviation(void **state)
{
	(void)state;
	int64_t value = 5;
	struct ht_describe d;
	ht_describe_i64(&value, 1, &d);
	assert_int_equal(d.count, 1);
	assert_true(isnan(d.std));
	assert_close(d.p25, 5);
	assert_close(d.max, 5);
}

static void no_sample_has_nothing(void **state)
{
	(void)state;
	struct ht_describe d;
	ht_describe_f64(NULL, 0, &d);
	assert_int_equal(d.count, 0);
	assert_true(isnan(d.mean) && isnan(d.std) && isnan(d.min) && isnan(d.p50) && isnan(d.max));
}

enum { N_MOST = 3000, N_KINDS_OF_ORDER = 7 };

/* Values in one of several orders, some of them with many that are equal. */
static void fill(int64_t *values, size_t n, int kind)
{
	static uint64_t seed = 7;
	for (size_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		int64_t random = (int64_t)(seed >> 40) - (1 << 23);
		values[i] = kind == 0   ? random
		            : kind == 1 ? (int64_t)i
		            : kind == 2 ? -(int64_t)i
		            : kind == 3 ? 5
		            : kind == 4 ? random % 3
		            : kind == 5 ? (int64_t)(i % 2 ? i : n - i)
		                        : (int64_t)(i < n / 2 ? i : n - i);
	}
}

/* Every value as often as before, ascending: whatever the order, and however many are equal. */
static void sorts(void **state)
{
	(void)state;
	static int64_t values[N_MOST];
	for (int kind = 0; kind < N_KINDS_OF_ORDER; kind++)
		for (size_t n = 0; n <= N_MOST; n += n < 100 ? 1 : 967) {
			int64_t sum = 0, squares = 0;
			fill(values, n, kind);
			for (size_t i = 0; i < n; i++) {
				sum += values[i];
				squares += values[i] * values[i];
			}
			ht_sort_i64(values, n);
			for (size_t i = 0; i < n; i++) {
				assert_true(!i || values[i - 1] <= values[i]);
				sum -= values[i];
				squares -= values[i] * values[i];
			}
			assert_int_equal(sum, 0);
			assert_int_equal(squares, 0);
		}
	int64_t ends[] = { INT64_MAX, INT64_MIN, 0, INT64_MIN, INT64_MAX };
	assert_int_equal(ht_median_i64(ends, 5), 0);
}

static double quantile_of(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t low = (size_t)at, high = low + 1 < n ? low + 1 : low;
	return sorted[low] + (sorted[high] - sorted[low]) * (at - (double)low);
}

/* What sorted values say. */
static void finds_places_without_sorting(void **state)
{
	(void)state;
	static int64_t values[N_MOST], sorted[N_MOST];
	static double doubles[N_MOST];
	for (int kind = 0; kind < N_KINDS_OF_ORDER; kind++)
		for (size_t n = 1; n <= N_MOST; n += n < 100 ? 1 : 967) {
			struct ht_describe d;
			fill(values, n, kind);
			memcpy(sorted, values, n * sizeof *values);
			ht_sort_i64(sorted, n);
			for (size_t i = 0; i < n; i++)
				doubles[i] = (double)sorted[i];
			ht_describe_i64(values, n, &d);
			assert_true(d.min == doubles[0] && d.max == doubles[n - 1]);
			assert_close(d.p25, quantile_of(doubles, n, 0.25));
			assert_close(d.p50, quantile_of(doubles, n, 0.5));
			assert_close(d.p75, quantile_of(doubles, n, 0.75));
			fill(values, n, kind);
			memcpy(sorted, values, n * sizeof *values);
			ht_sort_i64(sorted, n);
			assert_int_equal(ht_median_i64(values, n), sorted[(n - 1) / 2]);
		}
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

/* Against sorting: negative, equal and extreme values, even and odd numbers of them. */
static void finds_the_middle_of_doubles(void **state)
{
	(void)state;
	uint64_t seed = 1;
	for (size_t n = 1; n < 300; n++) {
		double *values = malloc(n * sizeof *values), *room = malloc(n * sizeof *room);
		assert_non_null(values);
		assert_non_null(room);
		for (size_t i = 0; i < n; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			values[i] = seed >> 60 == 0   ? 0
			            : seed >> 60 == 1 ? -1e300
			            : seed >> 60 == 2 ? 1e300
			                              : ((double)(seed >> 40) - 8388608) / 1024;
		}
		double got = ht_middle_f64(values, n, room);
		qsort(values, n, sizeof *values, compare);
		assert_close(got, n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2);
		free(values);
		free(room);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(describes_a_few),
		cmocka_unit_test(describes_doubles_alike),
		cmocka_unit_test(keeps_digits_of_large_values),
		cmocka_unit_test(one_sample_has_no_deviation),
		cmocka_unit_test(no_sample_has_nothing),
		cmocka_unit_test(sorts),
		cmocka_unit_test(finds_places_without_sorting),
		cmocka_unit_test(finds_the_middle_of_doubles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
