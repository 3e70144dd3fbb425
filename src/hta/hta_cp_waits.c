/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_cp_waits.c - waits for GPU work on HTA's critical path of the first step, for those who add them elsewhere.
 */
#include "hta/hta_cp_graph.h"
#include "hta/hta_policy.h"

enum ht_status ht_hta_cp_waits(struct ht_run *run, struct ht_path_wait **ret_waits, size_t *ret_n)
{
	struct ht_run as_hta = *run;
	struct ht_cp_graph graph;
	struct ht_cp_path path = { 0 };
	as_hta.policy = ht_hta_policy(true, true);
	as_hta.step = as_hta.annotation = NULL;
	struct ht_cp_options options = ht_cp_options_default(&as_hta);
	options.annotation = "ProfilerStep";
	options.instance = "0";
	HT_TRY(ht_cp_build(&as_hta, &options, &graph));
	if (!graph.empty)
		HT_TRY(ht_cp_path_find(&as_hta, &graph, NULL, &path));
	struct ht_path_wait *waits =
	        ht_arena_alloc(run->scratch, (path.n_edges + 1) * sizeof *waits);
	size_t n = 0;
	if (!waits)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < path.n_edges; i++) {
		const struct ht_cp_edge *edge = &graph.edges[path.edges[i]];
		if (edge->type == HT_CP_SYNC)
			waits[n++] = (struct ht_path_wait){ ht_cp_node_row(&graph, edge->from),
				ht_cp_node_row(&graph, edge->to) };
	}
	*ret_waits = waits;
	*ret_n = n;
	return HT_OK;
}
