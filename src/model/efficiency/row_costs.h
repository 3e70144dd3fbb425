/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_costs.h - operations, bytes and bound of single events: of an operator that launched GPU activity, and of that activity.
 *
 * The cost of a call stands at its operator and at its longest activity, so that sums over operators and sums over GPU activities are
 * the same, and each call counts once in either. At the peaks that are listed, causal attention by its exact pairs.
 */
#ifndef HT_MODEL_EFFICIENCY_ROW_COSTS_H
#define HT_MODEL_EFFICIENCY_ROW_COSTS_H

#include "model/efficiency/op_calls.h"

struct ht_row_costs {
	const uint32_t *call_1; /* by row: 1 + its call, 0: none */
	struct ht_op_calls calls;
};

/* Of the whole trace in hand, whatever is chosen; memory in scratch. */
enum ht_status ht_row_costs_make(struct ht_run *run, struct ht_row_costs *ret) HT_MUST_USE;
/* The call of a row; NULL: none, or nothing is known of it. */
const struct ht_op_call *ht_row_cost(const struct ht_row_costs *costs, uint32_t row);

#endif
