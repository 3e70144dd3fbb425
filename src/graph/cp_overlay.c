/*
 * cp_overlay.c - see cp_overlay.h.
 */
#include "graph/cp_overlay.h"

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

/* A viewer binds an arrow to the slice around its time, and an end is outside of its slice. */
static int64_t arrow_ns(const struct ht_cp_graph *g, uint32_t node)
{
	const struct ht_trace *t = g->trace;
	uint32_t row = ht_cp_node_row(g, node);
	if (!(node & 1))
		return t->ts_ns[row];
	return ht_end_ns(t, row) - (t->dur_ns[row] > 0);
}

static void draw(const struct ht_cp_graph *g, const struct ht_cp_path *path, bool all,
        struct ht_cp_overlay *overlay)
{
	for (uint32_t i = 0; i < g->n_edges; i++) {
		const struct ht_cp_edge *edge = &g->edges[i];
		if (!is_shown(g, path, i, all))
			continue;
		overlay->arrows[overlay->n_arrows++] =
		        (struct ht_cp_arrow){ .from_row = ht_cp_node_row(g, edge->from),
			        .to_row = ht_cp_node_row(g, edge->to),
			        .from_ns = arrow_ns(g, edge->from),
			        .to_ns = arrow_ns(g, edge->to),
			        .weight_ns = ht_cp_ns(g, edge->weight),
			        .type = ht_cp_type_name(edge->type),
			        .critical = path->on_path[i] };
	}
}

enum ht_status ht_cp_overlay_make(struct ht_run *run, struct ht_cp_overlay *ret_overlay)
{
	struct ht_cp_options options;
	struct ht_cp_graph g;
	struct ht_cp_path path = { 0 };
	HT_TRY(ht_cp_options_read(run, &options));
	HT_TRY(ht_cp_build(run, &options, &g));
	struct ht_cp_overlay overlay = { .only_critical = ht_run_bool(run, "only-critical"),
		.note = g.note };
	uint8_t *critical = ht_arena_alloc(run->scratch, g.trace->n_kind + 1);
	overlay.arrows = ht_arena_alloc(run->scratch, (g.n_edges + 1) * sizeof *overlay.arrows);
	if (!critical || !overlay.arrows)
		return ht_fail_nomem(run->ctx);
	overlay.critical = critical;
	if (!g.empty)
		HT_TRY(ht_cp_path_find(run, &g, NULL, &path));
	for (size_t k = 0; k < path.n_edges; k++) {
		const uint32_t nodes[2] = { g.edges[path.edges[k]].from,
			g.edges[path.edges[k]].to };
		for (int end = 0; end < 2; end++) {
			uint32_t row = ht_cp_node_row(&g, nodes[end]);
			overlay.n_critical += !critical[row];
			critical[row] = 1;
		}
	}
	if (!g.empty)
		draw(&g, &path, ht_run_bool(run, "all-edges") && !overlay.only_critical, &overlay);
	*ret_overlay = overlay;
	return HT_OK;
}

bool ht_cp_overlay_keeps(
        const struct ht_cp_overlay *overlay, const struct ht_trace *trace, uint32_t row)
{
	if (!overlay->only_critical || trace->ph[row] != 'X' || overlay->critical[row])
		return true;
	return trace->kind[row] == HT_KIND_ANNOTATION || trace->kind[row] == HT_KIND_PYTHON;
}
