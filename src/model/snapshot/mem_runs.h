/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_runs.h - how much is free, and in how long a run, at many moments of a history: one way back through its events.
 *
 * Free runs are kept as ranges while events are undone, so that a moment costs what lies between it and the next one, however
 * many blocks there are. Blocks that overlap, which no allocator gives, leave what they share taken.
 */
#ifndef HT_MODEL_SNAPSHOT_MEM_RUNS_H
#define HT_MODEL_SNAPSHOT_MEM_RUNS_H

#include "model/snapshot/mem_extents.h"
#include "model/snapshot/mem_history.h"

struct ht_mem_runs;

/* At the end of a device's events. Memory in scratch. */
enum ht_status ht_mem_runs_new(struct ht_run *run, const struct ht_mem_history *history,
        const struct ht_mem_device *device, struct ht_mem_runs **ret_runs) HT_MUST_USE;
/* Go back to the moment after event k; a later one than that of the call before is not found any more. */
enum ht_status ht_mem_runs_back_to(struct ht_mem_runs *runs, int64_t k) HT_MUST_USE;

struct ht_mem_room {
	int64_t free,
	        largest; /* in extents that are like the one asked for, and their longest run */
	int64_t all;     /* free in all */
};
/* At that moment, of extents that are like this one. */
struct ht_mem_room ht_mem_runs_room(struct ht_mem_runs *runs, const struct ht_mem_extent *like);

#endif
