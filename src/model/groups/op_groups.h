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

#define HT_OP_KEYS(KEY)                                                                            \
	KEY(HT_OP_NAME, "name", HT_STR, HT_KEY, "operator", NULL)                                  \
	KEY(HT_OP_SHAPE, "input_shape", HT_STR, HT_KEY, "shapes of its inputs", NULL)              \
	KEY(HT_OP_STACK, "call_stack", HT_STR, HT_KEY, "frames around it", NULL)
#define HT_OP_VALUES(VALUE)                                                                        \
	VALUE(HT_OP_CALLS, SUM, "calls", HT_I64, HT_MEASURE, "events", NULL)                       \
	VALUE(HT_OP_DEVICE_SELF, SUM, "device_self_ns", HT_DURATION, HT_MEASURE,                   \
	        "GPU activity of its own", NULL)                                                   \
	VALUE(HT_OP_DEVICE_TOTAL, SUM, "device_total_ns", HT_DURATION, HT_MEASURE,                 \
	        "with that of what it called", NULL)                                               \
	VALUE(HT_OP_HOST_SELF, SUM, "host_self_ns", HT_DURATION, HT_MEASURE,                       \
	        "without operators and calls inside", NULL)                                        \
	VALUE(HT_OP_HOST_TOTAL, SUM, "host_total_ns", HT_DURATION, HT_MEASURE, "duration", NULL)   \
	VALUE(HT_OP_TC_SELF, SUM, "tc_self_ns", HT_DURATION, HT_MEASURE,                           \
	        "own GPU activity on tensor cores", NULL)                                          \
	VALUE(HT_OP_TC_TOTAL, SUM, "tc_total_ns", HT_DURATION, HT_MEASURE,                         \
	        "with that of what it called", NULL)                                               \
	VALUE(HT_OP_TC_ELIGIBLE, ANY, "tc_eligible", HT_I64, HT_MEASURE,                           \
	        "can run on tensor cores", NULL)                                                   \
	/* see op_details.h */                                                                     \
	VALUE(HT_OP_OF_TABLE, ANY, "of_table", HT_I64, HT_MEASURE, "as the exporter lists it", NULL)
HT_COLUMN_NUMBERS(HT_OP_KEYS, HT_N_OP_KEYS);
HT_COLUMN_NUMBERS(HT_OP_VALUES, HT_N_OP_VALUES);
extern const uint8_t ht_op_rules[HT_N_OP_VALUES];

/* The table of a part. */
enum { HT_N_OP_GROUP_COLUMNS = HT_POOL_N_COLUMNS(HT_OP_KEYS, HT_OP_VALUES) };
extern const struct ht_column ht_op_group_columns[HT_N_OP_GROUP_COLUMNS];

/* Group the operators of the rank in hand. Shapes and stacks that are not asked for are missing; so is the stack of
 * an operator that has none: no arg "Call stack", and no Python function around it. */
enum ht_status ht_op_groups_put(
        struct ht_run *run, bool by_shape, bool by_stack, ht_table *table) HT_MUST_USE;

#endif
