/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_groups.h - the operators of a rank grouped by name, input shape and call stack: what tables of them are made of.
 *
 * Counted are the operators of the frame (op_tree.h); of a rank without any those that its exporter lists
 * (op_details.h). Their times are those of the whole operator, whichever part of
 * the trace is chosen. Kernels of a graph launch count at the operator that a recording of the graph has for them (origin.h); where
 * none is known, at the operator around the launch, or else at the launch call, which then has a row of its own.
 */
#ifndef HT_MODEL_GROUPS_OP_GROUPS_H
#define HT_MODEL_GROUPS_OP_GROUPS_H

#include "model/numbers/pooled.h"

enum { HT_OP_NAME, HT_OP_SHAPE, HT_OP_STACK, HT_N_OP_KEYS };
enum {
	HT_OP_CALLS,
	HT_OP_DEVICE_SELF,
	HT_OP_DEVICE_TOTAL,
	HT_OP_HOST_SELF,
	HT_OP_HOST_TOTAL,
	HT_OP_TC_SELF,
	HT_OP_TC_TOTAL,
	HT_OP_TC_ELIGIBLE,
	HT_OP_OF_TABLE, /* as the exporter lists it: op_details.h */
	HT_N_OP_VALUES
};
extern const uint8_t ht_op_rules[HT_N_OP_VALUES];

/* The table of a part. */
extern const struct ht_column ht_op_group_columns[];
enum { HT_N_OP_GROUP_COLUMNS = HT_N_OP_KEYS + HT_N_OP_VALUES };

/* Group the operators of the rank in hand. Shapes and stacks that are not asked for are missing; so is the stack of
 * an operator that has none: no arg "Call stack", and no Python function around it. */
enum ht_status ht_op_groups_put(
        struct ht_run *run, bool by_shape, bool by_stack, ht_table *table) HT_MUST_USE;

#endif
