/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.c - see mem.h.
 */
#include "base/mem.h"

#include "base/platform.h"

#include <stdlib.h>
#if defined(__GLIBC__) && !defined(HT_PORTABLE)
#include <malloc.h>
#endif
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Huge pages for what is allocated beyond so much. */
#define SMALL_BYTES ((size_t)8 << 20)
/* Sanitizers are to see a block that is used after it was freed. */
#define KEEPS          (!HT_SANITIZED)
#define MAX_KEPT_BYTES ((size_t)64 << 20)

struct ht_mem *ht_mem_new(void)
{
	struct ht_mem *mem = calloc(1, sizeof *mem);
	if (!mem)
		return NULL;
	atomic_store(&mem->n_refs, 1);
	ht_block_cache_init(&mem->block_cache);
	ht_slab_init(&mem->slab);
	return mem;
}

struct ht_mem *ht_mem_retain(struct ht_mem *mem)
{
	atomic_fetch_add(&mem->n_refs, 1);
	return mem;
}

void ht_mem_release(struct ht_mem *mem)
{
	if (!mem || atomic_fetch_sub(&mem->n_refs, 1) != 1)
		return;
	ht_block_cache_done(&mem->block_cache);
	ht_slab_done(&mem->slab);
	free(mem);
}

static bool account(struct ht_mem *mem, size_t add, size_t sub)
{
	if (atomic_load_explicit(&mem->fail_in, memory_order_relaxed) > 0 &&
	        atomic_fetch_sub(&mem->fail_in, 1) == 1) {
		atomic_store(&mem->hit_limit, false);
		return false;
	}
	unsigned long long now = atomic_fetch_add(&mem->now, add) + add - sub;
	if (mem->limit && now > mem->limit && add > sub) {
		atomic_fetch_sub(&mem->now, add);
		atomic_store(&mem->hit_limit, true);
		return false;
	}
	atomic_fetch_sub(&mem->now, sub);
	unsigned long long peak = atomic_load_explicit(&mem->peak, memory_order_relaxed);
	while (now > peak && !atomic_compare_exchange_weak(&mem->peak, &peak, now))
		;
	return true;
}

/* How much may be kept beside what is in use. */
static size_t room_to_keep(struct ht_mem *mem)
{
	unsigned long long peak = atomic_load_explicit(&mem->peak, memory_order_relaxed);
	unsigned long long now = atomic_load_explicit(&mem->now, memory_order_relaxed);
	unsigned long long room = peak > now ? (peak - now) / 2 : 0;
	return room < MAX_KEPT_BYTES ? (size_t)room : MAX_KEPT_BYTES;
}

/* Large blocks are zeroed, whoever they come from. */
static void *foreign_alloc(struct ht_mem *mem, size_t n)
{
	void *block = mem->allocate(mem->allocator, n ? n : 1);
	return block && n >= HT_MEM_MAP_BYTES ? memset(block, 0, n) : block;
}

static void *raw_alloc(struct ht_mem *mem, size_t n)
{
	if (mem->allocate)
		return foreign_alloc(mem, n);
	if (n < HT_MEM_MAP_BYTES)
		return malloc(n ? n : 1);
	void *kept = KEEPS ? ht_block_cache_get(&mem->block_cache, n) : NULL;
	if (kept)
		return kept;
	ht_block_cache_trim(&mem->block_cache, room_to_keep(mem));
	bool is_large = atomic_load_explicit(&mem->now, memory_order_relaxed) > SMALL_BYTES;
	void *block = KEEPS && is_large ? ht_slab_cut(&mem->slab, n) : NULL;
	if (block)
		return block;
	block = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return block == MAP_FAILED ? NULL : block;
}

static void raw_free(struct ht_mem *mem, void *block, size_t n)
{
	if (mem->allocate)
		mem->release(mem->allocator, block, n ? n : 1);
	else if (n < HT_MEM_MAP_BYTES)
		free(block);
	else if (!KEEPS || !ht_block_cache_put(&mem->block_cache, block, n, room_to_keep(mem)))
		munmap(block, n);
}

/* Grown where it is; NULL: it cannot be. */
static void *grow_in_place(struct ht_mem *mem, void *block, size_t old_bytes, size_t new_bytes)
{
	if (old_bytes < HT_MEM_MAP_BYTES && new_bytes < HT_MEM_MAP_BYTES)
		return realloc(block, new_bytes ? new_bytes : 1);
#if HT_HAS_MREMAP
	/* pages stay what they are: a block that becomes far larger is copied, so that it is in huge ones */
	bool outgrown = new_bytes > SMALL_BYTES / 8 && old_bytes < new_bytes / 8;
	if (old_bytes >= HT_MEM_MAP_BYTES && new_bytes >= HT_MEM_MAP_BYTES && !outgrown) {
		void *grown = mremap(block, old_bytes, new_bytes, MREMAP_MAYMOVE);
		ht_block_cache_trim(&mem->block_cache, room_to_keep(mem));
		/* one that others were moved into before it was kept is more than one mapping: copied */
		return grown != MAP_FAILED ? grown : NULL;
	}
#else
	(void)mem;
#endif
	return NULL;
}

static void *raw_realloc(struct ht_mem *mem, void *block, size_t old_bytes, size_t new_bytes)
{
	bool is_small = old_bytes < HT_MEM_MAP_BYTES && new_bytes < HT_MEM_MAP_BYTES;
	void *grown = mem->allocate ? NULL : grow_in_place(mem, block, old_bytes, new_bytes);
	if (grown || (is_small && !mem->allocate))
		return grown;
	void *moved = raw_alloc(mem, new_bytes);
	if (!moved)
		return NULL;
	memcpy(moved, block, old_bytes < new_bytes ? old_bytes : new_bytes);
	raw_free(mem, block, old_bytes);
	return moved;
}

void *ht_mem_alloc(struct ht_mem *mem, size_t n_bytes)
{
	if (!account(mem, n_bytes, 0))
		return NULL;
	void *block = raw_alloc(mem, n_bytes);
	if (!block) {
		atomic_fetch_sub(&mem->now, n_bytes);
		atomic_store(&mem->hit_limit, false);
	}
	return block;
}

void *ht_mem_zalloc(struct ht_mem *mem, size_t n_bytes)
{
	void *block = ht_mem_alloc(mem, n_bytes);
	if (block && n_bytes < HT_MEM_MAP_BYTES)
		memset(block, 0, n_bytes ? n_bytes : 1);
	return block;
}

void *ht_mem_realloc(struct ht_mem *mem, void *block, size_t old_bytes, size_t new_bytes)
{
	if (!block)
		return ht_mem_alloc(mem, new_bytes);
	if (!account(mem, new_bytes, old_bytes))
		return NULL;
	void *moved = raw_realloc(mem, block, old_bytes, new_bytes);
	if (!moved) {
		atomic_fetch_add(&mem->now, old_bytes);
		atomic_fetch_sub(&mem->now, new_bytes);
		atomic_store(&mem->hit_limit, false);
	}
	return moved;
}

void ht_mem_free(struct ht_mem *mem, void *block, size_t n_bytes)
{
	if (!block)
		return;
	atomic_fetch_sub(&mem->now, n_bytes);
	raw_free(mem, block, n_bytes);
}

/* Keeps the alignment of what follows the note. */
#define NOTE_BYTES 16

void *ht_mem_alloc_noted(void *mem, size_t n_bytes)
{
	if (n_bytes > SIZE_MAX - NOTE_BYTES)
		return NULL;
	char *block = ht_mem_alloc(mem, n_bytes + NOTE_BYTES);
	if (!block)
		return NULL;
	*(size_t *)(void *)block = n_bytes + NOTE_BYTES;
	return block + NOTE_BYTES;
}

void ht_mem_free_noted(void *mem, void *block)
{
	if (!block)
		return;
	char *note = (char *)block - NOTE_BYTES;
	ht_mem_free(mem, note, *(size_t *)(void *)note);
}

#if HT_HAS_MREMAP
bool ht_mem_move(struct ht_mem *mem, void *to, void *block, size_t n_bytes, size_t n_used)
{
	size_t moved = n_used - n_used % HT_MEM_MOVE_BYTES;
	bool ok = true;
	if (mem->allocate || n_used < HT_MEM_MAP_BYTES ||
	        (uintptr_t)to % (size_t)sysconf(_SC_PAGESIZE))
		moved = 0;
	if (moved && mremap(block, moved, moved, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
		/* the place may have lost its own pages */
		ok = mmap(to, moved, PROT_READ | PROT_WRITE,
		             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
		moved = 0;
	}
	if (ok && n_used > moved)
		memcpy((char *)to + moved, (char *)block + moved, n_used - moved);
	if (!moved)
		raw_free(mem, block, n_bytes);
	else if (n_bytes > moved)
		munmap((char *)block + moved, n_bytes - moved);
	atomic_fetch_sub(&mem->now, n_bytes);
	return ok;
}
#else
bool ht_mem_move(struct ht_mem *mem, void *to, void *block, size_t n_bytes, size_t n_used)
{
	memcpy(to, block, n_used);
	ht_mem_free(mem, block, n_bytes);
	return true;
}
#endif

void ht_mem_trim(struct ht_mem *mem)
{
	ht_block_cache_trim(&mem->block_cache, 0);
	ht_slab_drop(&mem->slab);
}

void ht_mem_give_back(void)
{
#if defined(__GLIBC__) && !defined(HT_PORTABLE)
	(void)malloc_trim(0);
#endif
}
