/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_cp_select.c - the critical path graph as HTA selects and orders it: window, nodes, host edges.
 * For comparing with HTA; cp_model.h is the better one.
 *
 * Times are HTA's doubles of microseconds after it took the earliest time of all ranks off, because
 * equal nanoseconds may differ there, and the order of points decides about edges.
 */
#include "hta/hta_cp_build.h"
#include "base/list.h"
#include "graph/cp_look.h"
#include "hta/hta_facts.h"

#include <stdlib.h>
#include <string.h>

/* ---- window and nodes ---- */

struct window {
	double start, end;
};

/* Rows so named count in the order of HTA's table, wherever they come from. */
static enum ht_status find_window(struct ht_cp_builder *b, struct window *ret_window)
{
	const struct ht_trace *t = b->trace;
	const struct ht_cp_options *o = &b->g->options;
	const char *annotation = o->annotation ? o->annotation : "ProfilerStep";
	struct window w = { 0 };
	int64_t n = 0;
	bool found = false;
	for (size_t i = 0; i < b->frame.n_rows; i++) {
		uint32_t row = b->frame.rows[i];
		if (*annotation && !strstr(ht_str(t, t->name[row]), annotation))
			continue;
		n++;
		if (*annotation && (n - 1 < b->first || n - 1 > b->last))
			continue;
		double start = ht_cp_time(b, row, false), end = ht_cp_time(b, row, true);
		w.start = !found || start < w.start ? start : w.start;
		w.end = !found || end > w.end ? end : w.end;
		b->g->start_ns =
		        !found || t->ts_ns[row] < b->g->start_ns ? t->ts_ns[row] : b->g->start_ns;
		b->g->end_ns = !found || ht_end_ns(t, row) > b->g->end_ns ? ht_end_ns(t, row)
		                                                          : b->g->end_ns;
		found = true;
	}
	if (!found && n)
		return ht_fail(b->run->ctx, HT_USAGE, t->path, -1, "instances count from 0",
		        "instance %lld of '%s' does not exist: rank %lld has %lld",
		        (long long)b->first, annotation, (long long)b->run->rank, (long long)n);
	if (!found) {
		b->g->empty = true;
		b->g->note = ht_arena_printf(b->run->scratch, "nothing is named '%s'", annotation);
	}
	*ret_window = w;
	return HT_OK;
}

/* Host rows that start in the window, the row that each of them points to, and all stream waits. */
static void clip(struct ht_cp_builder *b, const struct window *w)
{
	const struct ht_trace *t = b->trace;
	const int64_t *stream = b->columns.stream, *partner = b->columns.partner;
	for (size_t i = 0; i < b->frame.n_rows; i++) {
		uint32_t row = b->frame.rows[i];
		if (stream[row] != -1) {
			if (!strcmp(ht_str(t, t->name[row]), "Stream Wait Event"))
				b->clipped[row] = 1;
			continue;
		}
		double start = ht_cp_time(b, row, false);
		if (start < w->start || start > w->end || t->dur_ns[row] <= 0)
			continue;
		b->clipped[row] = 1;
		if (partner[row] >= 0 && (size_t)partner[row] < t->n_kind &&
		        b->in_frame[partner[row]] && stream[partner[row]] != -1)
			b->clipped[partner[row]] = 1;
	}
}

static enum ht_status choose_nodes(struct ht_cp_builder *b)
{
	static const char *const host[] = { "cpu_op", "cuda_driver", "cuda_runtime" };
	const struct ht_trace *t = b->trace;
	uint8_t *chosen = ht_cp_alloc(b, t->n_kind, 1);
	bool *is_host = ht_cp_alloc(b, t->n_categories, sizeof *is_host);
	if (b->no_memory)
		return ht_fail_nomem(b->run->ctx);
	for (size_t k = 0; k < t->n_categories; k++) {
		for (size_t j = 0; j < HT_COUNT(host); j++)
			is_host[k] |= !strcmp(ht_str(t, t->categories[k].name), host[j]);
	}
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (!b->clipped[row])
			continue;
		bool work = b->columns.stream[row] != -1 && b->columns.partner[row] >= 0;
		bool loads = ht_cp_names_bits(&b->names, row) & HT_CP_NAME_DATA_LOAD;
		chosen[row] = is_host[t->cat[row]] || work || loads;
	}
	return ht_cp_events_make(b, chosen);
}

/* The first one unless said: a number, or the first of the ranges. */
static enum ht_status read_instance(struct ht_cp_builder *b)
{
	struct ht_list list;
	if (!b->g->options.instance)
		return HT_OK;
	HT_TRY(ht_list_parse(b->run->ctx, "--instance", b->g->options.instance, &list));
	if (list.ranges.n) {
		const struct ht_list_range *range = list.ranges.data;
		b->first = range->first;
		b->last = range->last;
		b->g->first_instance = range->first;
	}
	ht_list_done(b->run->ctx, &list);
	return HT_OK;
}

enum ht_status ht_hta_cp_select(struct ht_cp_builder *b)
{
	HT_TRY(read_instance(b));
	struct ht_run run = *b->run;
	run.annotation = NULL;
	run.step = run.step && !strcmp(run.step, "all") ? run.step : NULL;
	HT_TRY(ht_frame_make(&run, &b->frame));
	HT_TRY(ht_hta_columns(&run, &b->frame, false, &b->columns));
	b->correlation = b->columns.correlation;
	b->zero = ht_hta_us(run.facts->first_timed_ns);
	b->in_frame = ht_cp_alloc(b, b->trace->n_kind, 1);
	b->clipped = ht_cp_alloc(b, b->trace->n_kind, 1);
	if (b->no_memory)
		return ht_fail_nomem(run.ctx);
	for (size_t i = 0; i < b->frame.n_rows; i++)
		b->in_frame[b->frame.rows[i]] = 1;
	struct window w = { 0 };
	HT_TRY(find_window(b, &w));
	if (b->g->empty)
		return HT_OK;
	clip(b, &w);
	return choose_nodes(b);
}

/* ---- the runtime's lock ---- */

struct point {
	double time, dur;
	uint32_t row, node;
};

static int compare_node(const void *left, const void *right)
{
	const struct point *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

/* An end closes all calls that are open: its own with its time, the others without. */
static enum ht_status lock_edges(struct ht_cp_builder *b)
{
	struct ht_cp_graph *g = b->g;
	size_t n = 0, n_open = 0;
	struct point *points = ht_cp_alloc(b, 2 * g->n_events, sizeof *points);
	uint32_t *open = ht_cp_alloc(b, g->n_events, sizeof *open);
	if (b->no_memory)
		return ht_fail_nomem(b->run->ctx);
	for (uint32_t e = 0; e < g->n_events; e++) {
		if (!(ht_cp_names_bits(&b->names, g->events[e].row) & HT_CP_NAME_LOCKS))
			continue;
		for (uint32_t node = ht_cp_start(e); node <= ht_cp_end(e); node++)
			points[n++] = (struct point){ .time = g->time[node], .node = node };
	}
	qsort(points, n, sizeof *points, compare_node);
	for (size_t i = 0; i < n; i++) {
		uint32_t node = points[i].node;
		if (!(node & 1)) {
			open[n_open++] = node;
			continue;
		}
		for (size_t k = 0; k < n_open; k++) {
			bool own = open[k] / 2 == node / 2;
			ht_cp_edge_add(b, open[k], node, own ? HT_CP_OPERATOR : HT_CP_DEPENDENCY,
			        own ? ht_cp_node_row(g, node) : HT_NONE);
		}
		n_open = 0;
		if (i && (points[i - 1].node & 1))
			ht_cp_edge_add(b, points[i - 1].node, node, HT_CP_DEPENDENCY, HT_NONE);
	}
	return HT_OK;
}

/* ---- call stacks ---- */

struct group {
	int64_t pid, tid;
	uint8_t pid_type, tid_type;
	bool gpu;          /* has a row on a stream: no stack */
	uint32_t first, n; /* slice of the rows */
};

static int compare_id(uint8_t type_a, int64_t a, uint8_t type_b, int64_t b)
{
	if (type_a != type_b)
		return type_a < type_b ? -1 : 1;
	return (a > b) - (a < b);
}

static int compare_group(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	int order = compare_id(a->pid_type, a->pid, b->pid_type, b->pid);
	return order ? order : compare_id(a->tid_type, a->tid, b->tid_type, b->tid);
}

static struct group key_of(
        const struct ht_trace *t, uint32_t track, uint32_t from_track, uint32_t to_track)
{
	const struct ht_track *k = &t->tracks[track];
	struct group key = {
		.pid = k->pid, .pid_type = k->pid_type, .tid = k->tid, .tid_type = k->tid_type
	};
	if (from_track != HT_NONE &&
	        !compare_id(k->tid_type, k->tid, t->tracks[from_track].tid_type,
	                t->tracks[from_track].tid)) {
		key.tid = t->tracks[to_track].tid;
		key.tid_type = t->tracks[to_track].tid_type;
	}
	return key;
}

/* The only thread id with operators or annotations of a name that contains the text. */
static uint32_t only_thread(struct ht_cp_builder *b, const char *text)
{
	const struct ht_trace *t = b->trace;
	uint32_t found = HT_NONE;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (!b->clipped[row] ||
		        (t->kind[row] != HT_KIND_CPU_OP && t->kind[row] != HT_KIND_ANNOTATION) ||
		        !strstr(ht_str(t, t->name[row]), text))
			continue;
		uint32_t track = t->track[row];
		if (found != HT_NONE && compare_id(t->tracks[found].tid_type, t->tracks[found].tid,
		                                t->tracks[track].tid_type, t->tracks[track].tid))
			return HT_NONE;
		found = track;
	}
	return found;
}

/* Which group each track belongs to; the autograd thread joins the forward thread. */
static struct group *make_groups(struct ht_cp_builder *b, uint32_t *group_of, size_t *ret_n)
{
	const struct ht_trace *t = b->trace;
	uint32_t forward = only_thread(b, "forward"), autograd = only_thread(b, "autograd");
	if (forward == HT_NONE || autograd == HT_NONE)
		autograd = HT_NONE;
	struct group *groups = ht_cp_alloc(b, t->n_tracks, sizeof *groups);
	if (!groups)
		return NULL;
	for (uint32_t k = 0; k < t->n_tracks; k++)
		groups[k] = key_of(t, k, autograd, forward);
	qsort(groups, t->n_tracks, sizeof *groups, compare_group);
	size_t n = 0;
	for (size_t k = 0; k < t->n_tracks; k++) {
		if (!n || compare_group(&groups[k], &groups[n - 1]))
			groups[n++] = groups[k];
	}
	for (uint32_t k = 0; k < t->n_tracks; k++) {
		struct group key = key_of(t, k, autograd, forward);
		const struct group *at = bsearch(&key, groups, n, sizeof *groups, compare_group);
		group_of[k] = (uint32_t)(at - groups);
	}
	*ret_n = n;
	return groups;
}

static int compare_starts(const void *left, const void *right)
{
	const struct point *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->dur != b->dur)
		return a->dur > b->dur ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static int compare_ends(const void *left, const void *right)
{
	const struct point *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->dur != b->dur)
		return a->dur < b->dur ? -1 : 1;
	return (a->row < b->row) - (a->row > b->row);
}

struct stack_room {
	struct point *starts, *ends;
	uint32_t *rows, *parent, *stack;
};

/* An end closes whatever is open innermost, its own row or not. */
static void walk_group(
        struct ht_cp_builder *b, const uint32_t *rows, size_t n, const struct stack_room *room)
{
	for (size_t i = 0; i < n; i++) {
		double start = ht_cp_time(b, rows[i], false);
		double dur = (double)b->trace->dur_ns[rows[i]] / 1000;
		room->starts[i] = (struct point){ start, dur, rows[i], 0 };
		room->ends[i] = (struct point){ start + dur, dur, rows[i], 0 };
	}
	qsort(room->starts, n, sizeof *room->starts, compare_starts);
	qsort(room->ends, n, sizeof *room->ends, compare_ends);
	size_t depth = 0;
	for (size_t i = 0, j = 0; i < n;) {
		/* far from 0 a short row ends where it starts: its end may come first */
		if (j < n && room->ends[j].time <= room->starts[i].time) {
			depth -= depth > 0;
			j++;
			continue;
		}
		room->rows[i] = room->starts[i].row;
		room->parent[i] = depth ? room->stack[depth - 1] : HT_NONE;
		room->stack[depth++] = (uint32_t)i++;
	}
	struct ht_cp_tree tree = { room->rows, room->parent, n };
	ht_cp_walk_tree(b, &tree);
}

static void sort_into_groups(struct ht_cp_builder *b, struct group *groups, size_t n_groups,
        const uint32_t *group_of, uint32_t *rows)
{
	const struct ht_trace *t = b->trace;
	for (int fill = 0; fill < 2; fill++) {
		for (uint32_t row = 0; row < t->n_kind; row++) {
			struct group *group = &groups[group_of[t->track[row]]];
			if (!b->clipped[row])
				continue;
			if (b->columns.stream[row] >= 0)
				group->gpu = true;
			if (fill)
				rows[group->first + group->n] = row;
			group->n++;
		}
		uint32_t first = 0;
		for (size_t k = 0; k < n_groups && !fill; k++) {
			groups[k].first = first;
			first += groups[k].n;
			groups[k].n = 0;
		}
	}
}

static enum ht_status stack_edges(struct ht_cp_builder *b)
{
	size_t n_rows = b->trace->n_kind, n_groups = 0;
	uint32_t *group_of = ht_cp_alloc(b, b->trace->n_tracks, sizeof *group_of);
	uint32_t *rows = ht_cp_alloc(b, n_rows, sizeof *rows);
	struct stack_room room = { .starts = ht_cp_alloc(b, n_rows, sizeof *room.starts),
		.ends = ht_cp_alloc(b, n_rows, sizeof *room.ends),
		.rows = ht_cp_alloc(b, n_rows, sizeof *room.rows),
		.parent = ht_cp_alloc(b, n_rows, sizeof *room.parent),
		.stack = ht_cp_alloc(b, n_rows, sizeof *room.stack) };
	struct group *groups = b->no_memory ? NULL : make_groups(b, group_of, &n_groups);
	if (b->no_memory)
		return ht_fail_nomem(b->run->ctx);
	sort_into_groups(b, groups, n_groups, group_of, rows);
	for (size_t k = 0; k < n_groups; k++) {
		if (!groups[k].gpu)
			walk_group(b, rows + groups[k].first, groups[k].n, &room);
	}
	return HT_OK;
}

enum ht_status ht_hta_cp_host_edges(struct ht_cp_builder *b)
{
	HT_TRY(lock_edges(b));
	return stack_edges(b);
}
