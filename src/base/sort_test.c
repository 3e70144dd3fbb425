/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort_test.c - any order of keys comes out sorted, equal keys in the order they had.
 */
#include "base/mem.h"
#include "base/sort.h"
#include "base/thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { N = 5000 };

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Keys in ascending runs of a length, each run starting a jump below the end of the one before. */
static void fill_runs(uint64_t *keys, size_t n, size_t run, uint64_t jump)
{
	uint64_t at = 1000000, random = 1;
	for (size_t i = 0; i < n; i++) {
		if (i % run == 0)
			at -= jump < at ? jump : at;
		at += next_random(&random) % 4; /* some equal ones */
		keys[i] = at;
	}
}

/* n_jobs 0: by this thread, else by so many, in shares of share keys. */
static void check_sorted_by(const uint64_t *before, size_t n, int n_jobs, uint32_t share)
{
	static uint64_t keys[N];
	static uint32_t indexes[N];
	static bool seen[N];
	ht_ctx *ctx;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	ht_ctx_set_jobs(ctx, n_jobs ? n_jobs : 1);
	ctx->range_rows = share;
	for (uint32_t i = 0; i < n; i++) {
		keys[i] = before[i];
		indexes[i] = i;
		seen[i] = false;
	}
	if (n_jobs)
		assert_int_equal(ht_sort_keys_shared(ctx, keys, indexes, n), HT_OK);
	else
		assert_true(ht_sort_keys(ctx->mem, keys, indexes, n));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(keys[i], before[indexes[i]]);
		assert_false(seen[indexes[i]]);
		seen[indexes[i]] = true;
		assert_true(!i || keys[i - 1] < keys[i] ||
		            (keys[i - 1] == keys[i] && indexes[i - 1] < indexes[i]));
	}
	assert_int_equal(ctx->mem->now, 0);
	ht_ctx_free(ctx);
}

static void check_sorted(const uint64_t *before, size_t n)
{
	check_sorted_by(before, n, 0, 0);
	check_sorted_by(before, n, 1, 0);
	check_sorted_by(before, n, 1, 16);
	check_sorted_by(before, n, 3, 1);
	check_sorted_by(before, n, 4, 700);
}

static void sorts_runs_and_noise(void **state)
{
	(void)state;
	static uint64_t keys[N];
	static const size_t runs[] = { 1, 2, 3, 10, 64, 500, 2499, N };
	static const uint64_t jumps[] = { 0, 1, 50, 4000, 1000000 };
	static const size_t lengths[] = { 0, 1, 2, 47, 48, 49, 50, 1000, N };
	for (size_t r = 0; r < sizeof runs / sizeof *runs; r++)
		for (size_t j = 0; j < sizeof jumps / sizeof *jumps; j++)
			for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
				fill_runs(keys, lengths[n], runs[r], jumps[j]);
				check_sorted(keys, lengths[n]);
			}
	uint64_t random = 7;
	for (size_t i = 0; i < N; i++)
		keys[i] = next_random(&random) << 33 | next_random(&random);
	check_sorted(keys, N);
	for (size_t i = 0; i < N; i++)
		keys[i] = N - i;
	check_sorted(keys, N);
	for (size_t i = 0; i < N; i++)
		keys[i] = i % 3; /* more parts than keys */
	check_sorted(keys, N);
}

static int compare(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return (a > b) - (a < b);
}

/* By the high half; the low half tells where an item was. */
static int compare_high(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left >> 32, b = *(const uint64_t *)right >> 32;
	return (a > b) - (a < b);
}

static void merges_runs_of_items(void **state)
{
	static uint64_t items[N];
	static const size_t runs[] = { 1, 2, 3, 10, 64, 500, 2499, N };
	static const size_t lengths[] = { 47, 48, 49, 50, 1000, N };
	struct ht_mem *mem = ht_mem_new();
	(void)state;
	for (size_t r = 0; r < sizeof runs / sizeof *runs; r++)
		for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
			for (int fails = 0; fails < 2; fails++) {
				size_t n = lengths[k];
				fill_runs(items, n, runs[r], 50);
				for (size_t i = 0; i < n; i++)
					items[i] = (items[i] & 0xffff) << 32 | i;
				mem->fail_in = fails;
				ht_sort_items(mem, items, n, sizeof *items, compare_high);
				mem->fail_in = 0;
				for (size_t i = 1; i < n; i++)
					assert_true(items[i - 1] < items[i]);
			}
	assert_int_equal(mem->now, 0);
	ht_mem_release(mem);
}

static void sorts_items(void **state)
{
	struct ht_mem *mem = ht_mem_new();
	(void)state;
	static uint64_t items[N];
	for (size_t last_is_low = 0; last_is_low < 2; last_is_low++)
		for (size_t n = 0; n < 50; n++) {
			for (size_t i = 0; i < n; i++)
				items[i] = last_is_low && i + 1 == n ? 0 : i / 2 + 1;
			ht_sort_items(mem, items, n, sizeof *items, compare);
			for (size_t i = 1; i < n; i++)
				assert_true(items[i - 1] <= items[i]);
		}
	ht_mem_release(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(sorts_runs_and_noise),
		cmocka_unit_test(sorts_items), cmocka_unit_test(merges_runs_of_items) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
