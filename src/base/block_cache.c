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

void ht_block_cache_init(struct ht_block_cache *keep)
{
	pthread_mutex_init(&keep->lock, NULL);
	keep->n = keep->bytes = 0;
}

void ht_block_cache_done(struct ht_block_cache *keep)
{
	ht_block_cache_trim(keep, 0);
	pthread_mutex_destroy(&keep->lock);
}

/* Called with the lock held. */
static struct ht_cached_block take_out(struct ht_block_cache *keep, size_t i)
{
	struct ht_cached_block block = keep->blocks[i];
	keep->blocks[i] = keep->blocks[--keep->n];
	keep->bytes -= block.n;
	return block;
}

bool ht_block_cache_put(struct ht_block_cache *keep, void *block, size_t n, size_t room)
{
	n = whole_pages(n);
	pthread_mutex_lock(&keep->lock);
	bool fits = keep->n < HT_BLOCK_CACHE_MAX && n <= room && keep->bytes <= room - n;
	if (fits) {
		keep->blocks[keep->n++] = (struct ht_cached_block){ block, n };
		keep->bytes += n;
	}
	pthread_mutex_unlock(&keep->lock);
	return fits;
}

void *ht_block_cache_get(struct ht_block_cache *keep, size_t n)
{
	size_t n_used = n, best = SIZE_MAX;
	n = whole_pages(n);
	pthread_mutex_lock(&keep->lock);
	for (size_t i = 0; i < keep->n; i++)
		if (keep->blocks[i].n >= n &&
		        (best == SIZE_MAX || keep->blocks[i].n < keep->blocks[best].n))
			best = i;
	struct ht_cached_block block = { 0 }, rest = { 0 };
	if (best != SIZE_MAX) {
		block = take_out(keep, best);
		rest = (struct ht_cached_block){ block.bytes + n, block.n - n };
	}
	if (rest.n >= HT_MEM_MAP_BYTES) {
		keep->blocks[keep->n++] = rest;
		keep->bytes += rest.n;
		rest.n = 0;
	}
	pthread_mutex_unlock(&keep->lock);
	if (rest.n)
		munmap(rest.bytes, rest.n);
	return block.bytes ? memset(block.bytes, 0, n_used) : NULL;
}

void ht_block_cache_trim(struct ht_block_cache *keep, size_t room)
{
	pthread_mutex_lock(&keep->lock);
	while (keep->bytes > room) {
		struct ht_cached_block block = take_out(keep, keep->n - 1);
		munmap(block.bytes, block.n);
	}
	pthread_mutex_unlock(&keep->lock);
}
