/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_cp_build.c - HTA's critical path graph from a trace and a window. See hta_cp_graph.h.
 *
 * The window and the edges of host and GPU have their own files; this one holds what they share: nodes, and edges that are
 * collected, merged and indexed.
 *
 * Builders append edges in the order in which they find them. An edge found again replaces type and
 * weight but keeps its place, so that results do not depend on a container. Sealing sorts by counting:
 * O(nodes + edges).
 */
#include "hta/hta_cp_build.h"

#include "hta/hta_names.h"
#include "store/columns.h"

#include <string.h>

double ht_cp_time(const struct ht_cp_builder *b, uint32_t row, bool end)
{
	const struct ht_trace *t = b->trace;
	double start = ht_hta_us(t->ts_ns[row]) - b->zero;
	return end ? start + (double)t->dur_ns[row] / 1000 : start;
}

enum ht_status ht_cp_events_make(struct ht_cp_builder *b, const uint8_t *chosen)
{
	const struct ht_trace *t = b->trace;
	struct ht_cp_graph *g = b->g;
	size_t n = 0;
	for (size_t row = 0; row < t->n_kind; row++)
		n += chosen[row] != 0;
	g->events = ht_cp_alloc(b, n, sizeof *g->events);
	g->time = ht_cp_alloc(b, 2 * n, sizeof *g->time);
	g->event_of_row = ht_cp_alloc(b, t->n_kind, sizeof *g->event_of_row);
	if (b->no_memory)
		return ht_fail_nomem(b->run->ctx);
	size_t k = 0;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		g->event_of_row[row] = HT_NONE;
		if (!chosen[row])
			continue;
		while (k < t->n_gpu && t->gpu[k].row < row)
			k++;
		uint32_t event = (uint32_t)g->n_events++;
		g->event_of_row[row] = event;
		g->events[event].row = row;
		g->events[event].gpu = k < t->n_gpu && t->gpu[k].row == row ? (uint32_t)k : HT_NONE;
		g->time[ht_cp_start(event)] = ht_cp_time(b, row, false);
		g->time[ht_cp_end(event)] = ht_cp_time(b, row, true);
	}
	return HT_OK;
}

void *ht_cp_alloc(struct ht_cp_builder *b, size_t n, size_t bytes)
{
	void *block = ht_arena_alloc(b->run->scratch, (n + 1) * bytes);
	if (!block)
		b->no_memory = true;
	return block;
}

/* ---- edges ---- */

static bool grow(struct ht_cp_builder *b)
{
	size_t cap = b->cap_edges ? 2 * b->cap_edges : 1024;
	if (!b->cap_edges && b->g->n_events > 512)
		cap = 3 * b->g->n_events;
	struct ht_cp_edge *edges = ht_cp_alloc(b, cap, sizeof *edges);
	if (!edges)
		return false;
	if (b->g->n_edges)
		memcpy(edges, b->g->edges, b->g->n_edges * sizeof *edges);
	b->g->edges = edges;
	b->cap_edges = cap;
	return true;
}

struct ht_cp_edge *ht_cp_edge_add(
        struct ht_cp_builder *b, uint32_t from, uint32_t to, enum ht_cp_type type, uint32_t row)
{
	struct ht_cp_graph *g = b->g;
	if (b->no_memory || (g->n_edges == b->cap_edges && !grow(b)))
		return &b->nowhere;
	struct ht_cp_edge *edge = &g->edges[g->n_edges++];
	bool timed = type != HT_CP_DEPENDENCY && type != HT_CP_SYNC;
	*edge = (struct ht_cp_edge){ .from = from,
		.to = to,
		.row = row,
		.type = (uint8_t)type,
		.weight = timed ? g->time[to] - g->time[from] : 0 };
	return edge;
}

/* Slices of edge numbers by one end of the edge, in insertion order. */
static void index_by(const struct ht_cp_edge *edges, size_t n_edges, bool by_to, size_t n_nodes,
        uint32_t *first, uint32_t *list)
{
	memset(first, 0, (n_nodes + 1) * sizeof *first);
	for (size_t i = 0; i < n_edges; i++)
		first[(by_to ? edges[i].to : edges[i].from) + 1]++;
	for (size_t i = 0; i < n_nodes; i++)
		first[i + 1] += first[i];
	for (size_t i = 0; i < n_edges; i++)
		list[first[by_to ? edges[i].to : edges[i].from]++] = (uint32_t)i;
	for (size_t i = n_nodes; i > 0; i--)
		first[i] = first[i - 1];
	first[0] = 0;
}

/* Fold every repeated edge into its first; the repeats get from = HT_NONE. */
static void fold_repeats(struct ht_cp_graph *g, uint32_t *seen_at, uint32_t *edge_of)
{
	size_t n_nodes = 2 * g->n_events;
	memset(seen_at, 0xff, n_nodes * sizeof *seen_at);
	for (uint32_t to = 0; to < n_nodes; to++) {
		for (uint32_t k = g->in_first[to]; k < g->in_first[to + 1]; k++) {
			struct ht_cp_edge *edge = &g->edges[g->in_edges[k]];
			if (seen_at[edge->from] != to) {
				seen_at[edge->from] = to;
				edge_of[edge->from] = g->in_edges[k];
				continue;
			}
			struct ht_cp_edge *kept = &g->edges[edge_of[edge->from]];
			kept->type = edge->type;
			kept->weight = edge->weight;
			kept->row = edge->row != HT_NONE ? edge->row : kept->row;
			edge->from = HT_NONE;
		}
	}
}

static void drop_folded(struct ht_cp_graph *g)
{
	size_t n = 0;
	for (size_t i = 0; i < g->n_edges; i++) {
		if (g->edges[i].from != HT_NONE)
			g->edges[n++] = g->edges[i];
	}
	g->n_edges = n;
}

static void list_nodes(struct ht_cp_graph *g, bool *seen)
{
	for (size_t i = 0; i < g->n_edges; i++) {
		const uint32_t ends[2] = { g->edges[i].from, g->edges[i].to };
		for (int k = 0; k < 2; k++) {
			if (!seen[ends[k]])
				g->order[g->n_order++] = ends[k];
			seen[ends[k]] = true;
		}
	}
}

enum ht_status ht_cp_graph_seal(struct ht_cp_builder *b)
{
	struct ht_cp_graph *g = b->g;
	size_t n_nodes = 2 * g->n_events;
	g->in_first = ht_cp_alloc(b, n_nodes + 1, sizeof(uint32_t));
	g->out_first = ht_cp_alloc(b, n_nodes + 1, sizeof(uint32_t));
	g->in_edges = ht_cp_alloc(b, g->n_edges, sizeof(uint32_t));
	g->out_edges = ht_cp_alloc(b, g->n_edges, sizeof(uint32_t));
	g->order = ht_cp_alloc(b, n_nodes, sizeof(uint32_t));
	uint32_t *edge_of = ht_cp_alloc(b, n_nodes, sizeof(uint32_t));
	bool *seen = ht_cp_alloc(b, n_nodes, sizeof(bool));
	if (b->no_memory)
		return ht_fail_nomem(b->run->ctx);
	index_by(g->edges, g->n_edges, true, n_nodes, g->in_first, g->in_edges);
	fold_repeats(g, g->order, edge_of);
	drop_folded(g);
	index_by(g->edges, g->n_edges, true, n_nodes, g->in_first, g->in_edges);
	index_by(g->edges, g->n_edges, false, n_nodes, g->out_first, g->out_edges);
	list_nodes(g, seen);
	return HT_OK;
}

/* ---- the whole ---- */

static enum ht_status build(struct ht_cp_builder *b)
{
	HT_TRY(ht_hta_cp_select(b));
	if (b->g->empty)
		return HT_OK;
	HT_TRY(ht_hta_cp_host_edges(b));
	HT_TRY(ht_hta_cp_gpu_edges(b));
	return ht_cp_graph_seal(b);
}

enum ht_status ht_cp_build(
        struct ht_run *run, const struct ht_cp_options *options, struct ht_cp_graph *ret_graph)
{
	struct ht_cp_graph g = { .trace = run->trace, .options = *options };
	struct ht_cp_builder b = { .run = run, .g = &g, .trace = g.trace };
	HT_TRY(ht_cp_names_make(run, g.trace, options->data_load, ht_hta_is_wait, &b.names));
	g.name_bits = b.names.bits;
	enum ht_status status = build(&b);
	ht_cp_names_done(&b.names);
	HT_TRY(status);
	*ret_graph = g;
	return HT_OK;
}
