/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_lines_test.c - lines of a call: each once, told apart whatever their names are.
 */
#include "model/origin/call_lines.h"

#include "base/mem.h"
#include "model/origin/compiled_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct ht_piece piece(const char *text)
{
	return (struct ht_piece){ text, (int)strlen(text) };
}

static void add(
        ht_ctx *ctx, struct ht_arena *arena, struct ht_compiled_call *call, const char *line)
{
	assert_int_equal(ht_call_line_add(ctx, arena, call, piece(line)), HT_OK);
}

static void each_line_is_there_once(void **state)
{
	ht_ctx *ctx = *state;
	struct ht_arena arena;
	struct ht_compiled_call call = { 0 };
	ht_arena_init(&arena, ctx->mem);
	assert_int_equal(ht_call_line_find(NULL, piece("a")), SIZE_MAX);
	add(ctx, &arena, &call, "my_model.py(3): forward2");
	add(ctx, &arena, &call, "model.py(3): forward");
	add(ctx, &arena, &call, "my_model.py(3): forward");
	add(ctx, &arena, &call, "model.py(3): forward");
	assert_string_equal(call.source,
	        "my_model.py(3): forward2 + model.py(3): forward + my_model.py(3): forward");
	assert_int_equal(call.n_sources, 3);
	assert_int_equal(ht_call_line_find(call.source, piece("model.py(3): forward")), 1);
	assert_int_equal(ht_call_line_find(call.source, piece("model.py(3)")), SIZE_MAX);
	ht_arena_done(&arena);
}

static void what_stands_between_lines_is_in_none(void **state)
{
	ht_ctx *ctx = *state;
	struct ht_arena arena;
	struct ht_compiled_call call = { 0 };
	struct ht_piece line;
	size_t n = 0;
	ht_arena_init(&arena, ctx->mem);
	add(ctx, &arena, &call, "/a + b/c.py(3): f + g +  + ");
	add(ctx, &arena, &call, "c.py(3): f");
	for (const char *at = call.source; ht_call_line_next(&at, &line); n++)
		assert_int_equal(ht_call_line_find(call.source, line), n);
	assert_int_equal(n, call.n_sources);
	ht_arena_done(&arena);
}

static void lines_and_their_number_have_an_end(void **state)
{
	static char longest[HT_CALL_LINE_BYTES + 2];
	ht_ctx *ctx = *state;
	struct ht_arena arena;
	struct ht_compiled_call call = { 0 };
	ht_arena_init(&arena, ctx->mem);
	memset(longest, 'x', sizeof longest - 1);
	add(ctx, &arena, &call, longest);
	assert_int_equal(call.n_sources, 0);
	add(ctx, &arena, &call, longest + 1);
	assert_int_equal(call.n_sources, 1);
	for (int i = 0; i < 100; i++) {
		char line[32];
		snprintf(line, sizeof line, "a.py(%d): f", i);
		add(ctx, &arena, &call, line);
	}
	assert_int_equal(call.n_sources, 32);
	ht_arena_done(&arena);
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
		cmocka_unit_test(each_line_is_there_once),
		cmocka_unit_test(what_stands_between_lines_is_in_none),
		cmocka_unit_test(lines_and_their_number_have_an_end),
	};
	return cmocka_run_group_tests(tests, make_context, end_context);
}
