/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memo_test.c - what is kept is found by its key, once, and dies with the memo.
 */
#include "base/mem.h"
#include "base/memo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

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

static const void *keep(
        struct ht_mem *mem, struct ht_memo *memo, struct ht_memo_key key, int number)
{
	struct ht_arena arena;
	ht_arena_init(&arena, mem);
	int *value = ht_arena_alloc(&arena, sizeof *value);
	assert_non_null(value);
	*value = number;
	return ht_memo_keep(memo, key, &arena, value);
}

static void finds_what_was_kept_first(void **state)
{
	static const char a, b;
	const struct ht_memo_key keys[] = { { 1, &a, 0 }, { 1, &a, 1 }, { 1, &b, 0 },
		{ 2, &a, 0 } };
	struct ht_memo memo;
	ht_memo_init(&memo, *state);
	for (int i = 0; i < 4; i++) {
		assert_null(ht_memo_find(&memo, keys[i]));
		assert_non_null(keep(*state, &memo, keys[i], i));
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(*(const int *)ht_memo_find(&memo, keys[i]), i);
		assert_int_equal(*(const int *)keep(*state, &memo, keys[i], 7), i);
	}
	ht_memo_done(&memo);
	assert_int_equal(((struct ht_mem *)*state)->now, 0);
}

static void finds_one_of_many(void **state)
{
	static const char a, b;
	struct ht_mem *mem = *state;
	struct ht_memo memo;
	ht_memo_init(&memo, mem);
	for (int i = 0; i < 1000; i++) {
		assert_true(ht_memo_has_room(&memo, 1));
		/* now and then there is no memory for more slots: nothing is lost */
		mem->fail_in = i % 64 < 2 ? 2 : 0;
		assert_non_null(keep(
		        mem, &memo, (struct ht_memo_key){ (size_t)i / 2, i % 2 ? &a : &b, 0 }, i));
		mem->fail_in = 0;
	}
	for (int i = 0; i < 1000; i++) {
		struct ht_memo_key key = { (size_t)i / 2, i % 2 ? &a : &b, 0 };
		assert_int_equal(*(const int *)ht_memo_find(&memo, key), i);
		key.variant = 1;
		assert_null(ht_memo_find(&memo, key));
	}
	assert_false(ht_memo_has_room(&memo, HT_MEMO_MAX_BYTES));
	ht_memo_done(&memo);
	assert_int_equal(mem->now, 0);
}

static void leaves_what_it_cannot_keep(void **state)
{
	struct ht_mem *mem = *state;
	struct ht_memo memo;
	struct ht_arena arena;
	ht_memo_init(&memo, *state);
	ht_arena_init(&arena, mem);
	/* the entry does not fit into what is left of the block */
	char *value = ht_arena_alloc(&arena, (64 << 10) - 64);
	assert_non_null(value);
	mem->fail_in = 1;
	assert_null(ht_memo_keep(&memo, (struct ht_memo_key){ 1, mem, 0 }, &arena, value));
	mem->fail_in = 0;
	assert_null(ht_memo_find(&memo, (struct ht_memo_key){ 1, mem, 0 }));
	ht_memo_done(&memo);
	/* the caller still has it */
	value[0] = 1;
	assert_true(mem->now > 0);
	ht_arena_done(&arena);
	assert_int_equal(mem->now, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finds_what_was_kept_first, setup, teardown),
		cmocka_unit_test_setup_teardown(finds_one_of_many, setup, teardown),
		cmocka_unit_test_setup_teardown(leaves_what_it_cannot_keep, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
