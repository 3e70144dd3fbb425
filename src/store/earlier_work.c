/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earlier_work.c - see earlier_work.h.
 */
#include "store/earlier_work.h"

#include "base/checked.h"
#include "store/trace_meta.h"

bool ht_was_queued(const struct ht_trace *t, uint32_t launch, int64_t start_ns)
{
	return launch != HT_NONE && ht_is_span(t, launch) &&
	       ht_sub_sat(start_ns, ht_end_ns(t, launch)) > HT_QUEUED_NS;
}

static bool is_own(const struct ht_trace *t, const struct ht_gpu *gpu, uint32_t step)
{
	return gpu->launch != HT_NONE && (step == HT_NONE || ht_step_of(t, gpu->row) == step);
}

/* Of another step it is not of before the first. */
static bool is_earlier(const struct ht_trace *t, const struct ht_gpu *gpu)
{
	return gpu->launch == HT_NONE || ht_step_of(t, gpu->row) == HT_NONE;
}

/* Of a step: the first activity of all, the first of its own, and where the last of its own ends. */
struct work {
	const struct ht_gpu *first, *own; /* NULL: there is none */
	int64_t done_ns;
};

static struct work find_work(const struct ht_trace *t, uint32_t step)
{
	const struct ht_gpu *first = NULL, *own = NULL;
	int64_t done_ns = INT64_MIN;
	for (size_t i = 0; i < t->n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		if (!ht_is_span(t, gpu->row))
			continue;
		int64_t ts = t->ts_ns[gpu->row];
		if (!first || ts < t->ts_ns[first->row])
			first = gpu;
		if (!is_own(t, gpu, step))
			continue;
		if (!own || ts < t->ts_ns[own->row])
			own = gpu;
		done_ns = ht_end_ns(t, gpu->row) > done_ns ? ht_end_ns(t, gpu->row) : done_ns;
	}
	return (struct work){ first, own, done_ns };
}

/* A device that is behind when a step begins, and is not when it ends, had less to do than the CPU all the time: nothing waited for it. */
static bool stays_behind(const struct ht_trace *t, uint32_t step, const struct work *work)
{
	return step == HT_NONE || !t->meta->has_host_steps ||
	       ht_sub_sat(work->done_ns, t->steps[step].end_ns) > HT_QUEUED_NS;
}

int64_t ht_earlier_end(const struct ht_trace *t, uint32_t step, int64_t ts_ns)
{
	struct work work = find_work(t, step);
	int64_t latest = ts_ns;
	if (!work.own)
		return ts_ns;
	int64_t own_ns = t->ts_ns[work.own->row];
	/* only what the step itself waits in the queue for is none of its time */
	if (own_ns == t->ts_ns[work.first->row] && own_ns > latest &&
	        ht_was_queued(t, work.first->launch, own_ns) && stays_behind(t, step, &work))
		latest = own_ns;
	for (size_t i = 0; i < t->n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		if (!ht_is_span(t, gpu->row) || is_own(t, gpu, step) || !is_earlier(t, gpu))
			continue;
		int64_t end = ht_end_ns(t, gpu->row);
		if (end > latest && end <= own_ns)
			latest = end;
	}
	return latest;
}

enum ht_status ht_unlaunched_end(
        ht_ctx *ctx, struct ht_arena *scratch, const struct ht_trace *t, int64_t *ret_ns)
{
	/* by track: when its first activity with a call begins */
	int64_t *launched_ns = ht_arena_alloc(scratch, (t->n_tracks + 1) * sizeof *launched_ns);
	*ret_ns = HT_NO_I64;
	if (!launched_ns)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < t->n_tracks; i++)
		launched_ns[i] = INT64_MIN;
	for (size_t i = 0; i < t->n_gpu; i++) {
		uint32_t row = t->gpu[i].row;
		int64_t *first = &launched_ns[t->track[row]];
		if (t->gpu[i].launch != HT_NONE && ht_is_span(t, row) &&
		        (*first == INT64_MIN || t->ts_ns[row] < *first))
			*first = t->ts_ns[row];
	}
	for (size_t i = 0; i < t->n_gpu; i++) {
		uint32_t row = t->gpu[i].row;
		if (t->gpu[i].launch != HT_NONE || !ht_is_span(t, row))
			continue;
		int64_t end = ht_end_ns(t, row);
		if (end <= launched_ns[t->track[row]] && (*ret_ns == HT_NO_I64 || end > *ret_ns))
			*ret_ns = end;
	}
	return HT_OK;
}
