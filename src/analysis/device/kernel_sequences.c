/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_sequences.c - which kernel sequences an operator launches, and how often.
 *
 * Roots are the outermost host rows whose name contains `operator` (without it: every outermost
 * operator). A root's pattern is "name|kernel|kernel|...": all GPU work launched inside it, by start
 * time, copies and sets included. Equal patterns are counted per rank:
 *     count, gpu = sum of the durations of the work, op = sum of the durations of the roots.
 * Roots with fewer than min-length pieces of work are left out.
 *
 * Reads host rows, their nesting (autograd threads under the backward annotation or step that contains
 * them) and GPU work. Blind to work without a launch call. O(n log n). Rows per rank by count
 * descending, then pattern.
 *
 * Example: aten::linear runs 3 times and launches gemm, bias, relu each time: one row
 * "aten::linear|gemm|bias|relu", count 3. A sequence that repeats often is what to fuse.
 */
#include "analysis/analysis.h"
#include "model/calls/sequence.h"
#include "model/policy.h"

static enum ht_status count_patterns(struct ht_run *run, struct ht_part *part);
static enum ht_status draw_patterns(struct ht_run *run, struct ht_drawing *ret_drawing);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \
	COLUMN(COL_OPERATOR, "operator", HT_STR, HT_KEY,                                           \
	        "name of the operator that starts the sequence", NULL)                             \
	COLUMN(COL_COUNT, "count", HT_I64, HT_MEASURE, "times the sequence occurs", NULL)          \
	COLUMN(COL_KERNELS, "kernels", HT_I64, HT_MEASURE,                                         \
	        "kernels, memcpy and memset in one sequence", NULL)                                \
	COLUMN(COL_GPU_NS, "gpu_ns", HT_DURATION, HT_MEASURE,                                      \
	        "duration of its GPU activity, all occurrences", NULL)                             \
	COLUMN(COL_OP_NS, "op_ns", HT_DURATION, HT_MEASURE,                                        \
	        "duration of the operator on the host, all occurrences", NULL)                     \
	COLUMN(COL_PATTERN, "pattern", HT_STR, HT_KEY,                                             \
	        "operator and GPU activity in order of start, joined by |", NULL)
HT_COLUMNS(columns, COLUMNS);

static const struct ht_param params[] = {
	{ "operator", HT_STR, NULL,
	        "text that the operator's name contains; without it every outermost operator",
	        NULL },
	{ "min-length", HT_I64, "3", "least number of kernels, memcpy and memset in a sequence",
	        NULL },
	{ "top-patterns", HT_I64, "5",
	        "saved trace: how many of the most frequent patterns are marked", NULL },
	{ "short-names", HT_BOOL, "true",
	        "kernel names without template arguments and parameters; hta-compat shows all",
	        NULL },
};

const struct ht_analysis ht_analysis_kernel_sequences = {
	.info = { .name = "kernel-sequences",
	        .group = "launch",
	        .page_view = "sequences",
	        .title = "Frequent kernel sequences",
	        .question = "Which sequences of kernels does an operator launch again and again?",
	        .method =
	                "The GPU activity launched inside each outermost operator of that name, by start "
	                "time, counted by the sequence of names.",
	        .hta = "get_frequent_cuda_kernel_sequences",
	        HT_ONE_SCHEMA(columns),
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1, .draws = true, },
	.per_rank = count_patterns,
	.draw = draw_patterns,
	.of = "GPU activity of each outermost operator",
	.finish = finish,
};

static const char *operator_name(const struct ht_run *run)
{
	const char *name = ht_run_str(run, "operator");
	return name && *name ? name : NULL;
}

static enum ht_status count_patterns(struct ht_run *run, struct ht_part *part)
{
	struct ht_sequence_options options = { .operator_name = operator_name(run),
		.min_length = ht_run_i64(run, "min-length"),
		.short_names = ht_run_bool(run, "short-names") && !run->policy->full_names };
	struct ht_frame frame;
	struct ht_sequences sequences;
	ht_table *table = part->facts[0];
	HT_TRY(ht_frame_make(run, &frame));
	HT_TRY(ht_sequences_make(run, &frame, &options, &sequences));
	for (size_t s = 0; s < sequences.n; s++) {
		const struct ht_sequence *sequence = &sequences.list[s];
		ht_table_row(table);
		ht_table_put_i64(table, COL_RANK, frame.rank);
		ht_table_put_str(table, COL_OPERATOR, sequence->operator_name);
		ht_table_put_i64(table, COL_COUNT, (int64_t)sequence->count);
		ht_table_put_i64(table, COL_KERNELS, (int64_t)sequence->n_kernels);
		ht_table_put_i64(table, COL_GPU_NS, sequence->gpu_ns);
		ht_table_put_i64(table, COL_OP_NS, sequence->op_ns);
		ht_table_put_str(table, COL_PATTERN, sequence->pattern);
	}
	return HT_OK;
}

/* args.Patterns on the events of the most frequent sequences. */
static enum ht_status draw_patterns(struct ht_run *run, struct ht_drawing *ret_drawing)
{
	struct ht_frame frame;
	struct ht_sequences sequences;
	struct ht_drawing drawing = { .key = "Patterns" };
	struct ht_sequence_options options = { .operator_name = ht_run_str(run, "operator"),
		.min_length = ht_run_i64(run, "min-length") };
	HT_TRY(ht_frame_make(run, &frame));
	HT_TRY(ht_sequences_make(run, &frame, &options, &sequences));
	HT_TRY(ht_sequences_overlay(run, &frame, &sequences,
	        (size_t)ht_run_i64(run, "top-patterns"), &drawing.marks, &drawing.n_marks));
	*ret_drawing = drawing;
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	const char *name = operator_name(run);
	long long min_length = ht_run_i64(run, "min-length");
	HT_TRY(ht_parts_rows(run, parts, 0, 0, table));
	if (ht_table_n_rows(table))
		return HT_OK;
	if (name)
		return ht_table_add_note(
		        table, "no '%s' launches %lld or more GPU activities", name, min_length);
	return ht_table_add_note(
	        table, "no operator launches %lld or more GPU activities", min_length);
}
