/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_slack.c - how much later everything of a window could be before the window gets longer.
 *
 * The steps of cp_retime.c in reverse: what waits for something passes its own slack on, plus the time by
 * which the other was early. A host thread passes on what is left at its next points: launches, calls
 * that wait, handovers, the end. An event has the least slack of its own time.
 *
 * Example: a [0,3) and b [0,2), both waited for by c [3,4), which ends the window: a 0, b 1, c 0.
 */
#include "graph/cp_retime.h"
#include "graph/cp_look.h"

#include <stdlib.h>
#include <string.h>

/* What is set is listed up to this share of all; beyond it, freeing all takes no longer than setting did. */
#define LISTED_SHARE 8

/* A moment of a host thread that something hangs on. */
struct point {
	int64_t time_ns, slack_ns;
	uint32_t track, pad;
};

static int64_t more(int64_t slack, int64_t by)
{
	return slack > HT_CP_FREE - by ? HT_CP_FREE : slack + by;
}

/* Set a slack of the clock, and remember that it has one. */
static void set(struct ht_cp_clock *c, int64_t *slack, int64_t to)
{
	if (*slack == HT_CP_FREE && c->lists_set)
		c->lists_set = c->set.n < c->n_slacks / LISTED_SHARE &&
		               HT_VEC_PUSH(c->run->ctx->mem, &c->set, int64_t *, slack);
	*slack = to;
}

static void lower(struct ht_cp_clock *c, int64_t *slack, int64_t to)
{
	if (to < *slack)
		set(c, slack, to);
}

/* All free again, but for what was set: with many windows each sets few of them. */
static void free_slacks(struct ht_cp_clock *c)
{
	int64_t *all[] = { c->work_slack, c->held_slack, c->handover_slack, c->span_slack,
		c->row_slack };
	const size_t n[] = { c->m->n_works, c->n_held, c->n_handovers,
		c->m->first_span[c->m->trace->n_tracks], c->m->trace->n_kind };
	int64_t **set = c->set.data;
	for (size_t i = 0; c->lists_set && i < c->set.n; i++)
		*set[i] = HT_CP_FREE;
	c->n_slacks = 0;
	for (size_t k = 0; k < HT_COUNT(all); k++) {
		for (size_t i = 0; !c->lists_set && i < n[k]; i++)
			all[k][i] = HT_CP_FREE;
		c->n_slacks += n[k];
	}
	c->set.n = 0;
	c->lists_set = true;
}

static bool put_point(
        struct ht_cp_clock *c, uint32_t track, int64_t time_ns, int64_t slack, bool handed)
{
	if (track == HT_NONE || time_ns <= c->window->start_ns || slack == HT_CP_FREE)
		return true;
	struct ht_cp_anchor anchor = ht_cp_anchor_before(c->m, track, time_ns, handed);
	if (anchor.held != HT_NONE)
		lower(c, &c->held_slack[anchor.held], slack);
	else if (anchor.handover != HT_NONE)
		lower(c, &c->handover_slack[anchor.handover], slack);
	struct point point = { time_ns, slack, track, 0 };
	return HT_VEC_PUSH(c->run->ctx->mem, &c->points, struct point, point);
}

/* ---- backwards ---- */

/* What ran on the device during the delay before work made it wait. */
static void pass_to_busy(struct ht_cp_clock *c, uint32_t work, int64_t slack)
{
	const struct ht_cp_model *m = c->m;
	const struct ht_cp_work *w = &m->works[work];
	struct ht_cp_delay delay = ht_cp_delay_of(m, work);
	if (w->start_ns - delay.from_ns <= m->options.tolerance_ns)
		return;
	uint32_t at = ht_cp_busy_before(m, m->device_of_lane[w->lane], w->start_ns);
	uint32_t first = m->first_busy[m->device_of_lane[w->lane]];
	while (at != HT_NONE && m->busy[at].end_ns > delay.from_ns) {
		lower(c, &c->work_slack[m->busy[at].work], slack);
		at = at == first ? HT_NONE : at - 1;
	}
}

static bool pass_work(struct ht_cp_clock *c, uint32_t work)
{
	const struct ht_cp_model *m = c->m;
	const struct ht_cp_work *w = &m->works[work];
	if (ht_cp_window_owns(m, c->window, work))
		lower(c, &c->work_slack[work], c->window->end_ns - w->end_ns);
	int64_t slack = c->work_slack[work];
	if (slack == HT_CP_FREE)
		return true;
	if (w->before != HT_NONE) {
		/* of work that ran on, the part until then was waited for */
		int64_t end = m->works[w->before].end_ns;
		int64_t early =
		        end > w->start_ns ? 0 : w->start_ns - ht_cp_lag(m, work, w->before) - end;
		lower(c, &c->work_slack[w->before], more(slack, early));
	}
	for (uint32_t i = 0; i < w->n_sources; i++) {
		uint32_t source = m->sources[w->first_source + i].work;
		lower(c, &c->work_slack[source],
		        more(slack, w->start_ns - ht_cp_lag(m, work, source) -
		                            m->works[source].end_ns));
	}
	if (w->by == HT_CP_BY_WORK && m->works[w->floor].end_ns <= w->start_ns)
		lower(c, &c->work_slack[w->floor], slack);
	pass_to_busy(c, work, slack);
	if (w->launch != HT_NONE)
		return put_point(c, ht_cp_thread(m, w->launch), w->launch_ns,
		        more(slack, w->start_ns - w->launch_ns - ht_cp_launch_lag(m, work)), false);
	return w->by != HT_CP_BY_HOST || put_point(c, m->main_track, w->start_ns, slack, false);
}

static bool pass_held(struct ht_cp_clock *c, uint32_t i)
{
	const struct ht_cp_held *h = &c->m->held[i];
	int64_t slack = c->held_slack[i];
	if (slack == HT_CP_FREE)
		return true;
	lower(c, &c->work_slack[h->work], slack);
	const struct ht_cp_join *join = ht_cp_join_of(c->m, h);
	for (uint32_t k = 0; join && k < join->n; k++) {
		uint32_t other = c->m->joined[join->first + k];
		int64_t early = h->from_ns - c->m->works[other].end_ns;
		lower(c, &c->work_slack[other], more(slack, early > 0 ? early : 0));
	}
	lower(c, &c->row_slack[h->row], slack);
	return put_point(c, ht_cp_thread(c->m, h->row), h->start_ns,
	        more(slack, h->end_ns - h->start_ns), false);
}

static bool pass_handover(struct ht_cp_clock *c, uint32_t i)
{
	const struct ht_cp_model *m = c->m;
	const struct ht_cp_handover *h = &m->handovers[i];
	int64_t slack = c->handover_slack[i];
	if (slack == HT_CP_FREE)
		return true;
	uint32_t at = ht_cp_span_at(m, m->main_track, h->from_ns);
	uint32_t end = m->first_span[m->main_track + 1];
	at = at == HT_NONE ? m->first_span[m->main_track] : at;
	for (; at < end && m->spans[at].start_ns < h->time_ns; at++) {
		if (m->spans[at].row != HT_NONE)
			lower(c, &c->row_slack[m->spans[at].row], slack);
	}
	if (!put_point(c, h->from_track, h->from_ns, slack, true))
		return false;
	return h->own_ns == HT_NO_I64 ||
	       put_point(c, h->track, h->own_ns, more(slack, h->time_ns - h->own_ns), false);
}

static bool pass_all(struct ht_cp_clock *c)
{
	const struct ht_cp_window *w = c->window;
	size_t first, end;
	if (!put_point(c, w->track, w->host_end_ns, w->end_ns - w->host_end_ns, false))
		return false;
	ht_cp_clock_items(c, &first, &end);
	for (size_t i = end; i-- > first;) {
		uint32_t item = c->items[i];
		bool stored = item < c->n_held ? pass_held(c, item)
		              : item < c->n_held + c->n_handovers
		                      ? pass_handover(c, item - (uint32_t)c->n_held)
		                      : pass_work(c, item - (uint32_t)(c->n_held + c->n_handovers));
		if (!stored)
			return false;
	}
	return true;
}

/* ---- host rows ---- */

static int compare_points(const void *left, const void *right)
{
	const struct point *a = left, *b = right;
	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->slack_ns > b->slack_ns) - (a->slack_ns < b->slack_ns);
}

/* Spans of a track from the last to the first: the least slack of the points after their end, up to where
 * the thread is next held or handed over to. */
static void slacken_track(
        struct ht_cp_clock *c, uint32_t track, const struct point *points, size_t n)
{
	const struct ht_cp_model *m = c->m;
	int64_t from = c->window->start_ns, stop = c->window->host_end_ns;
	uint32_t at = ht_cp_span_at(m, track, stop - 1);
	int64_t least = HT_CP_FREE;
	/* beyond the window only what the thread comes to without being held */
	for (; n && points[n - 1].time_ns > stop; n--) {
		struct ht_cp_anchor anchor =
		        ht_cp_anchor_before(m, track, points[n - 1].time_ns, false);
		if (anchor.time_ns <= stop)
			least = points[n - 1].slack_ns < least ? points[n - 1].slack_ns : least;
	}
	for (; at != HT_NONE; at = at == m->first_span[track] ? HT_NONE : at - 1) {
		int64_t start = m->spans[at].start_ns;
		struct ht_cp_anchor anchor = ht_cp_anchor_before(m, track, stop, false);
		for (; n && points[n - 1].time_ns >= stop; n--)
			least = points[n - 1].slack_ns < least ? points[n - 1].slack_ns : least;
		/* what is held until its end passes nothing on; what is held on its way, its rest */
		if (anchor.time_ns != stop && least != HT_CP_FREE)
			set(c, &c->span_slack[at], least);
		if (anchor.time_ns > start)
			least = HT_CP_FREE;
		if (m->spans[at].row != HT_NONE)
			lower(c, &c->row_slack[m->spans[at].row], c->span_slack[at]);
		stop = start;
		if (stop <= from)
			break;
	}
}

enum ht_status ht_cp_slack_find(struct ht_cp_clock *c, const struct ht_cp_window *window)
{
	c->window = window;
	c->rules = NULL;
	c->points.n = 0;
	free_slacks(c);
	if (!pass_all(c))
		return ht_fail_nomem(c->run->ctx);
	struct point *points = c->points.data;
	if (c->points.n)
		qsort(points, c->points.n, sizeof *points, compare_points);
	for (size_t first = 0, n; first < c->points.n; first += n) {
		for (n = 1;
		        first + n < c->points.n && points[first + n].track == points[first].track;
		        n++)
			;
		slacken_track(c, points[first].track, &points[first], n);
	}
	return HT_OK;
}

void ht_cp_clock_done(struct ht_cp_clock *c)
{
	ht_vec_free(c->run->ctx->mem, &c->points, sizeof(struct point));
	ht_vec_free(c->run->ctx->mem, &c->set, sizeof(int64_t *));
}
