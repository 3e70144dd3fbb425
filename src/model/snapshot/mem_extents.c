/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_extents.c - see mem_extents.h.
 */
#include "model/snapshot/mem_extents.h"

#include "base/search.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"

#include <string.h>

#define MAX_CHUNK 256

/* Where one is. Behind the last: chunk is n_chunks. */
struct place {
	size_t chunk, at;
};

static struct ht_mem_extent *extent_at(const struct ht_mem_extents *x, struct place place)
{
	return place.chunk < x->n_chunks ? &x->chunks[place.chunk].list[place.at] : NULL;
}

/* The one before a place; NULL: none. */
static struct ht_mem_extent *before(const struct ht_mem_extents *x, struct place place)
{
	if (place.at)
		return &x->chunks[place.chunk].list[place.at - 1];
	const struct ht_mem_chunk *chunk = place.chunk ? &x->chunks[place.chunk - 1] : NULL;
	return chunk ? &chunk->list[chunk->n - 1] : NULL;
}

/* The first that begins at an address or behind it. */
static struct place from(const struct ht_mem_extents *x, uint64_t addr)
{
	const struct ht_mem_chunk *chunks = x->chunks;
	size_t i = HT_LOWER_BOUND(k, x->n_chunks, chunks[k].list[chunks[k].n - 1].addr < addr);
	return (struct place){ i,
		i < x->n_chunks ? HT_LOWER_BOUND(k, chunks[i].n, chunks[i].list[k].addr < addr)
		                : 0 };
}

/* An empty chunk before that of an index. */
static bool add_chunk(struct ht_mem_extents *x, size_t at)
{
	if (x->n_chunks == x->cap_chunks) {
		size_t cap = x->cap_chunks ? x->cap_chunks * 2 : 8;
		struct ht_mem_chunk *chunks = ht_arena_alloc(x->arena, cap * sizeof *chunks);
		if (!chunks)
			return false;
		if (x->n_chunks)
			memcpy(chunks, x->chunks, x->n_chunks * sizeof *chunks);
		x->chunks = chunks;
		x->cap_chunks = cap;
	}
	struct ht_mem_chunk spare = x->chunks[x->n_chunks];
	memmove(x->chunks + at + 1, x->chunks + at, (x->n_chunks - at) * sizeof *x->chunks);
	x->chunks[at] = (struct ht_mem_chunk){ spare.list, 0, spare.cap };
	x->n_chunks++;
	return true;
}

static bool grow_chunk(struct ht_mem_extents *x, struct ht_mem_chunk *chunk)
{
	uint32_t cap = chunk->cap ? chunk->cap * 2 : 8;
	struct ht_mem_extent *list = ht_arena_room(x->arena, cap * sizeof *list);
	if (!list)
		return false;
	if (chunk->n)
		memcpy(list, chunk->list, chunk->n * sizeof *list);
	chunk->list = list;
	chunk->cap = cap;
	return true;
}

/* The upper half of a full chunk, or of the last one nothing, goes to a new one behind it. */
static bool split_chunk(struct ht_mem_extents *x, struct place *place)
{
	size_t i = place->chunk;
	uint32_t n_left =
	        place->at == MAX_CHUNK && i + 1 == x->n_chunks ? MAX_CHUNK : MAX_CHUNK / 2;
	if (!add_chunk(x, i + 1))
		return false;
	struct ht_mem_chunk *left = &x->chunks[i], *right = left + 1;
	while (right->cap < MAX_CHUNK)
		if (!grow_chunk(x, right))
			return false;
	right->n = left->n - n_left;
	memcpy(right->list, left->list + n_left, right->n * sizeof *right->list);
	left->n = n_left;
	if (place->at >= n_left)
		*place = (struct place){ i + 1, place->at - n_left };
	return true;
}

static bool insert(struct ht_mem_extents *x, struct place place, const struct ht_mem_extent *extent)
{
	if (!x->n_chunks && !add_chunk(x, 0))
		return false;
	if (place.chunk == x->n_chunks)
		place = (struct place){ x->n_chunks - 1, x->chunks[x->n_chunks - 1].n };
	struct ht_mem_chunk *chunk = &x->chunks[place.chunk];
	if (chunk->n == chunk->cap &&
	        !(chunk->cap < MAX_CHUNK ? grow_chunk(x, chunk) : split_chunk(x, &place)))
		return false;
	chunk = &x->chunks[place.chunk];
	memmove(chunk->list + place.at + 1, chunk->list + place.at,
	        (chunk->n - place.at) * sizeof *chunk->list);
	chunk->list[place.at] = *extent;
	chunk->n++;
	x->n++;
	return true;
}

static void take_out(struct ht_mem_extents *x, struct place place)
{
	struct ht_mem_chunk *chunk = &x->chunks[place.chunk], empty;
	x->n--;
	chunk->n--;
	memmove(chunk->list + place.at, chunk->list + place.at + 1,
	        (chunk->n - place.at) * sizeof *chunk->list);
	if (chunk->n)
		return;
	empty = *chunk;
	x->n_chunks--;
	memmove(chunk, chunk + 1, (x->n_chunks - place.chunk) * sizeof *chunk);
	x->chunks[x->n_chunks] = empty;
}

bool ht_mem_extents_add(struct ht_mem_extents *x, const struct ht_mem_extent *extent)
{
	return insert(x, from(x, extent->addr), extent);
}

bool ht_mem_extents_push(struct ht_mem_extents *x, const struct ht_mem_extent *extent)
{
	return insert(x, (struct place){ x->n_chunks, 0 }, extent);
}

void ht_mem_extents_remove(struct ht_mem_extents *x, uint64_t addr)
{
	struct place place = from(x, addr);
	const struct ht_mem_extent *extent = extent_at(x, place);
	if (extent && extent->addr == addr)
		take_out(x, place);
}

const struct ht_mem_extent *ht_mem_extents_find(const struct ht_mem_extents *x, uint64_t addr)
{
	const struct ht_mem_extent *extent =
	        addr == UINT64_MAX ? NULL : before(x, from(x, addr + 1));
	return extent && addr < extent->end ? extent : NULL;
}

struct ht_mem_extent *ht_mem_extents_list(const struct ht_mem_extents *x)
{
	struct ht_mem_extent *list = ht_arena_room(x->arena, (x->n + 1) * sizeof *list), *to = list;
	for (size_t i = 0; list && i < x->n_chunks; to += x->chunks[i++].n)
		memcpy(to, x->chunks[i].list, x->chunks[i].n * sizeof *list);
	return list;
}

bool ht_mem_extent_is_like(const struct ht_mem_extent *a, const struct ht_mem_extent *b)
{
	return a->stream == b->stream && a->pool[0] == b->pool[0] && a->pool[1] == b->pool[1] &&
	       a->is_small == b->is_small;
}

static bool is_one_with(const struct ht_mem_extent *a, const struct ht_mem_extent *b)
{
	return a && a->is_expandable && ht_mem_extent_is_like(a, b);
}

/* Add one; expandable ones that touch it and are alike become one with it. */
static bool join(struct ht_mem_extents *x, struct ht_mem_extent extent)
{
	struct place place = from(x, extent.end);
	const struct ht_mem_extent *right = extent_at(x, place);
	if (extent.is_expandable && is_one_with(right, &extent) && right->addr == extent.end) {
		extent.end = right->end;
		take_out(x, place);
	}
	struct ht_mem_extent *left = before(x, from(x, extent.addr));
	if (extent.is_expandable && is_one_with(left, &extent) && left->end == extent.addr) {
		left->end = extent.end;
		return true;
	}
	return ht_mem_extents_add(x, &extent);
}

bool ht_mem_extents_at_end(
        struct ht_mem_extents *x, const struct ht_trace *t, const uint32_t *segments, size_t n)
{
	bool ok = true;
	for (size_t i = 0; ok && i < n; i++) {
		const struct ht_mem_segment *g = &t->more->mem_segments[segments[i]];
		struct ht_mem_extent extent = { .addr = g->addr,
			.end = g->addr + (uint64_t)g->total,
			.stream = g->stream,
			.pool = { g->pool[0], g->pool[1] },
			.is_small = g->type == HT_MEM_SMALL,
			.is_expandable = g->is_expandable };
		if (extent.end >= extent.addr)
			ok = g->is_expandable ? join(x, extent) : ht_mem_extents_push(x, &extent);
	}
	return ok;
}

/* Take a range away: of expandable segments it may be any part. */
static bool cut(struct ht_mem_extents *x, uint64_t addr, uint64_t end)
{
	struct place place = from(x, addr);
	const struct ht_mem_extent *left = before(x, place);
	if (left && left->end > addr)
		place = place.at ? (struct place){ place.chunk, place.at - 1 }
		                 : (struct place){ place.chunk - 1,
			                   x->chunks[place.chunk - 1].n - 1 };
	for (const struct ht_mem_extent *next; (next = extent_at(x, place)) && next->addr < end;
	        place = from(x, addr)) {
		struct ht_mem_extent old = *next, low = old, high = old;
		take_out(x, place);
		low.end = addr;
		high.addr = end;
		if ((old.addr < addr && !ht_mem_extents_add(x, &low)) ||
		        (old.end > end && !ht_mem_extents_add(x, &high)))
			return false;
	}
	return true;
}

/* The pool of a range that was mapped beside others; an event does not always say it, and never for which sizes. */
static void take_pool_of_neighbour(const struct ht_mem_extents *x, struct ht_mem_extent *extent)
{
	struct place place = from(x, extent->addr);
	const struct ht_mem_extent *left = before(x, place), *right = extent_at(x, place);
	const struct ht_mem_extent *near = left && left->end == extent->addr     ? left
	                                   : right && right->addr == extent->end ? right
	                                                                         : NULL;
	if (!near || !near->is_expandable || near->stream != extent->stream)
		return;
	extent->pool[0] = near->pool[0];
	extent->pool[1] = near->pool[1];
	extent->is_small = near->is_small;
}

bool ht_mem_extents_undo(struct ht_mem_extents *x, const struct ht_mem_event *e)
{
	uint64_t end = e->addr + (uint64_t)e->size;
	if (end < e->addr)
		return true;
	if (e->action == HT_MEM_SEGMENT_ALLOC || e->action == HT_MEM_SEGMENT_MAP)
		return cut(x, e->addr, end);
	if (e->action != HT_MEM_SEGMENT_FREE && e->action != HT_MEM_SEGMENT_UNMAP)
		return true;
	struct ht_mem_extent extent = { .addr = e->addr,
		.end = end,
		.stream = e->stream,
		.pool = { e->pool[0], e->pool[1] },
		.is_small = e->size <= HT_MEM_SMALL_SEGMENT,
		.is_expandable = e->action == HT_MEM_SEGMENT_UNMAP };
	if (!cut(x, e->addr, end))
		return false;
	if (extent.is_expandable)
		take_pool_of_neighbour(x, &extent);
	return join(x, extent);
}
