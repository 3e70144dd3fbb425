/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_cp_gpu.c - GPU edges of the critical path graph as HTA draws them.
 * For comparing with HTA; cp_work.c is the better one.
 *
 * Its rule for a launch delay asks for a queue of length 1 at the launch and 0 at the start of the
 * work; launches that it does not know by name have no queue, so their work hangs on the work before it
 * or on nothing.
 */
#include "hta/hta_cp_build.h"
#include "hta/hta_names.h"
#include "model/device/series.h"
#include "store/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Microseconds after which the work before does not hold the next one back. */
#define MAX_GAP_US 1500

struct item {
	double key;
	uint32_t row;
	uint32_t wait; /* 1 + number of its wait, 0 for work */
};

struct hta_pass {
	struct ht_cp_builder *b;
	int64_t *queue; /* by row: length there, HT_NO_I64 when unknown */
	struct ht_cp_lanes lanes;
	uint32_t *last; /* by lane: 1 + event */
	size_t *seen;   /* lanes in the order of their first work */
	size_t n_seen;
	uint32_t *held; /* by event: 1 + row of the work it must wait for */
	struct ht_cp_wait *waits;
	size_t n_waits;
};

static enum ht_status read_queue(struct hta_pass *p)
{
	struct ht_cp_builder *b = p->b;
	const struct ht_queue_series *series;
	size_t n;
	p->queue = ht_cp_alloc(b, b->trace->n_kind, sizeof *p->queue);
	if (!p->queue)
		return ht_fail_nomem(b->run->ctx);
	for (size_t row = 0; row < b->trace->n_kind; row++)
		p->queue[row] = HT_NO_I64;
	HT_TRY(ht_queue_series_make(b->run, &b->frame, &series, &n));
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < series[i].n; k++)
			p->queue[series[i].points[k].row] = series[i].points[k].length;
	}
	return HT_OK;
}

static bool is_sync(const struct ht_trace *t, uint32_t row)
{
	return t->kind[row] == HT_KIND_SYNC;
}

/* ---- streams ---- */

/* HTA knows streams only, not devices. */
static struct ht_cp_lane lane_of(const struct ht_cp_builder *b, uint32_t event)
{
	return (struct ht_cp_lane){ 0, b->columns.stream[b->g->events[event].row] };
}

/* The streams of all GPU events. */
static enum ht_status make_lanes(struct ht_cp_builder *b, struct ht_cp_lanes *ret_lanes)
{
	const struct ht_cp_graph *g = b->g;
	struct ht_cp_lanes lanes = { .list = ht_cp_alloc(b, g->n_events, sizeof *lanes.list) };
	if (b->no_memory)
		return ht_fail_nomem(b->run->ctx);
	for (uint32_t e = 0; e < g->n_events; e++) {
		if (b->columns.stream[g->events[e].row] != -1)
			lanes.list[lanes.n++] = lane_of(b, e);
	}
	ht_cp_lanes_sort(&lanes);
	*ret_lanes = lanes;
	return HT_OK;
}

/* ---- items ---- */

/* GPU rows of the window and waits without a stream, as far as they have a correlation. */
static bool is_item(const struct ht_cp_builder *b, uint32_t row)
{
	if (!b->clipped[row] || b->columns.partner[row] < 0)
		return false;
	return b->columns.stream[row] != -1 ||
	       (is_sync(b->trace, row) &&
	               ht_hta_is_gpu_sync(ht_str(b->trace, b->trace->name[row])));
}

static void collect_wait(struct hta_pass *p, uint32_t row)
{
	const struct ht_trace *t = p->b->trace;
	int64_t call = p->b->columns.partner[row];
	uint8_t kind;
	if (!ht_cp_wait_kind(t, row, &kind))
		return;
	p->waits[p->n_waits++] = (struct ht_cp_wait){ .row = row,
		.call = call > 0 ? (uint32_t)call : HT_NONE,
		.source = HT_NONE,
		.target = HT_NONE,
		.kind = kind,
		.device = t->tracks[t->track[row]].pid,
		.stream = p->b->columns.stream[row] };
}

/* The launches that HTA knows, each with the one work it points to. */
static enum ht_status resolve(struct hta_pass *p)
{
	struct ht_cp_builder *b = p->b;
	const struct ht_trace *t = b->trace;
	size_t n = 0;
	struct ht_cp_launch *launches = ht_cp_alloc(b, b->frame.n_rows, sizeof *launches);
	if (!launches)
		return ht_fail_nomem(b->run->ctx);
	for (size_t i = 0; i < b->frame.n_rows; i++) {
		uint32_t row = b->frame.rows[i];
		int64_t work = b->columns.partner[row];
		if (work <= 0 || b->columns.stream[row] != -1 || b->columns.stream[work] == -1 ||
		        !ht_hta_is_launch(ht_str(t, t->name[row])))
			continue;
		launches[n++] = (struct ht_cp_launch){ .device = t->tracks[t->track[work]].pid,
			.stream = b->columns.stream[work],
			.track = t->track[row],
			.launch = row,
			.work = (uint32_t)work,
			.launch_ns = t->ts_ns[row],
			.work_ns = t->ts_ns[work] };
	}
	struct ht_cp_sync sync = { .run = b->run,
		.names = &b->names,
		.correlation = b->correlation,
		.in_frame = b->in_frame };
	return ht_cp_resolve_waits(&sync, launches, n, p->waits, p->n_waits);
}

static int compare_item(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static struct item *list_items(struct hta_pass *p, size_t *ret_n)
{
	struct ht_cp_builder *b = p->b;
	const struct ht_trace *t = b->trace;
	size_t n = 0;
	for (uint32_t row = 0; row < t->n_kind; row++)
		n += is_item(b, row);
	struct item *items = ht_cp_alloc(b, n, sizeof *items);
	p->waits = ht_cp_alloc(b, n, sizeof *p->waits);
	if (b->no_memory)
		return NULL;
	n = 0;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (!is_item(b, row))
			continue;
		items[n] = (struct item){ ht_cp_time(b, row, is_sync(t, row)), row, 0 };
		if (is_sync(t, row)) {
			collect_wait(p, row);
			items[n].wait = (uint32_t)p->n_waits;
		}
		n++;
	}
	*ret_n = n;
	return items;
}

/* ---- waits ---- */

static void sync_edge(struct hta_pass *p, uint32_t work, uint32_t call_row)
{
	uint32_t call = call_row == HT_NONE ? HT_NONE : p->b->g->event_of_row[call_row];
	if (call != HT_NONE)
		ht_cp_edge_add(p->b, ht_cp_end(work), ht_cp_end(call), HT_CP_SYNC, HT_NONE);
}

static void add_wait(struct hta_pass *p, const struct ht_cp_wait *wait)
{
	const struct ht_cp_graph *g = p->b->g;
	if (wait->kind == HT_CP_WAIT_STREAM_EVENT) {
		uint32_t target = wait->target == HT_NONE ? HT_NONE : g->event_of_row[wait->target];
		if (wait->source != HT_NONE && target != HT_NONE)
			p->held[target] = wait->source + 1;
	} else if (wait->kind == HT_CP_WAIT_EVENT) {
		uint32_t work = wait->source == HT_NONE ? HT_NONE : g->event_of_row[wait->source];
		if (work != HT_NONE)
			sync_edge(p, work, wait->call);
	} else if (wait->kind == HT_CP_WAIT_CONTEXT) {
		for (size_t i = 0; i < p->n_seen; i++)
			sync_edge(p, p->last[p->seen[i]] - 1, wait->call);
	} else {
		struct ht_cp_lane lane = { 0, wait->stream };
		size_t at = ht_cp_lane_find(&p->lanes, lane);
		if (at != SIZE_MAX && p->last[at])
			sync_edge(p, p->last[at] - 1, wait->call);
	}
}

/* ---- work ---- */

static bool launch_delay(struct hta_pass *p, uint32_t row, uint32_t launch_row, uint32_t last,
        const double *sync_end)
{
	const double *time = p->b->g->time;
	double launched = ht_cp_time(p->b, launch_row, false);
	return p->queue[launch_row] == 1 && p->queue[row] == 0 &&
	       (!last || time[ht_cp_end(last - 1)] < launched) &&
	       (!sync_end || *sync_end < launched);
}

static void add_work(struct hta_pass *p, uint32_t row)
{
	struct ht_cp_builder *b = p->b;
	struct ht_cp_graph *g = b->g;
	uint32_t event = g->event_of_row[row], start = ht_cp_start(event);
	size_t lane = ht_cp_lane_find(&p->lanes, lane_of(b, event));
	uint32_t launch_row = (uint32_t)b->columns.partner[row], last = p->last[lane];
	uint32_t launch = g->event_of_row[launch_row];
	const double *sync_end = NULL;
	ht_cp_edge_add(b, start, ht_cp_end(event), HT_CP_OPERATOR, row);
	uint32_t source = p->held[event] ? g->event_of_row[p->held[event] - 1] : HT_NONE;
	if (source != HT_NONE) {
		ht_cp_edge_add(b, ht_cp_end(source), start, HT_CP_SYNC, HT_NONE);
		sync_end = &g->time[ht_cp_end(source)];
	}
	bool launched = launch != HT_NONE && launch_delay(p, row, launch_row, last, sync_end);
	double last_end = last ? g->time[ht_cp_end(last - 1)] : 0;
	if (launched)
		ht_cp_edge_add(b, ht_cp_start(launch), start, HT_CP_LAUNCH_DELAY, HT_NONE);
	else if (last && g->time[start] - last_end < MAX_GAP_US &&
	         (!sync_end || *sync_end < last_end))
		ht_cp_edge_add(
		        b, ht_cp_end(last - 1), start, HT_CP_KERNEL_DELAY, g->events[last - 1].row);
	if (!launched && launch != HT_NONE && g->options.launch_edges)
		ht_cp_edge_add(b, ht_cp_start(launch), start, HT_CP_LAUNCH_DELAY, HT_NONE)->weight =
		        0;
	if (!last)
		p->seen[p->n_seen++] = lane;
	p->last[lane] = event + 1;
}

enum ht_status ht_hta_cp_gpu_edges(struct ht_cp_builder *b)
{
	struct hta_pass p = { .b = b };
	size_t n = 0;
	HT_TRY(read_queue(&p));
	HT_TRY(make_lanes(b, &p.lanes));
	struct item *items = list_items(&p, &n);
	p.last = ht_cp_alloc(b, p.lanes.n, sizeof *p.last);
	p.seen = ht_cp_alloc(b, p.lanes.n, sizeof *p.seen);
	p.held = ht_cp_alloc(b, b->g->n_events, sizeof *p.held);
	if (b->no_memory)
		return ht_fail_nomem(b->run->ctx);
	HT_TRY(resolve(&p));
	qsort(items, n, sizeof *items, compare_item);
	for (size_t i = 0; i < n; i++) {
		if (items[i].wait)
			add_wait(&p, &p.waits[items[i].wait - 1]);
		else if (!is_sync(b->trace, items[i].row))
			add_work(&p, items[i].row);
	}
	return HT_OK;
}
