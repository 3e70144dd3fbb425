/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addresses_test.c - what is taken for the address of an object, and what stays as it is.
 */
#include "model/rows/addresses.h"

#include "base/mem.h"

#include "store/columns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct ht_mem *mem;

static void addresses_go(void **state)
{
	(void)state;
	static const char *const texts[][2] = {
		{ "<built-in method mm of type object at 0x7f31C0>",
		        "<built-in method mm of type object>" },
		{ "<f at 0x1>;a.py(3): g;<h at 0xffffffffffffffff>", "<f>;a.py(3): g;<h>" },
		{ "ends at 0xab", "ends" },
	};
	struct ht_vec room = { 0 };
	struct ht_arena arena;
	ht_arena_init(&arena, mem);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_string_equal(ht_without_addresses(mem, &room, texts[i][0]), texts[i][1]);
		assert_string_equal(ht_copy_without_addresses(&arena, texts[i][0]), texts[i][1]);
		assert_ptr_equal(ht_copy_without_addresses(&arena, texts[i][1]), texts[i][1]);
	}
	ht_arena_done(&arena);
	ht_vec_free(mem, &room, 1);
}

static void all_else_stays_where_it_is(void **state)
{
	(void)state;
	static const char *const texts[] = { "", "train.py(12): step", "look at 0xyz", "0x7f31c0",
		"at 0x12", "mask_0x1f at 12" };
	struct ht_vec room = { 0 };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_ptr_equal(ht_without_addresses(mem, &room, texts[i]), texts[i]);
	assert_null(room.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_go),
		cmocka_unit_test(all_else_stays_where_it_is),
	};
	mem = ht_mem_new();
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	ht_mem_release(mem);
	return n_failed;
}
