/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checked_test.c - sums and differences at the ends of 64 bits.
 */
#include "base/checked.h"
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void stops_at_the_ends(void **state)
{
	(void)state;
	static const struct {
		int64_t a, b, sum, difference;
	} cases[] = { { 2, 3, 5, -1 }, { INT64_MAX, 1, INT64_MAX, INT64_MAX - 1 },
		{ INT64_MAX, -1, INT64_MAX - 1, INT64_MAX },
		{ INT64_MIN, -1, INT64_MIN, INT64_MIN + 1 },
		{ INT64_MIN, 1, INT64_MIN + 1, INT64_MIN }, { 0, INT64_MIN, INT64_MIN, INT64_MAX },
		{ -1, INT64_MIN, INT64_MIN, INT64_MAX }, { INT64_MAX, INT64_MIN, -1, INT64_MAX } };
	for (size_t i = 0; i < HT_COUNT(cases); i++) {
		int64_t sum = cases[i].a;
		ht_sum(&sum, cases[i].b);
		assert_true(sum == cases[i].sum);
		assert_true(ht_sub_sat(cases[i].a, cases[i].b) == cases[i].difference);
	}
}

static void doubles_stop_too(void **state)
{
	(void)state;
	static const struct {
		double value;
		int64_t cut, rounded;
	} cases[] = { { 1.5, 1, 2 }, { -1.5, -1, -2 }, { 0.49, 0, 0 },
		{ 9.3e18, INT64_MAX, INT64_MAX }, { -9.3e18, INT64_MIN, INT64_MIN },
		{ INFINITY, INT64_MAX, INT64_MAX }, { -INFINITY, INT64_MIN, INT64_MIN },
		{ NAN, 0, 0 } };
	for (size_t i = 0; i < HT_COUNT(cases); i++) {
		assert_true(ht_cut_sat(cases[i].value) == cases[i].cut);
		assert_true(ht_round_sat(cases[i].value) == cases[i].rounded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(stops_at_the_ends),
		cmocka_unit_test(doubles_stop_too) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
