/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_order_test.c - rows in the order of time against a plain sort by the definition.
 */
#include "store/row_order.h"
#include "store/columns.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

enum { N = 4000 };
static int64_t ts[N], dur[N];

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static int by_definition(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	if (ts[a] != ts[b])
		return ts[a] < ts[b] ? -1 : 1;
	if (dur[a] != dur[b])
		return dur[a] > dur[b] ? -1 : 1;
	return a < b ? -1 : 1;
}

/* Every step-th row, as a track has some of them. */
static void compare(size_t n, uint32_t step)
{
	ht_ctx *ctx;
	struct ht_trace t = { .ts_ns = ts, .dur_ns = dur, .n_ts_ns = n };
	uint32_t rows[N] = { 0 }, expected[N] = { 0 };
	size_t n_rows = 0;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	for (uint32_t row = 0; row < n; row += step)
		rows[n_rows] = expected[n_rows] = row, n_rows++;
	qsort(expected, n_rows, sizeof *expected, by_definition);
	assert_true(ht_rows_order(ctx->mem, &t, rows, n_rows));
	for (size_t i = 0; i < n_rows; i++)
		assert_int_equal(rows[i], expected[i]);
	ht_ctx_free(ctx);
}

/* Ranges, then calls: two long runs that overlap. */
static void runs_are_merged(void **state)
{
	(void)state;
	for (size_t i = 0; i < N; i++) {
		ts[i] = (int64_t)(i < N / 3 ? i * 7 : (i - N / 3) * 3);
		dur[i] = (int64_t)(i % 5);
	}
	compare(N, 1);
	compare(N, 3);
	compare(1, 1);
	compare(0, 1);
}

/* Runs that get shorter and shorter down to a sort of single rows, with many that start together. */
static void any_order_is_sorted(void **state)
{
	uint64_t seed = 1;
	(void)state;
	for (size_t run = 1000; run; run /= 3)
		for (int64_t spread = 1; spread <= 1000000; spread *= 100) {
			int64_t now = 0;
			for (size_t i = 0; i < N; i++) {
				if (i % run == 0)
					now = (int64_t)next_random(&seed) % spread - spread / 2;
				ts[i] = now += (int64_t)next_random(&seed) % 3;
				dur[i] = (int64_t)next_random(&seed) % 3;
			}
			compare(N, 1);
		}
}

static void descending_rows_are_turned(void **state)
{
	(void)state;
	for (size_t i = 0; i < N; i++) {
		ts[i] = -(int64_t)(i / 4);
		dur[i] = (int64_t)(i % 4);
	}
	compare(N, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_merged),
		cmocka_unit_test(any_order_is_sorted),
		cmocka_unit_test(descending_rows_are_turned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
