/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_cp_path.c - the longest way through the critical path graph. See hta_cp_graph.h.
 *
 * before(v) = max over edges u → v of before(u) + weight, 0 where nothing comes in; the path ends at the
 * node with the largest value. Nodes are visited in topological order by generations; what closes a
 * cycle is left out, lowest node first. slack(u → v) = length - (before(u) + weight + after(v)).
 *
 * Example: a –3→ b –1→ d and a –2→ c –1→ d: before(d) = 4, the path is a b d, the slack of a → c is 1.
 */
#include "hta/hta_cp_graph.h"

#include <string.h>

double ht_cp_weight(const struct ht_cp_graph *graph, uint32_t edge)
{
	/* HTA's validation puts 0 for what is a unit or more below it */
	double weight = graph->edges[edge].weight;
	return weight <= -1 ? 0 : weight;
}

static double weight_of(const struct ht_cp_graph *g, const double *weights, uint32_t edge)
{
	return weights ? weights[edge] : ht_cp_weight(g, edge);
}

struct sorter {
	const struct ht_cp_graph *g;
	uint32_t *missing; /* by node: incoming edges whose source is not listed yet */
	bool *listed;
	uint32_t *nodes; /* the order so far; also the queue */
	size_t n;
};

static void follow(struct sorter *s, uint32_t node)
{
	const struct ht_cp_graph *g = s->g;
	for (uint32_t k = g->out_first[node]; k < g->out_first[node + 1]; k++) {
		uint32_t to = g->edges[g->out_edges[k]].to;
		if (!s->listed[to] && --s->missing[to] == 0) {
			s->listed[to] = true;
			s->nodes[s->n++] = to;
		}
	}
}

/* A first-in first-out queue gives the same order as whole generations. */
static bool sort_nodes(struct sorter *s)
{
	const struct ht_cp_graph *g = s->g;
	for (size_t i = 0; i < g->n_order; i++) {
		uint32_t node = g->order[i];
		s->missing[node] = g->in_first[node + 1] - g->in_first[node];
		if (!s->missing[node]) {
			s->listed[node] = true;
			s->nodes[s->n++] = node;
		}
	}
	bool cyclic = false;
	size_t done = 0, next = 0;
	for (;;) {
		while (done < s->n)
			follow(s, s->nodes[done++]);
		while (next < g->n_order && s->listed[g->order[next]])
			next++;
		if (next == g->n_order)
			return cyclic;
		cyclic = true;
		s->listed[g->order[next]] = true;
		s->nodes[s->n++] = g->order[next];
	}
}

/* Relax in order; best[v] is the edge by which v is reached, HT_NONE at a start. */
static uint32_t relax(const struct ht_cp_graph *g, const struct sorter *s, const double *weights,
        double *before, uint32_t *best, bool *done)
{
	uint32_t end = HT_NONE;
	for (size_t i = 0; i < s->n; i++) {
		uint32_t node = s->nodes[i];
		best[node] = HT_NONE;
		for (uint32_t k = g->in_first[node]; k < g->in_first[node + 1]; k++) {
			uint32_t edge = g->in_edges[k], from = g->edges[edge].from;
			if (!done[from])
				continue;
			double length = before[from] + weight_of(g, weights, edge);
			if (best[node] == HT_NONE || length > before[node]) {
				before[node] = length;
				best[node] = edge;
			}
		}
		if (best[node] == HT_NONE || before[node] < 0) {
			before[node] = 0;
			best[node] = HT_NONE;
		}
		done[node] = true;
		if (end == HT_NONE || before[node] > before[end])
			end = node;
	}
	return end;
}

static void trace_back(const struct ht_cp_graph *g, const uint32_t *best, uint32_t end,
        const double *weights, struct ht_cp_path *path)
{
	size_t n = 0;
	for (uint32_t node = end; node != HT_NONE && best[node] != HT_NONE;
	        node = g->edges[best[node]].from)
		n++;
	path->n_edges = n;
	for (uint32_t node = end; n; node = g->edges[best[node]].from)
		path->edges[--n] = best[node];
	for (size_t i = 0; i < path->n_edges; i++) {
		path->on_path[path->edges[i]] = true;
		path->length += weight_of(g, weights, path->edges[i]);
	}
}

enum ht_status ht_cp_path_find(struct ht_run *run, const struct ht_cp_graph *graph,
        const double *weights, struct ht_cp_path *ret_path)
{
	size_t n_nodes = 2 * graph->n_events;
	struct sorter s = { .g = graph };
	struct ht_cp_path path = { 0 };
	s.missing = ht_arena_alloc(run->scratch, (n_nodes + 1) * sizeof(uint32_t));
	s.nodes = ht_arena_alloc(run->scratch, (n_nodes + 1) * sizeof(uint32_t));
	s.listed = ht_arena_alloc(run->scratch, n_nodes + 1);
	uint32_t *best = ht_arena_alloc(run->scratch, (n_nodes + 1) * sizeof(uint32_t));
	bool *done = ht_arena_alloc(run->scratch, n_nodes + 1);
	path.before = ht_arena_alloc(run->scratch, (n_nodes + 1) * sizeof(double));
	path.edges = ht_arena_alloc(run->scratch, (n_nodes + 1) * sizeof(uint32_t));
	path.on_path = ht_arena_alloc(run->scratch, graph->n_edges + 1);
	if (!s.missing || !s.nodes || !s.listed || !best || !done || !path.before || !path.edges ||
	        !path.on_path)
		return ht_fail_nomem(run->ctx);
	path.cyclic = sort_nodes(&s);
	uint32_t end = relax(graph, &s, weights, path.before, best, done);
	trace_back(graph, best, end, weights, &path);
	path.nodes = s.nodes;
	path.n_nodes = s.n;
	*ret_path = path;
	return HT_OK;
}

enum ht_status ht_cp_slack(struct ht_run *run, const struct ht_cp_graph *graph,
        const struct ht_cp_path *path, double **ret_slack)
{
	size_t n_nodes = 2 * graph->n_events;
	double *after = ht_arena_alloc(run->scratch, (n_nodes + 1) * sizeof(double));
	double *slack = ht_arena_alloc(run->scratch, (graph->n_edges + 1) * sizeof(double));
	bool *done = ht_arena_alloc(run->scratch, n_nodes + 1);
	if (!after || !slack || !done)
		return ht_fail_nomem(run->ctx);
	for (size_t i = path->n_nodes; i--;) {
		uint32_t node = path->nodes[i];
		for (uint32_t k = graph->out_first[node]; k < graph->out_first[node + 1]; k++) {
			uint32_t edge = graph->out_edges[k], to = graph->edges[edge].to;
			double length = after[to] + weight_of(graph, NULL, edge);
			if (done[to] && length > after[node])
				after[node] = length;
		}
		done[node] = true;
	}
	for (uint32_t i = 0; i < graph->n_edges; i++) {
		double through = path->before[graph->edges[i].from] + weight_of(graph, NULL, i) +
		                 after[graph->edges[i].to];
		double left = path->length - through;
		slack[i] = left > 0 && !path->on_path[i] ? left : 0;
	}
	*ret_slack = slack;
	return HT_OK;
}
