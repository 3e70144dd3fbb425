/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_fit_test.c - the correction of one clock, against corrections that were put in.
 */
#include "base/mem.h"
#include "model/clocks/clock_fit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define MAX_POINTS 64

struct world {
	struct ht_mem *mem;
	struct ht_arena scratch;
	struct ht_clock_point lower[MAX_POINTS], upper[MAX_POINTS], ends[MAX_POINTS];
	struct ht_clock_points points;
};

static void begin(struct world *w)
{
	memset(w, 0, sizeof *w);
	w->mem = ht_mem_new();
	ht_arena_init(&w->scratch, w->mem);
	w->points =
	        (struct ht_clock_points){ .lower = w->lower, .upper = w->upper, .ends = w->ends };
}

static struct ht_time_move fit(struct world *w)
{
	struct ht_time_move move;
	assert_true(ht_clock_fit(&w->scratch, &w->points, 0, &move));
	ht_arena_done(&w->scratch);
	ht_mem_release(w->mem);
	return move;
}

/* A moment at which the correction lies between two numbers, and the ends say a third. */
static void add(struct world *w, int64_t at_ns, int64_t low, int64_t high, int64_t end)
{
	w->lower[w->points.n_lower++] = (struct ht_clock_point){ at_ns, low };
	w->upper[w->points.n_upper++] = (struct ht_clock_point){ at_ns, high };
	w->ends[w->points.n_ends++] = (struct ht_clock_point){ at_ns, end };
}

static void takes_the_median_of_ends(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	add(&w, 0, 0, 100, 40);
	add(&w, 10, 0, 100, 99);
	add(&w, 20, 0, 100, 42);
	struct ht_time_move move = fit(&w);
	assert_int_equal(move.shift_ns, 42);
	assert_int_equal(move.drift_ppt, 0);
}

static void keeps_within_the_bounds(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	add(&w, 0, 50, 100, 40);
	add(&w, 10, 0, 60, 40);
	assert_int_equal(fit(&w).shift_ns, 50);
}

static void takes_the_middle_without_ends(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	add(&w, 0, 50, 100, 0);
	w.points.n_ends = 0;
	assert_int_equal(fit(&w).shift_ns, 75);
	begin(&w);
	add(&w, 0, 50, 100, 0);
	w.points.n_ends = w.points.n_upper = 0;
	assert_int_equal(fit(&w).shift_ns, 50);
}

/* 50 ppm over 100 s are 5 ms; bounds leave 20 us. A third of the ends lie. */
static void finds_a_drift(void **state)
{
	(void)state;
	for (int64_t ppm = -900; ppm <= 900; ppm += 150) {
		struct world w;
		begin(&w);
		for (int64_t i = 0; i < 30; i++) {
			int64_t at = i * 3000000000, off = 7000000 + at / 1000000 * ppm;
			add(&w, at, off - 10000, off + 10000, i % 3 ? off : off + 9000);
		}
		struct ht_clock_points points = w.points;
		struct ht_time_move move = fit(&w);
		assert_int_equal(ht_clock_broken(&move, &points, 1), 0);
		if (ppm)
			assert_in_range(move.drift_ppt - ppm * 1000000 + 200000, 0, 400000);
	}
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Bounds in any order and at any distance, some of them touching the line that was put in: all are kept. */
static void keeps_bounds_that_touch(void **state)
{
	(void)state;
	uint64_t random = 1;
	for (int round = 0; round < 200; round++) {
		struct world w;
		begin(&w);
		struct ht_time_move put = { .shift_ns = (int64_t)next_random(&random) - (1 << 30),
			.drift_ppt = (int64_t)(next_random(&random) % 1600000000) - 800000000 };
		for (int i = 0; i < MAX_POINTS; i++) {
			int64_t at = (int64_t)(next_random(&random) % 1000000) * 100000;
			int64_t line = ht_time_moved(&put, at) - at;
			int64_t slack = (int64_t)(next_random(&random) % (i % 8 ? 2000000 : 3));
			add(&w, at, line - slack, line + (int64_t)(next_random(&random) % 2000000),
			        line);
		}
		struct ht_clock_points points = w.points;
		struct ht_time_move move = fit(&w);
		assert_int_equal(ht_clock_broken(&move, &points, 1), 0);
	}
}

static void divides_as_128_bits_do(void **state)
{
	(void)state;
	uint64_t random = 7;
	for (int i = 0; i < 100000; i++) {
		int64_t dt =
		        (int64_t)(next_random(&random) << 31 | next_random(&random)) >> (i % 62);
		int64_t drift = (int64_t)(next_random(&random) << (i % 4)) - (1 << 30);
		dt = i % 2 ? -dt : dt;
		__int128 wanted = (__int128)dt * drift / 1000000000000;
		assert_true(ht_time_drift(drift, dt) == wanted);
	}
	__int128 longest = INT64_MIN, drift = -1000000000;
	assert_true(ht_time_drift((int64_t)drift, longest) == longest * drift / 1000000000000);
}

static void leaves_the_impossible_constant(void **state)
{
	(void)state;
	struct world w;
	begin(&w);
	add(&w, 0, 0, 10, 5);
	add(&w, 1000, 5000, 5010, 5005);
	add(&w, 2000, 0, 10, 5);
	struct ht_clock_points points = w.points;
	struct ht_time_move move = fit(&w);
	assert_int_equal(move.drift_ppt, 0);
	assert_int_equal(move.shift_ns, 5);
	assert_int_equal(ht_clock_broken(&move, &points, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_the_median_of_ends),
		cmocka_unit_test(keeps_within_the_bounds),
		cmocka_unit_test(takes_the_middle_without_ends),
		cmocka_unit_test(finds_a_drift),
		cmocka_unit_test(keeps_bounds_that_touch),
		cmocka_unit_test(divides_as_128_bits_do),
		cmocka_unit_test(leaves_the_impossible_constant),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
