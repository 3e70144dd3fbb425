/*
 * cp_host.c - edges of the host threads. See cp_graph.h.
 *
 * A thread is walked in time order: from each node to the next, with the time between them when an
 * operator is open, without time between two operators of the top level. What spans the gap in the
 * main thread while the autograd engine works on another one is an edge to and from that thread. The
 * runtime's lock orders the ends of calls that overlap on different threads of a process.
 *
 *   main      [ A  [call] ]          [ C ]       A.start → call.start → call.end → A.end
 *   autograd                [ B ]                A.end ╌► B.start → B.end ╌► C.start → C.end
 */
#include "graph/cp_build.h"

#include <stdlib.h>
#include <string.h>

/* How far to look back for a node that is not later than the next one. */
#define N_RECENT 64

struct walk {
	struct ht_cp_builder *b;
	const struct ht_cp_tree *tree;
	uint32_t last;    /* node, HT_NONE before the first */
	uint32_t last_at; /* its position in the tree */
	size_t depth;     /* open events */
	uint32_t recent[N_RECENT];
	size_t n_recent;
};

static uint32_t row_or_none(const struct ht_cp_tree *tree, uint32_t position)
{
	return position == HT_NONE ? HT_NONE : tree->rows[position];
}

/* Both under the runtime's lock, and not one after the other: HTA's lock edges order them. */
static bool share_lock(const struct walk *w, uint32_t node)
{
	if (!w->b->g->options.hta)
		return false;
	uint32_t from = ht_cp_node_row(w->b->g, w->last), to = ht_cp_node_row(w->b->g, node);
	if (!(ht_cp_name_bits(w->b, from) & ht_cp_name_bits(w->b, to) & HT_CP_NAME_LOCKS))
		return false;
	return !((w->last & 1) && !(node & 1));
}

/* Rows that overlap without nesting: order after the last node that is not later. */
static bool order_after_recent(struct walk *w, uint32_t node)
{
	const double *time = w->b->g->time;
	if (w->b->g->options.hta || time[w->last] <= time[node])
		return false;
	size_t n = w->n_recent < N_RECENT ? w->n_recent : N_RECENT;
	for (size_t i = 1; i <= n; i++) {
		uint32_t earlier = w->recent[(w->n_recent - i) % N_RECENT];
		if (time[earlier] <= time[node]) {
			ht_cp_edge_add(w->b, earlier, node, HT_CP_DEPENDENCY, HT_NONE);
			break;
		}
	}
	return true;
}

static void arrive(struct walk *w, uint32_t node, uint32_t position)
{
	w->last = node;
	w->last_at = position;
	w->recent[w->n_recent++ % N_RECENT] = node;
}

static void enter(struct walk *w, uint32_t event, uint32_t position)
{
	uint32_t node = ht_cp_start(event);
	if (w->last != HT_NONE && !share_lock(w, node) && !order_after_recent(w, node)) {
		uint32_t row = HT_NONE;
		if (w->depth) {
			row = w->last & 1 ? row_or_none(w->tree, w->tree->parent[w->last_at])
			                  : ht_cp_node_row(w->b->g, w->last);
			ht_cp_edge_add(w->b, w->last, node, HT_CP_OPERATOR, row);
		} else {
			struct ht_cp_edge *edge =
			        ht_cp_edge_add(w->b, w->last, node, HT_CP_DEPENDENCY, HT_NONE);
			if (w->b->g->options.count_gaps && !(w->b->cross && w->b->cross[event]))
				edge->weight = w->b->g->time[node] - w->b->g->time[w->last];
		}
	}
	if (!w->depth && w->b->cross && w->b->cross[event]) {
		uint32_t from = ht_cp_end(w->b->cross[event] - 1);
		struct ht_cp_edge *edge =
		        ht_cp_edge_add(w->b, from, node, HT_CP_DEPENDENCY, HT_NONE);
		if (w->b->g->options.count_gaps)
			edge->weight = w->b->g->time[node] - w->b->g->time[from];
	}
	arrive(w, node, position);
	w->depth++;
}

static void leave(struct walk *w, uint32_t event, uint32_t position)
{
	uint32_t node = ht_cp_end(event), row = w->tree->rows[position];
	if (!share_lock(w, node) && !order_after_recent(w, node)) {
		uint32_t owner = w->last & 1 ? row : ht_cp_node_row(w->b->g, w->last);
		struct ht_cp_edge *edge =
		        ht_cp_edge_add(w->b, w->last, node, HT_CP_OPERATOR, owner);
		if (ht_cp_may_wait(w->b, row)) {
			edge->blocks = true;
			if (w->b->g->options.hta)
				edge->weight = 0;
		}
	}
	arrive(w, node, position);
	w->depth--;
}

void ht_cp_walk_tree(struct ht_cp_builder *b, const struct ht_cp_tree *tree)
{
	struct walk w = { .b = b, .tree = tree, .last = HT_NONE };
	const uint32_t *event_of_row = b->g->event_of_row;
	uint32_t open = HT_NONE; /* position of the innermost open row */
	for (uint32_t i = 0; i <= tree->n; i++) {
		uint32_t parent = i < tree->n ? tree->parent[i] : HT_NONE;
		for (; open != parent && open != HT_NONE; open = tree->parent[open]) {
			uint32_t event = event_of_row[tree->rows[open]];
			if (event != HT_NONE)
				leave(&w, event, open);
		}
		if (i == tree->n)
			break;
		if (event_of_row[tree->rows[i]] != HT_NONE)
			enter(&w, event_of_row[tree->rows[i]], i);
		open = i;
	}
}

/* ---- threads ---- */

struct forest {
	uint32_t *rows, *parent;
	uint32_t *first; /* by track: where its tree starts; n_tracks + 1 */
};

static bool is_host_event(const struct ht_cp_graph *g, uint32_t row)
{
	return g->event_of_row[row] != HT_NONE && g->events[g->event_of_row[row]].gpu == HT_NONE;
}

/* The parent if it is still open, else none: rows that overlap without nesting close each other. */
static uint32_t open_parent(const uint32_t *parent, uint32_t open, uint32_t wanted)
{
	while (open != HT_NONE && open != wanted)
		open = parent[open];
	return open;
}

/* Trees of all host tracks; rows without nodes are transparent. */
static enum ht_status plant(struct ht_cp_builder *b, struct forest *ret_forest)
{
	const struct ht_trace *t = b->trace;
	struct forest f = { 0 };
	f.rows = ht_cp_alloc(b, b->g->n_events, sizeof(uint32_t));
	f.parent = ht_cp_alloc(b, b->g->n_events, sizeof(uint32_t));
	f.first = ht_cp_alloc(b, t->n_tracks + 1, sizeof(uint32_t));
	/* by row: 1 + position of the row itself, or of the nearest row around it that has nodes */
	uint32_t *anchor = ht_cp_alloc(b, t->n_kind, sizeof(uint32_t));
	if (b->no_memory)
		return ht_fail_nomem(b->run->ctx);
	uint32_t n = 0;
	for (size_t k = 0; k < t->n_tracks; k++) {
		const struct ht_track *track = &t->tracks[k];
		uint32_t open = HT_NONE;
		f.first[k] = n;
		for (uint32_t i = 0; i < track->n; i++) {
			uint32_t row = t->track_rows[track->first + i];
			uint32_t around = t->parent[row] == HT_NONE ? 0 : anchor[t->parent[row]];
			anchor[row] = around;
			if (!is_host_event(b->g, row))
				continue;
			f.rows[n] = row;
			uint32_t wanted = around > f.first[k] ? around - 1 - f.first[k] : HT_NONE;
			f.parent[n] = open_parent(&f.parent[f.first[k]], open, wanted);
			open = n - f.first[k];
			anchor[row] = ++n;
		}
	}
	f.first[t->n_tracks] = n;
	*ret_forest = f;
	return HT_OK;
}

/* ---- main thread and autograd threads ---- */

struct top {
	int64_t start, end;
	uint32_t event, track;
};

static int compare_start(const void *left, const void *right)
{
	const struct top *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

static int compare_end(const void *left, const void *right)
{
	const struct top *a = left, *b = right;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

static bool runs_autograd(struct ht_cp_builder *b, const struct forest *f, size_t track)
{
	for (uint32_t i = f->first[track]; i < f->first[track + 1]; i++) {
		if (f->parent[i] == HT_NONE &&
		        (ht_cp_name_bits(b, f->rows[i]) & HT_CP_NAME_AUTOGRAD))
			return true;
	}
	return false;
}

/* The annotation's thread; else the busiest one that does not run autograd. */
static size_t find_main(struct ht_cp_builder *b, const struct forest *f, const bool *autograd)
{
	if (b->window_track != HT_NONE)
		return b->window_track;
	size_t best = SIZE_MAX;
	uint32_t most = 0;
	for (size_t k = 0; k < b->trace->n_tracks; k++) {
		uint32_t n = f->first[k + 1] - f->first[k];
		if (!autograd[k] && n > most) {
			most = n;
			best = k;
		}
	}
	return best;
}

static void link_tops(struct ht_cp_builder *b, struct top *by_start, struct top *by_end, size_t n)
{
	qsort(by_start, n, sizeof *by_start, compare_start);
	memcpy(by_end, by_start, n * sizeof *by_end);
	qsort(by_end, n, sizeof *by_end, compare_end);
	for (size_t i = 0, ended = 0; i < n; i++) {
		while (ended < n && by_end[ended].end <= by_start[i].start)
			ended++;
		if (ended && by_end[ended - 1].track != by_start[i].track)
			b->cross[by_start[i].event] = by_end[ended - 1].event + 1;
	}
}

/* For each top-level operator of the main and the autograd threads that follows one of another of these
 * threads: which one. */
static enum ht_status cross_threads(struct ht_cp_builder *b, const struct forest *f)
{
	const struct ht_trace *t = b->trace;
	bool *member = ht_cp_alloc(b, t->n_tracks, sizeof *member);
	b->cross = ht_cp_alloc(b, b->g->n_events, sizeof *b->cross);
	if (b->no_memory)
		return ht_fail_nomem(b->run->ctx);
	for (size_t k = 0; k < t->n_tracks; k++)
		member[k] = runs_autograd(b, f, k);
	size_t main_track = find_main(b, f, member), n = 0;
	if (main_track == SIZE_MAX)
		return HT_OK;
	member[main_track] = true;
	for (size_t k = 0; k < t->n_tracks; k++) {
		member[k] = member[k] && t->tracks[k].pid == t->tracks[main_track].pid &&
		            t->tracks[k].pid_type == t->tracks[main_track].pid_type;
		n += member[k] ? f->first[k + 1] - f->first[k] : 0;
	}
	struct top *tops = ht_cp_alloc(b, n, sizeof *tops);
	struct top *by_end = ht_cp_alloc(b, n, sizeof *by_end);
	if (b->no_memory)
		return ht_fail_nomem(b->run->ctx);
	n = 0;
	for (uint32_t k = 0; k < t->n_tracks; k++) {
		for (uint32_t i = f->first[k]; member[k] && i < f->first[k + 1]; i++) {
			uint32_t row = f->rows[i];
			if (f->parent[i] == HT_NONE)
				tops[n++] = (struct top){ t->ts_ns[row], ht_end_ns(t, row),
					b->g->event_of_row[row], k };
		}
	}
	link_tops(b, tops, by_end, n);
	return HT_OK;
}

/* ---- the runtime's lock ---- */

struct lock_node {
	int64_t pid;
	double time;
	uint32_t node;
};

static int compare_lock(const void *left, const void *right)
{
	const struct lock_node *a = left, *b = right;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

/* The end of a call comes after the end of a call that overlapped it. */
static enum ht_status order_locks(struct ht_cp_builder *b)
{
	const struct ht_trace *t = b->trace;
	const struct ht_cp_graph *g = b->g;
	size_t n = 0;
	uint32_t track = HT_NONE;
	bool several = false;
	for (uint32_t e = 0; e < g->n_events; e++) {
		if (g->events[e].gpu != HT_NONE ||
		        !(ht_cp_name_bits(b, g->events[e].row) & HT_CP_NAME_LOCKS))
			continue;
		several |= track != HT_NONE && track != t->track[g->events[e].row];
		track = t->track[g->events[e].row];
		n += 2;
	}
	if (!several)
		return HT_OK;
	struct lock_node *nodes = ht_cp_alloc(b, n, sizeof *nodes);
	if (!nodes)
		return ht_fail_nomem(b->run->ctx);
	n = 0;
	for (uint32_t e = 0; e < g->n_events; e++) {
		uint32_t row = g->events[e].row;
		if (g->events[e].gpu != HT_NONE || !(ht_cp_name_bits(b, row) & HT_CP_NAME_LOCKS))
			continue;
		for (uint32_t node = ht_cp_start(e); node <= ht_cp_end(e); node++)
			nodes[n++] = (struct lock_node){ t->tracks[t->track[row]].pid,
				g->time[node], node };
	}
	qsort(nodes, n, sizeof *nodes, compare_lock);
	for (size_t i = 1; i < n; i++) {
		uint32_t before = nodes[i - 1].node, node = nodes[i].node;
		if (nodes[i - 1].pid == nodes[i].pid && (before & 1) && (node & 1))
			ht_cp_edge_add(b, before, node, HT_CP_DEPENDENCY, HT_NONE);
	}
	return HT_OK;
}

enum ht_status ht_cp_host_edges(struct ht_cp_builder *b)
{
	struct forest f = { 0 };
	HT_TRY(plant(b, &f));
	HT_TRY(cross_threads(b, &f));
	for (size_t k = 0; k < b->trace->n_tracks; k++) {
		struct ht_cp_tree tree = { &f.rows[f.first[k]], &f.parent[f.first[k]],
			f.first[k + 1] - f.first[k] };
		ht_cp_walk_tree(b, &tree);
	}
	return order_locks(b);
}
