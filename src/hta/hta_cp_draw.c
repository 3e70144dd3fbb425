/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_cp_draw.c - HTA's critical path drawn into a trace. See hta_cp_graph.h.
 */
#include "hta/hta_cp_graph.h"
#include "store/columns.h"

static bool is_shown(
        const struct ht_cp_graph *g, const struct ht_cp_path *path, uint32_t i, bool all)
{
	const struct ht_cp_edge *edge = &g->edges[i];
	if (all)
		return edge->type != HT_CP_LAUNCH_DELAY || edge->weight != 0;
	return path->on_path[i] &&
	       (edge->type == HT_CP_DEPENDENCY || edge->type == HT_CP_LAUNCH_DELAY ||
	               edge->type == HT_CP_SYNC);
}

static int64_t node_ns(const struct ht_cp_graph *g, uint32_t node)
{
	uint32_t row = ht_cp_node_row(g, node);
	return node & 1 ? ht_end_ns(g->trace, row) : g->trace->ts_ns[row];
}

enum ht_status ht_hta_cp_draw(struct ht_cp_drawing *d, const struct ht_cp_options *options)
{
	struct ht_cp_graph g;
	struct ht_cp_path path;
	HT_TRY(ht_cp_build(d->run, options, &g));
	if (g.empty)
		return HT_OK;
	HT_TRY(ht_cp_path_find(d->run, &g, NULL, &path));
	for (size_t k = 0; k < path.n_edges; k++) {
		ht_cp_mark(d, ht_cp_node_row(&g, g.edges[path.edges[k]].from));
		ht_cp_mark(d, ht_cp_node_row(&g, g.edges[path.edges[k]].to));
	}
	for (uint32_t k = 0; k < g.n_edges; k++) {
		const struct ht_cp_edge *edge = &g.edges[k];
		if (is_shown(&g, &path, k, d->all))
			ht_cp_draw(d, (struct ht_arrow){ .from_row = ht_cp_node_row(&g, edge->from),
			                      .to_row = ht_cp_node_row(&g, edge->to),
			                      .from_ns = node_ns(&g, edge->from),
			                      .to_ns = node_ns(&g, edge->to),
			                      .weight_ns = ht_cp_ns(edge->weight),
			                      .type = ht_cp_type_name(edge->type),
			                      .critical = path.on_path[k] });
	}
	return HT_OK;
}
