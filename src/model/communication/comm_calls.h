/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm_calls.h - the communication calls of one rank: what matching them over ranks needs.
 *
 * A call is a communication kernel with what the profiler wrote about its collective (on the kernel, or on
 * record_param_comms around its launch). All calls of a trace are taken, whatever is chosen of it, so that
 * every question sees the same collectives and the same clocks.
 *
 * Where a trace has no such kernel, the host's calls of backends that do their work there (gloo:all_reduce, of Gloo, MPI
 * and UCC) are its calls: those last until the data is there. Calls of NCCL and its kin are none, as they only enqueue. Where
 * such a call begins by waiting for its device, for a copy of what it is to send, it starts when that is over.
 */
#ifndef HT_MODEL_COMMUNICATION_COMM_CALLS_H
#define HT_MODEL_COMMUNICATION_COMM_CALLS_H

#include "model/part.h"

enum ht_comm_kind {
	HT_COMM_OTHER,
	HT_COMM_ALLREDUCE,
	HT_COMM_ALLGATHER,
	HT_COMM_REDUCE_SCATTER,
	HT_COMM_ALLTOALL,
	HT_COMM_BARRIER,
	HT_COMM_BROADCAST,
	HT_COMM_REDUCE,
	HT_COMM_GATHER,
	HT_COMM_SCATTER,
	HT_COMM_SEND_RECV,
	HT_N_COMM_KINDS
};

/* "allreduce", "send/recv"; by the name of a collective or of its kernel. */
const char *ht_comm_kind_name(enum ht_comm_kind kind);
/* Every rank needs something of every other: none can leave before the last one arrived. */
bool ht_comm_kind_synchronises(enum ht_comm_kind kind);
/* Bus bandwidth over algorithm bandwidth for n ranks, as nccl-tests defines it; NAN when it has none. */
double ht_comm_bus_factor(enum ht_comm_kind kind, int64_t n_ranks);
/* How a call ties the clocks of its ranks: nobody leaves before all who arrive have. */
enum ht_comm_tie { HT_TIE_ARRIVES = 1, HT_TIE_LEAVES = 2 };

/* The columns of a call; order_ns is what calls of a rank are ordered by. */
#define HT_CALL_COLUMNS(COLUMN)                                                                    \
	COLUMN(HT_CALL_GROUP, "group", HT_STR, HT_KEY, "process group and its ranks, or the pair", \
	        NULL)                                                                              \
	COLUMN(HT_CALL_NAME, "name", HT_STR, HT_KEY, "collective, or its kernel", NULL)            \
	COLUMN(HT_CALL_KIND, "kind", HT_I64, HT_KEY, "enum ht_comm_kind", NULL)                    \
	COLUMN(HT_CALL_TIE, "tie", HT_I64, HT_DETAIL, "enum ht_comm_tie", NULL)                    \
	COLUMN(HT_CALL_SIZE, "size", HT_I64, HT_DETAIL, "ranks of the group", NULL)                \
	COLUMN(HT_CALL_SEQ, "seq", HT_I64, HT_KEY, "sequence number in the group", NULL)           \
	COLUMN(HT_CALL_STEP, "step", HT_I64, HT_KEY, "step of the launch", NULL)                   \
	COLUMN(HT_CALL_DTYPE, "dtype", HT_STR, HT_DETAIL, "type of an element", NULL)              \
	COLUMN(HT_CALL_ELEMENTS, "elements", HT_I64, HT_DETAIL, "elements of its larger side",     \
	        NULL)                                                                              \
	COLUMN(HT_CALL_BYTES, "bytes", HT_I64, HT_DETAIL, "bytes of its larger side", NULL)        \
	COLUMN(HT_CALL_START, "start_ns", HT_TIME, HT_MEASURE,                                     \
	        "start of the kernel, or when a call has its data", NULL)                          \
	COLUMN(HT_CALL_DUR, "dur_ns", HT_DURATION, HT_MEASURE, "from there to its end", NULL)      \
	COLUMN(HT_CALL_LAUNCH, "launch_ns", HT_TIME, HT_MEASURE, "start of the launch call", NULL) \
	COLUMN(HT_CALL_ORDER, "order_ns", HT_TIME, HT_DETAIL,                                      \
	        "what calls are ordered by; null: the launch was not recorded", NULL)              \
	COLUMN(HT_CALL_ROW, "row", HT_I64, HT_KEY, "row of the kernel", NULL)
HT_COLUMN_NUMBERS(HT_CALL_COLUMNS, HT_N_CALL_COLUMNS);
extern const struct ht_column ht_call_columns[HT_N_CALL_COLUMNS];

/* The calls of the host that stand for kernels of communication, ascending by row; none where there are such kernels. Memory
 * in scratch. */
enum ht_status ht_comm_host_calls(
        struct ht_run *run, const uint32_t **ret_rows, size_t *ret_n) HT_MUST_USE;
/* The calls of the rank in hand, by row. */
enum ht_status ht_comm_calls_put(struct ht_run *run, ht_table *table) HT_MUST_USE;

#endif
