/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_extents_test.c - ranges that come and go in any order are those of a plain list.
 */
#include "base/arena.h"
#include "base/mem.h"
#include "model/snapshot/mem_extents.h"
#include "store/allocator_snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { N_PAGES = 3000, N_EVENTS = 20000 };

/* By page: 1 + the stream of what is mapped there. */
static int64_t pages[N_PAGES];

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Every range is as the pages say, and as long as they are alike. */
static void check_same(const struct ht_mem_extents *extents)
{
	const struct ht_mem_extent *list = ht_mem_extents_list(extents);
	size_t n = 0;
	assert_non_null(list);
	for (size_t page = 0; page < N_PAGES; n++) {
		size_t end = page + 1;
		while (end < N_PAGES && pages[end] == pages[page])
			end++;
		if (!pages[page]) {
			n--;
		} else {
			assert_true(n < extents->n);
			assert_int_equal(list[n].addr, page);
			assert_int_equal(list[n].end, end);
			assert_int_equal(list[n].stream, pages[page] - 1);
			assert_ptr_not_equal(ht_mem_extents_find(extents, end - 1), NULL);
		}
		page = end;
	}
	assert_int_equal(n, extents->n);
}

/* Backwards: what was unmapped is there again, what was mapped is gone, whatever of it was there. */
static void any_order(void **state)
{
	ht_ctx *ctx;
	struct ht_arena arena;
	uint64_t random = 1;
	(void)state;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	ht_arena_init(&arena, ctx->mem);
	struct ht_mem_extents extents = { .arena = &arena };
	for (size_t i = 0; i < N_EVENTS; i++) {
		uint64_t addr = next_random(&random) % N_PAGES, size = 1 + next_random(&random) % 5;
		bool is_there = next_random(&random) % 5 < 3;
		size = size < N_PAGES - addr ? size : N_PAGES - addr;
		struct ht_mem_event event = { .addr = addr,
			.size = (int64_t)size,
			.stream = (int64_t)(next_random(&random) % 3),
			.action = is_there ? HT_MEM_SEGMENT_UNMAP : HT_MEM_SEGMENT_MAP };
		assert_true(ht_mem_extents_undo(&extents, &event));
		for (size_t page = addr; page < addr + size; page++)
			pages[page] = is_there ? event.stream + 1 : 0;
		if (i % 500 == 0 || i + 1 == N_EVENTS)
			check_same(&extents);
	}
	ht_arena_done(&arena);
	ht_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
