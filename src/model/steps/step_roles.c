/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_roles.c - see step_roles.h.
 */
#include "model/steps/step_roles.h"
#include "model/steps/timed_steps.h"

#include "model/run_memo.h"
#include "base/checked.h"
#include "base/search.h"
#include "store/earlier_work.h"
#include "store/trace_meta.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- bounds ---- */

/* Of GPU work launched in a step. */
struct reach {
	int64_t first, last; /* first start, last end */
	bool any;
};

/* Is a row one of those that make the span of a trace without steps? */
static bool is_plain_host(const struct ht_trace *t, uint32_t row)
{
	return t->kind[row] == HT_KIND_CPU_OP ||
	       (t->kind[row] == HT_KIND_OTHER && !strcasecmp(ht_cat(t, row), "python"));
}

static bool add_span(const struct ht_trace *t, uint32_t row, struct ht_bound *bound)
{
	if (!ht_is_span(t, row))
		return false;
	if (t->ts_ns[row] < bound->start)
		bound->start = t->ts_ns[row];
	if (ht_end_ns(t, row) > bound->end)
		bound->end = ht_end_ns(t, row);
	return true;
}

/* One step over the operators and the calls that launch GPU work, which kernels of other compilers have no operator around;
 * of a trace without operators, such as one of graphs that are replayed, over GPU work, too. */
static void span_whole(const struct ht_trace *t, struct ht_bounds *bounds)
{
	struct ht_bound whole = { .start = INT64_MAX, .end = INT64_MIN, .i_step = HT_NONE };
	bool has_operators = false;
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (is_plain_host(t, row))
			has_operators |= add_span(t, row, &whole);
	for (size_t i = 0; i < t->n_gpu; i++)
		if (t->gpu[i].launch != HT_NONE)
			(void)add_span(t, t->gpu[i].launch, &whole);
	whole.host_end = whole.end;
	for (size_t i = 0; !has_operators && i < t->n_gpu; i++)
		(void)add_span(t, t->gpu[i].row, &whole);
	whole.host_end = whole.host_end < whole.start ? whole.end : whole.host_end;
	if (whole.start <= whole.end)
		bounds->list[bounds->n++] = whole;
	bounds->is_whole = true;
}

/* ---- processes ---- */

static bool same_process(const struct ht_trace *t, uint32_t track, uint32_t other)
{
	const struct ht_track *a = &t->tracks[track], *b = &t->tracks[other];
	return a->pid == b->pid && a->pid_type == b->pid_type && a->document == b->document;
}

/* More processes than these in one file are not told apart. */
#define MOST_PROCESSES 64

size_t ht_step_processes(const struct ht_trace *t, uint32_t *ret_track)
{
	uint32_t tracks[MOST_PROCESSES];
	size_t n = 0, at = 0;
	*ret_track = HT_NONE;
	if (!t->n_steps || t->steps[0].is_named || !t->meta_->has_host_steps)
		return 0;
	for (size_t i = 0; i < t->n_steps; i++) {
		uint32_t track = t->track[t->steps[i].row];
		/* mostly it is that of the step before */
		if (at >= n || !same_process(t, tracks[at], track))
			for (at = 0; at < n && !same_process(t, tracks[at], track);)
				at++;
		if (at == n && n < MOST_PROCESSES)
			tracks[n++] = track;
	}
	for (size_t i = 0; i < t->n_steps; i++)
		if (t->steps[i].is_main)
			*ret_track = t->track[t->steps[i].row];
	return n;
}

/* ---- steps ---- */

/* Host ranges of the steps of the main thread, one per number: the first in time has the work of all. */
static enum ht_status list_steps(struct ht_run *run, struct ht_bounds *bounds)
{
	const struct ht_trace *t = run->trace;
	struct ht_timed_step *steps = NULL;
	size_t n = 0;
	HT_TRY(ht_timed_steps_make(run, t->steps, t->n_steps, &steps, &n));
	for (size_t i = 0; i < n; i++) {
		const struct ht_step *s = &t->steps[steps[i].i_step];
		struct ht_bound *last = bounds->n ? &bounds->list[bounds->n - 1] : NULL;
		if (last && last->number == s->number) {
			last->n_work += s->n_work;
			last->time_ns = ht_add_sat(last->time_ns, steps[i].time_ns);
			last->latency_ns = ht_sub_sat(s->done_ns, t->steps[last->i_step].ts_ns);
			continue;
		}
		bounds->list[bounds->n++] = (struct ht_bound){ .number = s->number,
			.start = s->ts_ns,
			.end = s->end_ns,
			.host_end = s->end_ns,
			.time_ns = steps[i].time_ns,
			.latency_ns = steps[i].latency_ns,
			.is_first = steps[i].is_first,
			.n_work = s->n_work,
			.i_step = steps[i].i_step };
	}
	bounds->is_named = t->n_steps && t->steps[0].is_named;
	return HT_OK;
}

/* The step whose host range holds a launch whole; bounds->n: none. */
static size_t step_of_launch(
        const struct ht_trace *t, const struct ht_bounds *bounds, uint32_t launch)
{
	size_t i = HT_LOWER_BOUND(at, bounds->n, bounds->list[at].start <= t->ts_ns[launch]);
	if (!i || ht_end_ns(t, launch) > bounds->list[i - 1].end)
		return bounds->n;
	return i - 1;
}

/* How far the GPU work of each step reaches; true when there is any. of_track: see ht_step_processes. */
static bool find_reach(const struct ht_trace *t, uint32_t of_track, struct ht_bounds *bounds,
        struct reach *reach, size_t *step_of_work)
{
	bool any = false;
	for (size_t i = 0; i < bounds->n; i++)
		reach[i] = (struct reach){ INT64_MAX, INT64_MIN, false };
	for (size_t i = 0; i < t->n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		size_t s = bounds->n;
		if (gpu->launch != HT_NONE && ht_is_span(t, gpu->row) &&
		        (of_track == HT_NONE || same_process(t, t->track[gpu->launch], of_track)))
			s = step_of_launch(t, bounds, gpu->launch);
		step_of_work[i] = s;
		if (s == bounds->n)
			continue;
		int64_t end = ht_end_ns(t, gpu->row);
		reach[s].any = true;
		if (t->ts_ns[gpu->row] < reach[s].first)
			reach[s].first = t->ts_ns[gpu->row];
		if (end > reach[s].last)
			reach[s].last = end;
		any = true;
	}
	return any;
}

static void reach_out(const struct ht_trace *t, struct ht_bounds *bounds, const struct reach *reach)
{
	const struct ht_bound *first = &bounds->list[0];
	int64_t before = bounds->is_whole ? ht_earlier_end(t, HT_NONE, first->start)
	                                  : t->steps[first->i_step].begin_ns;
	for (size_t i = 0; i < bounds->n; i++) {
		struct ht_bound *b = &bounds->list[i];
		if (b->start < before)
			b->start = before;
		if (reach[i].any && reach[i].last > b->end)
			b->end = reach[i].last;
		if (b->end < b->start)
			b->end = b->start;
		/* what launched may be through when its work begins */
		if (b->host_end < b->start)
			b->host_end = b->end;
		before = b->end;
	}
}

/* GPU work that reaches beyond its step. */
static enum ht_status reach_of_work(
        struct ht_run *run, uint32_t of_track, struct ht_arena *temporary, struct ht_bounds *bounds)
{
	const struct ht_trace *t = run->trace;
	struct reach *reach = ht_arena_alloc(temporary, (bounds->n + 1) * sizeof *reach);
	size_t *step_of_work = ht_arena_alloc(temporary, (t->n_gpu + 1) * sizeof(size_t));
	if (!reach || !step_of_work)
		return ht_fail_nomem(run->ctx);
	if (find_reach(t, of_track, bounds, reach, step_of_work))
		reach_out(t, bounds, reach);
	return HT_OK;
}

static enum ht_status make_bounds(struct ht_run *run, const void *of, void *ret_value)
{
	const struct ht_trace *t = run->trace;
	size_t n_room = t->n_steps + 1;
	struct ht_bounds bounds = { .list = ht_arena_alloc(
		                            run->scratch, n_room * sizeof *bounds.list) };
	struct ht_arena temporary;
	uint32_t of_track;
	(void)of;
	if (!bounds.list)
		return ht_fail_nomem(run->ctx);
	HT_TRY(list_steps(run, &bounds));
	if (!bounds.n)
		span_whole(t, &bounds);
	bool on_host = bounds.is_whole || t->meta_->has_host_steps;
	/* one process needs no telling apart */
	if (ht_step_processes(t, &of_track) < 2)
		of_track = HT_NONE;
	ht_arena_init_like(&temporary, run->scratch);
	enum ht_status status = on_host ? reach_of_work(run, of_track, &temporary, &bounds) : HT_OK;
	ht_arena_done(&temporary);
	*(struct ht_bounds *)ret_value = bounds;
	return status;
}

/* The list is the caller's own, to choose from. */
enum ht_status ht_bounds_make(struct ht_run *run, struct ht_bounds *ret_bounds)
{
	static const char kind;
	const struct ht_memoized how = { &kind, 0, make_bounds, sizeof *ret_bounds };
	HT_TRY(ht_run_memoize(run, &how, NULL, ret_bounds));
	size_t n = ret_bounds->n;
	struct ht_bound *list = ht_arena_room(run->scratch, (n + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(run->ctx);
	memcpy(list, ret_bounds->list, n * sizeof *list);
	ret_bounds->list = list;
	return HT_OK;
}

enum ht_status ht_bounds_choose(struct ht_run *run, struct ht_bounds *bounds)
{
	struct ht_selection chosen;
	size_t n = 0;
	HT_TRY(ht_selection_of(run, &chosen));
	/* what names steps, names those of the trace: one without steps is looked at whole */
	for (size_t i = 0; i < bounds->n && !bounds->is_whole; i++)
		if (ht_selection_has(&chosen, bounds->list[i].i_step))
			bounds->list[n++] = bounds->list[i];
	bounds->n = bounds->is_whole && chosen.is_whole ? bounds->n : n;
	bounds->is_all = chosen.is_whole;
	return HT_OK;
}

/* ---- roles ---- */

enum ht_busy ht_busy_of_work(struct ht_traits *traits, const struct ht_gpu *gpu)
{
	switch ((enum ht_class)gpu->class_) {
	case HT_CLASS_MEMCPY: return HT_BUSY_MEMCPY;
	case HT_CLASS_MEMSET: return HT_BUSY_MEMSET;
	case HT_CLASS_COMM: return HT_BUSY_COMM;
	case HT_CLASS_COMPUTE:
		if (gpu->op != HT_NONE && (ht_traits_of(traits, gpu->op) & HT_TRAIT_COMM))
			return HT_BUSY_COMM;
		return HT_BUSY_KERNEL;
	case HT_CLASS_SYNC:
	case HT_N_CLASSES: break;
	}
	return HT_BUSY_OTHER;
}

static enum ht_busy role_of_host(const struct ht_trace *t, struct ht_traits *traits, uint32_t row)
{
	uint8_t kind = t->kind[row];
	if (ht_kind_is_call(kind))
		return HT_BUSY_RUNTIME;
	if (!is_plain_host(t, row) && kind != HT_KIND_ANNOTATION)
		return HT_BUSY_OTHER;
	unsigned traits_of = ht_traits_of(traits, row);
	if (traits_of & HT_TRAIT_STEP)
		return HT_BUSY_OTHER;
	if (traits_of & HT_TRAIT_LOADER)
		return HT_BUSY_LOADER;
	return traits_of & HT_TRAIT_COMM ? HT_BUSY_COMM : HT_BUSY_CPU;
}

/* gpu_at: see ht_gpu_of_row_near. */
static enum ht_busy role_of_row(
        const struct ht_trace *t, struct ht_traits *traits, uint32_t row, size_t *gpu_at)
{
	if (!ht_kind_is_gpu_work(t->kind[row]))
		return role_of_host(t, traits, row);
	const struct ht_gpu *gpu = ht_gpu_of_row_near(t, row, gpu_at);
	return gpu ? ht_busy_of_work(traits, gpu) : HT_BUSY_OTHER;
}

struct rows {
	const struct ht_frame *frame;
	struct ht_traits *traits;
};

/* Where a kernel communicates, calls of the host that only launch such kernels are operators. */
static void tell_enqueuing(
        const struct ht_frame *frame, struct ht_traits *traits, uint8_t *role, size_t *n)
{
	const struct ht_trace *t = frame->trace;
	bool by_kernels = false;
	for (size_t i = 0; i < frame->n_rows && !by_kernels; i++)
		by_kernels =
		        role[i] == HT_BUSY_COMM && ht_kind_is_gpu_work(t->kind[frame->rows[i]]);
	for (size_t i = 0; i < frame->n_rows && by_kernels; i++) {
		uint32_t row = frame->rows[i];
		if (role[i] != HT_BUSY_COMM || ht_kind_is_gpu_work(t->kind[row]) ||
		        (ht_traits_of(traits, row) & HT_TRAIT_HOST_COMM))
			continue;
		role[i] = HT_BUSY_CPU;
		n[HT_BUSY_COMM]--;
		n[HT_BUSY_CPU]++;
	}
}

static enum ht_status make_busy(struct ht_run *run, const void *of, void *ret_value)
{
	const struct ht_frame *frame = ((const struct rows *)of)->frame;
	struct ht_traits *traits = ((const struct rows *)of)->traits;
	const struct ht_trace *t = frame->trace;
	struct ht_busy_times times = { 0 };
	size_t gpu_at = 0;
	uint8_t *role = ht_arena_room(run->scratch, frame->n_rows + 1);
	if (!role)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < frame->n_rows; i++) {
		role[i] = (uint8_t)role_of_row(t, traits, frame->rows[i], &gpu_at);
		if (role[i] != HT_BUSY_OTHER)
			times.n[role[i]]++;
	}
	tell_enqueuing(frame, traits, role, times.n);
	for (size_t k = 0; k < HT_BUSY_OTHER; k++) {
		times.list[k] =
		        ht_arena_room(run->scratch, (times.n[k] + 1) * sizeof(struct ht_interval));
		if (!times.list[k])
			return ht_fail_nomem(run->ctx);
		times.n[k] = 0;
	}
	for (size_t i = 0; i < frame->n_rows; i++) {
		uint32_t row = frame->rows[i];
		if (role[i] != HT_BUSY_OTHER)
			times.list[role[i]][times.n[role[i]]++] =
			        (struct ht_interval){ t->ts_ns[row], ht_end_ns(t, row) };
	}
	for (size_t k = 0; k < HT_BUSY_OTHER; k++)
		times.n[k] = ht_interval_merge(run->ctx->mem, times.list[k], times.n[k]);
	*(struct ht_busy_times *)ret_value = times;
	return HT_OK;
}

enum ht_status ht_busy_make(struct ht_run *run, const struct ht_frame *frame,
        struct ht_traits *traits, struct ht_busy_times *ret_times)
{
	static const char kind;
	const struct rows rows = { frame, traits };
	const struct ht_memoized how = { &kind, 0, make_busy, sizeof *ret_times };
	return ht_frame_share(run, frame, &how, &rows, ret_times);
}

enum ht_status ht_busy_split(struct ht_run *run, const struct ht_bounds *bounds,
        const struct ht_busy_times *times, int64_t (**ret_ns)[HT_N_BUSY])
{
	int64_t(*ns)[HT_N_BUSY] = ht_arena_alloc(run->scratch, (bounds->n + 1) * sizeof *ns);
	struct ht_interval *left = ht_arena_alloc(run->scratch, (bounds->n + 1) * sizeof *left);
	size_t n_left = 0;
	if (!ns || !left)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < bounds->n; i++) {
		left[n_left++] = (struct ht_interval){ bounds->list[i].start, bounds->list[i].end };
		ns[i][HT_BUSY_OTHER] = ht_sub_sat(bounds->list[i].end, bounds->list[i].start);
	}
	n_left = ht_interval_merge(run->ctx->mem, left, n_left);
	/* OTHER holds what is left of a step; each role takes its share from it */
	for (size_t k = 0; k < HT_BUSY_OTHER; k++) {
		struct ht_interval *rest =
		        ht_arena_room(run->scratch, (n_left + times->n[k] + 1) * sizeof *rest);
		if (!rest)
			return ht_fail_nomem(run->ctx);
		n_left = ht_interval_subtract(left, n_left, times->list[k], times->n[k], rest);
		left = rest;
		for (size_t i = 0; i < bounds->n; i++) {
			const struct ht_bound *b = &bounds->list[i];
			int64_t still = ht_interval_within(left, n_left, b->start, b->end);
			ns[i][k] = ns[i][HT_BUSY_OTHER] - still;
			ns[i][HT_BUSY_OTHER] = still;
		}
	}
	*ret_ns = ns;
	return HT_OK;
}
