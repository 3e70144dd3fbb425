/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_state.h - what lay where at one moment: segments, blocks and the free runs between them.
 *
 * The end is what the snapshot states; earlier moments are found by undoing events backwards: an allocation of a segment
 * takes its range away, a release puts it back. Blocks are the lives of that moment.
 */
#ifndef HT_MODEL_SNAPSHOT_MEM_STATE_H
#define HT_MODEL_SNAPSHOT_MEM_STATE_H

#include "model/snapshot/mem_extents.h"
#include "model/snapshot/mem_history.h"

/* A piece of a segment: a block of a life, or free. */
struct ht_mem_piece {
	uint64_t addr;
	int64_t size;
	uint32_t extent;
	const struct ht_mem_life *life; /* NULL: free */
};

struct ht_mem_layout {
	struct ht_mem_extent *extents; /* by address */
	size_t n_extents;
	struct ht_mem_piece *pieces; /* by address */
	size_t n_pieces;
};

/* After event k of a device, HT_MEM_BEFORE for before all. Memory in scratch. */
enum ht_status ht_mem_layout_at(struct ht_run *run, const struct ht_mem_history *history,
        const struct ht_mem_device *device, int64_t k, struct ht_mem_layout *ret_state) HT_MUST_USE;

struct ht_mem_free {
	int64_t free, largest; /* bytes in free runs, and of the longest */
	int64_t n_runs;
	double sum_squares; /* of free runs */
	int64_t reserved;
	int64_t waste; /* of blocks: their size less what was asked for */
};
/* Free runs of extents that fit: a stream, a private pool and a size of pool; NULL: all of them. */
struct ht_mem_free ht_mem_layout_free(
        const struct ht_mem_layout *state, const struct ht_mem_extent *like);

/* A new segment was taken though much was free. */
struct ht_mem_pressure {
	int64_t event;            /* that took it */
	int64_t segment, request; /* bytes */
	int64_t free;             /* in the same pool and stream, in pieces */
	double ratio;             /* free of the larger of the two */
};
/* The one with the highest ratio; event HT_MEM_BEFORE when no segment was taken. Memory in scratch. */
enum ht_status ht_mem_pressure_find(struct ht_run *run, const struct ht_mem_history *history,
        const struct ht_mem_device *device, struct ht_mem_pressure *ret_worst) HT_MUST_USE;
/* Whether free memory is fragmented: four times what was wanted was there in pieces, and those pieces are a fifth of all that was
 * reserved at most. Less of either is what any allocator has. */
static inline bool ht_mem_is_fragmented(double ratio, int64_t free_bytes, int64_t reserved_bytes)
{
	return ratio >= 4.0 && (double)free_bytes >= 0.2 * (double)reserved_bytes;
}
/* What helps then, a sentence. */
const char *ht_mem_fragmentation_help(bool is_expandable);

#endif
