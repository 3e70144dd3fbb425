/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm_ops.h - communication as operators: the host's call with the kernels that it launched.
 *
 * An operator of communication is the outermost of nested host rows whose names say so (name_traits.h: nccl:all_reduce,
 * gloo:..., record_param_comms). It has several ranges: its own on the host, and that of each of its kernels. A
 * communication kernel without such a call is an operator of one range.
 *   bytes   of its inputs, from their sizes and types; else what its kernels say they take in; null when neither is there
 *   step    whose bounds (step_roles.h) hold the host's call, or the kernel that has none; null outside
 * Plain data of one rank, in its own time: a row per range, those of an operator together, operators by (start, longer
 * first), ranges by start.
 */
#ifndef HT_MODEL_COMMUNICATION_COMM_OPS_H
#define HT_MODEL_COMMUNICATION_COMM_OPS_H

#include "model/part.h"
#include "model/steps/step_roles.h"

#define HT_COMM_OP_COLUMNS(COLUMN)                                                                 \
	COLUMN(HT_COMM_OP, "op", HT_I64, HT_KEY, "number of the operator", NULL)                   \
	COLUMN(HT_COMM_OP_NAME, "name", HT_STR, HT_KEY, "name of the operator", NULL)              \
	COLUMN(HT_COMM_OP_BYTES, "bytes", HT_BYTES, HT_MEASURE, "of its inputs", NULL)             \
	COLUMN(HT_COMM_OP_STEP, "step", HT_I64, HT_MEASURE, "step that holds it", NULL)            \
	COLUMN(HT_COMM_OP_ROW, "row", HT_I64, HT_MEASURE, "row of the range", NULL)                \
	COLUMN(HT_COMM_OP_START, "start_ns", HT_I64, HT_MEASURE,                                   \
	        "its start, in the trace's own time", "ns")                                        \
	COLUMN(HT_COMM_OP_END, "end_ns", HT_I64, HT_MEASURE, "its end", "ns")
HT_COLUMN_NUMBERS(HT_COMM_OP_COLUMNS, HT_N_COMM_OP_COLUMNS);
extern const struct ht_column ht_comm_op_columns[HT_N_COMM_OP_COLUMNS];

/* Sum over the inputs of a row of the host, from their sizes and types; HT_NO_I64 when it does not say, or has none. */
int64_t ht_comm_input_bytes(const struct ht_trace *trace, uint32_t row);
/* Of the rank in hand. */
enum ht_status ht_comm_ops_put(struct ht_run *run, struct ht_traits *traits,
        const struct ht_bounds *bounds, ht_table *table) HT_MUST_USE;

#endif
