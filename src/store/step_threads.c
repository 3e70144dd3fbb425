/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_threads.c - see step_threads.h.
 */
#include "store/step_threads.h"

#include "base/search.h"
#include "base/sort.h"
#include "store/flow.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <stdlib.h>
#include <string.h>

/* How many steps that have begun are looked at for one that is still open: they follow each other. */
#define LOOKED_AT 16

/* ---- threads ---- */

static uint32_t track_of_step(const struct ht_trace *t, size_t i)
{
	return t->meta_->has_host_steps && !t->steps[i].is_named ? t->track[t->steps[i].row]
	                                                         : HT_NONE;
}

static enum ht_status list_threads(
        ht_ctx *ctx, struct ht_arena *arena, struct ht_step_threads *threads)
{
	const struct ht_trace *t = threads->t;
	uint32_t *of_step = ht_arena_alloc(arena, (t->n_steps + 1) * sizeof *of_step);
	threads->list = ht_arena_alloc(arena, (t->n_tracks + 1) * sizeof *threads->list);
	threads->steps = ht_arena_alloc(arena, (t->n_steps + 1) * sizeof *threads->steps);
	threads->of_track = ht_arena_alloc(arena, (t->n_tracks + 1) * sizeof *threads->of_track);
	if (!of_step || !threads->list || !threads->steps || !threads->of_track)
		return ht_fail_nomem(ctx);
	memset(threads->of_track, 0xff, (t->n_tracks + 1) * sizeof *threads->of_track);
	size_t first = 0;
	for (size_t i = 0; i < t->n_steps; i++) {
		uint32_t track = track_of_step(t, i);
		/* steps of the GPU are those of one thread */
		uint32_t at = track != HT_NONE ? threads->of_track[track]
		              : threads->n     ? 0
		                               : HT_NONE;
		if (at == HT_NONE) {
			at = (uint32_t)threads->n++;
			threads->list[at].track = track;
			if (track != HT_NONE)
				threads->of_track[track] = at;
		}
		of_step[i] = at;
		threads->list[at].n++;
	}
	for (size_t k = 0; k < threads->n; k++) {
		threads->list[k].first = first;
		first += threads->list[k].n;
		threads->list[k].n = 0;
	}
	for (uint32_t i = 0; i < t->n_steps; i++) {
		struct ht_step_thread *thread = &threads->list[of_step[i]];
		threads->steps[thread->first + thread->n++] = i;
	}
	return HT_OK;
}

static void count_launches(struct ht_step_threads *threads)
{
	const struct ht_trace *t = threads->t;
	for (size_t i = 0; i < t->n_gpu; i++) {
		uint32_t launch = t->gpu[i].launch;
		uint32_t of = launch == HT_NONE ? HT_NONE : threads->of_track[t->track[launch]];
		if (of != HT_NONE)
			threads->list[of].n_launches++;
	}
}

static bool launches_more(const struct ht_step_thread *a, const struct ht_step_thread *b)
{
	return a->n_launches != b->n_launches ? a->n_launches > b->n_launches : a->n > b->n;
}

uint32_t ht_step_threads_first(const struct ht_step_threads *threads)
{
	uint32_t best = 0;
	for (uint32_t k = 1; k < threads->n; k++)
		if (launches_more(&threads->list[k], &threads->list[best]))
			best = k;
	return best;
}

/* ---- processes ---- */

static int compare_process(const struct ht_track *a, const struct ht_track *b)
{
	if (a->document != b->document)
		return a->document < b->document ? -1 : 1;
	if (a->pid_type != b->pid_type)
		return a->pid_type < b->pid_type ? -1 : 1;
	return ht_order_i64(a->pid, b->pid);
}

/* A process that marks steps: one of its tracks, how many threads do, and which of them launches most. */
struct process {
	const struct ht_track *track;
	uint32_t n_threads, best;
};

static int by_process(const void *left, const void *right)
{
	const struct process *a = left, *b = right;
	int order = compare_process(a->track, b->track);
	return order ? order : (a->best > b->best) - (a->best < b->best);
}

/* Ascending; NULL without memory. */
static struct process *list_processes(
        const struct ht_step_threads *threads, struct ht_arena *arena, size_t *ret_n)
{
	struct process *list = ht_arena_alloc(arena, (threads->n + 1) * sizeof *list);
	size_t n = 0;
	if (!list)
		return NULL;
	for (uint32_t k = 0; k < threads->n; k++)
		list[k] = (struct process){ &threads->t->tracks[threads->list[k].track], 1, k };
	qsort(list, threads->n, sizeof *list, by_process);
	for (size_t k = 0; k < threads->n; k++) {
		struct process next = list[k], *last = n ? &list[n - 1] : NULL;
		if (!last || compare_process(last->track, next.track)) {
			list[n++] = next;
			continue;
		}
		last->n_threads++;
		if (launches_more(&threads->list[next.best], &threads->list[last->best]))
			last->best = next.best;
	}
	*ret_n = n;
	return list;
}

static const struct process *find_process(
        const struct process *list, size_t n, const struct ht_track *track)
{
	size_t i = HT_LOWER_BOUND(at, n, compare_process(list[at].track, track) < 0);
	return i < n && !compare_process(list[i].track, track) ? &list[i] : NULL;
}

/* ---- the backward pass ---- */

/* By row of a backward call: the thread that ran its forward operator. */
static void mark_callers(struct ht_step_threads *threads)
{
	const struct ht_trace *t = threads->t;
	uint32_t new_name = ht_str_find(t, "fwdbwd"), old_name = ht_str_find(t, "forward_backward");
	for (size_t i = 0; i < t->more->n_flows; i++) {
		const struct ht_flow *flow = &t->more->flows[i];
		bool is_ours =
		        flow->cat != HT_NO_STR && (flow->cat == new_name || flow->cat == old_name);
		if (!is_ours || flow->from == HT_NONE || flow->to == HT_NONE)
			continue;
		uint32_t from = t->track[flow->from];
		uint32_t own = threads->of_track[t->track[flow->to]];
		bool marks = own != HT_NONE && threads->list[own].track == t->track[flow->to];
		uint32_t of = threads->of_track[from];
		if (!marks && of != HT_NONE && threads->list[of].track == from)
			threads->of_row[flow->to] = of;
	}
}

/* A top-level call and all inside it have one caller. */
static void spread_callers(struct ht_step_threads *threads, uint32_t i_track)
{
	const struct ht_trace *t = threads->t;
	const struct ht_track *track = &t->tracks[i_track];
	const uint32_t *rows = t->track_rows + track->first;
	uint32_t caller = HT_NONE;
	for (size_t i = 0, end; i < track->n; i = end) {
		uint32_t found = threads->of_row[rows[i]];
		for (end = i + 1; end < track->n && t->parent[rows[end]] != HT_NONE; end++)
			if (found == HT_NONE)
				found = threads->of_row[rows[end]];
		caller = found != HT_NONE ? found : caller;
		for (size_t k = i; k < end; k++)
			threads->of_row[rows[k]] = caller;
	}
}

/* Which thread each track without steps goes with. */
static enum ht_status give_steps(
        ht_ctx *ctx, struct ht_arena *arena, struct ht_step_threads *threads)
{
	const struct ht_trace *t = threads->t;
	uint32_t first = ht_step_threads_first(threads);
	size_t n_rows = ht_n_events(t), n = 0;
	bool *asks = ht_arena_alloc(arena, t->n_tracks + 1), any = false;
	struct process *processes = threads->n > 1 ? list_processes(threads, arena, &n) : NULL;
	if (!asks || (threads->n > 1 && !processes))
		return ht_fail_nomem(ctx);
	for (uint32_t k = 0; k < t->n_tracks; k++) {
		if (threads->of_track[k] != HT_NONE)
			continue;
		const struct process *own = find_process(processes, n, &t->tracks[k]);
		threads->of_track[k] = own ? own->best : first;
		any |= asks[k] = own && own->n_threads > 1;
	}
	if (!any)
		return HT_OK;
	threads->of_row = ht_arena_alloc(arena, (n_rows + 1) * sizeof *threads->of_row);
	if (!threads->of_row)
		return ht_fail_nomem(ctx);
	memset(threads->of_row, 0xff, (n_rows + 1) * sizeof *threads->of_row);
	mark_callers(threads);
	for (uint32_t k = 0; k < t->n_tracks; k++)
		if (asks[k])
			spread_callers(threads, k);
	return HT_OK;
}

enum ht_status ht_step_threads_make(ht_ctx *ctx, const struct ht_trace *t, struct ht_arena *arena,
        struct ht_step_threads *ret_threads)
{
	struct ht_step_threads threads = { .t = t };
	HT_TRY(list_threads(ctx, arena, &threads));
	count_launches(&threads);
	HT_TRY(give_steps(ctx, arena, &threads));
	*ret_threads = threads;
	return HT_OK;
}

/* ---- steps ---- */

uint32_t ht_step_thread_at(
        const struct ht_step_threads *threads, uint32_t thread, int64_t ts, uint32_t hint)
{
	const struct ht_step *all = threads->t->steps;
	const struct ht_step_thread *of = &threads->list[thread];
	const uint32_t *steps = threads->steps + of->first;
	/* the only thread has its steps in the order of the trace */
	if (threads->n == 1 && hint != HT_NONE && ts >= all[hint].ts_ns && ts < all[hint].end_ns &&
	        (hint + 1 == of->n || ts < all[hint + 1].ts_ns))
		return hint;
	size_t begun = HT_LOWER_BOUND(at, of->n, all[steps[at]].ts_ns <= ts);
	for (size_t i = begun; i-- > 0 && begun - i <= LOOKED_AT;)
		if (ts < all[steps[i]].end_ns)
			return steps[i];
	return begun && begun < of->n ? steps[begun - 1] : HT_NONE;
}
