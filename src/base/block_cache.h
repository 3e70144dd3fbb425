/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_cache.h - mapped blocks that were freed and wait to be used again.
 *
 * A fresh page costs the kernel a microsecond or two, and giving it back a third of that; clearing one that is at
 * hand costs a tenth. Steps of an analysis take and free megabytes of scratch again and again, so blocks stay here
 * for the next to come, until a set is closed. At most half of what was in use at the peak, and is not now, is
 * kept (mem.c): both together never need more memory than the peak.
 *
 *   in use ──free──► kept ──alloc──► cleared, in use       too much kept ──► back to the system
 */
#ifndef HT_BASE_BLOCK_CACHE_H
#define HT_BASE_BLOCK_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define HT_BLOCK_CACHE_MAX 64
/* Blocks of so many bytes and more are mapped; what is left of one is kept when it is as large. */
#define HT_MEM_MAP_BYTES ((size_t)256 << 10)

struct ht_block_cache {
	pthread_mutex_t lock;
	size_t n, bytes;
	struct ht_cached_block {
		char *bytes;
		size_t n; /* whole pages */
	} blocks[HT_BLOCK_CACHE_MAX];
};

void ht_block_cache_init(struct ht_block_cache *cache);
/* Give everything back to the system. */
void ht_block_cache_done(struct ht_block_cache *cache);
/* Take a mapped block of n bytes. False, and nothing happens, when that would be more than room bytes in all. */
bool ht_block_cache_put(struct ht_block_cache *cache, void *block, size_t n, size_t room);
/* A block of n zero bytes, or NULL. */
void *ht_block_cache_get(struct ht_block_cache *cache, size_t n);
/* Give back to the system what is more than room bytes. */
void ht_block_cache_trim(struct ht_block_cache *cache, size_t room);

#endif
