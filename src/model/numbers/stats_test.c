/*
 * stats_test.c - descriptions with known answers; quartiles are pandas' linear ones.
 */
#include "model/numbers/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(describes_a_few),
		cmocka_unit_test(describes_doubles_alike),
		cmocka_unit_test(keeps_digits_of_large_values),
		cmocka_unit_test(one_sample_has_no_deviation),
		cmocka_unit_test(no_sample_has_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
