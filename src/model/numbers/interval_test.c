/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval_test.c - unions and overlaps against a brute-force count of unit cells.
 */
#include "base/mem.h"
#include "model/numbers/interval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define N_CELLS 40

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 16;
}

static size_t random_intervals(uint32_t *state, struct ht_interval *list, bool *cells)
{
	size_t n = next_random(state) % 7;
	memset(cells, 0, N_CELLS);
	for (size_t i = 0; i < n; i++) {
		int64_t start = next_random(state) % N_CELLS, end = next_random(state) % N_CELLS;
		list[i] = start < end ? (struct ht_interval){ start, end }
		                      : (struct ht_interval){ end, start };
		for (int64_t c = list[i].start; c < list[i].end; c++)
			cells[c] = true;
	}
	return n;
}

static void measures_within_a_window(void **state)
{
	struct ht_mem *mem = *state;
	uint32_t random = 7;
	for (int round = 0; round < 500; round++) {
		struct ht_interval list[8];
		bool cells[N_CELLS];
		size_t n = ht_interval_merge(mem, list, random_intervals(&random, list, cells));
		int64_t from = next_random(&random) % N_CELLS, to = next_random(&random) % N_CELLS;
		int64_t expected = 0;
		for (int64_t c = from; c < to; c++)
			expected += cells[c];
		assert_int_equal(ht_interval_within(list, n, from, to), expected);
		int64_t sums[8];
		size_t n_near;
		ht_interval_sums(list, n, sums);
		assert_int_equal(ht_interval_between(list, sums, n, from, to), expected);
		const struct ht_interval *near = ht_interval_slice(list, n, from, to, &n_near);
		assert_int_equal(ht_interval_within(near, n_near, from, to), expected);
		assert_true(from >= to || n_near == 0 ||
		            (near[0].end > from && near[n_near - 1].start < to));
	}
}

static void merges_what_overlaps_or_touches(void **state)
{
	struct ht_mem *mem = *state;
	struct ht_interval list[] = { { 9, 10 }, { 0, 4 }, { 2, 5 }, { 5, 6 }, { 1, 2 } };
	assert_int_equal(ht_interval_merge(mem, list, 5), 2);
	assert_int_equal(list[0].start, 0);
	assert_int_equal(list[0].end, 6);
	assert_int_equal(list[1].start, 9);
	assert_int_equal(ht_interval_length(list, 2), 7);
	assert_int_equal(ht_interval_merge(mem, list, 0), 0);
	assert_int_equal(ht_interval_length(list, 0), 0);
}

static void keeps_long_intervals_over_short_ones(void **state)
{
	struct ht_mem *mem = *state;
	struct ht_interval list[] = { { 0, 10 }, { 1, 2 }, { 3, 4 }, { 11, 12 } };
	assert_int_equal(ht_interval_merge(mem, list, 4), 2);
	assert_int_equal(list[0].end, 10);
}

static void agrees_with_counting_cells(void **state)
{
	struct ht_mem *mem = *state;
	uint32_t seed = 7;
	for (int round = 0; round < 2000; round++) {
		struct ht_interval lists[3][7];
		const struct ht_interval *pointers[3] = { lists[0], lists[1], lists[2] };
		bool cells[3][N_CELLS];
		size_t n[3];
		int64_t expected[8] = { 0 }, length[8], both = 0;
		for (size_t k = 0; k < 3; k++) {
			n[k] = random_intervals(&seed, lists[k], cells[k]);
			n[k] = ht_interval_merge(mem, lists[k], n[k]);
		}
		for (size_t c = 0; c < N_CELLS; c++) {
			size_t mask =
			        cells[0][c] | (size_t)cells[1][c] << 1 | (size_t)cells[2][c] << 2;
			expected[mask] += mask != 0;
			both += cells[0][c] && cells[1][c];
		}
		ht_interval_combinations(pointers, n, 3, length);
		for (size_t mask = 0; mask < 8; mask++)
			assert_int_equal(length[mask], expected[mask]);
		assert_int_equal(ht_interval_overlap(lists[0], n[0], lists[1], n[1]), both);
		struct ht_interval rest[14];
		size_t n_rest = ht_interval_subtract(lists[0], n[0], lists[1], n[1], rest);
		assert_int_equal(ht_interval_length(rest, n_rest),
		        ht_interval_length(lists[0], n[0]) - both);
		assert_int_equal(ht_interval_overlap(rest, n_rest, lists[1], n[1]), 0);
		assert_int_equal(ht_interval_overlap(rest, n_rest, lists[0], n[0]),
		        ht_interval_length(rest, n_rest));
	}
}

static void combines_up_to_eight_lists(void **state)
{
	(void)state;
	static const struct ht_interval one[] = { { 0, 3 } }, two[] = { { 1, 4 } };
	const struct ht_interval *lists[8] = { one, one, one, one, one, one, one, two };
	const size_t n[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	int64_t length[256];
	ht_interval_combinations(lists, n, 8, length);
	assert_int_equal(length[0x7f], 1);
	assert_int_equal(length[0xff], 2);
	assert_int_equal(length[0x80], 1);
	assert_int_equal(length[0], 0);
}

static void tells_steps_in_turn_from_heaps(void **state)
{
	(void)state;
	struct ht_depth in_turn = { 0 }, behind = { 0 }, heap = { 0 };
	for (int64_t i = 0; i < 20; i++) {
		ht_depth_add(&in_turn, -100 + 10 * i, -90 + 10 * i);
		ht_depth_add(&behind, 10 * i, 10 * i + 70);
		ht_depth_add(&heap, i, 1000);
	}
	assert_true(in_turn.sum == 200 && in_turn.covered == 200);
	assert_true(behind.sum == 1400 && behind.covered == 260);
	assert_true(ht_depth_is_steps(&in_turn));
	assert_true(ht_depth_is_steps(&behind));
	assert_false(ht_depth_is_steps(&heap));
}

static int setup(void **state)
{
	*state = ht_mem_new();
	return *state ? 0 : 1;
}

static int teardown(void **state)
{
	ht_mem_release(*state);
	return 0;
}

/* Whole files lie about times, and a sum of lengths is as long as can be said. */
static void lengths_cannot_wrap(void **state)
{
	const struct ht_interval merged[] = { { INT64_MIN, -2 }, { -1, 1 }, { 2, INT64_MAX } };
	const struct ht_interval all[] = { { INT64_MIN, INT64_MAX } };
	(void)state;
	assert_int_equal(ht_interval_length(merged, 3), INT64_MAX);
	assert_int_equal(ht_interval_length(all, 1), INT64_MAX);
	assert_int_equal(ht_interval_length(merged + 1, 1), 2);
	assert_int_equal(ht_interval_overlap(merged, 3, all, 1), INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measures_within_a_window),
		cmocka_unit_test(merges_what_overlaps_or_touches),
		cmocka_unit_test(keeps_long_intervals_over_short_ones),
		cmocka_unit_test(agrees_with_counting_cells),
		cmocka_unit_test(combines_up_to_eight_lists),
		cmocka_unit_test(tells_steps_in_turn_from_heaps),
		cmocka_unit_test(lengths_cannot_wrap),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
