/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_pools.c - which private pool an address belongs to. See mem_history.h.
 */
#include "model/snapshot/mem_history.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"

#include "base/search.h"
#include "base/sort.h"

enum ht_status ht_mem_segments_sort(struct ht_run *run, uint32_t **ret_segments)
{
	const struct ht_trace *t = run->trace;
	size_t n = t->more->n_mem_segments;
	uint64_t *keys = ht_arena_room(run->scratch, (n + 1) * sizeof *keys);
	uint32_t *segments = ht_arena_room(run->scratch, (n + 1) * sizeof *segments);
	if (!keys || !segments)
		return ht_fail_nomem(run->ctx);
	for (uint32_t i = 0; i < n; i++) {
		segments[i] = (uint32_t)n - 1 - i;
		keys[i] = t->more->mem_segments[segments[i]].addr;
	}
	if (!ht_sort_keys(run->ctx->mem, keys, segments, n))
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++)
		keys[i] = t->more->mem_segments[segments[i]].device;
	*ret_segments = segments;
	return ht_sort_keys(run->ctx->mem, keys, segments, n) ? HT_OK : ht_fail_nomem(run->ctx);
}

/* The segment of the snapshot that has an address, NULL. */
static const struct ht_mem_segment *segment_at(
        const struct ht_mem_history *h, uint32_t device, uint64_t addr)
{
	const struct ht_mem_segment *segments = h->trace->more->mem_segments;
	size_t i = HT_LOWER_BOUND(k, h->n_devices, h->devices[k].device < device);
	const struct ht_mem_device *d = &h->devices[i];
	if (i == h->n_devices || d->device != device)
		return NULL;
	size_t after = HT_LOWER_BOUND(k, d->n_segments, segments[d->segments[k]].addr <= addr);
	const struct ht_mem_segment *g = after ? &segments[d->segments[after - 1]] : NULL;
	return g && addr - g->addr < (uint64_t)g->total ? g : NULL;
}

void ht_mem_pool_at(const struct ht_mem_history *h, uint32_t device, uint64_t addr,
        const struct ht_mem_event *event, uint32_t ret_pool[2])
{
	const struct ht_mem_segment *g = NULL;
	const uint32_t *pool = event && (event->pool[0] || event->pool[1]) ? event->pool : NULL;
	if (!pool)
		g = segment_at(h, device, addr);
	ret_pool[0] = pool ? pool[0] : g ? g->pool[0] : 0;
	ret_pool[1] = pool ? pool[1] : g ? g->pool[1] : 0;
}

void ht_mem_pool_of_life(
        const struct ht_mem_history *h, const struct ht_mem_life *life, uint32_t ret_pool[2])
{
	const struct ht_trace *t = h->trace;
	const struct ht_mem_event *event = life->alloc >= 0 ? &t->more->mem_events[life->alloc]
	                                   : life->free_completed != HT_MEM_NEVER
	                                           ? &t->more->mem_events[life->free_completed]
	                                           : NULL;
	if (life->block != HT_NONE) {
		const struct ht_mem_segment *g =
		        &t->more->mem_segments[t->more->mem_blocks[life->block].segment];
		ret_pool[0] = g->pool[0];
		ret_pool[1] = g->pool[1];
		return;
	}
	ht_mem_pool_at(h, event ? event->device : 0, life->addr, event, ret_pool);
}
