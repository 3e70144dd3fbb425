/*
 * collective_match.c - see collective_match.h.
 */
#include "model/collective_match.h"
#include "hta/hta_names.h"
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

struct call {
	struct ht_collective_call call;
	uint32_t group, name; /* texts in the pool */
	int64_t key_step;     /* HT_NO_I64 when the sequence number decides */
	int64_t nth, step, elements;
	int64_t order_ns; /* launch, else start */
	uint32_t row;
};

struct match {
	struct ht_run *run;
	struct ht_pool texts;
	struct call *calls;
	size_t n;
};

static int compare_places(const struct call *a, const struct call *b)
{
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->key_step != b->key_step)
		return a->key_step < b->key_step ? -1 : 1;
	return 0;
}

/* Order within a rank, to count positions. */
static int by_rank_and_order(const void *left, const void *right)
{
	const struct call *a = left, *b = right;
	if (a->call.i_frame != b->call.i_frame)
		return a->call.i_frame < b->call.i_frame ? -1 : 1;
	int by_place = compare_places(a, b);
	if (by_place)
		return by_place;
	if (a->order_ns != b->order_ns)
		return a->order_ns < b->order_ns ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static int by_collective(const void *left, const void *right)
{
	const struct call *a = left, *b = right;
	int by_place = compare_places(a, b);
	if (by_place)
		return by_place;
	if (a->nth != b->nth)
		return a->nth < b->nth ? -1 : 1;
	if (a->call.i_frame != b->call.i_frame)
		return a->call.i_frame < b->call.i_frame ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static int by_start(const void *left, const void *right)
{
	const struct ht_collective *a = left, *b = right;
	if (a->calls[0].start_ns != b->calls[0].start_ns)
		return a->calls[0].start_ns < b->calls[0].start_ns ? -1 : 1;
	if (a->calls[0].i_frame != b->calls[0].i_frame)
		return a->calls[0].i_frame < b->calls[0].i_frame ? -1 : 1;
	return a->calls[0].gpu < b->calls[0].gpu ? -1 : a->calls[0].gpu > b->calls[0].gpu;
}

static bool add_text(struct match *match, const char *text, uint32_t *ret_id)
{
	struct ht_text added;
	size_t n = text ? strlen(text) : 0;
	if (!text || !ht_pool_add(&match->texts, text, n, ht_hash(text, n), &added))
		return false;
	*ret_id = added.id;
	return true;
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

static bool read_call(struct match *match, const struct ht_frame *frame, size_t i_frame,
        uint32_t i_gpu, struct call *ret_call)
{
	const struct ht_trace *trace = frame->trace;
	const struct ht_gpu *gpu = &trace->gpu[i_gpu];
	uint32_t args = args_row(trace, gpu);
	struct call call = { .row = gpu->row, .key_step = HT_NO_I64, .step = HT_NO_I64 };
	if (!add_text(match, group_text(match->run, trace, args, frame->rank), &call.group) ||
	        !add_text(match, collective_name(match->run, trace, args, gpu->row), &call.name))
		return false;
	call.call = (struct ht_collective_call){ .i_frame = i_frame,
		.gpu = i_gpu,
		.start_ns = trace->ts_ns[gpu->row] + frame->offset_ns,
		.dur_ns = trace->dur_ns[gpu->row],
		.launch_ns = HT_NO_I64 };
	call.order_ns = call.call.start_ns;
	if (gpu->launch != HT_NONE) {
		call.call.launch_ns = trace->ts_ns[gpu->launch] + frame->offset_ns;
		call.order_ns = call.call.launch_ns;
		uint32_t step = trace->step[gpu->launch];
		call.step = step == HT_NONE ? HT_NO_I64 : trace->steps[step].number;
	}
	call.elements = ht_arg_i64(trace, "In msg nelems", args, HT_NO_I64);
	call.nth = ht_arg_i64(trace, "Seq", args, -1);
	/* INT64_MIN + 1 is what no step number is: calls outside steps are counted on their own */
	if (call.nth < 0)
		call.key_step = call.step == HT_NO_I64 ? INT64_MIN + 1 : call.step;
	*ret_call = call;
	return true;
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

static enum ht_status collect(struct match *match, const struct ht_frame *frames, size_t n_frames)
{
	size_t n = 0;
	for (size_t f = 0; f < n_frames; f++)
		for (size_t i = 0; i < frames[f].n_gpu; i++)
			n += frames[f].trace->gpu[frames[f].gpu[i]].class_ == HT_CLASS_COMM;
	match->calls = ht_arena_alloc(match->run->scratch, (n + 1) * sizeof *match->calls);
	if (!match->calls)
		return ht_fail_nomem(match->run->ctx);
	for (size_t f = 0; f < n_frames; f++) {
		bool launched_only = has_launched(&frames[f]);
		for (size_t i = 0; i < frames[f].n_gpu; i++) {
			uint32_t i_gpu = frames[f].gpu[i];
			const struct ht_gpu *gpu = &frames[f].trace->gpu[i_gpu];
			if (gpu->class_ != HT_CLASS_COMM ||
			        (launched_only && gpu->launch == HT_NONE))
				continue;
			if (!read_call(match, &frames[f], f, i_gpu, &match->calls[match->n++]))
				return ht_fail_nomem(match->run->ctx);
		}
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
		bool same = i && calls[i - 1].call.i_frame == calls[i].call.i_frame &&
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
	const struct ht_text *texts = match->texts.texts.data;
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
			if (flat[i].i_frame != found[n - 1].calls[found[n - 1].n - 1].i_frame)
				flat[found[n - 1].calls - flat + found[n - 1].n++] = flat[i];
			continue;
		}
		const struct ht_text *group = &texts[calls[i].group], *name = &texts[calls[i].name];
		found[n++] = (struct ht_collective){
			.group = ht_arena_strndup(scratch, group->bytes, group->n),
			.name = ht_arena_strndup(scratch, name->bytes, name->n),
			.step = calls[i].step,
			.nth = calls[i].nth,
			.elements = calls[i].elements,
			.calls = &flat[i],
			.n = 1,
		};
		if (!found[n - 1].group || !found[n - 1].name)
			return ht_fail_nomem(match->run->ctx);
	}
	qsort(found, n, sizeof *found, by_start);
	*ret_collectives = found;
	*ret_n = n;
	return HT_OK;
}

enum ht_status ht_collectives_match(struct ht_run *run, const struct ht_frame *frames,
        size_t n_frames, const struct ht_collective **ret_collectives, size_t *ret_n)
{
	struct match match = { .run = run };
	ht_pool_init(&match.texts, run->ctx->mem);
	enum ht_status status = collect(&match, frames, n_frames);
	if (status == HT_OK) {
		count_positions(&match);
		status = group_calls(&match, ret_collectives, ret_n);
	}
	ht_pool_done(&match.texts);
	return status;
}
