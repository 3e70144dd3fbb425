/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_clock_test.c - from set time back to a trace's own, with and without drift: the first instant that is not
 * before.
 */
#include "registry/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static uint64_t seed = 3;

static int64_t random_between(int64_t low, int64_t high)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return low + (int64_t)((seed >> 11) % (uint64_t)(high - low + 1));
}

static void test_the_first_instant_that_is_not_before(void **state)
{
	const int64_t hour_ns = 3600000000000;
	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct ht_timeline timeline = { 0 };
		timeline.move =
		        (struct ht_time_move){ .shift_ns = random_between(-hour_ns, hour_ns),
			        .pivot_ns = random_between(-hour_ns, hour_ns),
			        .drift_ppt = i % 4 ? random_between(-1000000000, 1000000000) : 0 };
		int64_t set_ns = random_between(-hour_ns, hour_ns);
		int64_t own_ns = ht_timeline_own_ns(&timeline, set_ns);
		assert_true(ht_time_moved(&timeline.move, own_ns) >= set_ns);
		assert_true(ht_time_moved(&timeline.move, own_ns - 1) < set_ns);
	}
}

static void test_the_ends_of_time_stay(void **state)
{
	struct ht_timeline timeline = { .move = { .drift_ppt = 5000 } };
	(void)state;
	assert_int_equal(ht_timeline_own_ns(&timeline, INT64_MIN), INT64_MIN);
	assert_int_equal(ht_timeline_own_ns(&timeline, INT64_MAX), INT64_MAX);
	timeline.move.drift_ppt = -1000000000;
	assert_true(ht_timeline_own_ns(&timeline, INT64_MAX - 9) > HT_MAX_TIME_NS);
	assert_true(ht_timeline_own_ns(&timeline, INT64_MIN + 9) < -HT_MAX_TIME_NS);
	timeline.move = (struct ht_time_move){ .shift_ns = 7 };
	assert_int_equal(ht_timeline_own_ns(&timeline, INT64_MIN), INT64_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_instant_that_is_not_before),
		cmocka_unit_test(test_the_ends_of_time_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
