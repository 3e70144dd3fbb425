/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_test.c - blocks that move into others keep their bytes, and the count is exact.
 */
#include "base/arena.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void moves_blocks_of_every_size(void **state)
{
	(void)state;
	static const size_t places[] = { 2 * HT_MEM_MOVE_BYTES, 2 * HT_MEM_MOVE_BYTES + 8 };
	static const size_t sizes[] = { 1, 100, HT_MEM_MOVE_BYTES, HT_MEM_MAP_BYTES - 1,
		HT_MEM_MAP_BYTES, HT_MEM_MAP_BYTES + 1, 3 * HT_MEM_MAP_BYTES + 5000 };
	struct ht_mem *mem = ht_mem_new();
	size_t big = 16 * HT_MEM_MAP_BYTES;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (size_t used = 1; used <= sizes[i]; used += used / 2 + 777) {
			unsigned char *to = ht_mem_zalloc(mem, big);
			unsigned char *from = ht_mem_alloc(mem, sizes[i]);
			assert_non_null(to);
			assert_non_null(from);
			for (size_t k = 0; k < used; k++)
				from[k] = (unsigned char)(k * 31 + k / 4096);
			size_t at = places[used % 2];
			assert_true(ht_mem_move(mem, to + at, from, sizes[i], used));
			assert_int_equal(to[at - 1], 0);
			assert_int_equal(to[at + used], 0);
			for (size_t k = 0; k < used; k++)
				assert_int_equal(to[at + k], (unsigned char)(k * 31 + k / 4096));
			assert_int_equal(mem->now, big);
			ht_mem_free(mem, to, big);
		}
	assert_int_equal(mem->now, 0);
	ht_mem_release(mem);
}

static void arenas_are_zeroed(void **state)
{
	(void)state;
	struct ht_mem *mem = ht_mem_new();
	struct ht_arena arena;
	ht_arena_init(&arena, mem);
	for (size_t n = 1; n < 4 * HT_MEM_MAP_BYTES; n *= 3) {
		unsigned char *block = ht_arena_alloc(&arena, n);
		assert_non_null(block);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(block[k], 0);
		memset(block, 0xff, n);
	}
	ht_arena_done(&arena);
	assert_int_equal(mem->now, 0);
	ht_mem_release(mem);
}

/* What was freed comes again, cleared; the count does not see it, and the peak is not passed. */
static void keeps_blocks(void **state)
{
	(void)state;
	enum { N = 4 * HT_MEM_MAP_BYTES };
	struct ht_mem *mem = ht_mem_new();
	unsigned char *blocks[4];
	for (size_t i = 0; i < 4; i++) {
		blocks[i] = ht_mem_alloc(mem, N);
		assert_non_null(blocks[i]);
		memset(blocks[i], 0xff, N);
	}
	for (size_t i = 0; i < 4; i++)
		ht_mem_free(mem, blocks[i], N);
	assert_int_equal(mem->now, 0);
	assert_in_range(mem->block_cache.bytes, 0, mem->peak / 2);
	for (size_t n = HT_MEM_MAP_BYTES; n <= N; n += HT_MEM_MAP_BYTES / 2 + 1) {
		unsigned char *block = ht_mem_zalloc(mem, n);
		assert_non_null(block);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(block[k], 0);
		memset(block, 0xff, n);
		ht_mem_free(mem, block, n);
	}
	/* more in use than ever: nothing is kept beside it */
	unsigned char *large = ht_mem_alloc(mem, 8 * (size_t)N);
	assert_non_null(large);
	assert_int_equal(mem->block_cache.bytes, 0);
	ht_mem_free(mem, large, 8 * (size_t)N);
	assert_int_equal(mem->now, 0);
	ht_block_cache_trim(&mem->block_cache, 0);
	assert_int_equal(mem->block_cache.n, 0);
	ht_mem_release(mem);
}

/* A block into which others were moved comes again and grows, as any other. */
static void grows_what_was_moved_into(void **state)
{
	(void)state;
	enum { N = 8 * HT_MEM_MAP_BYTES };
	struct ht_mem *mem = ht_mem_new();
	void *peak = ht_mem_alloc(mem, 8 * (size_t)N);
	ht_mem_free(mem, peak, 8 * (size_t)N);
	ht_block_cache_trim(&mem->block_cache, 0);
	unsigned char *to = ht_mem_zalloc(mem, N);
	unsigned char *from = ht_mem_zalloc(mem, N / 4);
	/* pages that are there make it another mapping */
	memset(to, 1, N);
	memset(from, 2, N / 4);
	assert_true(ht_mem_move(mem, to + 2 * HT_MEM_MOVE_BYTES, from, N / 4, N / 4));
	ht_mem_free(mem, to, N);
	unsigned char *again = ht_mem_alloc(mem, N);
	assert_non_null(again);
	for (size_t k = 0; k < N; k++)
		again[k] = (unsigned char)(k * 7 + k / 4096);
	unsigned char *grown = ht_mem_realloc(mem, again, N, 2 * (size_t)N);
	assert_non_null(grown);
	for (size_t k = 0; k < N; k++)
		assert_int_equal(grown[k], (unsigned char)(k * 7 + k / 4096));
	assert_int_equal(mem->now, 2 * (size_t)N);
	ht_mem_free(mem, grown, 2 * (size_t)N);
	assert_int_equal(mem->now, 0);
	ht_mem_release(mem);
}

/* Large blocks stand side by side: each is freed, grown and moved by itself, and its neighbours stay as they are. */
static void neighbours_are_left_alone(void **state)
{
	(void)state;
	enum { N = 24, SMALL = 64 * HT_MEM_MAP_BYTES };
	struct ht_mem *mem = ht_mem_new();
	unsigned char *blocks[N];
	size_t sizes[N];
	void *before = ht_mem_alloc(mem, SMALL); /* from here on they are cut */
	assert_non_null(before);
	for (size_t i = 0; i < N; i++) {
		sizes[i] = HT_MEM_MAP_BYTES + i * 77777 + (i % 5 == 0 ? 128 * HT_MEM_MAP_BYTES : 0);
		blocks[i] = ht_mem_zalloc(mem, sizes[i]);
		assert_non_null(blocks[i]);
		for (size_t k = 0; k < sizes[i]; k += 4095)
			assert_int_equal(blocks[i][k], 0);
		memset(blocks[i], (int)i + 1, sizes[i]);
	}
	for (size_t i = 0; i < N; i += 3) {
		ht_mem_free(mem, blocks[i], sizes[i]);
		size_t larger = i % 2 ? 2 * sizes[i + 1] : 20 * sizes[i + 1];
		blocks[i + 1] = ht_mem_realloc(mem, blocks[i + 1], sizes[i + 1], larger);
		assert_non_null(blocks[i + 1]);
		blocks[i] = ht_mem_zalloc(mem, sizes[i]);
		assert_non_null(blocks[i]);
		for (size_t k = 0; k < sizes[i]; k += 4095)
			assert_int_equal(blocks[i][k], 0);
		memset(blocks[i], (int)i + 1, sizes[i]);
		for (size_t k = 0; k < sizes[i + 1]; k += 4095)
			assert_int_equal(blocks[i + 1][k], i + 2);
		memset(blocks[i + 1], (int)i + 2, larger);
		sizes[i + 1] = larger;
	}
	for (size_t i = 0; i < N; i++) {
		for (size_t k = 0; k < sizes[i]; k += 4095)
			assert_int_equal(blocks[i][k], i + 1);
		assert_int_equal(blocks[i][sizes[i] - 1], i + 1);
		ht_mem_free(mem, blocks[i], sizes[i]);
	}
	ht_mem_free(mem, before, SMALL);
	assert_int_equal(mem->now, 0);
	ht_mem_release(mem);
}

/* Blocks go from arena to arena, are zeroed again and never more than allowed. */
static void cached_blocks_are_used_again(void **state)
{
	struct ht_mem *mem = ht_mem_new();
	struct ht_arena_cache cache;
	struct ht_arena arena, other;
	(void)state;
	ht_arena_cache_init(&cache, mem);
	ht_arena_init_cached(&arena, &cache);
	char *first = ht_arena_alloc(&arena, 100);
	assert_non_null(first);
	memset(first, 7, 100);
	ht_arena_done(&arena);
	assert_true(cache.n_bytes > 0);
	unsigned long long before = mem->now;
	ht_arena_init_like(&other, &arena);
	char *again = ht_arena_alloc(&other, 100);
	assert_ptr_equal(again, first);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(again[i], 0);
	assert_int_equal(mem->now, before);
	/* what is joined dies with the other */
	ht_arena_init(&arena, mem);
	assert_non_null(ht_arena_alloc(&arena, 300000));
	ht_arena_join(&other, &arena);
	assert_null(arena.last);
	assert_non_null(ht_arena_alloc(&other, HT_ARENA_CACHE_BYTES));
	ht_arena_done(&other);
	assert_true(cache.n_bytes <= HT_ARENA_CACHE_BYTES);
	ht_arena_cache_done(&cache);
	assert_int_equal(mem->now, 0);
	ht_mem_release(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_blocks_of_every_size),
		cmocka_unit_test(arenas_are_zeroed),
		cmocka_unit_test(cached_blocks_are_used_again),
		cmocka_unit_test(keeps_blocks),
		cmocka_unit_test(grows_what_was_moved_into),
		cmocka_unit_test(neighbours_are_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
