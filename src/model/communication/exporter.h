/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exporter.h - what the exporter of the traces says about steps and communication, in tables of its own.
 *
 * Ascend's exporter sums up each rank: step_trace_time (a step's computing, communication and free time), communication
 * (each operation: how long, transferring, waiting), communication_bandwidth (by transport), communication_matrix (by
 * pair of ranks). They are there as files or as tables of a database; what is read of them here is the same.
 *
 *   STEPS        a step each, as the exporter has it: computing, and of communication what nothing hides
 *   COLLECTIVES  operations by kind and group: the name up to its first digit
 *   BANDWIDTH    by transport. SDMA is the sum of HCCS, PCIE and SIO: is_sum says so, and sums leave it out. Packets are
 *                small below HT_SMALL_SDMA_BYTES, over RDMA below HT_SMALL_RDMA_BYTES.
 *   LINKS        by pair of ranks. Their numbers are those within the group; the ranks that they are, where the
 *                recording says what ranks the group has. Of an operation's rows "total" has the sum; older files
 *                have a row per operation instead.
 * Rows that sum up others (Total Op Info) are left out. All steps unless some are chosen; the sum over them by rank.
 */
#ifndef HT_MODEL_COMMUNICATION_EXPORTER_H
#define HT_MODEL_COMMUNICATION_EXPORTER_H

#include "model/run.h"
#include "table/table.h"

#define HT_SMALL_SDMA_BYTES ((int64_t)16000000)
#define HT_SMALL_RDMA_BYTES ((int64_t)1000000)

enum ht_exporter_view {
	HT_EXPORTER_STEPS,
	HT_EXPORTER_COLLECTIVES,
	HT_EXPORTER_BANDWIDTH,
	HT_EXPORTER_LINKS,
	HT_N_EXPORTER_VIEWS
};

/* Every view begins with the rank and the step. */
#define HT_EXPORTER_STEP_COLUMNS(COLUMN)                                                           \
	COLUMN(HT_EXPORTER_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                \
	COLUMN(HT_EXPORTER_STEP, "step", HT_I64, HT_KEY,                                           \
	        "step of the exporter; null for all of them", NULL)                                \
	COLUMN(HT_EXPORTER_STEP_NS, "step_ns", HT_DURATION, HT_MEASURE,                            \
	        "computing, exposed communication and free time", NULL)                            \
	COLUMN(HT_EXPORTER_COMPUTING, "computing_ns", HT_DURATION, HT_MEASURE,                     \
	        "time with computing", NULL)                                                       \
	COLUMN(HT_EXPORTER_OVERLAPPED, "overlapped_ns", HT_DURATION, HT_MEASURE,                   \
	        "of that, with communication at once", NULL)                                       \
	COLUMN(HT_EXPORTER_EXPOSED, "exposed_ns", HT_DURATION, HT_MEASURE,                         \
	        "communication without computing: exposed", NULL)                                  \
	COLUMN(HT_EXPORTER_FREE, "free_ns", HT_DURATION, HT_MEASURE, "neither", NULL)              \
	COLUMN(HT_EXPORTER_PREPARING, "preparing_ns", HT_DURATION, HT_DETAIL,                      \
	        "from the step's start to its first work", NULL)                                   \
	COLUMN(HT_EXPORTER_BUBBLE, "bubble_ns", HT_DURATION, HT_DETAIL,                            \
	        "waiting in receives of a pipeline", NULL)                                         \
	COLUMN(HT_EXPORTER_STAGE, "stage_ns", HT_DURATION, HT_DETAIL,                              \
	        "first to last work, without the bubble", NULL)
HT_COLUMN_NUMBERS(HT_EXPORTER_STEP_COLUMNS, HT_N_EXPORTER_STEP_COLUMNS);
extern const struct ht_column ht_exporter_step_columns[HT_N_EXPORTER_STEP_COLUMNS];

#define HT_EXPORTER_COLLECTIVE_COLUMNS(COLUMN)                                                     \
	COLUMN(HT_EXPORTER_COLLECTIVE_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)     \
	COLUMN(HT_EXPORTER_COLLECTIVE_STEP, "step", HT_I64, HT_KEY,                                \
	        "step of the exporter; null for all of them", NULL)                                \
	COLUMN(HT_EXPORTER_COLLECTIVE_TYPE, "type", HT_STR, HT_KEY, "collective or p2p", NULL)     \
	COLUMN(HT_EXPORTER_COLLECTIVE_NAME, "name", HT_STR, HT_KEY,                                \
	        "operation: its name up to the first digit", NULL)                                 \
	COLUMN(HT_EXPORTER_COLLECTIVE_GROUP, "group", HT_STR, HT_KEY,                              \
	        "communication group, as the exporter names it", NULL)                             \
	COLUMN(HT_EXPORTER_COLLECTIVE_CALLS, "calls", HT_I64, HT_MEASURE, "operations", NULL)      \
	COLUMN(HT_EXPORTER_COLLECTIVE_BYTES, "bytes", HT_BYTES, HT_MEASURE,                        \
	        "moved over SDMA and RDMA", NULL)                                                  \
	COLUMN(HT_EXPORTER_COLLECTIVE_ELAPSED_NS, "elapsed_ns", HT_DURATION, HT_MEASURE,           \
	        "from start to end, added up", NULL)                                               \
	COLUMN(HT_EXPORTER_COLLECTIVE_TRANSIT_NS, "transit_ns", HT_DURATION, HT_MEASURE,           \
	        "of that, data moves", NULL)                                                       \
	COLUMN(HT_EXPORTER_COLLECTIVE_WAIT_NS, "wait_ns", HT_DURATION, HT_MEASURE,                 \
	        "of that, waiting for other ranks", NULL)                                          \
	COLUMN(HT_EXPORTER_COLLECTIVE_SYNCHRONIZATION_NS, "synchronization_ns", HT_DURATION,       \
	        HT_DETAIL, "of waiting, before the first data moved", NULL)                        \
	COLUMN(HT_EXPORTER_COLLECTIVE_IDLE_NS, "idle_ns", HT_DURATION, HT_MEASURE, "neither",      \
	        NULL)                                                                              \
	COLUMN(HT_EXPORTER_COLLECTIVE_WAIT_SHARE, "wait_share", HT_RATIO, HT_MEASURE,              \
	        "waiting, of waiting and transit", NULL)
HT_COLUMN_NUMBERS(HT_EXPORTER_COLLECTIVE_COLUMNS, HT_N_EXPORTER_COLLECTIVE_COLUMNS);
extern const struct ht_column ht_exporter_collective_columns[HT_N_EXPORTER_COLLECTIVE_COLUMNS];

#define HT_EXPORTER_BANDWIDTH_COLUMNS(COLUMN)                                                      \
	COLUMN(HT_EXPORTER_BANDWIDTH_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)      \
	COLUMN(HT_EXPORTER_BANDWIDTH_STEP, "step", HT_I64, HT_KEY,                                 \
	        "step of the exporter; null for all of them", NULL)                                \
	COLUMN(HT_EXPORTER_BANDWIDTH_TRANSPORT, "transport", HT_STR, HT_KEY,                       \
	        "RDMA, HCCS, PCIE, SIO, or SDMA", NULL)                                            \
	COLUMN(HT_EXPORTER_BANDWIDTH_BYTES, "bytes", HT_BYTES, HT_MEASURE, "moved", NULL)          \
	COLUMN(HT_EXPORTER_BANDWIDTH_TRANSIT_NS, "transit_ns", HT_DURATION, HT_MEASURE,            \
	        "time in which they moved, added up", NULL)                                        \
	COLUMN(HT_EXPORTER_BANDWIDTH_GB_PER_S, "gb_per_s", HT_F64, HT_MEASURE,                     \
	        "the one over the other", "GB/s")                                                  \
	COLUMN(HT_EXPORTER_BANDWIDTH_PACKETS, "packets", HT_I64, HT_MEASURE,                       \
	        "packets; null when the exporter does not say", NULL)                              \
	COLUMN(HT_EXPORTER_BANDWIDTH_SMALL_PACKETS, "small_packets", HT_I64, HT_DETAIL,            \
	        "of those, below 16 MB; of RDMA, 1 MB", NULL)                                      \
	COLUMN(HT_EXPORTER_BANDWIDTH_SMALL_SHARE, "small_share", HT_RATIO, HT_MEASURE,             \
	        "small packets, of all", NULL)                                                     \
	COLUMN(HT_EXPORTER_BANDWIDTH_IS_SUM, "is_sum", HT_BOOL, HT_DETAIL,                         \
	        "SDMA: the sum of HCCS, PCIE and SIO", NULL)
HT_COLUMN_NUMBERS(HT_EXPORTER_BANDWIDTH_COLUMNS, HT_N_EXPORTER_BANDWIDTH_COLUMNS);
extern const struct ht_column ht_exporter_bandwidth_columns[HT_N_EXPORTER_BANDWIDTH_COLUMNS];

#define HT_EXPORTER_LINK_COLUMNS(COLUMN)                                                           \
	COLUMN(HT_EXPORTER_LINK_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)           \
	COLUMN(HT_EXPORTER_LINK_STEP, "step", HT_I64, HT_KEY,                                      \
	        "step of the exporter; null for all of them", NULL)                                \
	COLUMN(HT_EXPORTER_LINK_GROUP, "group", HT_STR, HT_KEY,                                    \
	        "communication group, as the exporter names it", NULL)                             \
	COLUMN(HT_EXPORTER_LINK_SRC, "src", HT_I64, HT_KEY,                                        \
	        "number of the sending rank in the group", NULL)                                   \
	COLUMN(HT_EXPORTER_LINK_DST, "dst", HT_I64, HT_KEY,                                        \
	        "number of the receiving rank in the group", NULL)                                 \
	COLUMN(HT_EXPORTER_LINK_TRANSPORT, "transport", HT_STR, HT_KEY,                            \
	        "LOCAL, HCCS, PCIE, SIO, SDMA or RDMA", NULL)                                      \
	COLUMN(HT_EXPORTER_LINK_SRC_RANK, "src_rank", HT_I64, HT_MEASURE,                          \
	        "the rank that sends; null when nothing says", NULL)                               \
	COLUMN(HT_EXPORTER_LINK_DST_RANK, "dst_rank", HT_I64, HT_MEASURE,                          \
	        "the rank that receives; null when nothing says", NULL)                            \
	COLUMN(HT_EXPORTER_LINK_BYTES, "bytes", HT_BYTES, HT_MEASURE, "moved", NULL)               \
	COLUMN(HT_EXPORTER_LINK_TRANSIT_NS, "transit_ns", HT_DURATION, HT_MEASURE,                 \
	        "time in which they moved, added up", NULL)                                        \
	COLUMN(HT_EXPORTER_LINK_GB_PER_S, "gb_per_s", HT_F64, HT_MEASURE,                          \
	        "the one over the other", "GB/s")
HT_COLUMN_NUMBERS(HT_EXPORTER_LINK_COLUMNS, HT_N_EXPORTER_LINK_COLUMNS);
extern const struct ht_column ht_exporter_link_columns[HT_N_EXPORTER_LINK_COLUMNS];

/* Of the rank in hand; with by_rank a row for all steps instead of one each. Nothing when it has no such table. */
enum ht_status ht_exporter_put(
        struct ht_run *run, enum ht_exporter_view view, bool by_rank, ht_table *table) HT_MUST_USE;

/* A step as step_trace_time has it, for ranks without events. */
struct ht_exporter_step {
	int64_t number; /* HT_NO_I64: none, or all */
	int64_t step_ns, computing_ns, overlapped_ns, exposed_ns, free_ns;
};
/* Those of which all of that is said; memory in scratch. */
enum ht_status ht_exporter_steps(struct ht_run *run, bool by_rank,
        struct ht_exporter_step **ret_steps, size_t *ret_n) HT_MUST_USE;
/* The note that says so, for a rank of which there were some. */
enum ht_status ht_exporter_note(struct ht_run *run, ht_table *table) HT_MUST_USE;

#endif
