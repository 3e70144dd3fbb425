/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_cp_graph.c - what an edge of the graph says. See hta_cp_graph.h.
 */
#include "hta/hta_cp_graph.h"

#include "base/checked.h"
#include "graph/cp_names.h"
#include "hta/hta_names.h"
#include "store/columns.h"

int64_t ht_cp_ns(double weight)
{
	return ht_round_sat(weight * 1000);
}

static enum ht_cp_bound bound_gpu(const struct ht_cp_graph *g, uint32_t row)
{
	const char *name = ht_str(g->trace, g->trace->name[row]);
	return ht_hta_type(name) == HT_WORK_COMM ? HT_CP_BOUND_GPU_COMMUNICATION
	                                         : HT_CP_BOUND_GPU_COMPUTE;
}

enum ht_cp_bound ht_cp_bound(const struct ht_cp_graph *g, const struct ht_cp_edge *edge)
{
	switch (edge->type) {
	case HT_CP_KERNEL_DELAY: return HT_CP_BOUND_KERNEL_DELAY;
	case HT_CP_LAUNCH_DELAY: return HT_CP_BOUND_LAUNCH_DELAY;
	case HT_CP_DEPENDENCY:
	case HT_CP_SYNC: return HT_CP_BOUND_NONE;
	default: break;
	}
	if (edge->row == HT_NONE)
		return HT_CP_BOUND_CPU;
	uint32_t event = g->event_of_row[edge->row];
	if (event != HT_NONE && g->events[event].gpu != HT_NONE)
		return bound_gpu(g, edge->row);
	uint32_t name = g->trace->name[edge->row];
	bool loads = name != HT_NO_STR && (g->name_bits[name] & HT_CP_NAME_DATA_LOAD);
	return loads ? HT_CP_BOUND_DATA_LOADING : HT_CP_BOUND_CPU;
}
