/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_names_test.c - short names and kinds of copies on the names that make them interesting.
 */
#include "base/mem.h"
#include "model/policy.h"
#include "model/rows/work_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* A name, its short form, and what HTA's rule leaves of it. */
static void shortens(void **state)
{
	static const char *const cases[][3] = {
		{ "void at::native::(anonymous namespace)::k<int>(x)", "at::native::k",
		        "at::native::::k" },
		{ "void a::k<(anonymous namespace)::f>(x)", "a::k", "a::k" },
		{ "Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pinned -> Device)",
		        "Memcpy HtoD (Pinned -> Device)" },
		{ "ampere_sgemm", "ampere_sgemm", "ampere_sgemm" },
		{ "## forward (fast) ##", "## forward (fast) ##", "##" },
		{ "nccl:_all_gather (x)", "nccl:_all_gather (x)", "" },
		{ "f<a->b, g(int)>(c) tail", "tail", "tail" },
		{ "a > b < c", "a > b < c", "c" },
		{ "k<(1>2)>", "k<(1>2)>", "" },
	};
	static const struct ht_policy as_they_are = { .raw_short_names = true };
	struct ht_run run = { .scratch = *state };
	for (size_t i = 0; i < HT_COUNT(cases); i++)
		for (int raw = 0; raw < 2; raw++) {
			run.policy = raw ? &as_they_are : &ht_own_policy;
			assert_string_equal(ht_name_shorten(&run, cases[i][0]), cases[i][1 + raw]);
		}
}

static void names_kinds_of_copies(void **state)
{
	struct ht_arena *arena = *state;
	assert_string_equal(ht_copy_kind(arena, "Memcpy DtoH (Device -> Pinned)"), "Memcpy DtoH");
	assert_string_equal(ht_copy_kind(arena, "Memset (Device)"), "Memset");
	assert_string_equal(ht_copy_kind(arena, "Memcpy"), "Memcpy");
	assert_string_equal(ht_copy_kind(arena, "dma"), "Memcpy Unknown");
}

static void common_names(void **state)
{
	static const char *const cases[][2] = {
		{ "hcom_allReduce__586_0_1", "hcom_allReduce__" },
		{ "hcom_batchSendRecv__097_12_1", "hcom_batchSendRecv__" },
		{ "hcom_allReduce_", "hcom_allReduce_" },
		{ "hcom_allReduce__", "hcom_allReduce__" },
		{ "hcom_allReduce__586_a", "hcom_allReduce__586_a" },
		{ "MatMul__586_0_1", "MatMul__586_0_1" },
	};
	for (size_t i = 0; i < HT_COUNT(cases); i++)
		assert_string_equal(ht_name_common(*state, cases[i][0]), cases[i][1]);
}

static int setup(void **state)
{
	static struct ht_arena arena;
	struct ht_mem *mem = ht_mem_new();
	if (!mem)
		return 1;
	ht_arena_init(&arena, mem);
	*state = &arena;
	return 0;
}

static int teardown(void **state)
{
	struct ht_arena *arena = *state;
	struct ht_mem *mem = arena->mem;
	ht_arena_done(arena);
	ht_mem_release(mem);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shortens),
		cmocka_unit_test(names_kinds_of_copies),
		cmocka_unit_test(common_names),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
