/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_join.h - a memory snapshot and the Kineto trace of the same run: blocks get their operator, module and step.
 *
 * A life and a [memory] event belong together when address and size are equal and their times differ by less than a
 * millisecond: the snapshot has Unix time, the trace its own with a base. Below half of the trace's allocations matched, the two are not of
 * one run, and nothing is joined.
 */
#ifndef HT_MODEL_SNAPSHOT_MEM_JOIN_H
#define HT_MODEL_SNAPSHOT_MEM_JOIN_H

#include "model/snapshot/mem_history.h"

struct ht_mem_owner {
	const char *op, *module; /* NULL: none */
	int64_t step;            /* HT_NO_I64: outside of steps */
	uint32_t row;            /* of the [memory] event that allocates it */
	bool is_matched;         /* the trace has its allocation */
};

struct ht_mem_join {
	struct ht_mem_owner *
	        *owners; /* by device of the history, then by life; NULL where nothing is joined */
	uint64_t n_events, n_matched; /* allocations of the trace on GPUs, and those with a life */
	bool is_refused;
};

/* run has the Kineto trace in hand; the history is of the snapshot. Memory in scratch. */
enum ht_status ht_mem_join_make(struct ht_run *run, const struct ht_mem_history *history,
        struct ht_mem_join *ret_join) HT_MUST_USE;

/* The snapshot of the rank in hand: its own, or the attached one; NULL when there is none. */
enum ht_status ht_mem_snapshot_of(
        struct ht_run *run, const struct ht_trace **ret_trace) HT_MUST_USE;

#endif
