/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_loops_test.c - the loops for every CPU say what a plain loop says.
 */
#include "store/check_loops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N 300

static const struct ht_check_loops *const all_loops[] = {
	&ht_check_loops_any,
#if defined(__x86_64__)
	&ht_check_loops_avx2,
#endif
};

/* Loops that this CPU can run. */
static size_t n_loops(void)
{
	return ht_check_loops() == &ht_check_loops_any ? 1 : HT_COUNT(all_loops);
}

/* One bad value at each place, in arrays of many lengths. */
static void one_bad_value_is_seen(void **state)
{
	uint32_t u32[N];
	uint16_t u16[N];
	uint8_t u8[N];
	int64_t ts[N], dur[N];
	(void)state;
	for (size_t i = 0; i < n_loops(); i++) {
		const struct ht_check_loops *loops = all_loops[i];
		for (size_t n = 1; n < N; n = n < 4 ? n + 1 : n * 3 / 2)
			for (size_t bad = 0; bad <= n; bad++) { /* n: none */
				for (size_t k = 0; k < n; k++) {
					u32[k] = k == bad ? 500 : (uint32_t)k % 500;
					u16[k] = k == bad ? 500 : (uint16_t)(k % 500);
					u8[k] = k == bad ? 200 : (uint8_t)(k % 200);
					ts[k] = k == bad ? HT_MAX_TIME_NS : 1 - HT_MAX_TIME_NS;
					dur[k] = k == bad ? -1 : HT_MAX_DURATION_NS;
				}
				assert_int_equal(loops->all_below(u32, n, 500, false), bad == n);
				assert_int_equal(loops->all_below(u32, n, 500, true), bad == n);
				assert_int_equal(loops->all_u16_below(u16, n, 500), bad == n);
				assert_true(loops->all_u16_below(u16, n, 65536));
				assert_int_equal(loops->all_bytes_below(u8, n, 200), bad == n);
				assert_int_equal(loops->are_times(ts, n), bad == n);
				assert_int_equal(loops->are_durations(dur, n), bad == n);
				if (bad == n)
					continue;
				u32[bad] = HT_NONE;
				assert_false(loops->all_below(u32, n, 500, false));
				assert_true(loops->all_below(u32, n, 500, true));
			}
		assert_false(loops->all_below(u32, 1, 0, false));
	}
}

static void order_is_seen(void **state)
{
	uint32_t rows[N], parents[N];
	(void)state;
	for (size_t i = 0; i < n_loops(); i++) {
		const struct ht_check_loops *loops = all_loops[i];
		for (size_t bad = 0; bad <= N; bad++) {
			for (uint32_t k = 0; k < N; k++) {
				rows[k] = 2 * k + (k >= bad ? 0 : 3);
				parents[k] = k % 7 ? k - 1 : HT_NONE;
			}
			bool broken = bad > 0 && bad < N; /* a step back between two */
			assert_int_equal(loops->is_ascending(rows, N), !broken);
			for (uint32_t k = 0; k < N; k++)
				rows[k] = k;
			assert_true(loops->are_above(parents, rows, N));
			assert_true(loops->are_above_from(parents, 0, N));
			if (bad == N)
				continue;
			parents[bad] = (uint32_t)bad;
			assert_false(loops->are_above(parents, rows, N));
			assert_false(loops->are_above_from(parents, 0, N));
			assert_true(loops->are_above_from(parents, 0, bad));
			assert_true(loops->are_above_from(
			        parents + bad + 1, (uint32_t)bad + 1, N - bad - 1));
			assert_false(loops->are_above_from(parents + bad, (uint32_t)bad, N - bad));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_bad_value_is_seen),
		cmocka_unit_test(order_is_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
