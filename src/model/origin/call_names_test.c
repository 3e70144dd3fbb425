/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_names_test.c - calls of a graph taken by operators, against a look at every call; by hand and at random.
 */
#include "model/origin/call_names.h"

#include "base/hash.h"
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define N 12

static ht_ctx *ctx;

static bool is_same(const char *op, const char *call)
{
	const char *base = strstr(op, "::");
	if (!strcmp(op, call))
		return true;
	size_t n = base ? strlen(base + 2) : 0;
	for (const char *at = call; n && (at = strchr(at, '.')); at++)
		if (!strncmp(at + 1, base + 2, n) && (!at[1 + n] || at[1 + n] == '.'))
			return true;
	return false;
}

/* All operators, in order, in two calls of the graph. */
static void check(const char *const *calls, size_t n, const char *const *ops, size_t n_ops)
{
	struct ht_arena arena;
	struct ht_compiled_call list[N] = { 0 };
	struct ht_compiled_graph graph = { .calls = list, .n = n };
	struct ht_call_names *names;
	ht_arena_init(&arena, ctx->mem);
	struct ht_run run = { .ctx = ctx, .scratch = &arena };
	for (size_t i = 0; i < n; i++)
		list[i].name = calls[i];
	assert_int_equal(ht_call_names_new(&run, &graph, &names), HT_OK);
	assert_ptr_equal(ht_call_names_graph(names), &graph);
	for (int turn = 0; turn < 2; turn++) {
		bool is_taken[N] = { false };
		ht_call_names_restart(names);
		for (size_t k = 0; k < n_ops; k++) {
			const struct ht_compiled_call *found;
			size_t i = 0;
			while (i < n && (is_taken[i] || !is_same(ops[k], calls[i])))
				i++;
			assert_int_equal(ht_call_names_take(&run, names, ops[k], &found), HT_OK);
			assert_ptr_equal(found, i < n ? &list[i] : NULL);
			if (i < n)
				is_taken[i] = true;
		}
	}
	ht_arena_done(&arena);
}

static void test_names(void **state)
{
	(void)state;
	static const char *const calls[] = { "triton_a", "extern_kernels.mm",
		"torch.ops.aten.mm.default", "triton_a", "aten::mm", "mm.mm", "a.b.c.d.e.f", "a..b",
		"" };
	static const char *const ops[] = { "aten::mm", "triton_a", "aten::mm", "x::default",
		"aten::mm", "aten::mm", "aten::mm", "triton_a", "triton_a", "aten::", "::", "",
		"x::b.c.d.e.f", "x::b.c.d.e.g", "x::.b", "x::b", "x::a", "x::." };
	check(calls, 9, ops, sizeof ops / sizeof *ops);
	check(NULL, 0, ops, sizeof ops / sizeof *ops);
}

static void test_random_names(void **state)
{
	(void)state;
	uint64_t seed = 1;
	for (int round = 0; round < 2000; round++) {
		char texts[2 * N][32];
		const char *list[2 * N];
		for (size_t i = 0; i < 2 * N; i++) {
			/* few letters and many dots, so that all lengths meet */
			size_t n = (seed = ht_hash_u64(seed + 1)) % 12, k = 0;
			if (i >= N)
				k = (size_t)snprintf(texts[i], sizeof texts[i], "x::");
			for (size_t end = k + n; k < end; k++)
				texts[i][k] = ".a.b"[(seed = ht_hash_u64(seed + 1)) % 4];
			texts[i][k] = '\0';
			list[i] = texts[i];
		}
		check(list, N - 1, list + N, N);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names),
		cmocka_unit_test(test_random_names) };
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ht_ctx_free(ctx);
	return failed;
}
