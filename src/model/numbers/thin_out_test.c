/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thin_out_test.c - fewer points: ends and peaks stay, no point is made up.
 */
#include "model/numbers/thin_out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void few_points_stay(void **state)
{
	const struct ht_point points[] = { { 0, 5 }, { 1, 7 }, { 2, 6 } };
	size_t kept[3];
	(void)state;
	assert_int_equal(ht_thin_out(points, 3, 3, kept), 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(kept[i], i);
}

/* Between (0,0) and (9,0) the only point that is off the line makes the only triangle. */
static void the_peak_stays(void **state)
{
	(void)state;
	for (size_t peak = 1; peak < 9; peak++) {
		struct ht_point points[10];
		size_t kept[3];
		for (size_t i = 0; i < 10; i++)
			points[i] = (struct ht_point){ (int64_t)i, i == peak ? -100 : 0 };
		assert_int_equal(ht_thin_out(points, 10, 3, kept), 3);
		assert_int_equal(kept[0], 0);
		assert_int_equal(kept[1], peak);
		assert_int_equal(kept[2], 9);
	}
}

static void many_points_ascend(void **state)
{
	enum { N = 1000, KEPT = 17 };
	struct ht_point points[N];
	size_t kept[KEPT];
	(void)state;
	for (size_t i = 0; i < N; i++)
		points[i] = (struct ht_point){ (int64_t)(i * i), (int64_t)(i * 7919 % 257) };
	assert_int_equal(ht_thin_out(points, N, KEPT, kept), KEPT);
	for (size_t i = 1; i < KEPT; i++)
		assert_true(kept[i] > kept[i - 1]);
	assert_int_equal(kept[KEPT - 1], N - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_points_stay),
		cmocka_unit_test(the_peak_stays),
		cmocka_unit_test(many_points_ascend),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
