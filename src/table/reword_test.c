/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reword_test.c - the words of sentences change, names do not.
 */
#include "table/table_test_help.h"

static const struct ht_column columns[] = {
	{ "name", HT_STR, HT_KEY, "kernel of the GPU, or of GPUs", NULL },
	{ "gpu_ns", HT_DURATION, HT_MEASURE, "on tensor cores, of GPU time", NULL },
	{ "tc_self_pct", HT_F64, HT_MEASURE, "Tensor Core share", "%" },
	{ "etc_ns", HT_DURATION, HT_MEASURE, "the rest", NULL },
};
static const struct ht_reword words[] = { { "GPU", "NPU" }, { "Tensor Core", "AI Core" },
	{ "tensor core", "AI Core" }, { "torch.cuda.", "torch.npu." } };
static const struct ht_reword labels[] = { { "gpu", "npu" }, { "tc", "ai_core" } };

static ht_table *made(ht_ctx *ctx, bool own_words)
{
	ht_table *table;
	assert_ok(ht_table_new(ctx, "GPU activity", columns, HT_COUNT(columns), &table));
	assert_ok(ht_table_set_method(table, "of GPU time (GPUs only), not of aGPU or GPU.x"));
	ht_table_row(table);
	ht_table_put_str(table, 0, "tensor cores of a GPU: torch.cuda.graph");
	ht_table_put_nulls_to_end(table, 1);
	assert_ok(ht_table_add_note(table, "no tensor cores; GPU idle, the GPU's."));
	if (own_words)
		ht_table_set_own_words(table);
	assert_ok(ht_table_finish(ctx, table));
	ht_table_reword(table, words, HT_COUNT(words));
	ht_table_reword_labels(table, labels, HT_COUNT(labels));
	return table;
}

static void test_sentences(void **state)
{
	ht_table *table = made(*state, false);
	assert_string_equal(table->title, "NPU activity");
	assert_string_equal(table->method, "of NPU time (NPUs only), not of aGPU or GPU.x");
	const struct ht_note *note = table->notes.data;
	assert_string_equal(note->text, "no AI Cores; NPU idle, the NPU's.");
	assert_string_equal(ht_table_column(table, 0)->sentence, "kernel of the NPU, or of NPUs");
	assert_string_equal(ht_table_column(table, 1)->sentence, "on AI Cores, of NPU time");
	assert_string_equal(ht_table_column(table, 2)->sentence, "AI Core share");
	/* the cell is of a trace */
	assert_string_equal(ht_table_str(table, 0, 0), "tensor cores of a GPU: torch.cuda.graph");
	/* what is shared between tables stays as it is */
	assert_string_equal(columns[1].sentence, "on tensor cores, of GPU time");
	ht_table_free(table);
}

static void test_cells_of_our_own(void **state)
{
	ht_table *table = made(*state, true);
	assert_string_equal(ht_table_str(table, 0, 0), "AI Cores of a NPU: torch.npu.graph");
	struct memory_sink csv = render(*state, table, "csv", NULL);
	static const char line[] = "\nAI Cores of a NPU: torch.npu.graph,";
	assert_non_null(memmem(csv.data, csv.n, line, sizeof line - 1));
	free(csv.data);
	ht_table_free(table);
}

static void test_headings(void **state)
{
	static const char *const wanted[] = { "name", "npu", "ai_core_self_pct", "etc" };
	ht_table *table = made(*state, false);
	for (size_t i = 0; i < HT_COUNT(wanted); i++)
		assert_string_equal(ht_table_column_label(table, i), wanted[i]);
	assert_string_equal(ht_table_column(table, 1)->name, "gpu_ns");
	/* a part of the table has them, too */
	struct ht_view some = { .top = 1 };
	ht_table *view;
	assert_ok(ht_table_view(*state, table, &some, &view));
	for (size_t i = 0; i < HT_COUNT(wanted); i++)
		assert_string_equal(ht_table_column_label(view, i), wanted[i]);
	ht_table_free(view);
	ht_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_cells_of_our_own),
		cmocka_unit_test(test_headings),
	};
	return cmocka_run_group_tests(tests, setup_ctx, teardown_ctx);
}
