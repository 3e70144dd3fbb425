/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding_test.c - sentences are made from cells: placeholders, groups, plurals, items; notes carry the cells.
 */
#include "base/mem.h"
#include "model/finding/finding.h"
#include "model/finding/template.h"
#include "model/finding/templates.h"
#include "store/columns.h"
#include "table/note.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct ht_note_value values[] = {
	{ .name = "ns", .type = HT_DURATION, .i64 = 69300000 },
	{ .name = "share", .type = HT_RATIO, .f64 = 0.124 },
	{ .name = "all", .type = HT_RATIO, .f64 = 0.999 },
	{ .name = "little", .type = HT_RATIO, .f64 = 0.0001 },
	{ .name = "one", .type = HT_I64, .i64 = 1 },
	{ .name = "five", .type = HT_I64, .i64 = 5 },
	{ .name = "name", .type = HT_STR, .str = "gemm {x}" },
	{ .name = "flag", .type = HT_STR, .str = "" },
	{ .name = "absent", .type = HT_I64, .i64 = INT64_MIN },
	{ .name = "nan", .type = HT_RATIO, .f64 = NAN },
};

static void test_templates(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "" },
		{ "{ns} per step", "69.3 ms per step" },
		{ "{share} and {share.1}", "12 % and 12.4 %" },
		{ "{all}, {little}, {little.1}", ">99 %, <1 %, <0.1 %" },
		{ "{one:step}, {five:step}, {five:activity|activities}",
		        "1 step, 5 steps, 5 activities" },
		{ "a[, mostly {name}]", "a, mostly gemm {x}" },
		{ "a[, mostly {absent}]b", "ab" },
		{ "a[ {nan}]", "a" },
		{ "{absent}", "n/a" },
		{ "a[{?flag} on][{!flag} off]", "a on" },
		{ "a[{?absent} on][{!absent} off]", "a off" },
		{ "[; b {absent}][; c {five}]", "c 5" },
		{ "[a[ {absent}] {five}]", "a 5" },
		{ "\\[{five}\\]", "[5]" },
		{ "{unknown", "{unknown" },
		{ "[open {five}", "open 5" },
	};
	(void)state;
	struct ht_mem *mem = ht_mem_new();
	struct ht_arena arena;
	ht_arena_init(&arena, mem);
	for (size_t i = 0; i < HT_COUNT(cases); i++)
		assert_string_equal(
		        ht_template_fill(&arena, cases[i].text, values, HT_COUNT(values)),
		        cases[i].want);
	ht_arena_done(&arena);
	ht_mem_release(mem);
}

/* Every template can be filled from nothing, and no two are for the same. */
static void test_table(void **state)
{
	(void)state;
	struct ht_mem *mem = ht_mem_new();
	struct ht_arena arena;
	ht_arena_init(&arena, mem);
	for (size_t i = 0; i < ht_n_templates; i++) {
		const struct ht_template *t = &ht_templates[i];
		struct ht_finding f = ht_finding(t->kind, t->state);
		struct ht_sentence s;
		f.variant = t->variant;
		assert_int_equal(ht_finding_say(&arena, &f, &s), HT_OK);
		assert_non_null(strstr(s.whole, s.text));
		for (size_t k = 0; k < i; k++)
			assert_false(!strcmp(t->kind, ht_templates[k].kind) &&
			             t->state == ht_templates[k].state &&
			             !strcmp(t->variant, ht_templates[k].variant));
	}
	ht_arena_done(&arena);
	ht_mem_release(mem);
}

static void test_note(void **state)
{
	(void)state;
	ht_ctx *ctx = NULL;
	ht_table *table;
	struct ht_arena arena;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	ht_arena_init(&arena, ctx->mem);
	assert_int_equal(ht_table_new(ctx, "t", NULL, 0, &table), HT_OK);
	struct ht_finding f = ht_finding("slow-rank", HT_STATE_FOUND);
	f.variant = "unattributed";
	f.severity = HT_NOTE_WARNING;
	ht_finding_subject(&f, "rank", "2");
	ht_finding_text(&f, "who", "rank 2");
	ht_finding_ns(&f, "least", 1000);
	ht_finding_count(&f, "n_late", 1);
	ht_finding_count(&f, "n_steps", 3);
	ht_finding_next(&f, "stragglers");
	ht_finding_arg(&f, "where", "rank == 2");
	ht_finding_arg(&f, "across", "true");
	assert_int_equal(ht_finding_note(&arena, &f, table), HT_OK);
	const struct ht_note *note = ht_table_note_at(table, 0);
	assert_string_equal(note->state, "found");
	assert_string_equal(note->next, "stragglers");
	assert_int_equal(note->n_next_args, 2);
	assert_int_equal(note->severity, HT_NOTE_WARNING);
	assert_true(!strncmp(note->line, "warning: ", 9));
	assert_non_null(strstr(
	        note->text, "rank 2 delays the other ranks by 1.00 µs per step in 1 of 3 steps"));
	assert_non_null(strstr(note->line, ". Next: stragglers --where 'rank == 2' --across"));
	assert_int_equal(note->n_values, 5);
	assert_null(ht_table_note_at(table, 1));
	ht_arena_done(&arena);
	ht_table_free(table);
	ht_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_templates),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_note),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
