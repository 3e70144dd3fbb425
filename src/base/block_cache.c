/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_cache.c - see block_cache.h.
 *
 * A block is taken from the smallest kept one that is large enough; what is left of that stays kept, unless it is
 * too small to be worth a place. There are few blocks, so lists are walked.
 */
#include "base/block_cache.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t whole_pages(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	return (n + page - 1) / page * page;
}

void ht_block_cache_init(struct ht_block_cache *cache)
{
	pthread_mutex_init(&cache->lock, NULL);
	cache->n = cache->bytes = 0;
}

void ht_block_cache_done(struct ht_block_cache *cache)
{
	ht_block_cache_trim(cache, 0);
	pthread_mutex_destroy(&cache->lock);
}

/* Called with the lock held. */
static struct ht_cached_block take_out(struct ht_block_cache *cache, size_t i)
{
	struct ht_cached_block block = cache->blocks[i];
	cache->blocks[i] = cache->blocks[--cache->n];
	cache->bytes -= block.n;
	return block;
}

bool ht_block_cache_put(struct ht_block_cache *cache, void *block, size_t n, size_t room)
{
	n = whole_pages(n);
	pthread_mutex_lock(&cache->lock);
	bool fits = cache->n < HT_BLOCK_CACHE_MAX && n <= room && cache->bytes <= room - n;
	if (fits) {
		cache->blocks[cache->n++] = (struct ht_cached_block){ block, n };
		cache->bytes += n;
	}
	pthread_mutex_unlock(&cache->lock);
	return fits;
}

void *ht_block_cache_get(struct ht_block_cache *cache, size_t n)
{
	size_t n_used = n, best = SIZE_MAX;
	n = whole_pages(n);
	pthread_mutex_lock(&cache->lock);
	for (size_t i = 0; i < cache->n; i++)
		if (cache->blocks[i].n >= n &&
		        (best == SIZE_MAX || cache->blocks[i].n < cache->blocks[best].n))
			best = i;
	struct ht_cached_block block = { 0 }, rest = { 0 };
	if (best != SIZE_MAX) {
		block = take_out(cache, best);
		rest = (struct ht_cached_block){ block.bytes + n, block.n - n };
	}
	if (rest.n >= HT_MEM_MAP_BYTES) {
		cache->blocks[cache->n++] = rest;
		cache->bytes += rest.n;
		rest.n = 0;
	}
	pthread_mutex_unlock(&cache->lock);
	if (rest.n)
		munmap(rest.bytes, rest.n);
	return block.bytes ? memset(block.bytes, 0, n_used) : NULL;
}

void ht_block_cache_trim(struct ht_block_cache *cache, size_t room)
{
	pthread_mutex_lock(&cache->lock);
	while (cache->bytes > room) {
		struct ht_cached_block block = take_out(cache, cache->n - 1);
		munmap(block.bytes, block.n);
	}
	pthread_mutex_unlock(&cache->lock);
}
