/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_timeline.h - what allocations are for, as the profiler's memory timeline of the same run says it.
 *
 * A timeline in its raw form has a row per tensor that is created or destroyed: time, bytes, category, and no address. The [memory]
 * events of a Kineto trace have time, bytes and address, and both have them from one record: the row of an event is the one with its
 * bytes and its time, within the microsecond to which older traces are rounded. A tensor may change its category while it lives; what is
 * unknown when it is created has the category that it is destroyed with.
 *
 * Example: a row [1700000000000010000, 2, 4096, 5] and an event of 4,096 bytes at 10 us after the trace's base of 1,700,000,000 s: the
 * block at the event's address is a gradient.
 */
#ifndef HT_MODEL_SNAPSHOT_MEM_TIMELINE_H
#define HT_MODEL_SNAPSHOT_MEM_TIMELINE_H

#include "model/run.h"

/* What a [memory] event allocates. */
struct ht_mem_derived {
	uint8_t category; /* enum ht_memory_category */
	bool by_timeline; /* else by an execution trace */
};

/* Fill in what the timeline that joins the rank in hand knows, by row of its trace. Nothing where there is none, it is summed up, or fewer
 * than half of what it creates is in the trace. */
enum ht_status ht_mem_timeline_derive(
        struct ht_run *run, struct ht_mem_derived *by_row) HT_MUST_USE;

#endif
