/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_extents.c - see mem_extents.h.
 */
#include "model/snapshot/mem_extents.h"

#include "base/search.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"

#include <string.h>

size_t ht_mem_extents_from(const struct ht_mem_extents *x, uint64_t addr)
{
	return HT_LOWER_BOUND(at, x->n, x->list[at].addr < addr);
}

static bool make_room(struct ht_mem_extents *x)
{
	if (x->n < x->cap)
		return true;
	size_t cap = x->cap ? x->cap * 2 : 64;
	struct ht_mem_extent *list = ht_arena_room(x->arena, cap * sizeof *list);
	if (!list)
		return false;
	if (x->n)
		memcpy(list, x->list, x->n * sizeof *list);
	x->list = list;
	x->cap = cap;
	return true;
}

bool ht_mem_extents_push(struct ht_mem_extents *x, const struct ht_mem_extent *extent)
{
	if (!make_room(x))
		return false;
	x->list[x->n++] = *extent;
	return true;
}

bool ht_mem_extents_add(struct ht_mem_extents *x, const struct ht_mem_extent *extent)
{
	if (!make_room(x))
		return false;
	size_t at = ht_mem_extents_from(x, extent->addr);
	memmove(x->list + at + 1, x->list + at, (x->n - at) * sizeof *x->list);
	x->list[at] = *extent;
	x->n++;
	return true;
}

void ht_mem_extents_remove(struct ht_mem_extents *x, size_t at)
{
	memmove(x->list + at, x->list + at + 1, (x->n - at - 1) * sizeof *x->list);
	x->n--;
}

const struct ht_mem_extent *ht_mem_extents_find(const struct ht_mem_extents *x, uint64_t addr)
{
	size_t at = HT_LOWER_BOUND(i, x->n, x->list[i].addr <= addr);
	return at && addr < x->list[at - 1].end ? &x->list[at - 1] : NULL;
}

bool ht_mem_extent_is_like(const struct ht_mem_extent *a, const struct ht_mem_extent *b)
{
	return a->stream == b->stream && a->pool[0] == b->pool[0] && a->pool[1] == b->pool[1] &&
	       a->is_small == b->is_small;
}

/* Add one; expandable ones that touch it and are alike become one with it. */
static bool join(struct ht_mem_extents *x, struct ht_mem_extent extent)
{
	size_t at = ht_mem_extents_from(x, extent.end);
	if (extent.is_expandable && at < x->n && x->list[at].addr == extent.end &&
	        x->list[at].is_expandable && ht_mem_extent_is_like(&x->list[at], &extent)) {
		extent.end = x->list[at].end;
		ht_mem_extents_remove(x, at);
	}
	at = ht_mem_extents_from(x, extent.addr);
	if (extent.is_expandable && at && x->list[at - 1].end == extent.addr &&
	        x->list[at - 1].is_expandable && ht_mem_extent_is_like(&x->list[at - 1], &extent)) {
		x->list[at - 1].end = extent.end;
		return true;
	}
	return ht_mem_extents_add(x, &extent);
}

bool ht_mem_extents_at_end(
        struct ht_mem_extents *x, const struct ht_trace *t, const uint32_t *order, uint32_t device)
{
	bool ok = true;
	for (size_t i = 0; ok && i < t->more->n_mem_segments; i++) {
		const struct ht_mem_segment *g = &t->more->mem_segments[order[i]];
		struct ht_mem_extent extent = { .addr = g->addr,
			.end = g->addr + (uint64_t)g->total,
			.stream = g->stream,
			.pool = { g->pool[0], g->pool[1] },
			.is_small = g->type == HT_MEM_SMALL,
			.is_expandable = g->is_expandable };
		if (g->device == device && extent.end >= extent.addr)
			ok = g->is_expandable ? join(x, extent) : ht_mem_extents_push(x, &extent);
	}
	return ok;
}

/* Take a range away: of expandable segments it may be any part. */
static bool cut(struct ht_mem_extents *x, uint64_t addr, uint64_t end)
{
	size_t at = ht_mem_extents_from(x, addr);
	if (at && x->list[at - 1].end > addr)
		at--;
	while (at < x->n && x->list[at].addr < end) {
		struct ht_mem_extent old = x->list[at];
		ht_mem_extents_remove(x, at);
		struct ht_mem_extent left = old, right = old;
		left.end = addr;
		right.addr = end;
		if (old.addr < addr && !ht_mem_extents_add(x, &left))
			return false;
		if (old.end > end && !ht_mem_extents_add(x, &right))
			return false;
		at = ht_mem_extents_from(x, end);
		if (old.end > end)
			break;
	}
	return true;
}

/* The pool of a range that was mapped beside others; an event does not always say it, and never for which sizes. */
static void take_pool_of_neighbour(const struct ht_mem_extents *x, struct ht_mem_extent *extent)
{
	size_t at = ht_mem_extents_from(x, extent->addr);
	const struct ht_mem_extent *left = at ? &x->list[at - 1] : NULL;
	const struct ht_mem_extent *right = at < x->n ? &x->list[at] : NULL;
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
