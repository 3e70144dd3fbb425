/* SPDX-License-Identifier: Apache-2.0 */
/*
 * votes_test.c - when the shortest of some durations is beyond chance.
 */
#include "model/stragglers/votes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define IS_ODD(...)                                                                                \
	ht_shortest_is_odd(                                                                        \
	        (int64_t[]){ __VA_ARGS__ }, sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

/* 4 ranks: (x2 - x1) / (x4 - x1) against 0.920. */
static void four_ranks(void **state)
{
	(void)state;
	assert_true(IS_ODD(1000, 80, 1010, 1020));  /* 920 / 940 = 0.979 */
	assert_false(IS_ODD(1000, 80, 1050, 1090)); /* 920 / 1010 = 0.911 */
	assert_true(IS_ODD(1000, 80, 1050, 1079));  /* 920 / 999 = 0.921 */
	assert_false(IS_ODD(80, 1000, 1000, 1020)); /* three different ones say nothing */
	assert_false(IS_ODD(1000, 1000, 1000, 1000));
}

/* Three ranks have three durations at most. */
static void three_ranks_say_nothing(void **state)
{
	(void)state;
	assert_false(IS_ODD(1, 1000, 1001));
}

/* 8 ranks: (x2 - x1) / (x7 - x1) against 0.723; the longest does not count. */
static void eight_ranks(void **state)
{
	(void)state;
	assert_true(IS_ODD(0, 73, 80, 85, 90, 95, 100, 5000));
	assert_false(IS_ODD(0, 72, 80, 85, 90, 95, 100, 5000));
}

/* 16 ranks: (x3 - x1) / (x14 - x1) against 0.629; two late ones do not hide each other. */
static void sixteen_ranks(void **state)
{
	(void)state;
	assert_true(IS_ODD(0, 1, 63, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 100, 900, 901));
	assert_false(IS_ODD(0, 1, 62, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 100, 900, 901));
}

/* Of 101 ranks: three standard deviations. All but one at 1000 or 1001 or 999: sigma is about 99 for one at 0. */
static void many_ranks(void **state)
{
	int64_t durations[101];
	(void)state;
	for (size_t i = 0; i < 101; i++)
		durations[i] = 999 + (int64_t)(i % 3);
	durations[50] = 0;
	assert_true(ht_shortest_is_odd(durations, 101));
	for (size_t i = 0; i < 101; i++)
		durations[i] = (int64_t)i;
	assert_false(ht_shortest_is_odd(durations, 101));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_ranks),
		cmocka_unit_test(three_ranks_say_nothing),
		cmocka_unit_test(eight_ranks),
		cmocka_unit_test(sixteen_ranks),
		cmocka_unit_test(many_ranks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
