/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - many small blocks and one free.
 */
#ifndef HT_BASE_ARENA_H
#define HT_BASE_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ht_mem;

/* Many small blocks that die together.
 *
 *   arena ─► [ block | used ....... free ] ─► [ older block ] ─► NULL
 */
struct ht_arena_block;
struct ht_arena {
	struct ht_mem *mem;
	struct ht_arena_block *last;
	struct ht_arena_cache *cache; /* where blocks come from and go to; NULL: mem */
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

void ht_arena_cache_init(struct ht_arena_cache *cache, struct ht_mem *mem);
void ht_arena_cache_done(struct ht_arena_cache *cache);

void ht_arena_init(struct ht_arena *arena, struct ht_mem *mem);
/* For what there may be thousands of, most of them with little in it. */
void ht_arena_init_small(struct ht_arena *arena, struct ht_mem *mem);
/* One whose blocks are taken from a cache and go back to it. It is done before the cache, on the same thread. */
void ht_arena_init_cached(struct ht_arena *arena, struct ht_arena_cache *cache);
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
