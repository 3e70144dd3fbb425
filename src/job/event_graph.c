/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_graph.c - see event_graph.h.
 */
#include "job/event_graph.h"

#include "base/search.h"
#include "base/sort.h"
#include "graph/cp_look.h"
#include "job/event_lags.h"
#include "job/event_rows.h"
#include "model/communication/comm_calls.h"
#include "store/trace.h"
#include "store/trace_meta.h"
#include "table/optional.h"

#include <string.h>

const struct ht_column ht_event_node_columns[HT_N_EVENT_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_EVENT_NODE_COLUMNS);
const struct ht_column ht_event_edge_columns[HT_N_EVENT_EDGE_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_EVENT_EDGE_COLUMNS);
const struct ht_column ht_event_of_columns[HT_N_EVENT_OF_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_EVENT_OF_COLUMNS);
const struct ht_column ht_event_window_columns[HT_N_EVENT_WINDOW_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_EVENT_WINDOW_COLUMNS);
const struct ht_column ht_event_group_columns[HT_N_EVENT_GROUP_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_EVENT_GROUP_COLUMNS);

/* A moment of a thread at which something begins or ends that others wait for. */
enum what { PLAIN, SYNCED, HANDED, HELD, ENDS };
struct point {
	int64_t time_ns;
	uint32_t track, ref; /* held call, handover, call for a device, window */
	uint32_t node;       /* that ends here */
	uint8_t what;
};

struct node {
	int64_t key_ns; /* when all that it waits for was over */
	int64_t start_ns, dur_ns, before_lag_ns, launch_lag_ns, gap_ns, memory_ns;
	uint32_t before, launch, row, step;
	struct ht_event_told told;
};

struct edge {
	uint32_t to, from;
	int64_t lag_ns;
	uint32_t kind;
};

struct maker {
	struct ht_run *run;
	struct ht_cp_model *m;
	struct ht_event_lags lags;
	struct ht_event_rows rows;
	struct ht_vec points; /* struct point, by track and time once sorted */
	struct ht_vec nodes;  /* struct node: of hosts, then works */
	struct ht_vec edges;  /* struct edge */
	uint32_t first_work;  /* node */
	bool no_memory;
};

static struct point *points_of(struct maker *k)
{
	return k->points.data;
}

static void add_point(
        struct maker *k, uint32_t track, int64_t time_ns, enum what what, uint32_t ref)
{
	if (track == HT_NONE)
		return;
	struct point point = { time_ns, track, ref, HT_NONE, (uint8_t)what };
	k->no_memory |= !HT_VEC_PUSH(k->run->ctx->mem, &k->points, struct point, point);
}

static void add_edge(
        struct maker *k, uint32_t to, uint32_t from, int64_t lag_ns, enum ht_event_edge kind)
{
	if (to == HT_NONE || from == HT_NONE)
		return;
	struct edge edge = { to, from, lag_ns > 0 ? lag_ns : 0, kind };
	k->no_memory |= !HT_VEC_PUSH(k->run->ctx->mem, &k->edges, struct edge, edge);
}

/* ---- points of threads ---- */

static int compare_points(const void *left, const void *right)
{
	const struct point *a = left, *b = right;
	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return ht_order_i64(a->time_ns, b->time_ns);
	return a->what != b->what ? (a->what < b->what ? -1 : 1)
	                          : (a->ref > b->ref) - (a->ref < b->ref);
}

/* Calls for a device wait for all of its streams, and those that did not wait would, if the host came earlier. */
static void add_calls(struct maker *k)
{
	const struct ht_cp_model *m = k->m;
	const struct ht_trace *t = m->trace;
	for (uint32_t i = 0; i < m->n_joins; i++) {
		uint32_t row = m->joins[i].row;
		add_point(k, ht_cp_thread(m, row), t->ts_ns[row], PLAIN, 0);
		add_point(k, ht_cp_thread(m, row), ht_end_ns(t, row), SYNCED, i);
	}
}

static void add_points(struct maker *k)
{
	const struct ht_cp_model *m = k->m;
	const struct ht_trace *t = m->trace;
	for (uint32_t i = 0; i < m->n_works; i++) {
		const struct ht_cp_work *w = &m->works[i];
		if (w->launch != HT_NONE)
			add_point(k, ht_cp_thread(m, w->launch), w->launch_ns, PLAIN, 0);
		else if (w->by == HT_CP_BY_HOST)
			add_point(k, m->main_track, w->start_ns, PLAIN, 0);
	}
	for (uint32_t i = 0; i < m->first_held[t->n_tracks]; i++) {
		add_point(k, ht_cp_thread(m, m->held[i].row), m->held[i].start_ns, PLAIN, 0);
		add_point(k, ht_cp_thread(m, m->held[i].row), m->held[i].end_ns, HELD, i);
	}
	for (uint32_t i = 0; i < m->first_handover[t->n_tracks]; i++) {
		add_point(k, m->handovers[i].from_track, m->handovers[i].from_ns, PLAIN, 0);
		add_point(k, m->handovers[i].track, m->handovers[i].time_ns, HANDED, i);
		if (m->handovers[i].own_ns != HT_NO_I64)
			add_point(k, m->handovers[i].track, m->handovers[i].own_ns, PLAIN, 0);
	}
	for (uint32_t i = 0; i < m->n_windows; i++) {
		add_point(k, m->windows[i].track, m->windows[i].start_ns, PLAIN, 0);
		add_point(k, m->windows[i].track, m->windows[i].host_end_ns, ENDS, i);
	}
	add_calls(k);
}

/* A thread that begins later than the main one begins from there. */
static void add_firsts(struct maker *k)
{
	const struct point *points = points_of(k);
	size_t n = k->points.n;
	for (size_t i = 0; i < n && k->m->main_track != HT_NONE; i++) {
		points = points_of(k);
		if ((!i || points[i - 1].track != points[i].track) &&
		        points[i].track != k->m->main_track)
			add_point(k, k->m->main_track, points[i].time_ns, PLAIN, 0);
	}
}

static void sort_points(struct maker *k)
{
	ht_sort_items(k->run->ctx->mem, k->points.data, k->points.n, sizeof(struct point),
	        compare_points);
}

/* The node that ends at a point of a thread, or the last one before it. */
static uint32_t node_at(struct maker *k, uint32_t track, int64_t time_ns)
{
	const struct point *points = points_of(k);
	size_t low = HT_LOWER_BOUND(at, k->points.n,
	        points[at].track < track ||
	                (points[at].track == track && points[at].time_ns <= time_ns));
	return low && points[low - 1].track == track ? points[low - 1].node : HT_NONE;
}

/* ---- nodes of threads ---- */

static uint32_t add_node(struct maker *k, struct node node)
{
	k->no_memory |= !HT_VEC_PUSH(k->run->ctx->mem, &k->nodes, struct node, node);
	return (uint32_t)(k->nodes.n - 1);
}

static uint32_t window_at(const struct ht_cp_model *m, int64_t time_ns)
{
	size_t low = HT_LOWER_BOUND(at, m->n_windows, m->windows[at].start_ns <= time_ns);
	return low && time_ns <= m->windows[low - 1].host_end_ns ? (uint32_t)(low - 1) : HT_NONE;
}

/* A thread from one moment to the next, cut where other rules fit. */
static uint32_t add_host(
        struct maker *k, uint32_t track, int64_t from_ns, int64_t to_ns, uint32_t before)
{
	struct ht_cp_model *m = k->m;
	uint32_t at = ht_cp_span_at(m, track, from_ns);
	uint32_t end = m->first_span[track + 1];
	uint32_t next = at == HT_NONE ? m->first_span[track] : at + 1;
	struct node node = { .key_ns = to_ns,
		.start_ns = from_ns,
		.before = before,
		.launch = HT_NONE,
		.row = at == HT_NONE ? HT_NONE : m->spans[at].row,
		.step = window_at(m, from_ns),
		.memory_ns = HT_NO_I64 };
	node.told = ht_event_row_tell(&k->rows, node.row);
	for (; next < end && m->spans[next].start_ns < to_ns; next++) {
		struct ht_event_told told = ht_event_row_tell(&k->rows, m->spans[next].row);
		if (told.flags == node.told.flags && told.rules == node.told.rules &&
		        told.event == node.told.event)
			continue;
		node.dur_ns = m->spans[next].start_ns - node.start_ns;
		node.key_ns = m->spans[next].start_ns;
		node.before = node.dur_ns > 0 ? add_node(k, node) : node.before;
		node.start_ns = m->spans[next].start_ns;
		node.row = m->spans[next].row;
		node.told = told;
		node.key_ns = to_ns;
	}
	node.dur_ns = to_ns - node.start_ns;
	return add_node(k, node);
}

/* What the thread waited for at a moment; false: it did not. ret_from_ns: since when its time is its own again. */
static bool find_wait(const struct maker *k, const struct point *first, size_t n, int64_t from_ns,
        int64_t *ret_from_ns)
{
	bool waits = false;
	for (size_t i = 0; i < n; i++) {
		int64_t since = first[i].what == HELD     ? k->m->held[first[i].ref].from_ns
		                : first[i].what == HANDED ? first[i].time_ns
		                                          : HT_NO_I64;
		if (since == HT_NO_I64)
			continue;
		waits = true;
		from_ns = since > from_ns ? since : from_ns;
	}
	*ret_from_ns = from_ns;
	return waits;
}

static void make_track(struct maker *k, size_t first, size_t end)
{
	uint32_t before = HT_NONE, track = points_of(k)[first].track;
	int64_t now = points_of(k)[first].time_ns;
	for (size_t i = first, next; i < end; i = next) {
		const struct point *points = points_of(k);
		int64_t time = points[i].time_ns, since = now;
		for (next = i + 1; next < end && points[next].time_ns == time;)
			next++;
		find_wait(k, points + i, next - i, now, &since);
		uint32_t node = add_host(k, track, since, time, before);
		for (size_t j = i; j < next; j++)
			points_of(k)[j].node = node;
		before = node;
		now = time;
	}
}

static void make_tracks(struct maker *k)
{
	for (size_t i = 0, end; i < k->points.n && !k->no_memory; i = end) {
		for (end = i;
		        end < k->points.n && points_of(k)[end].track == points_of(k)[i].track;)
			end++;
		make_track(k, i, end);
	}
}

/* ---- what threads wait for ---- */

/* The first node of several that were cut from one waits; i is the first point of its moment. */
static uint32_t first_of(const struct maker *k, size_t i)
{
	const struct node *nodes = k->nodes.data;
	const struct point *points = k->points.data;
	uint32_t node = points[i].node;
	uint32_t stop = i && points[i - 1].track == points[i].track ? points[i - 1].node : HT_NONE;
	while (nodes[node].before != stop && nodes[node].before != HT_NONE)
		node = nodes[node].before;
	return node;
}

static void wait_at(struct maker *k, size_t i, uint32_t to)
{
	const struct ht_cp_model *m = k->m;
	const struct point *p = &points_of(k)[i];
	bool starts = !i || p[-1].track != p->track;
	if (p->what == SYNCED) {
		const struct ht_cp_join *join = &m->joins[p->ref];
		for (uint32_t n = 0; n < join->n; n++)
			add_edge(k, to, k->first_work + m->joined[join->first + n], 0,
			        HT_EDGE_RECORDED);
	} else if (p->what == HELD) {
		const struct ht_cp_held *h = &m->held[p->ref];
		add_edge(k, to, k->first_work + h->work, 0,
		        h->inferred ? HT_EDGE_INFERRED : HT_EDGE_RECORDED);
	} else if (p->what == HANDED) {
		const struct ht_cp_handover *h = &m->handovers[p->ref];
		add_edge(k, to, node_at(k, h->from_track, h->from_ns), h->time_ns - h->from_ns,
		        HT_EDGE_INFERRED);
	} else if (starts && p->track != m->main_track && m->main_track != HT_NONE) {
		add_edge(k, to, node_at(k, m->main_track, p->time_ns), 0, HT_EDGE_INFERRED);
	}
}

static void wait_on_hosts(struct maker *k)
{
	struct node *nodes = k->nodes.data;
	const struct point *points = k->points.data;
	uint32_t first = HT_NONE;
	for (size_t i = 0; i < k->points.n; i++) {
		/* all points of a moment have one node */
		if (!i || points[i - 1].track != points[i].track ||
		        points[i - 1].time_ns != points[i].time_ns)
			first = first_of(k, i);
		wait_at(k, i, first);
		if (points[i].what == ENDS) {
			nodes[points[i].node].told.flags |= HT_EVENT_ENDS;
			nodes[points[i].node].step = points[i].ref;
		}
	}
}

/* ---- works ---- */

static uint32_t window_of(const struct ht_cp_model *m, uint32_t work)
{
	const struct ht_cp_work *w = &m->works[work];
	int64_t time = w->launch == HT_NONE ? w->start_ns : w->launch_ns;
	size_t low = HT_LOWER_BOUND(at, m->n_windows, m->windows[at].start_ns <= time);
	for (size_t back = 0; back < 2 && low-- > 0; back++)
		if (ht_cp_window_owns(m, &m->windows[low], work))
			return (uint32_t)low;
	return HT_NONE;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Work of other streams that it waits for. */
static int64_t wait_for_works(struct maker *k, uint32_t work)
{
	const struct ht_cp_model *m = k->m;
	const struct ht_cp_work *w = &m->works[work];
	uint32_t to = k->first_work + work;
	int64_t known = HT_NO_I64;
	bool listed = w->floor == w->before;
	for (uint32_t i = 0; i < w->n_sources; i++) {
		const struct ht_cp_source *s = &m->sources[w->first_source + i];
		listed |= s->work == w->floor;
		known = later(known, m->works[s->work].end_ns);
		add_edge(k, to, k->first_work + s->work, 0,
		        s->inferred ? HT_EDGE_INFERRED : HT_EDGE_RECORDED);
	}
	if (w->by == HT_CP_BY_WORK && !listed && w->floor != HT_NONE &&
	        m->works[w->floor].end_ns <= w->start_ns) {
		known = later(known, m->works[w->floor].end_ns);
		add_edge(k, to, k->first_work + w->floor, 0, HT_EDGE_INFERRED);
	}
	return known;
}

static void make_work(struct maker *k, uint32_t work)
{
	const struct ht_cp_model *m = k->m;
	const struct ht_cp_work *w = &m->works[work];
	struct node node = { .key_ns = w->start_ns,
		.start_ns = w->start_ns,
		.dur_ns = w->end_ns - w->start_ns,
		.before = HT_NONE,
		.launch = HT_NONE,
		.row = w->row,
		.step = window_of(m, work),
		.told = ht_event_work_tell(&k->rows, work),
		.memory_ns = ht_event_memory_ns(&k->rows, work) };
	int64_t known = wait_for_works(k, work);
	uint32_t track = w->launch != HT_NONE ? ht_cp_thread(m, w->launch) : m->main_track;
	if (node.step != HT_NONE)
		node.told.flags |= HT_EVENT_ENDS;
	if (w->before != HT_NONE && m->works[w->before].end_ns <= w->start_ns) {
		node.before = k->first_work + w->before;
		node.before_lag_ns = ht_event_pause_ns(&k->lags, work);
		known = later(known, m->works[w->before].end_ns + node.before_lag_ns);
	} else if (w->before != HT_NONE) {
		const struct ht_cp_work *b = &m->works[w->before];
		add_edge(k, k->first_work + work, k->first_work + w->before,
		        w->start_ns - b->start_ns, HT_EDGE_OVERLAP);
		known = w->start_ns;
	}
	if (w->launch != HT_NONE) {
		node.launch = node_at(k, track, w->launch_ns);
		node.launch_lag_ns = ht_event_latency_ns(&k->lags, work);
		known = later(known, w->launch_ns + node.launch_lag_ns);
	} else if (w->by == HT_CP_BY_HOST && track != HT_NONE) {
		node.launch = node_at(k, track, w->start_ns);
		known = w->start_ns;
	}
	if (known != HT_NO_I64 && w->start_ns - known > m->options.tolerance_ns)
		node.gap_ns = w->start_ns - known;
	add_node(k, node);
}

/* ---- tables ---- */

/* By when all was over that they waited for; the host of a moment before the work of it. */
static enum ht_status sort_nodes(struct maker *k, uint32_t **ret_order, uint32_t **ret_place)
{
	const struct node *nodes = k->nodes.data;
	size_t n = k->nodes.n;
	uint32_t *order = ht_arena_alloc(k->run->scratch, (n + 1) * sizeof *order);
	uint32_t *place = ht_arena_alloc(k->run->scratch, (n + 1) * sizeof *place);
	uint64_t *keys = ht_arena_alloc(k->run->scratch, (n + 1) * sizeof *keys);
	if (!order || !place || !keys)
		return ht_fail_nomem(k->run->ctx);
	for (uint32_t i = 0; i < n; i++) {
		keys[i] = ht_sort_key_i64(nodes[i].key_ns);
		order[i] = i;
	}
	if (!ht_sort_keys(k->run->ctx->mem, keys, order, n))
		return ht_fail_nomem(k->run->ctx);
	for (uint32_t i = 0; i < n; i++)
		place[order[i]] = i;
	*ret_order = order;
	*ret_place = place;
	return HT_OK;
}

static void put_place(
        ht_table *table, size_t column, const uint32_t *place, uint32_t from, uint32_t to)
{
	bool is_known = from != HT_NONE && place[from] < place[to];
	ht_table_put_known(table, column, is_known ? (int64_t)place[from] : -1, -1);
}

static void put_node(struct maker *k, ht_table *table, const uint32_t *place, uint32_t i)
{
	const struct ht_trace *t = k->m->trace;
	const struct node *node = &((const struct node *)k->nodes.data)[i];
	ht_table_row(table);
	ht_table_put_i64(table, HT_EVENT_START, node->start_ns);
	ht_table_put_i64(table, HT_EVENT_DUR, node->dur_ns);
	put_place(table, HT_EVENT_BEFORE, place, node->before, i);
	ht_table_put_i64(table, HT_EVENT_BEFORE_LAG, node->before_lag_ns);
	put_place(table, HT_EVENT_LAUNCHED, place, node->launch, i);
	ht_table_put_i64(table, HT_EVENT_LAUNCH_LAG, node->launch_lag_ns);
	ht_table_put_known(table, HT_EVENT_ROW, node->row == HT_NONE ? -1 : (int64_t)node->row, -1);
	if (node->row == HT_NONE || t->name[node->row] == HT_NO_STR)
		ht_table_put_null(table, HT_EVENT_NAME);
	else
		ht_table_put_str(table, HT_EVENT_NAME, ht_str(t, t->name[node->row]));
	ht_table_put_known(
	        table, HT_EVENT_STEP, node->step == HT_NONE ? -1 : (int64_t)node->step, -1);
	ht_table_put_i64(table, HT_EVENT_FLAGS, node->told.flags);
	ht_table_put_i64(table, HT_EVENT_RULES, (int64_t)node->told.rules);
	ht_table_put_i64(table, HT_EVENT_GAP, node->gap_ns);
}

static void put_of(struct maker *k, ht_table *table, uint32_t place, uint32_t i)
{
	const struct node *node = &((const struct node *)k->nodes.data)[i];
	if (node->told.event == HT_NONE && node->memory_ns == HT_NO_I64)
		return;
	ht_table_row(table);
	ht_table_put_i64(table, HT_OF_NODE, place);
	ht_table_put_known(table, HT_OF_EVENT,
	        node->told.event == HT_NONE ? -1 : (int64_t)node->told.event, -1);
	ht_table_put_known(table, HT_OF_MEMORY, node->memory_ns, HT_NO_I64);
}

static int compare_edges(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static void put_edges(struct maker *k, ht_table *table, const uint32_t *place)
{
	struct edge *edges = k->edges.data;
	for (size_t i = 0; i < k->edges.n; i++) {
		edges[i].to = place[edges[i].to];
		edges[i].from = place[edges[i].from];
	}
	ht_sort_items(k->run->ctx->mem, edges, k->edges.n, sizeof *edges, compare_edges);
	for (size_t i = 0; i < k->edges.n; i++) {
		if (edges[i].from >= edges[i].to)
			continue;
		ht_table_row(table);
		ht_table_put_i64(table, HT_EDGE_TO, edges[i].to);
		ht_table_put_i64(table, HT_EDGE_FROM, edges[i].from);
		ht_table_put_i64(table, HT_EDGE_LAG, edges[i].lag_ns);
		ht_table_put_i64(table, HT_EDGE_KIND, edges[i].kind);
	}
}

static void put_groups(const struct ht_trace *t, ht_table *table)
{
	for (size_t i = 0; i < t->more->n_process_groups; i++) {
		const struct ht_process_group *g = &t->more->process_groups[i];
		if (g->description == HT_NO_STR || g->ranks == HT_NO_STR)
			continue;
		ht_table_row(table);
		ht_table_put_str(table, HT_GROUP_DESCRIPTION, ht_str(t, g->description));
		ht_table_put_str(table, HT_GROUP_RANKS, ht_str(t, g->ranks));
	}
}

/* Where windows overlap, a call is in the one that began last. */
static enum ht_status find_calls(struct maker *k, uint32_t **ret_call)
{
	const struct ht_cp_model *m = k->m;
	const int64_t *ts_ns = m->trace->ts_ns;
	uint32_t *call = ht_arena_room(k->run->scratch, (m->n_windows + 1) * sizeof *call);
	const uint32_t *rows = NULL;
	size_t n = 0;
	if (!call)
		return ht_fail_nomem(k->run->ctx);
	for (size_t i = 0; i < m->n_windows; i++)
		call[i] = HT_NONE;
	HT_TRY(ht_comm_host_calls(k->run, &rows, &n));
	for (size_t i = 0; i < n; i++) {
		uint32_t at = window_at(m, ts_ns[rows[i]]);
		if (at != HT_NONE && call[at] == HT_NONE)
			call[at] = rows[i];
	}
	*ret_call = call;
	return HT_OK;
}

static enum ht_status put_windows(struct maker *k, ht_table *windows)
{
	const struct ht_trace *t = k->m->trace;
	uint32_t *call = NULL;
	HT_TRY(find_calls(k, &call));
	for (size_t i = 0; i < k->m->n_windows; i++) {
		const struct ht_cp_window *w = &k->m->windows[i];
		ht_table_row(windows);
		ht_table_put_known(windows, HT_WINDOW_STEP, w->step, HT_NO_I64);
		ht_table_put_i64(windows, HT_WINDOW_START, w->start_ns);
		ht_table_put_i64(windows, HT_WINDOW_END, w->end_ns);
		ht_table_put_str(windows, HT_WINDOW_CALL,
		        call[i] == HT_NONE ? NULL : ht_str(t, t->name[call[i]]));
	}
	return HT_OK;
}

static enum ht_status put_all(struct maker *k, struct ht_part *part)
{
	uint32_t *order = NULL, *place = NULL;
	HT_TRY(sort_nodes(k, &order, &place));
	for (uint32_t i = 0; i < k->nodes.n; i++) {
		put_node(k, part->facts[HT_EVENT_FACTS_NODES], place, order[i]);
		put_of(k, part->facts[HT_EVENT_FACTS_OF], i, order[i]);
	}
	put_edges(k, part->facts[HT_EVENT_FACTS_EDGES], place);
	return put_windows(k, part->facts[HT_EVENT_FACTS_WINDOWS]);
}

static enum ht_status make_all(struct maker *k, struct ht_part *part)
{
	HT_TRY(ht_event_lags_make(k->run, k->m, &k->lags));
	add_points(k);
	sort_points(k);
	add_firsts(k);
	sort_points(k);
	make_tracks(k);
	k->first_work = (uint32_t)k->nodes.n;
	if (!k->no_memory)
		wait_on_hosts(k);
	for (uint32_t i = 0; i < k->m->n_works && !k->no_memory; i++)
		make_work(k, i);
	return k->no_memory ? ht_fail_nomem(k->run->ctx) : put_all(k, part);
}

enum ht_status ht_event_graph_put(struct ht_run *run, const struct ht_cp_options *options,
        const char *rules, struct ht_part *part)
{
	struct ht_cp_model model;
	HT_TRY(ht_cp_model_make(run, options, &model));
	struct maker k = { .run = run, .m = &model };
	enum ht_status status = model.note && part->facts[0]
	                                ? ht_table_add_note(part->facts[0], "%s", model.note)
	                                : HT_OK;
	put_groups(model.trace, part->facts[HT_EVENT_FACTS_GROUPS]);
	if (status == HT_OK && model.n_windows) {
		status = ht_event_rows_make(run, &model, rules, &k.rows);
		if (status == HT_OK)
			status = make_all(&k, part);
		ht_event_rows_done(&k.rows);
	}
	ht_vec_free(run->ctx->mem, &k.points, sizeof(struct point));
	ht_vec_free(run->ctx->mem, &k.nodes, sizeof(struct node));
	ht_vec_free(run->ctx->mem, &k.edges, sizeof(struct edge));
	ht_cp_model_done(&model);
	return status;
}

bool ht_event_graph_is_sound(const struct ht_part *part)
{
	const ht_table *nodes = part->facts[HT_EVENT_FACTS_NODES];
	const ht_table *edges = part->facts[HT_EVENT_FACTS_EDGES];
	size_t n = ht_table_n_rows(nodes);
	for (size_t i = 0; i < n; i++)
		if (ht_table_i64_or(nodes, i, HT_EVENT_BEFORE, -1) >= (int64_t)i ||
		        ht_table_i64_or(nodes, i, HT_EVENT_LAUNCHED, -1) >= (int64_t)i ||
		        ht_table_i64(nodes, i, HT_EVENT_DUR) < 0)
			return false;
	for (size_t i = 0; i < ht_table_n_rows(edges); i++) {
		int64_t to = ht_table_i64(edges, i, HT_EDGE_TO);
		int64_t from = ht_table_i64(edges, i, HT_EDGE_FROM);
		if (to >= (int64_t)n || from >= to || from < 0 ||
		        (i && to < ht_table_i64(edges, i - 1, HT_EDGE_TO)))
			return false;
	}
	const ht_table *of = part->facts[HT_EVENT_FACTS_OF];
	for (size_t i = 1; i < ht_table_n_rows(of); i++)
		if (ht_table_i64(of, i, HT_OF_NODE) <= ht_table_i64(of, i - 1, HT_OF_NODE))
			return false;
	return ht_facts_below(
	        nodes, HT_EVENT_STEP, ht_table_n_rows(part->facts[HT_EVENT_FACTS_WINDOWS]));
}
