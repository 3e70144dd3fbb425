/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocator_test.c - everything of a context comes from the user's allocator, and goes back to it.
 */
#include "base/mem.h"
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct counted {
	atomic_llong n_now, n_bytes_now, n_all;
};

/* Not zeroed: what asks for zeros must not rely on it. */
static void *allocate(void *user, size_t n_bytes)
{
	struct counted *counted = user;
	void *block = malloc(n_bytes);
	if (!block)
		return NULL;
	atomic_fetch_add(&counted->n_now, 1);
	atomic_fetch_add(&counted->n_all, 1);
	atomic_fetch_add(&counted->n_bytes_now, (long long)n_bytes);
	return memset(block, 0xa5, n_bytes);
}

static void release(void *user, void *block, size_t n_bytes)
{
	struct counted *counted = user;
	assert_non_null(block);
	atomic_fetch_sub(&counted->n_now, 1);
	atomic_fetch_sub(&counted->n_bytes_now, (long long)n_bytes);
	free(block);
}

static ht_ctx *make(struct counted *counted)
{
	struct ht_ctx_options options = { .struct_size = sizeof options,
		.allocate = allocate,
		.release = release,
		.user = counted };
	ht_ctx *ctx;
	assert_int_equal(ht_ctx_new_with(&options, &ctx), HT_OK);
	return ctx;
}

static void blocks_of_every_size(void **state)
{
	static const size_t sizes[] = { 0, 1, 100, HT_MEM_MAP_BYTES - 1, HT_MEM_MAP_BYTES,
		3 * HT_MEM_MAP_BYTES + 5 };
	struct counted counted = { 0 };
	ht_ctx *ctx = make(&counted);
	(void)state;
	for (size_t i = 0; i < HT_COUNT(sizes); i++) {
		char *block = ht_mem_zalloc(ctx->mem, sizes[i]);
		assert_non_null(block);
		for (size_t k = 0; k < sizes[i]; k++)
			assert_int_equal(block[k], 0);
		for (size_t k = 0; k < HT_COUNT(sizes); k++) {
			size_t n = sizes[i];
			memset(block, 7, n);
			char *moved = ht_mem_realloc(ctx->mem, block, n, sizes[k]);
			assert_non_null(moved);
			for (size_t j = 0; j < n && j < sizes[k]; j++)
				assert_int_equal(moved[j], 7);
			block = ht_mem_realloc(ctx->mem, moved, sizes[k], n);
			assert_non_null(block);
		}
		ht_mem_free(ctx->mem, block, sizes[i]);
		assert_int_equal(atomic_load(&counted.n_now), 0);
		assert_int_equal(atomic_load(&counted.n_bytes_now), 0);
	}
	ht_ctx_free(ctx);
}

static void blocks_that_move_into_another(void **state)
{
	const size_t n = 4 * HT_MEM_MAP_BYTES;
	struct counted counted = { 0 };
	ht_ctx *ctx = make(&counted);
	(void)state;
	char *to = ht_mem_alloc(ctx->mem, n), *from = ht_mem_alloc(ctx->mem, n / 2);
	assert_non_null(to);
	assert_non_null(from);
	memset(from, 9, n / 2);
	assert_true(ht_mem_move(ctx->mem, to + HT_MEM_MOVE_BYTES, from, n / 2, n / 2));
	assert_int_equal(to[HT_MEM_MOVE_BYTES], 9);
	assert_int_equal(to[HT_MEM_MOVE_BYTES + n / 2 - 1], 9);
	assert_int_equal(atomic_load(&counted.n_now), 1);
	ht_mem_free(ctx->mem, to, n);
	assert_int_equal(atomic_load(&counted.n_bytes_now), 0);
	ht_ctx_free(ctx);
}

static void traces_and_tables(void **state)
{
	struct counted counted = { 0 };
	ht_ctx *ctx = make(&counted);
	const char *root = getenv("HT_SOURCE_ROOT");
	char path[1024];
	ht_set *set;
	ht_table *table;
	uint64_t now, peak;
	(void)state;
	snprintf(path, sizeof path, "%s/examples/train/train.json.gz", root ? root : ".");
	assert_int_equal(ht_open_path(ctx, path, &set), HT_OK);
	struct ht_query query = { .struct_size = sizeof query, .name = "summary" };
	assert_int_equal(ht_ask(ctx, &set, 1, &query, &table), HT_OK);
	assert_true(ht_table_n_rows(table) > 0);
	ht_ctx_memory(ctx, &now, &peak);
	/* a block of no bytes is one byte to the allocator */
	assert_in_range(atomic_load(&counted.n_bytes_now), now,
	        now + (uint64_t)atomic_load(&counted.n_now));
	assert_true(atomic_load(&counted.n_all) > 100);
	ht_close(set);
	ht_table_free(table);
	assert_int_equal(atomic_load(&counted.n_now), 0);
	ht_ctx_free(ctx);
}

static void half_an_allocator_is_none(void **state)
{
	struct ht_ctx_options options = { .struct_size = sizeof options, .allocate = allocate };
	ht_ctx *ctx = NULL;
	(void)state;
	assert_int_equal(ht_ctx_new_with(&options, &ctx), HT_USAGE);
	assert_null(ctx);
	assert_int_equal(ht_ctx_new_with(NULL, &ctx), HT_OK);
	ht_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_of_every_size),
		cmocka_unit_test(blocks_that_move_into_another),
		cmocka_unit_test(traces_and_tables),
		cmocka_unit_test(half_an_allocator_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
