/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_cp_graph.h - HTA's graph of what had to wait for what, and the longest way through it.
 *
 * Every operator, runtime call and piece of GPU work of the window is an event with two nodes, its
 * start and its end. An edge says "not before", its weight is the time that passes on it.
 *
 *   host     op.start ──► call.start ──► call.end ──► op.end ╌╌► next op.start
 *                            │                ▲
 *               launch delay │                │ sync
 *                            ▼                │
 *   stream               k1.start ──► k1.end ─┴╌► k2.start ──► k2.end
 *
 * For comparing with HTA only: cp_model.h holds what we say ourselves. Built by hta_cp_build.c and its
 * neighbours, walked by hta_cp_path.c.
 *
 * Times and weights are doubles of microseconds as HTA computes them, because its choice between paths of
 * equal length hangs on its rounding.
 */
#ifndef HT_HTA_HTA_CP_GRAPH_H
#define HT_HTA_HTA_CP_GRAPH_H

#include "graph/cp_overlay.h"

struct ht_path_wait;

struct ht_cp_edge {
	uint32_t from, to; /* nodes */
	uint32_t row;      /* whose time it is, HT_NONE: nobody's */
	uint8_t type;      /* enum ht_cp_type */
	double weight;     /* as HTA reports it; on a path below 0 counts as 0 */
};

struct ht_cp_event {
	uint32_t row;
	uint32_t gpu; /* index into trace->gpu, HT_NONE for host events */
};

struct ht_cp_graph {
	const struct ht_trace *trace;
	struct ht_cp_options options;
	bool empty;               /* no window: the note says why */
	const char *note;         /* NULL, or one line about the window; lives in the arena */
	int64_t start_ns, end_ns; /* the window */
	int64_t first_instance;
	struct ht_cp_event *events;
	size_t n_events;
	uint32_t *event_of_row; /* HT_NONE: no nodes */
	uint8_t *name_bits; /* by string id: what the builders know of a name (hta_cp_build.h) */
	double *time;       /* by node; node = 2 * event + (1 for its end) */
	struct ht_cp_edge *edges; /* each (from, to) once, in order of first insertion */
	size_t n_edges;
	uint32_t *in_first, *in_edges; /* edges into a node: slices of in_edges, insertion order */
	uint32_t *out_first, *out_edges;
	uint32_t *order; /* nodes that have edges, by first appearance */
	size_t n_order;
};

static inline uint32_t ht_cp_start(uint32_t event)
{
	return 2 * event;
}

static inline uint32_t ht_cp_end(uint32_t event)
{
	return 2 * event + 1;
}

static inline uint32_t ht_cp_node_row(const struct ht_cp_graph *g, uint32_t node)
{
	return g->events[node / 2].row;
}

/* The graph of the rank in hand; everything in run->scratch. HT_USAGE when the instance is not there. */
enum ht_status ht_cp_build(struct ht_run *run, const struct ht_cp_options *options,
        struct ht_cp_graph *ret_graph) HT_MUST_USE;

/* ---- the path (hta_cp_path.c) ---- */

struct ht_cp_path {
	uint32_t *edges; /* of graph->edges, in path order */
	size_t n_edges;
	double length;   /* sum of weights */
	bool cyclic;     /* the graph had a cycle; edges that close it were left out */
	bool *on_path;   /* by edge */
	double *before;  /* by node: longest way that ends here */
	uint32_t *nodes; /* in topological order */
	size_t n_nodes;
};

/* What an edge adds to a path. */
double ht_cp_weight(const struct ht_cp_graph *graph, uint32_t edge);
/* weights NULL: the edges' own. Ties: the first edge in insertion order, the first end in topological
 * order (Kahn's, by generations, neighbours in insertion order). O(nodes + edges). */
enum ht_status ht_cp_path_find(struct ht_run *run, const struct ht_cp_graph *graph,
        const double *weights, struct ht_cp_path *ret_path) HT_MUST_USE;
/* By edge: how much longer it may take before the path gets longer. */
enum ht_status ht_cp_slack(struct ht_run *run, const struct ht_cp_graph *graph,
        const struct ht_cp_path *path, double **ret_slack) HT_MUST_USE;

/* ---- what an edge is bound by ---- */

enum ht_cp_bound ht_cp_bound(const struct ht_cp_graph *graph, const struct ht_cp_edge *edge);

/* ---- what the policy offers of it ---- */

/* As ht_cp_put_model and the drawing of cp_overlay.h; view is enum ht_cp_view_kind. */
enum ht_status ht_hta_cp_put(struct ht_run *run, const struct ht_cp_options *options, int view,
        const char *scale, ht_table *table) HT_MUST_USE;
enum ht_status ht_hta_cp_draw(
        struct ht_cp_drawing *drawing, const struct ht_cp_options *options) HT_MUST_USE;

/* Of the policy: see there. */
enum ht_status ht_hta_cp_waits(
        struct ht_run *run, struct ht_path_wait **ret_waits, size_t *ret_n) HT_MUST_USE;

/* Nanoseconds of a weight or time difference. */
int64_t ht_cp_ns(double weight);

#endif
