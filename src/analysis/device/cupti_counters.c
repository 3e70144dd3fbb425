/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_counters.c - hardware counters per kernel, with the operators that launched it.
 *
 * The CUPTI range profiler writes one row per kernel (cuda_profiler_range) whose args are counters; it
 * carries no link to the launch. Ranges are matched to launches
 *   by name   when the trace has the kernels: the n-th range of a name is the n-th kernel of that name;
 *   in order  when it has none: the n-th range is the n-th kernel launch call, if both are as many.
 * Otherwise operators are unknown (null), and a note says so. One column per counter, null where a
 * range lacks it. flops = sum of counter x weight over the thread-instruction counters
 * (smsp__sass_thread_inst_executed_op_<op>_pred_on.sum; fused multiply-add counts 2, others 1).
 *
 * op_stack: the operators around the launch call, outermost first, the 8 outermost and 8 innermost of more
 * than 16. Times of ranges are as the profiler
 * wrote them: evenly spread, not real. O(n log n). Rows ascending by rank, time, row.
 *
 * Example: ranges k1 k2, calls cudaLaunchKernel in aten::conv2d and in aten::relu: k1 belongs to
 * aten::conv2d, k2 to aten::relu.
 */
#include "analysis/analysis.h"
#include "base/checked.h"
#include "model/rows/chain.h"
#include "model/rows/frame.h"
#include "model/device/launch.h"
#include "store/args.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status list_ranges(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \
	COLUMN(COL_INDEX, "index", HT_I64, HT_DETAIL, "row of the profiler range", NULL)           \
	COLUMN(COL_TS_NS, "ts_ns", HT_TIME, HT_DETAIL,                                             \
	        "start of the range, from the first event of all ranks", NULL)                     \
	COLUMN(COL_DUR_NS, "dur_ns", HT_DURATION, HT_DETAIL, "duration of the range as written",   \
	        NULL)                                                                              \
	COLUMN(COL_NAME, "name", HT_STR, HT_KEY, "kernel", NULL)                                   \
	COLUMN(COL_INDEX_LAUNCH, "index_launch", HT_I64, HT_DETAIL,                                \
	        "row of the launch call, null when unknown", NULL)                                 \
	COLUMN(COL_TOP_LEVEL_OP, "top_level_op", HT_STR, HT_KEY,                                   \
	        "outermost operator around the launch", NULL)                                      \
	COLUMN(COL_BOTTOM_LEVEL_OP, "bottom_level_op", HT_STR, HT_KEY,                             \
	        "innermost operator around the launch", NULL)                                      \
	COLUMN(COL_OP_STACK, "op_stack", HT_STR, HT_DETAIL,                                        \
	        "operators around the launch, outermost first, joined by |", NULL)                 \
	COLUMN(COL_FLOPS, "flops", HT_I64, HT_MEASURE,                                             \
	        "floating point operations from the thread-instruction counters, null "            \
	        "without them",                                                                    \
	        NULL)
HT_COLUMNS(columns, COLUMNS);

const struct ht_analysis ht_analysis_cupti_counters = {
	.info = { .name = "cupti-counters",
	        .group = "gpu",
	        .page_view = "counters",
	        .title = "CUPTI counters per kernel",
	        .question = "What do the hardware counters say about each kernel and its operator?",
	        .method =
	                "One row per cuda_profiler_range with its counters as further columns, matched "
	                "to the launch call by kernel name and order.",
	        .hta = "get_cupti_counter_data_with_operators",
	        HT_ONE_SCHEMA(columns),
	        .n_sets = 1,
	        .more_columns = true },
	.per_rank = list_ranges,
	.finish = finish,
};

/* A row with its time, for sorting; name is set where rows are matched by it. */
struct item {
	int64_t ts_ns;
	uint32_t row, name;
	uint32_t launch; /* what it matches, HT_NONE */
};

static int by_time(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static int by_name_and_time(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return by_time(left, right);
}

static enum ht_status collect(struct ht_run *run, const struct ht_trace *trace,
        bool (*wanted)(const struct ht_trace *, uint32_t), struct item **ret_items, size_t *ret_n)
{
	size_t n = 0;
	for (uint32_t row = 0; row < trace->n_kind; row++)
		n += wanted(trace, row);
	struct item *items = ht_arena_alloc(run->scratch, (n + 1) * sizeof *items);
	if (!items)
		return ht_fail_nomem(run->ctx);
	n = 0;
	for (uint32_t row = 0; row < trace->n_kind; row++)
		if (wanted(trace, row))
			items[n++] =
			        (struct item){ trace->ts_ns[row], row, trace->name[row], HT_NONE };
	qsort(items, n, sizeof *items, by_time);
	*ret_items = items;
	*ret_n = n;
	return HT_OK;
}

static bool is_range(const struct ht_trace *trace, uint32_t row)
{
	return trace->kind[row] == HT_KIND_PROFILER_RANGE && ht_is_span(trace, row);
}

static bool is_launch(const struct ht_trace *trace, uint32_t row)
{
	uint8_t kind = trace->kind[row];
	return ht_kind_is_call(kind) && ht_is_span(trace, row) &&
	       ht_is_kernel_launch_name(ht_str(trace, trace->name[row]));
}

static bool is_kernel(const struct ht_trace *trace, uint32_t row)
{
	return trace->kind[row] == HT_KIND_KERNEL && ht_is_span(trace, row);
}

static void match_by_name(const struct ht_trace *trace, struct item *ranges, size_t n_ranges,
        struct item *kernels, size_t n_kernels)
{
	qsort(ranges, n_ranges, sizeof *ranges, by_name_and_time);
	qsort(kernels, n_kernels, sizeof *kernels, by_name_and_time);
	for (size_t r = 0, k = 0; r < n_ranges && k < n_kernels;) {
		if (ranges[r].name != kernels[k].name) {
			if (ranges[r].name < kernels[k].name)
				r++;
			else
				k++;
			continue;
		}
		const struct ht_gpu *gpu = ht_gpu_of_row(trace, kernels[k].row);
		ranges[r].launch = gpu ? gpu->launch : HT_NONE;
		r++;
		k++;
	}
	qsort(ranges, n_ranges, sizeof *ranges, by_time);
}

static enum ht_status match(struct ht_run *run, ht_table *table, int64_t rank,
        const struct ht_trace *trace, struct item *ranges, size_t n_ranges)
{
	struct item *others = NULL;
	size_t n = 0;
	HT_TRY(collect(run, trace, is_kernel, &others, &n));
	if (n) {
		match_by_name(trace, ranges, n_ranges, others, n);
		return HT_OK;
	}
	HT_TRY(collect(run, trace, is_launch, &others, &n));
	if (n != n_ranges)
		return ht_table_add_note(table,
		        "rank %lld: %zu profiler ranges and %zu kernel launches cannot be matched; "
		        "operators are unknown",
		        (long long)rank, n_ranges, n);
	for (size_t i = 0; i < n; i++)
		ranges[i].launch = others[i].row;
	return HT_OK;
}

/* ---- counters ---- */

struct counter {
	const char *key;
	bool is_float;
};

static int compare_counters(const void *left, const void *right)
{
	return strcmp(((const struct counter *)left)->key, ((const struct counter *)right)->key);
}

static bool has_range(const struct ht_trace *trace, const struct ht_arg_column *column)
{
	for (uint64_t i = 0; i < column->n; i++)
		if (is_range(trace, ht_arg_row(trace, column, i)))
			return true;
	return false;
}

/* Ascending by name, each once. */
static size_t unite(struct counter *found, size_t n)
{
	size_t n_kept = 0;
	qsort(found, n, sizeof *found, compare_counters);
	for (size_t i = 0; i < n; i++) {
		if (n_kept && strcmp(found[n_kept - 1].key, found[i].key) == 0)
			found[n_kept - 1].is_float |= found[i].is_float;
		else
			found[n_kept++] = found[i];
	}
	return n_kept;
}

/* Keys of numeric args of the profiler ranges. */
static enum ht_status find_counters(
        struct ht_run *run, struct counter **ret_counters, size_t *ret_n)
{
	const struct ht_trace *trace = run->trace;
	size_t n = 0;
	struct counter *found =
	        ht_arena_alloc(run->scratch, (trace->n_arg_columns + 1) * sizeof *found);
	if (!found)
		return ht_fail_nomem(run->ctx);
	for (size_t c = 0; c < trace->n_arg_columns; c++) {
		const struct ht_arg_column *column = &trace->arg_columns[c];
		if (column->top_level || column->type > HT_ARG_F64 || !has_range(trace, column))
			continue;
		found[n++] =
		        (struct counter){ ht_str(trace, column->key), column->type == HT_ARG_F64 };
	}
	*ret_counters = found;
	*ret_n = unite(found, n);
	return HT_OK;
}

static enum ht_status add_columns(ht_table *table, const struct counter *counters, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct ht_column column = { .name = counters[i].key,
			.type = counters[i].is_float ? HT_F64 : HT_I64,
			.role = HT_MEASURE,
			.sentence =
			        "counter of the profiler range, null where it was not measured" };
		HT_TRY(ht_table_add_column(table, &column));
	}
	return HT_OK;
}

/* Weighted sum of the instruction counters; false when the range has none of them. */
static bool flops_of(const struct ht_trace *trace, uint32_t row, int64_t *ret_flops)
{
	static const char *const ops[] = { "ffma", "hfma", "dfma", "fmul", "fadd", "hmul", "hadd",
		"dmul", "dadd" };
	enum { N_FUSED = 3 };
	bool found = false;
	int64_t flops = 0;
	for (size_t i = 0; i < HT_COUNT(ops); i++) {
		char key[64];
		snprintf(key, sizeof key, "smsp__sass_thread_inst_executed_op_%s_pred_on.sum",
		        ops[i]);
		int64_t value = ht_arg_i64(trace, key, row, HT_NO_I64);
		if (value == HT_NO_I64)
			continue;
		found = true;
		ht_sum(&flops, i < N_FUSED ? ht_add_sat(value, value) : value);
	}
	*ret_flops = flops;
	return found;
}

/* ---- rows ---- */

static bool is_operator(const struct ht_trace *trace, uint32_t row, const void *user)
{
	(void)user;
	return trace->kind[row] == HT_KIND_CPU_OP;
}

/* The operators around every row. */
struct operators {
	uint32_t *nearest;
	struct ht_chains chains;
};

static enum ht_status find_operators(
        struct ht_run *run, const struct ht_trace *trace, struct operators *ret)
{
	HT_TRY(ht_tree_nearest(run->ctx, trace, is_operator, NULL, run->scratch, &ret->nearest));
	return ht_chains_make(
	        run->ctx, trace, is_operator, NULL, ret->nearest, NULL, run->scratch, &ret->chains);
}

static enum ht_status put_operators(struct ht_run *run, ht_table *table,
        const struct ht_trace *trace, const struct operators *operators, uint32_t launch)
{
	uint32_t bottom = launch == HT_NONE ? HT_NONE : operators->nearest[launch];
	const struct ht_chain *chain =
	        &operators->chains.list[bottom == HT_NONE ? 0 : operators->chains.of[bottom]];
	const char *stack = NULL;
	if (chain->n && !(stack = ht_chain_text(run->scratch, trace, chain, "|")))
		return ht_fail_nomem(run->ctx);
	if (launch != HT_NONE)
		ht_table_put_i64(table, COL_INDEX_LAUNCH, launch);
	else
		ht_table_put_null(table, COL_INDEX_LAUNCH);
	ht_table_put_str(table, COL_TOP_LEVEL_OP,
	        chain->n ? ht_str(trace, trace->name[chain->rows[0]]) : NULL);
	ht_table_put_str(
	        table, COL_BOTTOM_LEVEL_OP, chain->n ? ht_str(trace, trace->name[bottom]) : NULL);
	ht_table_put_str(table, COL_OP_STACK, stack);
	return HT_OK;
}

static enum ht_status put_row(struct ht_run *run, ht_table *table, const struct ht_frame *frame,
        const struct item *range, const struct operators *operators, const struct counter *counters,
        size_t n_counters)
{
	const struct ht_trace *trace = frame->trace;
	ht_table_row(table);
	ht_table_put_i64(table, COL_RANK, frame->rank);
	ht_table_put_i64(table, COL_INDEX, range->row);
	ht_table_put_i64(table, COL_TS_NS, range->ts_ns);
	ht_table_put_i64(table, COL_DUR_NS, trace->dur_ns[range->row]);
	ht_table_put_str(table, COL_NAME, ht_str(trace, range->name));
	HT_TRY(put_operators(run, table, trace, operators, range->launch));
	int64_t flops;
	if (flops_of(trace, range->row, &flops))
		ht_table_put_i64(table, COL_FLOPS, flops);
	else
		ht_table_put_null(table, COL_FLOPS);
	for (size_t i = 0; i < n_counters; i++) {
		int64_t whole = ht_arg_i64(trace, counters[i].key, range->row, HT_NO_I64);
		if (!counters[i].is_float)
			ht_table_put_known(table, HT_COUNT(columns) + i, whole, HT_NO_I64);
		else
			ht_table_put_f64(table, HT_COUNT(columns) + i,
			        ht_arg_f64(trace, counters[i].key, range->row, NAN));
	}
	return HT_OK;
}

/* Ranges count by their launch, because their own times are not real. */
static enum ht_status list_ranges(struct ht_run *run, struct ht_part *part)
{
	ht_table *table = part->facts[0];
	struct counter *counters = NULL;
	struct ht_frame frame;
	struct operators operators;
	struct item *ranges = NULL;
	bool *in = NULL;
	size_t n_counters = 0, n = 0;
	if (!ht_n_of_kind(run->trace, HT_KIND_PROFILER_RANGE))
		return HT_OK;
	HT_TRY(collect(run, run->trace, is_range, &ranges, &n));
	if (n == 0)
		return HT_OK;
	HT_TRY(find_counters(run, &counters, &n_counters));
	HT_TRY(add_columns(table, counters, n_counters));
	HT_TRY(ht_frame_make(run, &frame));
	HT_TRY(match(run, table, frame.rank, frame.trace, ranges, n));
	HT_TRY(ht_frame_marks(run, &frame, &in));
	HT_TRY(find_operators(run, frame.trace, &operators));
	for (size_t r = 0; r < n; r++) {
		uint32_t deciding = ranges[r].launch != HT_NONE ? ranges[r].launch : ranges[r].row;
		if (in[deciding])
			HT_TRY(put_row(
			        run, table, &frame, &ranges[r], &operators, counters, n_counters));
	}
	return HT_OK;
}

/* The counters of all ranks become columns, ascending by name. */
static enum ht_status add_all_columns(
        struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	size_t n = 0;
	for (size_t i = 0; i < parts->n; i++)
		n += ht_table_n_columns(parts->list[i].facts[0]) - HT_COUNT(columns);
	struct counter *all = ht_arena_alloc(run->scratch, (n + 1) * sizeof *all);
	if (!all)
		return ht_fail_nomem(run->ctx);
	n = 0;
	for (size_t i = 0; i < parts->n; i++) {
		const ht_table *facts = parts->list[i].facts[0];
		for (size_t c = HT_COUNT(columns); c < ht_table_n_columns(facts); c++) {
			const struct ht_column *column = ht_table_column(facts, c);
			all[n++] = (struct counter){ column->name, column->type == HT_F64 };
		}
	}
	return add_columns(table, all, unite(all, n));
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	HT_TRY(add_all_columns(run, parts, table));
	return ht_parts_rows_or(run, parts, table,
	        "no CUPTI counters: record with experimental_config and its profiler_metrics to get "
	        "them");
}
