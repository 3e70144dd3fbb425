/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_extents.h - ranges of reserved memory that are there at a moment, by address.
 *
 * They come and go while a history is replayed forwards or backwards. A search costs log n, a change what some
 * hundred neighbours cost.
 */
#ifndef HT_MODEL_SNAPSHOT_MEM_EXTENTS_H
#define HT_MODEL_SNAPSHOT_MEM_EXTENTS_H

#include "base/status.h"
#include "store/event.h"

#include <stdbool.h>
#include <stdint.h>

struct ht_trace;
struct ht_mem_event;

#define HT_MEM_SMALL_SEGMENT ((int64_t)2 << 20) /* for blocks of the small pool */

/* A range of reserved memory. */
struct ht_mem_extent {
	uint64_t addr, end;
	int64_t stream;
	uint32_t pool[2];
	bool is_small, is_expandable;
};

/* Some that lie beside each other. */
struct ht_mem_chunk {
	struct ht_mem_extent *list;
	uint32_t n, cap;
};

/* Start with the arena alone. */
struct ht_mem_extents {
	struct ht_arena *arena;
	struct ht_mem_chunk
	        *chunks; /* none is empty; those behind the last have room to use again */
	size_t n_chunks, cap_chunks, n;
};

/* Before others of the same address; false when out of memory. */
bool ht_mem_extents_add(struct ht_mem_extents *extents, const struct ht_mem_extent *extent);
/* Behind all others, where none begins later. */
bool ht_mem_extents_push(struct ht_mem_extents *extents, const struct ht_mem_extent *extent);
/* The first that begins at an address, where one does. */
void ht_mem_extents_remove(struct ht_mem_extents *extents, uint64_t addr);
/* The one that has an address; NULL: none. */
const struct ht_mem_extent *ht_mem_extents_find(
        const struct ht_mem_extents *extents, uint64_t addr);
/* All, n of them, in a list; NULL when out of memory. */
struct ht_mem_extent *ht_mem_extents_list(const struct ht_mem_extents *extents);

/* Whether blocks of one may be cut from the other: the same stream, private pool and size of pool. */
bool ht_mem_extent_is_like(const struct ht_mem_extent *a, const struct ht_mem_extent *b);

/* The segments of a device at the end of its events; expandable ones that touch and are alike are one, because blocks know nothing
 * of the pieces in which they were mapped. segments: n of the trace, by address. False when out of memory. */
bool ht_mem_extents_at_end(struct ht_mem_extents *extents, const struct ht_trace *trace,
        const uint32_t *segments, size_t n);
/* As they were before an event: what it took is not there, what it gave back is. What is mapped anew beside an expandable segment
 * of its stream is of the same pool. False when out of memory. */
bool ht_mem_extents_undo(struct ht_mem_extents *extents, const struct ht_mem_event *event);

#endif
