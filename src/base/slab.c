/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slab.c - see slab.h.
 */
#include "base/slab.h"

#include "base/platform.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void ht_slab_init(struct ht_slab *slab)
{
	pthread_mutex_init(&slab->lock, NULL);
	slab->next = NULL;
	slab->n_left = 0;
}

void ht_slab_drop(struct ht_slab *slab)
{
	pthread_mutex_lock(&slab->lock);
	if (slab->n_left)
		munmap(slab->next, slab->n_left);
	slab->n_left = 0;
	pthread_mutex_unlock(&slab->lock);
}

void ht_slab_done(struct ht_slab *slab)
{
	ht_slab_drop(slab);
	pthread_mutex_destroy(&slab->lock);
}

#if HT_HAS_HUGE_PAGES
#define HUGE_BYTES ((size_t)2 << 20)
#define SLAB_BYTES (16 * HUGE_BYTES)

/* n bytes, whole pages, that begin with a huge one. That they are huge is a hint, and may fail. */
static char *map_huge(size_t n)
{
	char *room = mmap(
	        NULL, n + HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		return NULL;
	size_t before = -(uintptr_t)room % HUGE_BYTES;
	if (before)
		munmap(room, before);
	munmap(room + before + n, HUGE_BYTES - before);
	madvise(room + before, n, MADV_HUGEPAGE);
	return room + before;
}

void *ht_slab_cut(struct ht_slab *slab, size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	if (n > SIZE_MAX / 2)
		return NULL;
	n = (n + page - 1) / page * page;
	if (n > SLAB_BYTES / 2)
		return map_huge(n);
	pthread_mutex_lock(&slab->lock);
	if (slab->n_left < n) {
		if (slab->n_left)
			munmap(slab->next, slab->n_left);
		slab->next = map_huge(SLAB_BYTES);
		slab->n_left = slab->next ? SLAB_BYTES : 0;
	}
	char *block = slab->n_left ? slab->next : NULL;
	if (block) {
		slab->next += n;
		slab->n_left -= n;
	}
	pthread_mutex_unlock(&slab->lock);
	return block;
}
#else
void *ht_slab_cut(struct ht_slab *slab, size_t n)
{
	(void)slab;
	(void)n;
	return NULL;
}
#endif
