/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_retime.c - see cp_retime.h.
 */
#include "graph/cp_retime.h"

#include "base/checked.h"
#include "base/sort.h"
#include "base/search.h"
#include "graph/cp_look.h"

#include <math.h>

/* Far beyond any time, and twice that still fits. */
#define FAR ((int64_t)1 << 62)

static int64_t plus(int64_t a, int64_t b)
{
	return a > FAR - b ? FAR : a + b;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t scaled(int64_t dur_ns, double factor)
{
	double product = (double)dur_ns * factor;
	if (factor == 1)
		return dur_ns;
	return product < (double)FAR ? ht_round_sat(product) : FAR;
}

/* ---- order ---- */

static enum ht_status sort_items(struct ht_cp_clock *c)
{
	const struct ht_cp_model *m = c->m;
	uint64_t *keys = ht_arena_alloc(c->run->scratch, (c->n_items + 1) * sizeof *keys);
	if (!keys)
		return ht_fail_nomem(c->run->ctx);
	for (size_t i = 0; i < c->n_items; i++) {
		int64_t time = i < c->n_held ? m->held[i].end_ns
		               : i < c->n_held + c->n_handovers
		                       ? m->handovers[i - c->n_held].time_ns
		                       : m->works[i - c->n_held - c->n_handovers].start_ns;
		keys[i] = ht_sort_key_i64(time);
		c->items[i] = (uint32_t)i;
		c->item_ns[i] = time;
	}
	if (!ht_sort_keys(c->run->ctx->mem, keys, c->items, c->n_items))
		return ht_fail_nomem(c->run->ctx);
	return HT_OK;
}

/* What only going forward needs. */
static bool make_forward(struct ht_cp_clock *c)
{
	struct ht_arena *a = c->run->scratch;
	size_t n_tracks = c->m->trace->n_tracks, n_spans = c->m->first_span[n_tracks];
	c->work_start = ht_arena_alloc(a, (c->m->n_works + 1) * sizeof(int64_t));
	c->work_end = ht_arena_alloc(a, (c->m->n_works + 1) * sizeof(int64_t));
	c->held_end = ht_arena_alloc(a, (c->n_held + 1) * sizeof(int64_t));
	c->handover_ns = ht_arena_alloc(a, (c->n_handovers + 1) * sizeof(int64_t));
	c->span_sum = ht_arena_alloc(a, (n_spans + 1) * sizeof(int64_t));
	c->span_factor = ht_arena_alloc(a, (n_spans + 1) * sizeof(double));
	c->gap_factor = ht_arena_alloc(a, (n_tracks + 1) * sizeof(double));
	return c->work_start && c->work_end && c->held_end && c->handover_ns && c->span_sum &&
	       c->span_factor && c->gap_factor;
}

static bool make_backward(struct ht_cp_clock *c)
{
	struct ht_arena *a = c->run->scratch;
	size_t n_spans = c->m->first_span[c->m->trace->n_tracks];
	c->work_slack = ht_arena_alloc(a, (c->m->n_works + 1) * sizeof(int64_t));
	c->held_slack = ht_arena_alloc(a, (c->n_held + 1) * sizeof(int64_t));
	c->handover_slack = ht_arena_alloc(a, (c->n_handovers + 1) * sizeof(int64_t));
	c->span_slack = ht_arena_alloc(a, (n_spans + 1) * sizeof(int64_t));
	c->row_slack = ht_arena_alloc(a, (c->m->trace->n_kind + 1) * sizeof(int64_t));
	return c->work_slack && c->held_slack && c->handover_slack && c->span_slack && c->row_slack;
}

enum ht_status ht_cp_clock_make(struct ht_run *run, struct ht_cp_model *m, enum ht_cp_way way,
        struct ht_cp_clock *ret_clock)
{
	size_t n_tracks = m->trace->n_tracks;
	struct ht_cp_clock c = { .run = run,
		.m = m,
		.n_held = m->first_held[n_tracks],
		.n_handovers = m->first_handover[n_tracks] };
	c.n_items = c.n_held + c.n_handovers + m->n_works;
	c.items = ht_arena_alloc(run->scratch, (c.n_items + 1) * sizeof *c.items);
	c.item_ns = ht_arena_alloc(run->scratch, (c.n_items + 1) * sizeof *c.item_ns);
	if (!c.items || !c.item_ns ||
	        !(way == HT_CP_FORWARD ? make_forward(&c) : make_backward(&c)))
		return ht_fail_nomem(run->ctx);
	HT_TRY(sort_items(&c));
	*ret_clock = c;
	return HT_OK;
}

void ht_cp_clock_items(const struct ht_cp_clock *c, size_t *ret_first, size_t *ret_end)
{
	size_t ends[2];
	for (int k = 0; k < 2; k++) {
		int64_t limit = k ? c->window->end_ns : c->window->start_ns - 1;
		size_t low = HT_LOWER_BOUND(at, c->n_items, c->item_ns[c->items[at]] <= limit);
		ends[k] = low;
	}
	*ret_first = ends[0];
	*ret_end = ends[1];
}

/* ---- host time ---- */

struct tally {
	int64_t ns;
	size_t n;
};

static double factor_of(struct ht_cp_clock *c, enum ht_cp_type type, enum ht_cp_bound bound,
        uint32_t row, int64_t dur_ns, struct tally *tally)
{
	const struct ht_cp_rule *rule =
	        c->rules ? ht_cp_rules_find(c->rules, c->m->trace, type, bound, row) : NULL;
	if (!rule)
		return 1;
	if (tally) {
		tally->ns = plus(tally->ns, dur_ns);
		tally->n++;
	}
	return rule->factor;
}

static double host_factor(struct ht_cp_clock *c, uint32_t row, int64_t dur_ns, struct tally *tally)
{
	return factor_of(c, row == HT_NONE ? HT_CP_DEPENDENCY : HT_CP_OPERATOR,
	        ht_cp_host_bound(c->m, row), row, dur_ns, tally);
}

/* A call that waited is no time of the host up to where it got free; that part is counted there. */
static bool is_held(const struct ht_cp_clock *c, uint32_t track, uint32_t row, int64_t end_ns)
{
	if (row == HT_NONE ||
	        (!c->m->n_full && !(ht_cp_names_bits(&c->m->names, row) & HT_CP_NAME_WAITS)))
		return false;
	struct ht_cp_anchor anchor = ht_cp_anchor_before(c->m, track, end_ns, false);
	return anchor.held != HT_NONE && c->m->held[anchor.held].row == row;
}

/* Scale the spans of a track in the window. */
static void scale_track(struct ht_cp_clock *c, uint32_t track, struct tally *tally)
{
	const struct ht_cp_model *m = c->m;
	int64_t from = c->window->start_ns, until = c->window->host_end_ns, sum = 0;
	uint32_t at = ht_cp_span_at(m, track, from), end = m->first_span[track + 1];
	c->gap_factor[track] = host_factor(c, HT_NONE, 0, NULL);
	if (at == HT_NONE) {
		at = m->first_span[track];
		if (at < end && m->spans[at].start_ns < until)
			sum = scaled(m->spans[at].start_ns - from, c->gap_factor[track]);
	}
	for (; at < end && m->spans[at].start_ns < until; at++) {
		int64_t start = later(m->spans[at].start_ns, from);
		int64_t stop = at + 1 < end && m->spans[at + 1].start_ns < until
		                       ? m->spans[at + 1].start_ns
		                       : until;
		/* with nothing open, only the thread of the window goes on */
		uint32_t row = m->spans[at].row;
		bool idle = (row == HT_NONE && track != c->window->track) ||
		            is_held(c, track, row, stop);
		c->span_factor[at] = host_factor(c, row, stop - start, idle ? NULL : tally);
		c->span_sum[at] = sum;
		sum = plus(sum, scaled(stop - start, c->span_factor[at]));
	}
}

/* Scaled time of a track from the start of the window to a time; before and after the window's host part
 * time is as it was. */
static int64_t host_clock(const struct ht_cp_clock *c, uint32_t track, int64_t time_ns)
{
	const struct ht_cp_window *w = c->window;
	if (!c->scales_host || track == HT_NONE)
		return time_ns;
	int64_t inside = time_ns < w->start_ns      ? w->start_ns
	                 : time_ns > w->host_end_ns ? w->host_end_ns
	                                            : time_ns;
	int64_t rest = time_ns - inside;
	/* the end of the window belongs to the span that it cuts */
	uint32_t at = ht_cp_span_at(c->m, track, inside - (inside == w->host_end_ns));
	int64_t sum;
	if (at == HT_NONE) {
		sum = scaled(inside - w->start_ns, c->gap_factor[track]);
	} else {
		int64_t start = later(c->m->spans[at].start_ns, w->start_ns);
		sum = plus(c->span_sum[at], scaled(inside - start, c->span_factor[at]));
	}
	return plus(plus(w->start_ns, sum), rest);
}

/* When a host thread gets to a point. */
static int64_t host_at(const struct ht_cp_clock *c, uint32_t track, int64_t time_ns, bool handed)
{
	if (time_ns <= c->window->start_ns || track == HT_NONE)
		return time_ns;
	struct ht_cp_anchor anchor = ht_cp_anchor_before(c->m, track, time_ns, handed);
	if (anchor.time_ns <= c->window->start_ns)
		return host_clock(c, track, time_ns);
	int64_t from =
	        anchor.held != HT_NONE ? c->held_end[anchor.held] : c->handover_ns[anchor.handover];
	int64_t passed = host_clock(c, track, time_ns) - host_clock(c, track, anchor.time_ns);
	return plus(from, passed);
}

/* ---- GPU work ---- */

static bool is_new(const struct ht_cp_clock *c, uint32_t work)
{
	return c->m->works[work].start_ns >= c->window->start_ns &&
	       c->m->works[work].start_ns <= c->window->end_ns;
}

static int64_t end_of(const struct ht_cp_clock *c, uint32_t work)
{
	return is_new(c, work) ? c->work_end[work] : c->m->works[work].end_ns;
}

static int64_t start_of(const struct ht_cp_clock *c, uint32_t work)
{
	return is_new(c, work) ? c->work_start[work] : c->m->works[work].start_ns;
}

static double work_factor(struct ht_cp_clock *c, uint32_t work, struct tally *tally)
{
	const struct ht_cp_work *w = &c->m->works[work];
	if ((!c->rules && !c->factors) || !ht_cp_window_owns(c->m, c->window, work))
		return 1;
	if (c->factors)
		return c->factors[work];
	return factor_of(c, HT_CP_OPERATOR, w->bound, w->row, w->end_ns - w->start_ns, tally);
}

/* An idle delay with the rules. While the host is still in the launch call it is the call's time as well: it gets
 * shorter with the call, but not below what every launch takes. */
static int64_t idle_delay_ns(
        struct ht_cp_clock *c, uint32_t work, int64_t idle_ns, struct tally *tally)
{
	const struct ht_cp_model *m = c->m;
	const struct ht_cp_work *w = &m->works[work];
	struct ht_cp_delay delay = ht_cp_delay_of(m, work);
	struct tally own = { 0 };
	double factor = factor_of(c, delay.type, delay.bound, w->row, idle_ns, &own);
	if (tally) {
		tally->ns = plus(tally->ns, own.ns);
		tally->n += own.n;
	}
	if (w->launch == HT_NONE || delay.bound != HT_CP_BOUND_LAUNCH_DELAY)
		return scaled(idle_ns, factor);
	double call_factor = host_factor(c, w->launch, 0, NULL);
	if (own.n) {
		int64_t call_ns = ht_cp_call_part_ns(
		        m, delay.from_row, delay.bound, w->start_ns - idle_ns, w->start_ns);
		return plus(scaled(idle_ns - call_ns, factor), scaled(call_ns, call_factor));
	}
	int64_t call_end = ht_end_ns(m->trace, w->launch);
	int64_t in_call = (call_end < w->start_ns ? call_end : w->start_ns) - delay.from_ns;
	in_call = in_call < 0 ? 0 : in_call < idle_ns ? in_call : idle_ns;
	int64_t left = plus(idle_ns - in_call, scaled(in_call, call_factor));
	int64_t least = idle_ns < m->least_launch_ns ? idle_ns : m->least_launch_ns;
	return later(left, least);
}

/* The delay before work with the rules: what ran meanwhile has its own factor. */
static int64_t delay_ns(struct ht_cp_clock *c, uint32_t work, struct tally *tally)
{
	const struct ht_cp_model *m = c->m;
	const struct ht_cp_work *w = &m->works[work];
	struct ht_cp_delay delay = ht_cp_delay_of(m, work);
	int64_t end = w->start_ns, sum = 0, idle = 0;
	if (!c->rules && !c->factors)
		return end - delay.from_ns;
	uint32_t at = HT_NONE;
	if (end - delay.from_ns > m->options.tolerance_ns)
		at = ht_cp_busy_before(m, m->device_of_lane[w->lane], end);
	while (at != HT_NONE && end > delay.from_ns && m->busy[at].end_ns > delay.from_ns) {
		const struct ht_cp_busy *busy = &m->busy[at];
		int64_t busy_end = busy->end_ns < end ? busy->end_ns : end;
		int64_t busy_start = later(busy->start_ns, delay.from_ns);
		idle += end - busy_end;
		sum = plus(sum, scaled(busy_end - busy_start, work_factor(c, busy->work, NULL)));
		end = busy_start;
		at = at == m->first_busy[m->device_of_lane[w->lane]] ? HT_NONE : at - 1;
	}
	idle += end - delay.from_ns;
	bool own = ht_cp_window_owns(m, c->window, work);
	return plus(sum, own && idle ? idle_delay_ns(c, work, idle, tally) : idle);
}

int64_t ht_cp_lag(const struct ht_cp_model *m, uint32_t work, uint32_t source)
{
	const struct ht_cp_work *w = &m->works[work];
	return w->by == HT_CP_BY_WORK && w->floor == source ? w->start_ns - w->floor_ns : 0;
}

int64_t ht_cp_launch_lag(const struct ht_cp_model *m, uint32_t work)
{
	const struct ht_cp_work *w = &m->works[work];
	int64_t lag = w->start_ns - w->launch_ns;
	return w->by != HT_CP_BY_LAUNCH && lag > m->least_launch_ns ? m->least_launch_ns : lag;
}

static int64_t after_stream(struct ht_cp_clock *c, const struct ht_cp_work *w)
{
	if (w->before == HT_NONE)
		return HT_NO_I64;
	const struct ht_cp_work *b = &c->m->works[w->before];
	if (b->end_ns <= w->start_ns)
		return end_of(c, w->before);
	int64_t passed = is_new(c, w->before) ? scaled(w->start_ns - b->start_ns,
	                                                work_factor(c, w->before, NULL))
	                                      : w->start_ns - b->start_ns;
	return plus(start_of(c, w->before), passed);
}

static void retime_work(struct ht_cp_clock *c, uint32_t work, struct tally *tally)
{
	const struct ht_cp_model *m = c->m;
	const struct ht_cp_work *w = &m->works[work];
	int64_t delay = delay_ns(c, work, tally), start = after_stream(c, w);
	for (uint32_t i = 0; i < w->n_sources; i++)
		start = later(start, end_of(c, m->sources[w->first_source + i].work));
	if (w->by == HT_CP_BY_WORK && m->works[w->floor].end_ns <= w->start_ns)
		start = later(start, plus(end_of(c, w->floor), delay));
	if (w->launch != HT_NONE) {
		int64_t lag = ht_cp_launch_lag(m, work);
		if (w->by == HT_CP_BY_LAUNCH)
			lag = plus(ht_cp_delay_of(m, work).from_ns - w->launch_ns, delay);
		start = later(start,
		        plus(host_at(c, ht_cp_thread(m, w->launch), w->launch_ns, false), lag));
	} else if (w->by == HT_CP_BY_HOST) {
		start = later(start, host_at(c, m->main_track, w->start_ns, false));
	}
	c->work_start[work] = start == HT_NO_I64 ? w->start_ns : start;
	c->work_end[work] = plus(
	        c->work_start[work], scaled(w->end_ns - w->start_ns, work_factor(c, work, tally)));
}

static void retime_held(struct ht_cp_clock *c, uint32_t i, struct tally *tally)
{
	const struct ht_cp_model *m = c->m;
	const struct ht_cp_held *h = &m->held[i];
	int64_t late = m->works[h->work].end_ns - h->from_ns, lag = h->end_ns - h->from_ns;
	bool inside = h->end_ns <= c->window->host_end_ns;
	double factor = inside && lag ? host_factor(c, h->row, lag, tally) : 1;
	int64_t over = end_of(c, h->work) - late;
	const struct ht_cp_join *join = ht_cp_join_of(m, h);
	for (uint32_t k = 0; join && k < join->n; k++) {
		uint32_t other = m->joined[join->first + k];
		int64_t ran_on = later(m->works[other].end_ns - h->from_ns, 0);
		over = later(over, end_of(c, other) - ran_on);
	}
	int64_t freed = plus(over, scaled(lag, factor));
	c->held_end[i] = later(host_at(c, ht_cp_thread(m, h->row), h->start_ns, false), freed);
}

static void retime_handover(struct ht_cp_clock *c, uint32_t i)
{
	const struct ht_cp_model *m = c->m;
	const struct ht_cp_handover *h = &m->handovers[i];
	int64_t passed =
	        host_clock(c, m->main_track, h->time_ns) - host_clock(c, m->main_track, h->from_ns);
	int64_t time = plus(host_at(c, h->from_track, h->from_ns, true), passed);
	if (h->own_ns != HT_NO_I64)
		time = later(time, host_at(c, h->track, h->own_ns, false));
	c->handover_ns[i] = time;
}

/* All that happens in the window, in the order of the recording. */
static int64_t walk_window(struct ht_cp_clock *c, struct tally *tally)
{
	const struct ht_cp_model *m = c->m;
	const struct ht_cp_window *window = c->window;
	size_t first, end;
	ht_cp_clock_items(c, &first, &end);
	int64_t last = window->start_ns;
	for (size_t i = first; i < end; i++) {
		uint32_t item = c->items[i];
		if (item < c->n_held) {
			retime_held(c, item, tally);
			continue;
		}
		item -= (uint32_t)c->n_held;
		if (item < c->n_handovers) {
			retime_handover(c, item);
			continue;
		}
		item -= (uint32_t)c->n_handovers;
		retime_work(c, item, tally);
		if (ht_cp_window_owns(m, window, item))
			last = later(last, c->work_end[item]);
	}
	int64_t host = host_at(c, window->track, window->host_end_ns, false);
	return later(last, host) - window->start_ns;
}

void ht_cp_retime(struct ht_cp_clock *c, const struct ht_cp_window *window,
        struct ht_cp_rules *rules, struct ht_cp_retimed *ret_retimed)
{
	struct tally tally = { 0 };
	c->window = window;
	c->rules = rules;
	c->scales_host = rules && ht_cp_rules_may_fit_host(rules);
	c->factors = NULL;
	for (uint32_t k = 0; c->scales_host && k < c->m->trace->n_tracks; k++)
		scale_track(c, k, &tally);
	int64_t length_ns = walk_window(c, &tally);
	*ret_retimed = (struct ht_cp_retimed){
		.length_ns = length_ns, .matched_ns = tally.ns, .n_matched = tally.n
	};
}

int64_t ht_cp_retime_works(
        struct ht_cp_clock *c, const struct ht_cp_window *window, const double *factors)
{
	struct tally tally = { 0 };
	c->window = window;
	c->rules = NULL;
	c->scales_host = false;
	c->factors = factors;
	return walk_window(c, &tally);
}
