/*
 * cp_gpu.c - edges of the GPU and between GPU and host. See cp_graph.h.
 *
 * Work k with launch call r, after the work before it on its stream (p), held back by sources s of
 * event waits:
 *   s.end ─► k.start       sync, for every source
 *   r.start ─► k.start     launch delay, when p and all s had ended before the call began: the stream
 *                          was idle and the host was late; the call itself is part of the delay
 *   p.end ─► k.start       kernel-kernel delay otherwise, unless a source ended after p or the gap is
 *                          so long that something unknown must have held k back
 *   p.start ─► k.start     when p still runs (programmatic launches): the part of p until then
 * A call that waits ends after the work it waits for; it costs nothing itself when it did wait. Which
 * work that is say the wait rows of the trace (cuda_sync); without them, a copy call waits for its copy
 * when that ended first, another call for the work that ended last in it and was launched before it.
 * All edges lead forward in time; what clocks put the other way round is left out.
 */
#include "graph/cp_build.h"

#include <stdlib.h>
#include <string.h>

/* How far back on a stream to look for work that had ended. */
#define N_BACK 64
/* Nanoseconds after which the work before does not explain when the next starts; HTA's number. */
#define MAX_GAP_NS 1.5e6

struct item {
	int64_t time_ns;
	uint32_t index; /* event, or number of the wait */
	uint32_t is_wait;
};

struct pending {
	uint32_t source; /* event */
	uint32_t next;   /* 1 + number of the next one */
};

struct gpu_pass {
	struct ht_cp_builder *b;
	struct ht_cp_lanes lanes;
	uint32_t *last;     /* by lane: 1 + event that ends last so far */
	uint32_t *previous; /* by event: 1 + what was last before it */
	struct ht_cp_wait *waits;
	size_t n_waits;
	struct pending *pending;
	uint32_t *pending_of; /* by event: 1 + number of the first */
	double *held;         /* by event: when the last source outside the window ended */
	bool *synced;         /* by event: a wait row was found for the call */
};

/* ---- wait rows ---- */

static int compare_wait(const void *left, const void *right)
{
	const struct ht_cp_wait *a = left, *b = right;
	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static void find_calls(struct gpu_pass *p)
{
	const struct ht_trace *t = p->b->trace;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		bool call = t->kind[row] == HT_KIND_RUNTIME || t->kind[row] == HT_KIND_DRIVER;
		int64_t correlation = p->b->correlation[row];
		if (!call || correlation < 0)
			continue;
		size_t low = 0, high = p->n_waits;
		while (low < high) {
			size_t middle = low + (high - low) / 2;
			if (p->waits[middle].correlation < correlation)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < p->n_waits && p->waits[low].correlation == correlation; low++)
			p->waits[low].call = row;
	}
}

static enum ht_status collect_waits(struct gpu_pass *p)
{
	struct ht_cp_builder *b = p->b;
	const struct ht_trace *t = b->trace;
	size_t n = 0;
	uint8_t kind;
	for (uint32_t row = 0; row < t->n_kind; row++)
		n += t->kind[row] == HT_KIND_SYNC;
	if (!n)
		return HT_OK;
	int64_t *correlation;
	HT_TRY(ht_arg_dense_i64(b->run->ctx, t, "correlation", -1, b->run->scratch, &correlation));
	b->correlation = correlation;
	p->waits = ht_cp_alloc(b, n, sizeof *p->waits);
	if (!p->waits)
		return ht_fail_nomem(b->run->ctx);
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (t->kind[row] != HT_KIND_SYNC || correlation[row] < 0 || !ht_is_span(t, row) ||
		        !ht_cp_wait_kind(t, row, &kind))
			continue;
		int64_t stream = ht_arg_i64(t, "stream", row, -1);
		p->waits[p->n_waits++] = (struct ht_cp_wait){ .row = row,
			.call = HT_NONE,
			.source = HT_NONE,
			.target = HT_NONE,
			.kind = kind,
			.correlation = correlation[row],
			.device = ht_arg_i64(t, "device", row, t->tracks[t->track[row]].device),
			.stream = stream == UINT32_MAX ? -1 : stream };
	}
	qsort(p->waits, p->n_waits, sizeof *p->waits, compare_wait);
	find_calls(p);
	return HT_OK;
}

static enum ht_status resolve(struct gpu_pass *p)
{
	const struct ht_trace *t = p->b->trace;
	size_t n = 0;
	struct ht_cp_launch *launches = ht_cp_alloc(p->b, t->n_gpu, sizeof *launches);
	if (!launches)
		return ht_fail_nomem(p->b->run->ctx);
	for (size_t i = 0; i < t->n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		if (gpu->launch == HT_NONE || !ht_is_span(t, gpu->row))
			continue;
		launches[n++] = (struct ht_cp_launch){ .device = gpu->device,
			.stream = gpu->stream,
			.track = t->track[gpu->launch],
			.launch = gpu->launch,
			.work = gpu->row,
			.launch_ns = t->ts_ns[gpu->launch],
			.work_ns = t->ts_ns[gpu->row] };
	}
	return ht_cp_resolve_waits(p->b, launches, n, p->waits, p->n_waits);
}

/* Note what holds work back; a source outside the window has no nodes, but it explains a gap. */
static void hold_back(struct gpu_pass *p)
{
	const struct ht_cp_graph *g = p->b->g;
	size_t n = 0;
	for (size_t e = 0; e < g->n_events; e++)
		p->held[e] = -1;
	for (size_t i = 0; i < p->n_waits; i++) {
		const struct ht_cp_wait *wait = &p->waits[i];
		if (wait->source == HT_NONE || wait->target == HT_NONE)
			continue;
		uint32_t source = g->event_of_row[wait->source];
		uint32_t target = g->event_of_row[wait->target];
		if (target == HT_NONE || source == target)
			continue;
		if (source == HT_NONE) {
			double end = ht_cp_time(p->b, wait->source, true);
			p->held[target] = end > p->held[target] ? end : p->held[target];
			continue;
		}
		p->pending[n] = (struct pending){ source, p->pending_of[target] };
		p->pending_of[target] = (uint32_t)++n;
	}
}

/* ---- kernels ---- */

static double start_of(const struct gpu_pass *p, uint32_t event)
{
	return p->b->g->time[ht_cp_start(event)];
}

static double end_of(const struct gpu_pass *p, uint32_t event)
{
	return p->b->g->time[ht_cp_end(event)];
}

/* Edges from everything that holds the work back; when the last of it ended, -1 when nothing did. */
static double sync_sources(struct gpu_pass *p, uint32_t event)
{
	double latest = p->held[event] <= start_of(p, event) ? p->held[event] : -1;
	for (uint32_t k = p->pending_of[event]; k; k = p->pending[k - 1].next) {
		uint32_t source = p->pending[k - 1].source;
		if (end_of(p, source) > start_of(p, event))
			continue;
		ht_cp_edge_add(p->b, ht_cp_end(source), ht_cp_start(event), HT_CP_SYNC, HT_NONE);
		latest = end_of(p, source) > latest ? end_of(p, source) : latest;
	}
	return latest;
}

static void add_work(struct gpu_pass *p, uint32_t event)
{
	struct ht_cp_builder *b = p->b;
	struct ht_cp_graph *g = b->g;
	const struct ht_gpu *gpu = &b->trace->gpu[g->events[event].gpu];
	uint32_t *last = &p->last[ht_cp_lane_find(&p->lanes, ht_cp_lane_of(b, event))];
	uint32_t before = *last - 1, start = ht_cp_start(event);
	uint32_t launch = gpu->launch == HT_NONE ? HT_NONE : g->event_of_row[gpu->launch];
	if (launch != HT_NONE && start_of(p, launch) > start_of(p, event))
		launch = HT_NONE;
	ht_cp_edge_add(b, start, ht_cp_end(event), HT_CP_OPERATOR, gpu->row);
	double held = sync_sources(p, event);
	bool launched = false;
	if (*last && end_of(p, before) > start_of(p, event)) {
		ht_cp_edge_add(
		        b, ht_cp_start(before), start, HT_CP_OPERATOR, g->events[before].row);
	} else if (launch != HT_NONE && held < start_of(p, launch) &&
	           (!*last || end_of(p, before) < start_of(p, launch))) {
		ht_cp_edge_add(b, ht_cp_start(launch), start, HT_CP_LAUNCH_DELAY, HT_NONE);
		launched = true;
	} else if (*last && held < end_of(p, before) &&
	           start_of(p, event) - end_of(p, before) < MAX_GAP_NS) {
		ht_cp_edge_add(
		        b, ht_cp_end(before), start, HT_CP_KERNEL_DELAY, g->events[before].row);
	}
	if (launch != HT_NONE && !launched && g->options.launch_edges)
		ht_cp_edge_add(b, ht_cp_start(launch), start, HT_CP_LAUNCH_DELAY, HT_NONE)->weight =
		        0;
	p->previous[event] = *last;
	if (!*last || end_of(p, event) >= end_of(p, before))
		*last = event + 1;
}

/* ---- calls that wait ---- */

static void wait_for(struct gpu_pass *p, uint32_t call, uint32_t work)
{
	if (end_of(p, work) > end_of(p, call))
		return;
	ht_cp_edge_add(p->b, ht_cp_end(work), ht_cp_end(call), HT_CP_SYNC, HT_NONE);
	p->synced[call] = true;
	if (end_of(p, work) > start_of(p, call))
		p->b->waited[call] = true;
}

static void wait_for_lane(struct gpu_pass *p, uint32_t call, size_t lane)
{
	uint32_t work = p->last[lane];
	for (int i = 0; i < N_BACK && work && end_of(p, work - 1) > end_of(p, call); i++)
		work = p->previous[work - 1];
	if (work)
		wait_for(p, call, work - 1);
}

static void add_wait(struct gpu_pass *p, const struct ht_cp_wait *wait)
{
	const struct ht_cp_graph *g = p->b->g;
	uint32_t call = wait->call == HT_NONE ? HT_NONE : g->event_of_row[wait->call];
	if (call == HT_NONE)
		return;
	if (wait->kind == HT_CP_WAIT_EVENT) {
		uint32_t work = wait->source == HT_NONE ? HT_NONE : g->event_of_row[wait->source];
		if (work != HT_NONE)
			wait_for(p, call, work);
	} else if (wait->kind == HT_CP_WAIT_STREAM) {
		struct ht_cp_lane lane = { wait->device, wait->stream };
		size_t at = ht_cp_lane_find(&p->lanes, lane);
		if (at != SIZE_MAX)
			wait_for_lane(p, call, at);
	} else if (wait->kind == HT_CP_WAIT_CONTEXT) {
		for (size_t at = 0; at < p->lanes.n; at++) {
			if (wait->device < 0 || p->lanes.list[at].device == wait->device)
				wait_for_lane(p, call, at);
		}
	}
}

static int compare_item(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->is_wait != b->is_wait)
		return a->is_wait ? 1 : -1;
	return (a->index > b->index) - (a->index < b->index);
}

/* Work by start, waits by end. */
static struct item *list_items(struct gpu_pass *p, size_t *ret_n)
{
	const struct ht_trace *t = p->b->trace;
	const struct ht_cp_graph *g = p->b->g;
	size_t n = 0;
	struct item *items = ht_cp_alloc(p->b, g->n_events + p->n_waits, sizeof *items);
	if (!items)
		return NULL;
	for (uint32_t e = 0; e < g->n_events; e++) {
		if (g->events[e].gpu != HT_NONE)
			items[n++] = (struct item){ t->ts_ns[g->events[e].row], e, false };
	}
	for (uint32_t i = 0; i < p->n_waits; i++)
		items[n++] = (struct item){ ht_end_ns(t, p->waits[i].row), i, true };
	qsort(items, n, sizeof *items, compare_item);
	*ret_n = n;
	return items;
}

/* ---- waits that the trace does not tell of ---- */

static void wait_for_copy(struct gpu_pass *p, uint32_t call)
{
	const uint32_t *gpus;
	size_t n;
	ht_launch_gpus(p->b->trace, p->b->g->events[call].row, &gpus, &n);
	for (size_t i = 0; i < n; i++) {
		uint32_t work = p->b->g->event_of_row[p->b->trace->gpu[gpus[i]].row];
		if (work != HT_NONE)
			wait_for(p, call, work);
	}
}

static bool launched_before(const struct gpu_pass *p, uint32_t work, uint32_t call)
{
	const struct ht_gpu *gpu = &p->b->trace->gpu[p->b->g->events[work].gpu];
	return gpu->launch == HT_NONE ||
	       p->b->trace->ts_ns[gpu->launch] <= p->b->trace->ts_ns[p->b->g->events[call].row];
}

/* The work that ended last inside the call, of what was launched before it; by_end is sorted. */
static void wait_for_latest(struct gpu_pass *p, uint32_t call, const struct item *by_end, size_t n)
{
	const struct ht_trace *t = p->b->trace;
	uint32_t row = p->b->g->events[call].row;
	size_t low = 0, high = n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (by_end[middle].time_ns <= ht_end_ns(t, row))
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- && by_end[low].time_ns > t->ts_ns[row]) {
		if (launched_before(p, by_end[low].index, call)) {
			wait_for(p, call, by_end[low].index);
			break;
		}
	}
}

static void guess_waits(struct gpu_pass *p, struct item *items, size_t n_items)
{
	const struct ht_cp_graph *g = p->b->g;
	size_t n = 0;
	bool sorted = false;
	for (uint32_t e = 0; e < g->n_events; e++) {
		uint32_t row = g->events[e].row;
		if (p->synced[e] || !ht_cp_may_wait(p->b, row))
			continue;
		if (ht_cp_name_bits(p->b, row) & HT_CP_NAME_COPIES) {
			wait_for_copy(p, e);
			continue;
		}
		if (!sorted) {
			for (size_t i = 0; i < n_items; i++) {
				if (items[i].is_wait)
					continue;
				items[n] = items[i];
				items[n].time_ns =
				        ht_end_ns(p->b->trace, g->events[items[i].index].row);
				n++;
			}
			qsort(items, n, sizeof *items, compare_item);
			sorted = true;
		}
		wait_for_latest(p, e, items, n);
	}
}

enum ht_status ht_cp_gpu_edges(struct ht_cp_builder *b)
{
	struct gpu_pass p = { .b = b };
	HT_TRY(ht_cp_lanes_make(b, &p.lanes));
	HT_TRY(collect_waits(&p));
	if (p.n_waits)
		HT_TRY(resolve(&p));
	size_t n_items = 0;
	struct item *items = list_items(&p, &n_items);
	p.last = ht_cp_alloc(b, p.lanes.n, sizeof *p.last);
	p.previous = ht_cp_alloc(b, b->g->n_events, sizeof *p.previous);
	p.pending = ht_cp_alloc(b, p.n_waits, sizeof *p.pending);
	p.pending_of = ht_cp_alloc(b, b->g->n_events, sizeof *p.pending_of);
	p.held = ht_cp_alloc(b, b->g->n_events, sizeof *p.held);
	p.synced = ht_cp_alloc(b, b->g->n_events, sizeof *p.synced);
	if (b->no_memory)
		return ht_fail_nomem(b->run->ctx);
	hold_back(&p);
	for (size_t i = 0; i < n_items; i++) {
		if (items[i].is_wait)
			add_wait(&p, &p.waits[items[i].index]);
		else
			add_work(&p, items[i].index);
	}
	guess_waits(&p, items, n_items);
	return HT_OK;
}
