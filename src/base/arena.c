/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c - see arena.h.
 */
#include "base/arena.h"

#include "base/mem.h"
#include "base/poison.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ARENA_BLOCK_BYTES ((size_t)64 << 10)
#define SMALL_BLOCK_BYTES ((size_t)512)
#define SPARE_BLOCK_BYTES ((size_t)1 << 20)

struct ht_arena_block {
	struct ht_arena_block *older;
	size_t used, size; /* of the whole block, header included */
	bool is_zeroed;    /* what is not used yet */
};
#define BLOCK_HEADER ((sizeof(struct ht_arena_block) + 15) & ~(size_t)15)

void ht_arena_cache_init(struct ht_arena_cache *cache, struct ht_mem *mem)
{
	*cache = (struct ht_arena_cache){ .mem = mem };
}

static void free_block(struct ht_mem *mem, struct ht_arena_block *b)
{
	ht_unpoison(b, b->size);
	ht_mem_free(mem, b, b->size);
}

static void free_blocks(struct ht_mem *mem, struct ht_arena_block *list)
{
	for (struct ht_arena_block *b = list, *older; b; b = older) {
		older = b->older;
		free_block(mem, b);
	}
}

void ht_arena_cache_done(struct ht_arena_cache *cache)
{
	free_blocks(cache->mem, cache->list);
	*cache = (struct ht_arena_cache){ .mem = cache->mem };
}

static void put_cached(struct ht_arena_cache *cache, struct ht_arena_block *b)
{
	if (cache->mem->limit || b->size > HT_ARENA_CACHE_BYTES - cache->n_bytes) {
		free_block(cache->mem, b);
		return;
	}
	b->older = cache->list;
	cache->list = b;
	cache->n_bytes += b->size;
}

/* The smallest that is large enough; NULL: none. */
static struct ht_arena_block *take_cached(struct ht_arena_cache *cache, size_t size)
{
	struct ht_arena_block **best = NULL;
	for (struct ht_arena_block **at = &cache->list; *at; at = &(*at)->older)
		if ((*at)->size >= size && (!best || (*at)->size < (*best)->size))
			best = at;
	if (!best)
		return NULL;
	struct ht_arena_block *b = *best;
	*best = b->older;
	cache->n_bytes -= b->size;
	b->is_zeroed = false;
	return b;
}

void ht_arena_init(struct ht_arena *arena, struct ht_mem *mem)
{
	*arena = (struct ht_arena){ .mem = mem };
}

void ht_arena_init_small(struct ht_arena *arena, struct ht_mem *mem)
{
	ht_arena_init(arena, mem);
	arena->is_small = true;
}

void ht_arena_init_cached(struct ht_arena *arena, struct ht_arena_cache *cache)
{
	*arena = (struct ht_arena){ .mem = cache->mem, .cache = cache };
}

void ht_arena_init_like(struct ht_arena *arena, const struct ht_arena *other)
{
	*arena = (struct ht_arena){
		.mem = other->mem, .cache = other->cache, .cancelled = other->cancelled
	};
}

void ht_arena_done(struct ht_arena *arena)
{
	if (!arena->cache)
		free_blocks(arena->mem, arena->last);
	for (struct ht_arena_block *b = arena->cache ? arena->last : NULL, *older; b; b = older) {
		older = b->older;
		put_cached(arena->cache, b);
	}
	arena->last = NULL;
}

void ht_arena_join(struct ht_arena *into, struct ht_arena *from)
{
	/* behind the block that is being filled */
	struct ht_arena_block **end = into->last ? &into->last->older : &into->last, *rest = *end;
	*end = from->last;
	while (*end)
		end = &(*end)->older;
	*end = rest;
	from->last = NULL;
}

size_t ht_arena_bytes(const struct ht_arena *arena)
{
	size_t n = 0;
	for (const struct ht_arena_block *b = arena->last; b; b = b->older)
		n += b->size;
	return n;
}

/* An arena that needs more than one takes blocks that are mapped, and kept for the next; cached ones are large, so
 * that many sizes fit into them; a small one doubles until it is as large as others begin. */
static size_t least_bytes(const struct ht_arena *arena)
{
	const struct ht_arena_block *b = arena->last;
	if (arena->cache)
		return SPARE_BLOCK_BYTES;
	if (!b)
		return arena->is_small ? SMALL_BLOCK_BYTES : ARENA_BLOCK_BYTES;
	return arena->is_small && b->size < ARENA_BLOCK_BYTES ? 2 * b->size : HT_MEM_MAP_BYTES;
}

/* A block with room for n bytes behind its header. */
static struct ht_arena_block *new_block(struct ht_arena *arena, size_t n)
{
	size_t least = least_bytes(arena);
	size_t size = BLOCK_HEADER + n > least ? BLOCK_HEADER + n : least;
	struct ht_arena_block *b = arena->cache ? take_cached(arena->cache, size) : NULL;
	if (!b) {
		b = ht_mem_alloc(arena->mem, size);
		if (!b)
			return NULL;
		b->size = size;
		b->is_zeroed = size >= HT_MEM_MAP_BYTES;
	}
	b->older = arena->last;
	b->used = BLOCK_HEADER;
	ht_poison((char *)b + BLOCK_HEADER, b->size - BLOCK_HEADER);
	return b;
}

void *ht_arena_room(struct ht_arena *arena, size_t n_bytes)
{
	if (n_bytes > SIZE_MAX / 2)
		return NULL;
	size_t n = ((n_bytes + 15) & ~(size_t)15) + HT_RED_ZONE;
	struct ht_arena_block *b = arena->last;
	if (!b || b->size - b->used < n) {
		if (arena->cancelled &&
		        atomic_load_explicit(arena->cancelled, memory_order_relaxed))
			return NULL;
		b = new_block(arena, n);
		if (!b)
			return NULL;
		arena->last = b;
	}
	void *block = (char *)b + b->used;
	ht_unpoison(block, n_bytes);
	b->used += n;
	return block;
}

void *ht_arena_alloc(struct ht_arena *arena, size_t n_bytes)
{
	void *block = ht_arena_room(arena, n_bytes);
	if (block && !arena->last->is_zeroed)
		memset(block, 0, n_bytes);
	return block;
}

char *ht_arena_strndup(struct ht_arena *arena, const char *text, size_t n)
{
	char *copy = ht_arena_alloc(arena, n + 1);
	if (copy && n)
		memcpy(copy, text, n);
	return copy;
}

char *ht_arena_printf(struct ht_arena *arena, const char *format, ...)
{
	va_list ap, again;
	va_start(ap, format);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, format, ap);
	char *text = n < 0 ? NULL : ht_arena_alloc(arena, (size_t)n + 1);
	if (text)
		vsnprintf(text, (size_t)n + 1, format, again);
	va_end(again);
	va_end(ap);
	return text;
}
