/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_links.c - see cp_links.h.
 *
 * Points of a host thread are the marks of its spans. A call that waited weighs nothing from its start to
 * its end, nor does a thread between its last operator and the one with which it goes on for another.
 */
#include "graph/cp_links.h"
#include "graph/cp_look.h"

#include <string.h>

struct links {
	struct ht_cp_clock *c;
	struct ht_vec vec;
	bool no_memory;
};

/* A point: start or end of a row, and when it is. */
struct node {
	uint32_t row;
	bool end;
	int64_t time_ns;
};

/* What began before the window begins with it. */
static void put(struct links *l, struct node from, struct node to, struct ht_cp_link link)
{
	const struct ht_cp_window *window = l->c->window;
	int64_t before = window->start_ns - from.time_ns;
	if (before > 0) {
		link.weight_ns = link.weight_ns > before ? link.weight_ns - before : 0;
		from = (struct node){ window->row, false, window->start_ns };
	}
	if (from.row == HT_NONE || to.row == HT_NONE)
		return;
	link.from = from.row;
	link.from_end = from.end;
	link.to = to.row;
	link.to_end = to.end;
	if (!HT_VEC_PUSH(l->c->run->ctx->mem, &l->vec, struct ht_cp_link, link))
		l->no_memory = true;
}

static struct node node_of_span(const struct ht_cp_model *m, uint32_t at)
{
	if (at == HT_NONE)
		return (struct node){ .row = HT_NONE };
	const struct ht_cp_span *span = &m->spans[at];
	return (struct node){ span->mark, span->mark != span->row, span->start_ns };
}

/* The host after the window is not shown. */
static struct node host_node(const struct links *l, uint32_t track, int64_t time_ns)
{
	bool shown = track != HT_NONE && time_ns <= l->c->window->host_end_ns;
	return node_of_span(l->c->m, shown ? ht_cp_span_at(l->c->m, track, time_ns) : HT_NONE);
}

static struct node work_node(const struct ht_cp_model *m, uint32_t work, bool end)
{
	const struct ht_cp_work *w = &m->works[work];
	return (struct node){ w->row, end, end ? w->end_ns : w->start_ns };
}

/* ---- GPU work ---- */

static void put_source(struct links *l, uint32_t work, uint32_t source)
{
	const struct ht_cp_model *m = l->c->m;
	const struct ht_cp_work *w = &m->works[work], *s = &m->works[source];
	int64_t lag = ht_cp_lag(m, work, source), slack = l->c->work_slack[work];
	int64_t early = w->start_ns - lag - s->end_ns;
	bool same = s->lane == w->lane;
	put(l, work_node(m, source, true), work_node(m, work, false),
	        (struct ht_cp_link){ .type = same ? HT_CP_KERNEL_DELAY : HT_CP_SYNC,
	                .bound = lag ? HT_CP_BOUND_KERNEL_DELAY : HT_CP_BOUND_NONE,
	                .row = lag ? w->row : HT_NONE,
	                .weight_ns = lag,
	                .slack_ns = slack == HT_CP_FREE ? slack : slack + early });
}

static void put_stream(struct links *l, uint32_t work)
{
	const struct ht_cp_model *m = l->c->m;
	const struct ht_cp_work *w = &m->works[work];
	if (w->before == HT_NONE)
		return;
	const struct ht_cp_work *b = &m->works[w->before];
	if (b->end_ns <= w->start_ns) {
		put_source(l, work, w->before);
		return;
	}
	put(l, work_node(m, w->before, false), work_node(m, work, false),
	        (struct ht_cp_link){ .type = HT_CP_OPERATOR,
	                .bound = b->bound,
	                .row = b->row,
	                .weight_ns = w->start_ns - b->start_ns,
	                .slack_ns = l->c->work_slack[work] });
}

/* One call launches all kernels of a graph: the first of a stream waits for it, the others for the one before them. */
static bool follows_its_graph(const struct ht_cp_model *m, const struct ht_cp_work *w)
{
	return w->before != HT_NONE && m->works[w->before].launch == w->launch &&
	       w->by != HT_CP_BY_LAUNCH;
}

static void put_launch(struct links *l, uint32_t work)
{
	const struct ht_cp_model *m = l->c->m;
	const struct ht_cp_work *w = &m->works[work];
	int64_t slack = l->c->work_slack[work];
	int64_t window_ns = l->c->window->start_ns;
	if (w->launch != HT_NONE && follows_its_graph(m, w))
		return;
	if (w->launch != HT_NONE) {
		int64_t lag = ht_cp_launch_lag(m, work);
		struct node from = host_node(l, ht_cp_thread(m, w->launch), w->launch_ns);
		int64_t early = w->start_ns - w->launch_ns - lag;
		put(l, from, work_node(m, work, false),
		        (struct ht_cp_link){ .type = HT_CP_LAUNCH_DELAY,
		                .bound = HT_CP_BOUND_LAUNCH_DELAY,
		                .row = w->row,
		                .weight_ns = lag + (w->launch_ns - from.time_ns),
		                .slack_ns = slack == HT_CP_FREE ? slack : slack + early });
	} else if (w->by == HT_CP_BY_HOST) {
		struct node from = host_node(l, m->main_track, w->start_ns);
		put(l, from, work_node(m, work, false),
		        (struct ht_cp_link){ .type = HT_CP_DEPENDENCY,
		                .bound = m->has_host ? HT_CP_BOUND_CPU : HT_CP_BOUND_UNRECORDED,
		                .row = HT_NONE,
		                .weight_ns = w->start_ns - from.time_ns,
		                .slack_ns = slack });
	} else if (w->by == HT_CP_BY_BEFORE && w->start_ns > window_ns) {
		struct node from = host_node(l, m->main_track, window_ns);
		put(l, from, work_node(m, work, false),
		        (struct ht_cp_link){ .type = HT_CP_KERNEL_DELAY,
		                .bound = HT_CP_BOUND_QUEUED,
		                .row = HT_NONE,
		                .weight_ns = w->start_ns - from.time_ns,
		                .slack_ns = slack });
	}
}

static void put_work(struct links *l, uint32_t work)
{
	const struct ht_cp_model *m = l->c->m;
	const struct ht_cp_work *w = &m->works[work];
	bool listed = false;
	put(l, work_node(m, work, false), work_node(m, work, true),
	        (struct ht_cp_link){ .type = HT_CP_OPERATOR,
	                .bound = w->bound,
	                .row = w->row,
	                .weight_ns = w->end_ns - w->start_ns,
	                .slack_ns = l->c->work_slack[work] });
	if (w->start_ns < l->c->window->start_ns)
		return;
	put_stream(l, work);
	for (uint32_t i = 0; i < w->n_sources; i++) {
		uint32_t source = m->sources[w->first_source + i].work;
		listed |= source == w->floor;
		if (source != w->before)
			put_source(l, work, source);
	}
	if (w->by == HT_CP_BY_WORK && w->floor != w->before && !listed)
		put_source(l, work, w->floor);
	put_launch(l, work);
}

/* ---- host threads ---- */

static void put_wait(struct links *l, uint32_t i, uint32_t work, int64_t early_ns)
{
	const struct ht_cp_model *m = l->c->m;
	const struct ht_cp_held *h = &m->held[i];
	int64_t slack = l->c->held_slack[i];
	put(l, work_node(m, work, true), host_node(l, ht_cp_thread(m, h->row), h->end_ns),
	        (struct ht_cp_link){ .type = HT_CP_SYNC,
	                .bound = HT_CP_BOUND_CPU,
	                .row = h->row,
	                .weight_ns = h->end_ns - h->from_ns,
	                .slack_ns = slack == HT_CP_FREE ? slack : slack + early_ns });
}

static void put_held(struct links *l, uint32_t i)
{
	const struct ht_cp_model *m = l->c->m;
	const struct ht_cp_held *h = &m->held[i];
	const struct ht_cp_join *join = ht_cp_join_of(m, h);
	put_wait(l, i, h->work, 0);
	for (uint32_t k = 0; join && k < join->n; k++) {
		uint32_t other = m->joined[join->first + k];
		int64_t early = h->from_ns - m->works[other].end_ns;
		if (other != h->work && m->works[other].end_ns > l->c->window->start_ns)
			put_wait(l, i, other, early > 0 ? early : 0);
	}
}

static void put_handover(struct links *l, uint32_t i)
{
	const struct ht_cp_model *m = l->c->m;
	const struct ht_cp_handover *h = &m->handovers[i];
	struct node from = host_node(l, h->from_track, h->from_ns);
	put(l, from, host_node(l, h->track, h->time_ns),
	        (struct ht_cp_link){ .type = HT_CP_DEPENDENCY,
	                .bound = HT_CP_BOUND_CPU,
	                .row = HT_NONE,
	                .weight_ns = h->time_ns - from.time_ns,
	                .slack_ns = l->c->handover_slack[i] });
}

static void put_track(struct links *l, uint32_t track)
{
	struct ht_cp_clock *c = l->c;
	const struct ht_cp_model *m = c->m;
	uint32_t at = ht_cp_span_at(m, track, c->window->start_ns);
	at = at == HT_NONE ? m->first_span[track] : at;
	for (; at + 1 < m->first_span[track + 1]; at++) {
		const struct ht_cp_span *span = &m->spans[at], *next = span + 1;
		if (next->start_ns > c->window->host_end_ns)
			break;
		struct ht_cp_anchor anchor = ht_cp_anchor_before(m, track, next->start_ns, false);
		bool waits = anchor.time_ns > span->start_ns;
		put(l, node_of_span(m, at), node_of_span(m, at + 1),
		        (struct ht_cp_link){
		                .type = span->row == HT_NONE ? HT_CP_DEPENDENCY : HT_CP_OPERATOR,
		                .bound = (uint8_t)(waits ? HT_CP_BOUND_NONE
		                                         : ht_cp_host_bound(c->m, span->row)),
		                .row = span->row,
		                .weight_ns =
		                        next->start_ns - (waits ? anchor.time_ns : span->start_ns),
		                .slack_ns = c->span_slack[at] });
	}
}

/* The end of the window on the host, when it is inside of a span. */
static void put_end(struct links *l)
{
	struct ht_cp_clock *c = l->c;
	const struct ht_cp_window *w = c->window;
	uint32_t at = w->track == HT_NONE ? HT_NONE : ht_cp_span_at(c->m, w->track, w->host_end_ns);
	if (at == HT_NONE || c->m->spans[at].start_ns == w->host_end_ns)
		return;
	const struct ht_cp_span *span = &c->m->spans[at];
	put(l, node_of_span(c->m, at), (struct node){ w->row, true, w->host_end_ns },
	        (struct ht_cp_link){
	                .type = span->row == HT_NONE ? HT_CP_DEPENDENCY : HT_CP_OPERATOR,
	                .bound = (uint8_t)ht_cp_host_bound(c->m, span->row),
	                .row = span->row,
	                .weight_ns = w->host_end_ns - span->start_ns,
	                .slack_ns = w->end_ns - w->host_end_ns });
}

/* Work that began before the window and runs on in it comes first. */
static void put_running(struct links *l)
{
	const struct ht_cp_model *m = l->c->m;
	int64_t start = l->c->window->start_ns;
	for (uint32_t k = ht_cp_first_running(m, start);
	        k < m->n_works && m->works[k].start_ns < start; k++) {
		if (m->works[k].end_ns > start)
			put_work(l, k);
	}
}

enum ht_status ht_cp_links_make(struct ht_cp_clock *c, struct ht_cp_link **ret_links, size_t *ret_n)
{
	struct links l = { .c = c };
	size_t first, end;
	put_running(&l);
	for (uint32_t track = 0; track < c->m->trace->n_tracks; track++)
		put_track(&l, track);
	put_end(&l);
	ht_cp_clock_items(c, &first, &end);
	for (size_t i = first; i < end; i++) {
		uint32_t item = c->items[i];
		if (item < c->n_held)
			put_held(&l, item);
		else if (item < c->n_held + c->n_handovers)
			put_handover(&l, item - (uint32_t)c->n_held);
		else
			put_work(&l, item - (uint32_t)(c->n_held + c->n_handovers));
	}
	struct ht_mem *mem = c->run->ctx->mem;
	struct ht_cp_link *links = ht_arena_alloc(c->run->scratch, (l.vec.n + 1) * sizeof *links);
	if (links && l.vec.n)
		memcpy(links, l.vec.data, l.vec.n * sizeof *links);
	*ret_n = l.vec.n;
	ht_vec_free(mem, &l.vec, sizeof *links);
	if (!links || l.no_memory)
		return ht_fail_nomem(c->run->ctx);
	*ret_links = links;
	return HT_OK;
}
