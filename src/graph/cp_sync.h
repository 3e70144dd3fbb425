/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_sync.h - which GPU work a wait for a CUDA event is about, from the wait rows of a trace (cuda_sync).
 */
#ifndef HT_GRAPH_CP_SYNC_H
#define HT_GRAPH_CP_SYNC_H

#include "graph/cp_names.h"

/* A piece of GPU work and its launch. */
struct ht_cp_launch {
	int64_t device, stream;
	uint32_t track;             /* of the launch call */
	uint32_t launch;            /* row */
	uint32_t work;              /* row */
	int64_t launch_ns, work_ns; /* when they start */
};

/* A wait row of the trace (category cuda_sync) and what it waits for. */
enum ht_cp_wait_kind {
	HT_CP_WAIT_STREAM,
	HT_CP_WAIT_CONTEXT,
	HT_CP_WAIT_EVENT,
	HT_CP_WAIT_STREAM_EVENT
};
struct ht_cp_wait {
	int64_t correlation;
	uint32_t row;
	uint32_t call; /* host row, HT_NONE when not in the trace */
	int64_t device, stream;
	uint32_t source; /* GPU row before the event record, HT_NONE unknown; events only */
	uint32_t target; /* first GPU row that must wait, HT_NONE unknown; stream waits only */
	uint8_t kind;
	bool inferred; /* the record is not in the trace: source is the last work before the wait */
};

/* Where to look. */
struct ht_cp_sync {
	struct ht_run *run;
	struct ht_cp_names *names;
	const int64_t *correlation; /* by row, -1 when absent */
	const uint8_t *in_frame;    /* by row: records that count; NULL: all */
	bool infer;                 /* a source also where the record is missing */
};

/* Fill source and target of event waits. Sorts the launches. */
enum ht_status ht_cp_resolve_waits(const struct ht_cp_sync *sync, struct ht_cp_launch *launches,
        size_t n_launches, struct ht_cp_wait *waits, size_t n_waits) HT_MUST_USE;
/* Kind by name; false for rows that are no wait. */
bool ht_cp_wait_kind(const struct ht_trace *trace, uint32_t row, uint8_t *ret_kind);

/* (device, stream) → small number, for arrays by stream. */
struct ht_cp_lane {
	int64_t device, stream;
};
struct ht_cp_lanes {
	struct ht_cp_lane *list; /* sorted, distinct */
	size_t n;
};
int ht_cp_lane_compare(const void *left, const void *right);
/* Sort the list and drop repetitions. */
void ht_cp_lanes_sort(struct ht_cp_lanes *lanes);
/* SIZE_MAX when not there. */
size_t ht_cp_lane_find(const struct ht_cp_lanes *lanes, struct ht_cp_lane lane);

#endif
