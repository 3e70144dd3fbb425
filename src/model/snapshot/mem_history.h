/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_history.h - a memory snapshot replayed: which blocks lived from when to when, and how much was allocated,
 * active and reserved after each event of the allocator.
 *
 * Per device, in file order. A life is a block from its allocation to its release; either may lie outside the
 * recorded events. Sizes of blocks are the allocator's own, not what was asked for:
 *
 *   rounded   a request is rounded up to 512 B, or as roundup_power2_divisions says
 *   split     a free block of the small pool (requests up to 1 MiB), or of an expandable segment, is cut at that length;
 *             one of the large pool only when more than 1 MiB would be left, and less than max_split_size is asked
 *             for: else the whole block is taken. What is left free behind a block of the large pool, up to the next
 *             block or the end of its segment, is therefore part of it where it is 1 MiB or less.
 *
 *   allocated(k)  bytes of blocks whose tensors live: alloc to free_requested
 *   active(k)     bytes of blocks that are not in a pool: alloc to free_completed
 *   requested(k)  what was asked for of active blocks
 *   reserved(k)   bytes of segments, run backwards from the end, which the snapshot states: exact without the start
 *
 * after event k; k = -1 is before the first. A block that is there at the end, or freed, and never allocated was there
 * before the first event (base).
 */
#ifndef HT_MODEL_SNAPSHOT_MEM_HISTORY_H
#define HT_MODEL_SNAPSHOT_MEM_HISTORY_H

#include "model/run.h"

struct ht_mem_about;
struct ht_mem_event;

#define HT_MEM_BEFORE (-1)      /* before the first event */
#define HT_MEM_NEVER  INT64_MAX /* not within the recorded events */

struct ht_mem_life {
	uint64_t addr;
	int64_t requested, size; /* bytes */
	/* events of the trace; HT_MEM_BEFORE, HT_MEM_NEVER */
	int64_t alloc, free_requested, free_completed;
	uint32_t stack;      /* that allocated it, HT_MEM_NO_STACK */
	uint32_t block;      /* at the end, HT_NONE */
	bool was_rounded_up; /* its size is from the rules, not from the snapshot */
};

struct ht_mem_device {
	uint32_t device;
	int64_t first, end; /* its events of the trace */
	const uint32_t
	        *segments; /* of the trace, by address; of one address the last comes first */
	size_t n_segments;
	struct ht_mem_life *lives; /* by allocation; those from before first */
	size_t n_lives;
	int64_t base_requested, base_allocated; /* before the first event */
	int64_t base_active, base_reserved;
	int64_t peak_at,
	        reserved_peak_at; /* the first event with the most allocated and reserved; HT_MEM_BEFORE */
	int64_t requested_peak_at;
	int64_t peak_allocated, peak_reserved, peak_requested;
	int64_t held_at, held_most; /* most bytes held for other streams only: active - allocated */
	/* at the end, as the snapshot states it */
	int64_t allocated, active, requested, reserved;
	int64_t n_lone_frees; /* frees of blocks that no event allocates */
};

struct ht_mem_history {
	const struct ht_trace *trace;
	struct ht_mem_device *devices; /* that there is something of, ascending */
	size_t n_devices;
	/* by event of the trace */
	int64_t *allocated, *active, *requested, *reserved;
};

/* Of the rank in hand, which has a snapshot. Memory in scratch. */
enum ht_status ht_mem_history_make(
        struct ht_run *run, const struct ht_mem_history **ret_history) HT_MUST_USE;

/* Does its tensor, or its block, live after event k? */
static inline bool ht_mem_life_allocated(const struct ht_mem_life *life, int64_t k)
{
	return life->alloc <= k && life->free_requested > k;
}
static inline bool ht_mem_life_active(const struct ht_mem_life *life, int64_t k)
{
	return life->alloc <= k && life->free_completed > k;
}

/* Segments of the trace by device and address, for ht_mem_history_make. */
enum ht_status ht_mem_segments_sort(struct ht_run *run, uint32_t **ret_segments) HT_MUST_USE;
/* The private pool of an address of a device: as the event says it (NULL: none does), else that of the segment which has it at
 * the end; { 0, 0 } is the default pool, or unknown. */
void ht_mem_pool_at(const struct ht_mem_history *history, uint32_t device, uint64_t addr,
        const struct ht_mem_event *event, uint32_t ret_pool[2]);
void ht_mem_pool_of_life(
        const struct ht_mem_history *history, const struct ht_mem_life *life, uint32_t ret_pool[2]);

/* A request as the allocator rounds it. */
int64_t ht_mem_round(const struct ht_mem_about *about, int64_t requested);

#endif
