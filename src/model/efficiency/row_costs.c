/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_costs.c - see row_costs.h.
 */
#include "model/efficiency/row_costs.h"

#include "store/columns.h"

enum ht_status ht_row_costs_make(struct ht_run *run, struct ht_row_costs *ret)
{
	const struct ht_trace *t = run->trace;
	const struct ht_efficiency_options options = { .causal = HT_CAUSAL_EXACT };
	uint32_t *gpu = ht_arena_room(run->scratch, (t->n_gpu + 1) * sizeof *gpu);
	uint32_t *call_1 =
	        ht_arena_alloc(run->scratch, (ht_n_events(t) + (size_t)1) * sizeof *call_1);
	struct ht_frame frame = { .trace = t, .rank = run->rank, .gpu = gpu };
	if (!gpu || !call_1)
		return ht_fail_nomem(run->ctx);
	for (uint32_t i = 0; i < t->n_gpu; i++)
		if (!(t->flags[t->gpu[i].row] & HT_EV_BAD_TIME))
			gpu[frame.n_gpu++] = i;
	*ret = (struct ht_row_costs){ .call_1 = call_1 };
	HT_TRY(ht_op_calls_make(run, &frame, &options, &ret->calls));
	for (uint32_t i = 0; i < ret->calls.n; i++) {
		const struct ht_op_call *call = &ret->calls.list[i];
		if (call->op != HT_NONE && call->op_trace == t)
			call_1[call->op] = i + 1;
		call_1[call->longest] = i + 1;
	}
	return HT_OK;
}

const struct ht_op_call *ht_row_cost(const struct ht_row_costs *costs, uint32_t row)
{
	uint32_t at_1 = costs->call_1 ? costs->call_1[row] : 0;
	const struct ht_op_call *call = at_1 ? &costs->calls.list[at_1 - 1] : NULL;
	return call && ht_cost_is_known((enum ht_cost_state)call->cost.state) ? call : NULL;
}
