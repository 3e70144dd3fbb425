/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.h - the one door for memory: counted, capped, failable in tests.
 *
 * Blocks of HT_MEM_MAP_BYTES and more come from mmap: they are zeroed, grow in place where the system has
 * mremap and go back to it when freed, or stay for the next within the peak so far (block_cache.h): peak memory is what
 * the counters say. Sizes are given back to
 * free, so that no headers are stored and the count is exact.
 *
 * This is for whoever takes and frees raw blocks. Growable arrays are in vec.h, many small blocks with one free in arena.h.
 */
#ifndef HT_BASE_MEM_H
#define HT_BASE_MEM_H

#include "base/block_cache.h"
#include "base/slab.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shared by a context and the sets and tables made with it; the last one to go frees it. */
struct ht_mem {
	atomic_int n_refs;
	atomic_ullong now, peak;
	unsigned long long limit;          /* 0: none */
	atomic_llong fail_in;              /* tests: the n-th allocation from now fails; 0 is off */
	atomic_bool hit_limit;             /* the last refusal was the limit, not the system */
	struct ht_block_cache block_cache; /* freed, and not given back yet */
	struct ht_slab slab;               /* not used yet */
	/* the user's allocator (ht_ctx_new_with), which all blocks come from and go to; NULL: the system */
	void *(*allocate)(void *user, size_t n_bytes);
	void (*release)(void *user, void *block, size_t n_bytes);
	void *allocator;
};

struct ht_mem *ht_mem_new(void);
struct ht_mem *ht_mem_retain(struct ht_mem *mem);
void ht_mem_release(struct ht_mem *mem);

/* NULL when out of memory or over the limit. Memory is not zeroed unless said. */
void *ht_mem_alloc(struct ht_mem *mem, size_t n_bytes);
void *ht_mem_zalloc(struct ht_mem *mem, size_t n_bytes);
void *ht_mem_realloc(struct ht_mem *mem, void *block, size_t old_bytes, size_t new_bytes);
void ht_mem_free(struct ht_mem *mem, void *block, size_t n_bytes);
/* For libraries that free without telling the size: each block stands behind a note of it. mem is a struct
 * ht_mem, untyped as their callbacks are. */
void *ht_mem_alloc_noted(void *mem, size_t n_bytes);
void ht_mem_free_noted(void *mem, void *block);

/* HT_MEM_MAP_BYTES and more that start at a multiple of this from the start of a block of that size are moved
 * there by their pages, where the system can: neither copied nor cleared. A multiple of every page size. */
#define HT_MEM_MOVE_BYTES ((size_t)64 << 10)
/* Move the first n_used bytes of a block to a place inside another and free the block. False when out of
 * memory; the block is freed all the same. */
bool ht_mem_move(struct ht_mem *mem, void *to, void *block, size_t n_bytes, size_t n_used);

/* Return to the system what was freed and waits for the next: for after work whose memory lives on with little in it. */
void ht_mem_trim(struct ht_mem *mem);
/* Return to the system what was freed in small pieces, where the system's allocator holds on to it. Takes
 * milliseconds: for after a lot was freed that nothing of the same sizes follows. */
void ht_mem_give_back(void);

#endif
