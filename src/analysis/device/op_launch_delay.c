/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_launch_delay.c - how long operators take until their kernels are launched and start.
 *
 * Every launch of a kernel belongs to the innermost aten:: operator around it on its thread. Per
 * operator call, of its first launch:
 *     op_launch_delay = start of the launch call - start of the operator
 *     runtime_delay   = start of the kernel - start of the launch call
 * Calls with the same operator name and the same kernels in the same order are one row, with the mean
 * of both delays.
 *
 * Reads host rows, their nesting and kernels (not copies and sets). Blind to kernels launched outside
 * any aten:: operator. O(n log n). Rows per rank by count descending, then operator, then sequence.
 *
 * Example: aten::add at 0 us calls cudaLaunchKernel at 4 us, its kernel starts at 9 us: delays 4 and
 * 5 us.
 */
#include "analysis/analysis.h"
#include "base/sort.h"
#include "model/rows/frame.h"
#include "store/columns.h"
#include "store/tree.h"
#include "base/intern.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

static enum ht_status measure_calls(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \
	COLUMN(COL_OPERATOR, "operator", HT_STR, HT_KEY, "name of the aten operator", NULL)        \
	COLUMN(COL_COUNT, "count", HT_I64, HT_MEASURE, "calls with this kernel sequence", NULL)    \
	COLUMN(COL_OP_LAUNCH_DELAY_NS, "op_launch_delay_ns", HT_DURATION_F64, HT_MEASURE,          \
	        "mean time from the operator's start to its first launch call", NULL)              \
	COLUMN(COL_RUNTIME_DELAY_NS, "runtime_delay_ns", HT_DURATION_F64, HT_MEASURE,              \
	        "mean time from that launch call's start to its kernel's start", NULL)             \
	COLUMN(COL_KERNELS, "kernels", HT_I64, HT_DETAIL, "kernels in the sequence", NULL)         \
	COLUMN(COL_KERNEL_SEQUENCE, "kernel_sequence", HT_STR, HT_KEY,                             \
	        "its kernels in order of launch, joined by ' -> '", NULL)
HT_COLUMNS(columns, COLUMNS);

const struct ht_analysis ht_analysis_op_launch_delay = {
	.info = { .name = "op-launch-delay",
	        .group = "launch",
	        .title = "Delay from operator to launch to kernel",
	        .question =
	                "How long does an operator take to launch its first kernel, and that one to "
	                "start?",
	        .method =
	                "Per call of an aten operator that launches kernels itself: time to its first "
	                "launch call, and from there to the kernel's start; means per operator and "
	                "kernel sequence.",
	        .hta = "get_aten_op_kernels_and_delay",
	        HT_ONE_SCHEMA(columns),
	        .page_view = "launch",
	        .n_sets = 1 },
	.per_rank = measure_calls,
	.of = "calls of operators that launch kernels themselves",
	.finish = finish,
};

/* A kernel with the operator that launched it. */
struct piece {
	int64_t launch_ts_ns;
	uint32_t op, launch, row;
};

struct group {
	uint32_t op_name;
	size_t n_kernels;
	uint64_t count;
	int64_t launch_delay_ns, runtime_delay_ns; /* sums */
	const char *sequence;
	const struct ht_trace *trace;
};

static int compare_pieces(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	if (a->launch_ts_ns != b->launch_ts_ns)
		return a->launch_ts_ns < b->launch_ts_ns ? -1 : 1;
	if (a->launch != b->launch)
		return a->launch < b->launch ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static int compare_groups(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	int by_name = strcmp(ht_str(a->trace, a->op_name), ht_str(b->trace, b->op_name));
	return by_name ? by_name : strcmp(a->sequence, b->sequence);
}

/* By string id: is it the name of an operator of ATen? */
static enum ht_status mark_aten(
        struct ht_run *run, const struct ht_trace *trace, const bool **ret_names)
{
	size_t n = trace->n_string_offsets ? trace->n_string_offsets - 1 : 0;
	bool *names = ht_arena_room(run->scratch, n + 1);
	if (!names)
		return ht_fail_nomem(run->ctx);
	for (uint32_t id = 0; id < n; id++)
		names[id] = strncmp(ht_str(trace, id), "aten::", 6) == 0;
	*ret_names = names;
	return HT_OK;
}

static bool is_aten(const struct ht_trace *trace, uint32_t row, const void *user)
{
	const bool *names = user;
	return trace->name[row] != HT_NO_STR && names[trace->name[row]];
}

static enum ht_status collect(
        struct ht_run *run, const struct ht_frame *frame, struct piece *pieces, size_t *ret_n)
{
	const struct ht_trace *trace = frame->trace;
	uint32_t *op_around = NULL;
	const bool *names = NULL;
	size_t n = 0;
	HT_TRY(mark_aten(run, trace, &names));
	HT_TRY(ht_tree_nearest(run->ctx, trace, is_aten, names, run->scratch, &op_around));
	for (size_t i = 0; i < frame->n_gpu; i++) {
		const struct ht_gpu *gpu = &trace->gpu[frame->gpu[i]];
		if (gpu->launch == HT_NONE || trace->kind[gpu->row] != HT_KIND_KERNEL)
			continue;
		uint32_t op = op_around[gpu->launch];
		if (op != HT_NONE)
			pieces[n++] = (struct piece){ trace->ts_ns[gpu->launch], op, gpu->launch,
				gpu->row };
	}
	ht_sort_items(run->ctx->mem, pieces, n, sizeof *pieces, compare_pieces);
	*ret_n = n;
	return HT_OK;
}

/* "kernel -> kernel"; NULL when out of memory. */
static const char *spell(
        struct ht_run *run, const struct ht_trace *trace, const uint32_t *names, size_t n)
{
	size_t n_bytes = 1;
	for (size_t i = 0; i < n; i++)
		n_bytes += ht_str_len(trace, names[i]) + 4;
	char *text = ht_arena_alloc(run->scratch, n_bytes);
	if (!text)
		return NULL;
	char *at = text;
	for (size_t i = 0; i < n; i++)
		at = stpcpy(stpcpy(at, i ? " -> " : ""), ht_str(trace, names[i]));
	return text;
}

/* Add one operator call with its n kernels to its group. */
static bool add_call(struct ht_run *run, const struct ht_trace *trace, const struct piece *pieces,
        size_t n, struct ht_pool *pool, struct group *groups, size_t *n_groups)
{
	uint32_t *key = ht_arena_room(run->scratch, (n + 1) * sizeof *key);
	if (!key)
		return false;
	key[0] = trace->name[pieces[0].op];
	for (size_t i = 0; i < n; i++)
		key[i + 1] = trace->name[pieces[i].row];
	struct ht_text text;
	size_t n_bytes = (n + 1) * sizeof *key;
	if (!ht_pool_add(pool, (const char *)key, n_bytes, ht_hash(key, n_bytes), &text))
		return false;
	struct group *group = &groups[text.id];
	if (text.id == *n_groups) {
		(*n_groups)++;
		*group = (struct group){ .op_name = key[0],
			.n_kernels = n,
			.sequence = spell(run, trace, key + 1, n),
			.trace = trace };
		if (!group->sequence)
			return false;
	}
	group->count++;
	ht_sum(&group->launch_delay_ns, pieces[0].launch_ts_ns - trace->ts_ns[pieces[0].op]);
	ht_sum(&group->runtime_delay_ns, trace->ts_ns[pieces[0].row] - pieces[0].launch_ts_ns);
	return true;
}

static enum ht_status group_calls(struct ht_run *run, const struct ht_trace *trace,
        const struct piece *pieces, size_t n, struct group *groups, size_t *ret_n)
{
	struct ht_pool pool;
	ht_pool_init(&pool, run->ctx->mem);
	size_t n_groups = 0;
	bool ok = true;
	for (size_t start = 0; start < n && ok;) {
		size_t end = start + 1;
		while (end < n && pieces[end].op == pieces[start].op)
			end++;
		ok = add_call(run, trace, pieces + start, end - start, &pool, groups, &n_groups);
		start = end;
	}
	ht_pool_done(&pool);
	qsort(groups, n_groups, sizeof *groups, compare_groups);
	*ret_n = n_groups;
	return ok ? HT_OK : ht_fail_nomem(run->ctx);
}

static void put_group(ht_table *table, int64_t rank, const struct group *group)
{
	double n = (double)group->count;
	ht_table_row(table);
	ht_table_put_i64(table, COL_RANK, rank);
	ht_table_put_str(table, COL_OPERATOR, ht_str(group->trace, group->op_name));
	ht_table_put_i64(table, COL_COUNT, (int64_t)group->count);
	ht_table_put_f64(table, COL_OP_LAUNCH_DELAY_NS, (double)group->launch_delay_ns / n);
	ht_table_put_f64(table, COL_RUNTIME_DELAY_NS, (double)group->runtime_delay_ns / n);
	ht_table_put_i64(table, COL_KERNELS, (int64_t)group->n_kernels);
	ht_table_put_str(table, COL_KERNEL_SEQUENCE, group->sequence);
}

static enum ht_status measure_calls(struct ht_run *run, struct ht_part *part)
{
	struct ht_frame frame;
	HT_TRY(ht_frame_make(run, &frame));
	struct piece *pieces = ht_arena_room(run->scratch, frame.n_gpu * sizeof *pieces + 1);
	struct group *groups = ht_arena_room(run->scratch, frame.n_gpu * sizeof *groups + 1);
	if (!pieces || !groups)
		return ht_fail_nomem(run->ctx);
	size_t n = 0, n_groups = 0;
	HT_TRY(collect(run, &frame, pieces, &n));
	HT_TRY(group_calls(run, frame.trace, pieces, n, groups, &n_groups));
	for (size_t g = 0; g < n_groups; g++)
		put_group(part->facts[0], frame.rank, &groups[g]);
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	return ht_parts_rows_or(run, parts, table, "no kernel launched inside an aten operator");
}
