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

#define HT_SMALL_SDMA_BYTES ((int64_t)16000000)
#define HT_SMALL_RDMA_BYTES ((int64_t)1000000)

enum ht_exporter_view {
	HT_EXPORTER_STEPS,
	HT_EXPORTER_COLLECTIVES,
	HT_EXPORTER_BANDWIDTH,
	HT_EXPORTER_LINKS,
	HT_N_EXPORTER_VIEWS
};

enum ht_exporter_step_column {
	HT_EXPORTER_STEP = 1,
	HT_EXPORTER_STEP_NS,
	HT_EXPORTER_COMPUTING,
	HT_EXPORTER_OVERLAPPED,
	HT_EXPORTER_EXPOSED,
	HT_EXPORTER_FREE,
	HT_EXPORTER_PREPARING,
	HT_EXPORTER_BUBBLE,
	HT_EXPORTER_STAGE,
	HT_N_EXPORTER_STEP_COLUMNS
};

#define HT_N_EXPORTER_COLLECTIVE_COLUMNS 13
#define HT_N_EXPORTER_BANDWIDTH_COLUMNS  10
#define HT_N_EXPORTER_LINK_COLUMNS       11
extern const struct ht_column ht_exporter_step_columns[HT_N_EXPORTER_STEP_COLUMNS];
extern const struct ht_column ht_exporter_collective_columns[HT_N_EXPORTER_COLLECTIVE_COLUMNS];
extern const struct ht_column ht_exporter_bandwidth_columns[HT_N_EXPORTER_BANDWIDTH_COLUMNS];
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
