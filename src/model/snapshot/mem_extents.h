/*
 * mem_extents.h - ranges of reserved memory that are there at a moment, by address.
 *
 * They come and go while a history is replayed forwards or backwards. A search costs log n, a change what lies behind its place.
 */
#ifndef HT_MODEL_SNAPSHOT_MEM_EXTENTS_H
#define HT_MODEL_SNAPSHOT_MEM_EXTENTS_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

/* A range of reserved memory. */
struct ht_mem_extent {
	uint64_t addr, end;
	int64_t stream;
	uint32_t pool[2];
	bool is_small, is_expandable;
};

/* Start with the arena alone. */
struct ht_mem_extents {
	struct ht_arena *arena;
	struct ht_mem_extent *list;
	size_t n, cap;
};

/* The first that begins at an address or behind it; n: none. */
size_t ht_mem_extents_from(const struct ht_mem_extents *extents, uint64_t addr);
/* Before others of the same address; false when out of memory. */
bool ht_mem_extents_add(struct ht_mem_extents *extents, const struct ht_mem_extent *extent);
void ht_mem_extents_remove(struct ht_mem_extents *extents, size_t at);

#endif
