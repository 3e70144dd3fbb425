/*
 * collective_match.c - see collective_match.h.
 */
#include "model/collective_match.h"
#include "hta/hta_names.h"

#include <stdlib.h>
#include <string.h>

const struct ht_column ht_collective_columns[HT_N_COLLECTIVE_COLUMNS] = {
	{ "group", HT_STR, HT_KEY, "process group and its ranks, or the pair of a send", NULL },
	{ "name", HT_STR, HT_KEY, "collective, or its kernel", NULL },
	{ "key_step", HT_I64, HT_KEY, "step that positions are counted in; null: nth is a sequence",
	        NULL },
	{ "nth", HT_I64, HT_KEY, "sequence number, or position", NULL },
	{ "step", HT_I64, HT_DETAIL, "step of the launch", NULL },
	{ "elements", HT_I64, HT_DETAIL, "elements in its input", NULL },
	{ "start_ns", HT_TIME, HT_MEASURE, "start of the kernel", NULL },
	{ "dur_ns", HT_DURATION, HT_MEASURE, "duration of the kernel", NULL },
	{ "launch_ns", HT_TIME, HT_MEASURE, "start of the launch call", NULL },
	{ "row", HT_I64, HT_KEY, "row of the kernel", NULL },
	{ "order_ns", HT_TIME, HT_DETAIL, "what calls of a rank are ordered by", NULL },
};
enum { GROUP, NAME, KEY_STEP, NTH, STEP, ELEMENTS, START, DUR, LAUNCH, ROW, ORDER };

struct call {
	struct ht_collective_call call;
	const char *group, *name;
	int64_t key_step; /* HT_NO_I64 when the sequence number decides */
	int64_t nth, step, elements;
	int64_t order_ns; /* launch, else start */
};

struct match {
	struct ht_run *run;
	struct call *calls;
	size_t n;
};

static int compare_texts(const char *a, const char *b)
{
	return a == b ? 0 : strcmp(a, b);
}

static int compare_places(const struct call *a, const struct call *b)
{
	int order = compare_texts(a->group, b->group);
	if (!order)
		order = compare_texts(a->name, b->name);
	if (order)
		return order;
	if (a->key_step != b->key_step)
		return a->key_step < b->key_step ? -1 : 1;
	return 0;
}

/* Order within a rank, to count positions. */
static int by_rank_and_order(const void *left, const void *right)
{
	const struct call *a = left, *b = right;
	if (a->call.i_part != b->call.i_part)
		return a->call.i_part < b->call.i_part ? -1 : 1;
	int by_place = compare_places(a, b);
	if (by_place)
		return by_place;
	if (a->order_ns != b->order_ns)
		return a->order_ns < b->order_ns ? -1 : 1;
	return a->call.row < b->call.row ? -1 : a->call.row > b->call.row;
}

static int by_collective(const void *left, const void *right)
{
	const struct call *a = left, *b = right;
	int by_place = compare_places(a, b);
	if (by_place)
		return by_place;
	if (a->nth != b->nth)
		return a->nth < b->nth ? -1 : 1;
	if (a->call.i_part != b->call.i_part)
		return a->call.i_part < b->call.i_part ? -1 : 1;
	return a->call.row < b->call.row ? -1 : a->call.row > b->call.row;
}

static int by_start(const void *left, const void *right)
{
	const struct ht_collective *a = left, *b = right;
	if (a->calls[0].start_ns != b->calls[0].start_ns)
		return a->calls[0].start_ns < b->calls[0].start_ns ? -1 : 1;
	if (a->calls[0].i_part != b->calls[0].i_part)
		return a->calls[0].i_part < b->calls[0].i_part ? -1 : 1;
	return a->calls[0].row < b->calls[0].row ? -1 : a->calls[0].row > b->calls[0].row;
}

/* The row with the collective's arguments: the kernel, or record_param_comms around its launch. */
static uint32_t args_row(const struct ht_trace *trace, const struct ht_gpu *gpu)
{
	if (ht_arg_str(trace, "Collective name", gpu->row))
		return gpu->row;
	uint32_t up = gpu->launch;
	for (int level = 0; up != HT_NONE && level < 64; level++, up = trace->parent[up])
		if (ht_arg_str(trace, "Collective name", up))
			return up;
	return gpu->row;
}

static const char *group_text(
        struct ht_run *run, const struct ht_trace *trace, uint32_t row, int64_t rank)
{
	int64_t from = ht_arg_i64(trace, "Src Rank", row, HT_NO_I64);
	int64_t to = ht_arg_i64(trace, "Dst Rank", row, HT_NO_I64);
	if (from != HT_NO_I64 || to != HT_NO_I64)
		return ht_arena_printf(run->scratch, "%lld->%lld",
		        (long long)(from != HT_NO_I64 ? from : rank),
		        (long long)(to != HT_NO_I64 ? to : rank));
	const char *name = ht_arg_str(trace, "Process Group Name", row);
	const char *ranks = ht_arg_str(trace, "Process Group Ranks", row);
	if (name && ranks)
		return ht_arena_printf(run->scratch, "%s %s", name, ranks);
	return name ? name : ranks ? ranks : "";
}

static const char *collective_name(
        struct ht_run *run, const struct ht_trace *trace, uint32_t row, uint32_t kernel_row)
{
	const char *name = ht_arg_str(trace, "Collective name", row);
	if (!name || !*name)
		return ht_hta_shorten_name(run->scratch, ht_str(trace, trace->name[kernel_row]));
	/* both ends of a pair must have one name */
	return strcmp(name, "send") == 0 || strcmp(name, "recv") == 0 ? "send/recv" : name;
}

static enum ht_status put_call(
        struct ht_run *run, const struct ht_trace *trace, const struct ht_gpu *gpu, ht_table *table)
{
	uint32_t args = args_row(trace, gpu);
	const char *group = group_text(run, trace, args, run->rank);
	const char *name = collective_name(run, trace, args, gpu->row);
	int64_t start_ns = trace->ts_ns[gpu->row], launch_ns = HT_NO_I64, number = HT_NO_I64;
	int64_t nth = ht_arg_i64(trace, "Seq", args, -1);
	if (!group || !name)
		return ht_fail_nomem(run->ctx);
	if (gpu->launch != HT_NONE) {
		uint32_t step = trace->step[gpu->launch];
		launch_ns = trace->ts_ns[gpu->launch];
		number = step == HT_NONE ? HT_NO_I64 : trace->steps[step].number;
	}
	ht_table_row(table);
	ht_table_put_str(table, group);
	ht_table_put_str(table, name);
	/* INT64_MIN + 1 is what no step number is: calls outside steps are counted on their own */
	ht_table_put_known(table,
	        nth >= 0              ? HT_NO_I64
	        : number == HT_NO_I64 ? INT64_MIN + 1
	                              : number,
	        HT_NO_I64);
	ht_table_put_i64(table, nth);
	ht_table_put_known(table, number, HT_NO_I64);
	ht_table_put_known(table, ht_arg_i64(trace, "In msg nelems", args, HT_NO_I64), HT_NO_I64);
	ht_table_put_i64(table, start_ns);
	ht_table_put_i64(table, trace->dur_ns[gpu->row]);
	ht_table_put_known(table, launch_ns, HT_NO_I64);
	ht_table_put_i64(table, gpu->row);
	ht_table_put_i64(table, launch_ns == HT_NO_I64 ? start_ns : launch_ns);
	return HT_OK;
}

static bool has_launched(const struct ht_frame *frame)
{
	for (size_t i = 0; i < frame->n_gpu; i++) {
		const struct ht_gpu *gpu = &frame->trace->gpu[frame->gpu[i]];
		if (gpu->class_ == HT_CLASS_COMM && gpu->launch != HT_NONE)
			return true;
	}
	return false;
}

enum ht_status ht_collective_calls_put(
        struct ht_run *run, const struct ht_frame *frame, ht_table *table)
{
	bool launched_only = has_launched(frame);
	for (size_t i = 0; i < frame->n_gpu; i++) {
		const struct ht_gpu *gpu = &frame->trace->gpu[frame->gpu[i]];
		if (gpu->class_ != HT_CLASS_COMM || (launched_only && gpu->launch == HT_NONE))
			continue;
		HT_TRY(put_call(run, frame->trace, gpu, table));
	}
	return HT_OK;
}

static int64_t known(const ht_table *table, size_t row, size_t column, int64_t shift)
{
	if (ht_table_is_null(table, row, column))
		return HT_NO_I64;
	return ht_table_i64(table, row, column) + shift;
}

static struct call get_call(const ht_table *table, size_t row, size_t i_part, int64_t offset_ns)
{
	return (struct call){ .call = { .i_part = i_part,
		                      .row = ht_table_i64(table, row, ROW),
		                      .start_ns = known(table, row, START, offset_ns),
		                      .dur_ns = ht_table_i64(table, row, DUR),
		                      .launch_ns = known(table, row, LAUNCH, offset_ns) },
		.group = ht_table_str(table, row, GROUP),
		.name = ht_table_str(table, row, NAME),
		.key_step = known(table, row, KEY_STEP, 0),
		.nth = ht_table_i64(table, row, NTH),
		.step = known(table, row, STEP, 0),
		.elements = known(table, row, ELEMENTS, 0),
		.order_ns = known(table, row, ORDER, offset_ns) };
}

static enum ht_status collect(struct match *match, const struct ht_parts *parts, size_t k)
{
	size_t n = ht_parts_n_rows(parts, k);
	match->calls = ht_arena_alloc(match->run->scratch, (n + 1) * sizeof *match->calls);
	if (!match->calls)
		return ht_fail_nomem(match->run->ctx);
	for (size_t i = 0; i < parts->n; i++) {
		const ht_table *facts = parts->list[i].facts[k];
		int64_t offset_ns = ht_part_offset_ns(match->run, &parts->list[i]);
		for (size_t row = 0; row < ht_table_n_rows(facts); row++)
			match->calls[match->n++] = get_call(facts, row, i, offset_ns);
	}
	return HT_OK;
}

static void count_positions(struct match *match)
{
	struct call *calls = match->calls;
	qsort(calls, match->n, sizeof *calls, by_rank_and_order);
	int64_t next = 0;
	for (size_t i = 0; i < match->n; i++) {
		if (calls[i].key_step == HT_NO_I64)
			continue;
		bool same = i && calls[i - 1].call.i_part == calls[i].call.i_part &&
		            compare_places(&calls[i - 1], &calls[i]) == 0;
		next = same ? next + 1 : 0;
		calls[i].nth = next;
	}
	qsort(calls, match->n, sizeof *calls, by_collective);
}

static enum ht_status group_calls(
        struct match *match, const struct ht_collective **ret_collectives, size_t *ret_n)
{
	struct ht_arena *scratch = match->run->scratch;
	const struct call *calls = match->calls;
	struct ht_collective *found = ht_arena_alloc(scratch, (match->n + 1) * sizeof *found);
	struct ht_collective_call *flat = ht_arena_alloc(scratch, (match->n + 1) * sizeof *flat);
	if (!found || !flat)
		return ht_fail_nomem(match->run->ctx);
	size_t n = 0;
	for (size_t i = 0; i < match->n; i++) {
		flat[i] = calls[i].call;
		bool same = i && compare_places(&calls[i - 1], &calls[i]) == 0 &&
		            calls[i - 1].nth == calls[i].nth;
		if (same) {
			/* a sequence number that one rank has twice: the first call stands */
			if (flat[i].i_part != found[n - 1].calls[found[n - 1].n - 1].i_part)
				flat[found[n - 1].calls - flat + found[n - 1].n++] = flat[i];
			continue;
		}
		found[n++] = (struct ht_collective){
			.group = calls[i].group,
			.name = calls[i].name,
			.step = calls[i].step,
			.nth = calls[i].nth,
			.elements = calls[i].elements,
			.calls = &flat[i],
			.n = 1,
		};
	}
	qsort(found, n, sizeof *found, by_start);
	*ret_collectives = found;
	*ret_n = n;
	return HT_OK;
}

enum ht_status ht_collectives_match(struct ht_run *run, const struct ht_parts *parts, size_t k,
        const struct ht_collective **ret_collectives, size_t *ret_n)
{
	struct match match = { .run = run };
	HT_TRY(collect(&match, parts, k));
	count_positions(&match);
	return group_calls(&match, ret_collectives, ret_n);
}
