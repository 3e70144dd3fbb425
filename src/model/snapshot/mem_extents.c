/*
 * mem_extents.c - see mem_extents.h.
 */
#include "model/snapshot/mem_extents.h"

#include "base/search.h"

#include <string.h>

size_t ht_mem_extents_from(const struct ht_mem_extents *x, uint64_t addr)
{
	return HT_LOWER_BOUND(at, x->n, x->list[at].addr < addr);
}

bool ht_mem_extents_add(struct ht_mem_extents *x, const struct ht_mem_extent *extent)
{
	if (x->n == x->cap) {
		size_t cap = x->cap ? x->cap * 2 : 64;
		struct ht_mem_extent *list = ht_arena_room(x->arena, cap * sizeof *list);
		if (!list)
			return false;
		if (x->n)
			memcpy(list, x->list, x->n * sizeof *list);
		x->list = list;
		x->cap = cap;
	}
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
