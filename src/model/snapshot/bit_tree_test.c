/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bit_tree_test.c - the next number of a set and the one before, against a plain array of flags.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "model/snapshot/bit_tree.h"

#include <string.h>

#define N 9000

static size_t next_plain(const uint8_t *is_in, size_t i)
{
	while (i < N && !is_in[i])
		i++;
	return i < N ? i : SIZE_MAX;
}

static size_t prev_plain(const uint8_t *is_in, size_t i)
{
	while (i > 0 && !is_in[i])
		i--;
	return is_in[i] ? i : SIZE_MAX;
}

static void random_sets(void **state)
{
	static uint8_t is_in[N];
	struct ht_mem *mem = ht_mem_new();
	struct ht_arena arena;
	struct ht_bit_tree tree;
	uint32_t random = 1;
	(void)state;
	ht_arena_init(&arena, mem);
	assert_true(ht_bit_tree_init(&tree, &arena, N));
	memset(is_in, 0, sizeof is_in);
	for (int i = 0; i < 200000; i++) {
		random = random * 1664525u + 1013904223u;
		/* few in the first half of the test, many in the second */
		size_t at = (random >> 8) % (i < 100000 ? N : 300);
		if (random >> 30 || i > 150000) {
			is_in[at] = 0;
			ht_bit_tree_remove(&tree, at);
		} else {
			is_in[at] = 1;
			ht_bit_tree_add(&tree, at);
		}
		size_t from = (random >> 4) % N;
		assert_int_equal(ht_bit_tree_next(&tree, from), next_plain(is_in, from));
		assert_int_equal(ht_bit_tree_prev(&tree, from), prev_plain(is_in, from));
	}
	assert_int_equal(ht_bit_tree_next(&tree, N), SIZE_MAX);
	ht_arena_done(&arena);
	ht_mem_release(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(random_sets) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
