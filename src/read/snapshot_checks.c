/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_checks.c - what in a snapshot contradicts itself or is known to be missing, as counters. See snapshot.h.
 */
#include "base/mem.h"
#include "read/snapshot.h"

#include <string.h>

static void count(struct ht_snap *s, enum ht_stat_code code, uint64_t n)
{
	if (n)
		ht_chunk_stat(&s->builder->all, code, -1, n);
}

/* Blocks cover their segment, and those that tensors hold add up to what it says. */
static void check_segments(struct ht_snap *s)
{
	const struct ht_mem_segment *segments = s->draft->segments.data;
	const struct ht_mem_block *blocks = s->draft->blocks.data;
	uint64_t n_bad = 0;
	for (size_t i = 0; i < s->draft->segments.n; i++) {
		const struct ht_mem_segment *g = &segments[i];
		uint64_t sum = 0, allocated = 0;
		for (uint32_t k = 0; k < g->n_blocks; k++) {
			const struct ht_mem_block *block = &blocks[g->first_block + k];
			sum += (uint64_t)block->size;
			if (block->state == HT_MEM_ALLOCATED)
				allocated += (uint64_t)block->size;
		}
		n_bad += sum != (uint64_t)g->total || allocated != (uint64_t)g->allocated;
	}
	count(s, HT_STAT_snapshot_sums_differ, n_bad);
}

static void check_times(struct ht_snap *s)
{
	const struct ht_mem_event *events = s->draft->events.data;
	uint64_t n_back = 0;
	for (size_t i = 1; i < s->draft->events.n; i++)
		n_back += events[i].device == events[i - 1].device &&
		          events[i].time_ns != HT_NO_I64 && events[i - 1].time_ns != HT_NO_I64 &&
		          events[i].time_ns < events[i - 1].time_ns;
	count(s, HT_STAT_snapshot_time_back, n_back);
}

/* Addresses that were seen, by device; 0 is a free slot. Those that are allocated now have the lowest bit: what is freed stays, as an address is
 * used again and again. */
struct addresses {
	uint64_t *slots;
	size_t cap, n;
};
#define IS_LIVE ((uint64_t)1)

static bool grow(struct ht_mem *mem, struct addresses *a)
{
	size_t cap = a->cap ? a->cap * 2 : 4096;
	uint64_t *slots = ht_mem_zalloc(mem, cap * sizeof *slots);
	if (!slots)
		return false;
	for (size_t i = 0; i < a->cap; i++)
		if (a->slots[i])
			slots[HT_PROBE(at, cap, a->slots[i] | IS_LIVE, !slots[at])] = a->slots[i];
	if (a->slots)
		ht_mem_free(mem, a->slots, a->cap * sizeof *slots);
	a->slots = slots;
	a->cap = cap;
	return true;
}

static size_t place_of(const struct addresses *a, uint64_t key)
{
	return HT_PROBE(at, a->cap, key | IS_LIVE,
	        !a->slots[at] || (a->slots[at] | IS_LIVE) == (key | IS_LIVE));
}

/* Frees whose allocation is not in the file: blocks from before it, or events that the ring dropped. */
static enum ht_status check_frees(struct ht_snap *s)
{
	const struct ht_mem_event *events = s->draft->events.data;
	struct ht_mem *mem = s->ctx->mem;
	struct addresses live = { 0 };
	uint64_t n_lone = 0;
	bool ok = true;
	for (size_t i = 0; ok && i < s->draft->events.n; i++) {
		const struct ht_mem_event *e = &events[i];
		uint64_t key = ((e->addr ^ (uint64_t)e->device << 52) | 2) & ~IS_LIVE;
		bool is_free = e->action == HT_MEM_FREE_COMPLETED || e->action == HT_MEM_FREE;
		if (e->action != HT_MEM_ALLOC && !is_free)
			continue;
		if (2 * live.n >= live.cap)
			ok = grow(mem, &live);
		if (!ok)
			break;
		size_t at = place_of(&live, key);
		live.n += !live.slots[at];
		n_lone += is_free && !(live.slots[at] & IS_LIVE);
		live.slots[at] = key | (is_free ? 0 : IS_LIVE);
	}
	if (live.slots)
		ht_mem_free(mem, live.slots, live.cap * sizeof *live.slots);
	count(s, HT_STAT_snapshot_before_window, n_lone);
	return ok ? HT_OK : ht_fail_nomem(s->ctx);
}

enum ht_status ht_snap_check(struct ht_snap *s)
{
	check_segments(s);
	check_times(s);
	return check_frees(s);
}
