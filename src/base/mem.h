/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.h - the one door for memory: counted, capped, failable in tests.
 *
 * Blocks of HT_MEM_MAP_BYTES and more come from mmap: they are zeroed, grow in place where the system has
 * mremap and go back to it when freed, or stay for the next within the peak so far (block_cache.h): peak memory is what
 * the counters say. Sizes are given back to
 * free, so that no headers are stored and the count is exact.
 *
 *   ht_mem_*   raw blocks          ht_vec_*  growable arrays          ht_arena  many small, one free
 */
#ifndef HT_BASE_MEM_H
#define HT_BASE_MEM_H

#include "base/block_cache.h"
#include "base/slab.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HT_MEM_MAP_BYTES ((size_t)256 << 10)

struct ht_cache_quota;

/* Shared by a context and the sets and tables made with it; the last one to go frees it. */
struct ht_mem {
	atomic_int n_refs;
	atomic_ullong now, peak;
	unsigned long long limit;     /* 0: none */
	atomic_llong fail_in;         /* tests: the n-th allocation from now fails; 0 is off */
	atomic_bool hit_limit;        /* the last refusal was the limit, not the system */
	struct ht_cache_quota *quota; /* of the cache directory, for all who share this memory */
	int64_t made_unix_ns;         /* when this was made */
	struct ht_block_cache keep;   /* freed, and not given back yet */
	struct ht_slab slab;          /* not used yet */
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

/* A growable array of fixed-size elements. Zero-initialise; elem is set on first push. */
struct ht_vec {
	void *data;
	size_t n, cap; /* in elements */
};

/* Room for extra more elements; false when out of memory. */
bool ht_vec_reserve(struct ht_mem *mem, struct ht_vec *vec, size_t elem_bytes, size_t extra);
void ht_vec_free(struct ht_mem *mem, struct ht_vec *vec, size_t elem_bytes);

/* Append one value of type. Evaluates to false when out of memory. */
#define HT_VEC_PUSH(mem, vec, type, value)                                                         \
	((vec)->n < (vec)->cap || ht_vec_reserve((mem), (vec), sizeof(type), 1)                    \
	                ? (((type *)(vec)->data)[(vec)->n++] = (value), true)                      \
	                : false)

/* Many small blocks that die together.
 *
 *   arena ─► [ block | used ....... free ] ─► [ older block ] ─► NULL
 */
struct ht_arena_block;
struct ht_arena {
	struct ht_mem *mem;
	struct ht_arena_block *last;
	struct ht_arena_cache *spare; /* where blocks come from and go to; NULL: mem */
	/* when true no further block is to be had, so that long work ends soon; NULL: never */
	const atomic_bool *cancelled;
	bool is_small; /* the first blocks are small ones */
};

/* Blocks of arenas that are done, for the next arenas of the same thread: work that is repeated, task after task, needs
 * neither the system nor a lock for its scratch memory. Under a memory limit nothing is kept. */
#define HT_ARENA_CACHE_BYTES ((size_t)128 << 20)
struct ht_arena_cache {
	struct ht_mem *mem;
	struct ht_arena_block *list;
	size_t n_bytes; /* HT_ARENA_CACHE_BYTES at most */
};

/* Return to the system what was freed in small pieces, where the system's allocator holds on to it. Takes
 * milliseconds: for after a lot was freed that nothing of the same sizes follows. */
void ht_mem_give_back(void);

void ht_arena_cache_init(struct ht_arena_cache *spare, struct ht_mem *mem);
void ht_arena_cache_done(struct ht_arena_cache *spare);

void ht_arena_init(struct ht_arena *arena, struct ht_mem *mem);
/* For what there may be thousands of, most of them with little in it. */
void ht_arena_init_small(struct ht_arena *arena, struct ht_mem *mem);
/* One whose blocks are taken from, and given to, what is spare. It is done before that, on the same thread. */
void ht_arena_init_cached(struct ht_arena *arena, struct ht_arena_cache *spare);
/* One that takes its blocks where another one does, and is cancelled with it. */
void ht_arena_init_like(struct ht_arena *arena, const struct ht_arena *other);
void ht_arena_done(struct ht_arena *arena);
/* What lies in from lies in into, and from is empty. Both are of the same memory. */
void ht_arena_join(struct ht_arena *into, struct ht_arena *from);
size_t ht_arena_bytes(const struct ht_arena *arena);
/* Zeroed, aligned to 16; NULL when out of memory. */
void *ht_arena_alloc(struct ht_arena *arena, size_t n_bytes);
/* The same, but not zeroed: for large arrays whose every entry is written before it is read. */
void *ht_arena_room(struct ht_arena *arena, size_t n_bytes);
char *ht_arena_strndup(struct ht_arena *arena, const char *text, size_t n);
char *ht_arena_printf(struct ht_arena *arena, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

#endif
