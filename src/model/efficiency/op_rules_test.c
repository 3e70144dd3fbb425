/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_rules_test.c - rules of the user's own: what they compute, and what is none.
 */
#include "model/efficiency/op_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct ht_op_args args_of(void)
{
	struct ht_op_texts texts = { "[[2, 3], [3, 5], []]",
		"[\"float\", \"c10::BFloat16\", \"Scalar\"]", NULL, "[\"\", \"\", \"7\"]" };
	struct ht_op_args args;
	ht_op_args_read(&texts, &args);
	return args;
}

static void expressions_know_sizes_elements_bytes_and_scalars(void **state)
{
	ht_ctx *ctx = *state;
	struct ht_arena arena;
	struct ht_op_rules rules;
	struct ht_op_args args = args_of();
	ht_arena_init(&arena, ctx->mem);
	assert_int_equal(
	        ht_op_rules_read(ctx, "rules",
	                "# ours\n\n  my::op flops = 2*d0[0]*d0[1]*d1[-1]  bytes=e0*n0 + e1 * n1\r\n"
	                "my::*  vector = (c2 + 1) * 10 / 4 - 1\n",
	                &arena, &rules),
	        HT_OK);
	assert_int_equal(rules.n, 2);
	struct ht_op_cost cost = ht_op_rule_cost(ht_op_rules_find(&rules, "my::op"), &args);
	assert_int_equal(cost.state, HT_COST_KNOWN);
	assert_int_equal(cost.flops, 60);
	assert_int_equal(cost.bytes, 4 * 6 + 2 * 15);
	assert_true(cost.has_bytes);
	cost = ht_op_rule_cost(ht_op_rules_find(&rules, "my::other"), &args);
	assert_int_equal(cost.vector_flops, 19);
	assert_false(cost.has_bytes);
	assert_null(ht_op_rules_find(&rules, "aten::mm"));
	ht_arena_done(&arena);
}

/* Lines end in any of the three ways; enough of them that a list made for fewer would be left. */
static void lines_end_in_carriage_returns_too(void **state)
{
	enum { N = 4096 };
	static const char line[] = "foo****** bytes=1\r";
	static char text[N * (sizeof line - 1) + 1];
	ht_ctx *ctx = *state;
	struct ht_arena arena;
	struct ht_op_rules rules;
	for (size_t i = 0; i < N; i++)
		memcpy(text + i * (sizeof line - 1), line, sizeof line);
	ht_arena_init(&arena, ctx->mem);
	assert_int_equal(ht_op_rules_read(ctx, "rules", text, &arena, &rules), HT_OK);
	assert_int_equal(rules.n, N);
	for (size_t i = 0; i < N; i++) {
		assert_null(rules.list[i].flops);
		assert_string_equal(rules.list[i].bytes, "1");
	}
	ht_arena_done(&arena);
}

static void numbers_of_more_than_63_bits_are_not_modelled(void **state)
{
	static const char *const rules_of[] = { "x bytes = n0", "x bytes = n0 * n0",
		"x bytes = 0 - n0" };
	ht_ctx *ctx = *state;
	struct ht_op_texts texts = { "[[4294967296, 4294967296]]", "[\"float\"]", NULL, "[\"\"]" };
	struct ht_op_args args;
	ht_op_args_read(&texts, &args);
	for (size_t i = 0; i < sizeof rules_of / sizeof *rules_of; i++) {
		struct ht_arena arena;
		struct ht_op_rules rules;
		ht_arena_init(&arena, ctx->mem);
		assert_int_equal(
		        ht_op_rules_read(ctx, "rules", rules_of[i], &arena, &rules), HT_OK);
		assert_int_equal(ht_op_rule_cost(&rules.list[0], &args).state, HT_COST_MISMATCH);
		ht_arena_done(&arena);
	}
}

static void what_an_argument_lacks_is_not_modelled(void **state)
{
	static const char *const texts[] = { "x flops = d0[2]", "x flops = d2[0]", "x flops = n9",
		"x flops = c0", "x flops = 1 - 2", "x flops = 1 / (c2 - 7)",
		"x flops = 4611686018427387904 * c2" };
	ht_ctx *ctx = *state;
	struct ht_op_args args = args_of();
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct ht_arena arena;
		struct ht_op_rules rules;
		ht_arena_init(&arena, ctx->mem);
		assert_int_equal(ht_op_rules_read(ctx, "rules", texts[i], &arena, &rules), HT_OK);
		assert_int_equal(ht_op_rule_cost(&rules.list[0], &args).state, HT_COST_MISMATCH);
		ht_arena_done(&arena);
	}
}

static void other_texts_are_refused(void **state)
{
	static const char *const texts[] = { "x", "x flops", "x flops =", "x flops = 1 +",
		"x flops = (1", "x flops = 1)", "x flops = d0", "x flops = d0[", "x flops = q",
		"x flops = 1 flops = 2", "x speed = 1", "x flops = 1bytes = 2",
		"x flops = 99999999999999999999", "x flops = ((((((((((((((((((((((((((((((((((1" };
	ht_ctx *ctx = *state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct ht_arena arena;
		struct ht_op_rules rules;
		ht_arena_init(&arena, ctx->mem);
		assert_int_equal(
		        ht_op_rules_read(ctx, "rules", texts[i], &arena, &rules), HT_FORMAT);
		ht_error_clear(ctx);
		ht_arena_done(&arena);
	}
}

static int make_context(void **state)
{
	return ht_ctx_new((ht_ctx **)state) != HT_OK;
}

static int end_context(void **state)
{
	ht_ctx_free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressions_know_sizes_elements_bytes_and_scalars),
		cmocka_unit_test(lines_end_in_carriage_returns_too),
		cmocka_unit_test(numbers_of_more_than_63_bits_are_not_modelled),
		cmocka_unit_test(what_an_argument_lacks_is_not_modelled),
		cmocka_unit_test(other_texts_are_refused),
	};
	return cmocka_run_group_tests(tests, make_context, end_context);
}
