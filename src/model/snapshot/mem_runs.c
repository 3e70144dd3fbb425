/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_runs.c - see mem_runs.h.
 *
 * Runs begin and end at addresses that blocks and segments name. These are known beforehand and sorted; a set over their places
 * (bit_tree.h) has those where a run begins. Kinds of extents (stream, pool, size of pool) each have their sum, and a heap of the
 * lengths of their runs, from which what is no run any more is thrown out when it comes to the top, or when room gets short.
 * O(events × log) for all moments together.
 */
#include "model/snapshot/mem_runs.h"

#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "model/snapshot/bit_tree.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"

#include <string.h>

/* A run as it was when it began; the run of that place may be another one by now. */
struct entry {
	uint64_t length;
	uint32_t place;
};

struct kind {
	struct ht_mem_extent like;
	uint64_t free;
	struct entry *heap; /* the longest first */
	size_t n_heap, cap_heap;
};

struct ht_mem_runs {
	struct ht_run *run;
	const struct ht_trace *trace;
	const struct ht_mem_device *d;
	struct ht_mem_extents extents;
	int64_t at;     /* the first event that is undone */
	size_t n_begun; /* lives that are allocated by then */
	uint32_t *ends; /* 1 + the life that an event ends */
	uint64_t *addrs;
	size_t n_addrs;
	struct ht_bit_tree begins, blocks; /* places of runs, and of active blocks */
	uint64_t *run_end, *block_end;     /* by place */
	uint32_t *run_kind;                /* by place */
	struct kind *kinds;
	uint32_t *slots; /* 1 + kind by hash, 0: free */
	size_t n_kinds, n_slots;
	uint64_t free; /* in all runs */
	bool is_ok;    /* false when out of memory */
};

static size_t place_of(const struct ht_mem_runs *r, uint64_t addr)
{
	return HT_LOWER_BOUND(at, r->n_addrs, r->addrs[at] < addr);
}

static bool is_begin(const struct ht_mem_runs *r, size_t place)
{
	return ht_bit_tree_next(&r->begins, place) == place;
}

static uint64_t life_end(const struct ht_mem_life *life)
{
	uint64_t end = life->addr + (uint64_t)life->size;
	return end < life->addr ? UINT64_MAX : end;
}

/* ---- the longest run of a kind ---- */

static bool is_run(const struct ht_mem_runs *r, size_t kind, const struct entry *e)
{
	return r->run_kind[e->place] == kind && is_begin(r, e->place) &&
	       r->run_end[e->place] - r->addrs[e->place] == e->length;
}

static void sift_down(struct entry *heap, size_t n, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		child += child + 1 < n && heap[child + 1].length > heap[child].length;
		if (heap[i].length >= heap[child].length)
			return;
		struct entry moved = heap[i];
		heap[i] = heap[child];
		heap[child] = moved;
	}
}

static void sift_up(struct entry *heap, size_t i)
{
	for (size_t parent; i && heap[parent = (i - 1) / 2].length < heap[i].length; i = parent) {
		struct entry moved = heap[i];
		heap[i] = heap[parent];
		heap[parent] = moved;
	}
}

/* Room for one more: what is no run any more goes, and where that is less than half, there is twice as much. */
static bool make_room(struct ht_mem_runs *r, size_t i_kind)
{
	struct kind *kind = &r->kinds[i_kind];
	size_t n = 0;
	for (size_t i = 0; i < kind->n_heap; i++)
		if (is_run(r, i_kind, &kind->heap[i]))
			kind->heap[n++] = kind->heap[i];
	kind->n_heap = n;
	for (size_t i = n / 2; i > 0; i--)
		sift_down(kind->heap, n, i - 1);
	if (2 * n < kind->cap_heap)
		return true;
	size_t cap = kind->cap_heap ? 2 * kind->cap_heap : 16;
	struct entry *heap = ht_arena_room(r->run->scratch, cap * sizeof *heap);
	if (!heap)
		return false;
	if (n)
		memcpy(heap, kind->heap, n * sizeof *heap);
	kind->heap = heap;
	kind->cap_heap = cap;
	return true;
}

static uint64_t hash_kind(const struct ht_mem_extent *x)
{
	return ht_hash_mix(
	        ht_hash_mix((uint64_t)x->stream, (uint64_t)x->pool[0] << 32 | x->pool[1]),
	        x->is_small);
}

static size_t slot_of(const struct ht_mem_runs *r, const struct ht_mem_extent *like)
{
	return HT_PROBE(at, r->n_slots, hash_kind(like),
	        !r->slots[at] || ht_mem_extent_is_like(&r->kinds[r->slots[at] - 1].like, like));
}

static bool grow_kinds(struct ht_mem_runs *r)
{
	size_t n_slots = r->n_slots ? 2 * r->n_slots : 16;
	struct kind *kinds = ht_arena_room(r->run->scratch, n_slots / 2 * sizeof *kinds);
	uint32_t *slots = ht_arena_alloc(r->run->scratch, n_slots * sizeof *slots);
	if (!kinds || !slots)
		return false;
	if (r->n_kinds)
		memcpy(kinds, r->kinds, r->n_kinds * sizeof *kinds);
	r->kinds = kinds;
	r->slots = slots;
	r->n_slots = n_slots;
	for (size_t i = 0; i < r->n_kinds; i++)
		r->slots[slot_of(r, &kinds[i].like)] = (uint32_t)(i + 1);
	return true;
}

/* The kind of an extent, a new one where there is none like it; UINT32_MAX when out of memory. */
static uint32_t kind_of(struct ht_mem_runs *r, const struct ht_mem_extent *like)
{
	if (2 * r->n_kinds >= r->n_slots && !grow_kinds(r))
		return UINT32_MAX;
	size_t slot = slot_of(r, like);
	if (!r->slots[slot]) {
		r->kinds[r->n_kinds] = (struct kind){ .like = *like };
		r->slots[slot] = (uint32_t)++r->n_kinds;
	}
	return r->slots[slot] - 1;
}

/* ---- runs ---- */

static void begin_run(struct ht_mem_runs *r, uint64_t addr, uint64_t end, uint32_t i_kind)
{
	size_t place = place_of(r, addr);
	struct kind *kind = &r->kinds[i_kind];
	r->run_end[place] = end;
	r->run_kind[place] = i_kind;
	ht_bit_tree_add(&r->begins, place);
	kind->free += end - addr;
	r->free += end - addr;
	r->is_ok = r->is_ok && (kind->n_heap < kind->cap_heap || make_room(r, i_kind));
	if (!r->is_ok)
		return;
	kind->heap[kind->n_heap] = (struct entry){ end - addr, (uint32_t)place };
	sift_up(kind->heap, kind->n_heap++);
}

static void end_run(struct ht_mem_runs *r, size_t place)
{
	uint64_t length = r->run_end[place] - r->addrs[place];
	ht_bit_tree_remove(&r->begins, place);
	r->kinds[r->run_kind[place]].free -= length;
	r->free -= length;
}

/* Nothing of a range is free. */
static void take(struct ht_mem_runs *r, uint64_t addr, uint64_t end)
{
	size_t place = place_of(r, addr), before = ht_bit_tree_prev(&r->begins, place);
	if (before != SIZE_MAX && r->run_end[before] > addr)
		place = before;
	while (r->is_ok && (place = ht_bit_tree_next(&r->begins, place)) != SIZE_MAX &&
	        r->addrs[place] < end) {
		uint64_t from = r->addrs[place], to = r->run_end[place];
		uint32_t kind = r->run_kind[place];
		end_run(r, place);
		if (from < addr)
			begin_run(r, from, addr, kind);
		if (to > end)
			begin_run(r, end, to, kind);
		place++;
	}
}

/* A range is free, as far as it lies in one extent and between blocks; it becomes one with its neighbours there. */
static void give(struct ht_mem_runs *r, uint64_t addr, uint64_t end)
{
	size_t block = ht_bit_tree_prev(&r->blocks, place_of(r, addr));
	if (block != SIZE_MAX && r->block_end[block] > addr)
		addr = r->block_end[block];
	block = ht_bit_tree_next(&r->blocks, place_of(r, addr));
	if (block != SIZE_MAX && r->addrs[block] < end)
		end = r->addrs[block];
	const struct ht_mem_extent *extent = ht_mem_extents_find(&r->extents, addr);
	if (!extent)
		return;
	end = end < extent->end ? end : extent->end;
	if (end <= addr)
		return;
	take(r, addr, end);
	size_t place = ht_bit_tree_prev(&r->begins, place_of(r, addr));
	if (place != SIZE_MAX && r->run_end[place] == addr && addr > extent->addr) {
		addr = r->addrs[place];
		end_run(r, place);
	}
	place = place_of(r, end);
	if (end < extent->end && is_begin(r, place)) {
		end = r->run_end[place];
		end_run(r, place);
	}
	uint32_t kind = kind_of(r, extent);
	r->is_ok = r->is_ok && kind != UINT32_MAX;
	if (r->is_ok)
		begin_run(r, addr, end, kind);
}

static void add_block(struct ht_mem_runs *r, const struct ht_mem_life *life)
{
	size_t place = place_of(r, life->addr);
	ht_bit_tree_add(&r->blocks, place);
	r->block_end[place] = life_end(life);
	take(r, life->addr, r->block_end[place]);
}

static void remove_block(struct ht_mem_runs *r, const struct ht_mem_life *life)
{
	ht_bit_tree_remove(&r->blocks, place_of(r, life->addr));
	give(r, life->addr, life_end(life));
}

/* ---- the way back ---- */

static bool is_of_segment(const struct ht_mem_event *e)
{
	return e->action == HT_MEM_SEGMENT_ALLOC || e->action == HT_MEM_SEGMENT_FREE ||
	       e->action == HT_MEM_SEGMENT_MAP || e->action == HT_MEM_SEGMENT_UNMAP;
}

static void add_range(struct ht_mem_runs *r, uint64_t addr, int64_t size)
{
	uint64_t end = addr + (uint64_t)size;
	r->addrs[r->n_addrs++] = addr;
	r->addrs[r->n_addrs++] = end < addr ? UINT64_MAX : end;
}

/* Every address at which a run can begin or end, once. */
static bool list_addresses(struct ht_mem_runs *r)
{
	const struct ht_trace *t = r->trace;
	const struct ht_mem_device *d = r->d;
	size_t n = d->n_lives + d->n_segments, n_once = 0;
	for (int64_t k = d->first; k < d->end; k++)
		n += is_of_segment(&t->more->mem_events[k]);
	r->addrs = ht_arena_room(r->run->scratch, (2 * n + 1) * sizeof *r->addrs);
	r->run_kind = ht_arena_room(r->run->scratch, (2 * n + 1) * sizeof *r->run_kind);
	if (!r->addrs || !r->run_kind || 2 * n >= UINT32_MAX)
		return false;
	for (size_t i = 0; i < d->n_lives; i++)
		add_range(r, d->lives[i].addr, d->lives[i].size);
	for (size_t i = 0; i < d->n_segments; i++) {
		const struct ht_mem_segment *g = &t->more->mem_segments[d->segments[i]];
		add_range(r, g->addr, g->total);
	}
	for (int64_t k = d->first; k < d->end; k++)
		if (is_of_segment(&t->more->mem_events[k]))
			add_range(r, t->more->mem_events[k].addr, t->more->mem_events[k].size);
	/* where addresses came from does not matter, and kinds are written before they are read */
	if (!ht_sort_keys(r->run->ctx->mem, r->addrs, r->run_kind, r->n_addrs))
		return false;
	for (size_t i = 0; i < r->n_addrs; i++)
		if (!i || r->addrs[i] != r->addrs[n_once - 1])
			r->addrs[n_once++] = r->addrs[i];
	r->n_addrs = n_once;
	return true;
}

static bool make_places(struct ht_mem_runs *r)
{
	struct ht_arena *arena = r->run->scratch;
	size_t n = r->n_addrs + 1;
	r->run_end = ht_arena_room(arena, n * sizeof *r->run_end);
	r->block_end = ht_arena_room(arena, n * sizeof *r->block_end);
	return r->run_end && r->block_end && ht_bit_tree_init(&r->begins, arena, n) &&
	       ht_bit_tree_init(&r->blocks, arena, n);
}

enum ht_status ht_mem_runs_new(struct ht_run *run, const struct ht_mem_history *history,
        const struct ht_mem_device *d, struct ht_mem_runs **ret_runs)
{
	struct ht_mem_runs *r = ht_arena_alloc(run->scratch, sizeof *r);
	uint32_t *ends =
	        ht_arena_alloc(run->scratch, (size_t)(d->end - d->first + 1) * sizeof *ends);
	if (!r || !ends)
		return ht_fail_nomem(run->ctx);
	*r = (struct ht_mem_runs){ .run = run,
		.trace = history->trace,
		.d = d,
		.extents = { .arena = run->scratch },
		.at = d->end,
		.n_begun = d->n_lives,
		.ends = ends,
		.is_ok = true };
	r->is_ok = list_addresses(r) && make_places(r) &&
	           ht_mem_extents_at_end(&r->extents, r->trace, d->segments, d->n_segments);
	const struct ht_mem_extent *extents = r->is_ok ? ht_mem_extents_list(&r->extents) : NULL;
	r->is_ok = extents != NULL;
	for (size_t i = 0; r->is_ok && i < r->extents.n; i++)
		give(r, extents[i].addr, extents[i].end);
	for (uint32_t i = 0; r->is_ok && i < d->n_lives; i++)
		if (d->lives[i].free_completed == HT_MEM_NEVER)
			add_block(r, &d->lives[i]);
		else
			ends[d->lives[i].free_completed - d->first] = i + 1;
	*ret_runs = r;
	return r->is_ok ? HT_OK : ht_fail_nomem(run->ctx);
}

static void undo_segment(struct ht_mem_runs *r, const struct ht_mem_event *e)
{
	uint64_t end = e->addr + (uint64_t)e->size;
	if (end < e->addr)
		return;
	take(r, e->addr, end);
	r->is_ok = r->is_ok && ht_mem_extents_undo(&r->extents, e);
	if (r->is_ok && (e->action == HT_MEM_SEGMENT_FREE || e->action == HT_MEM_SEGMENT_UNMAP))
		give(r, e->addr, end);
}

enum ht_status ht_mem_runs_back_to(struct ht_mem_runs *r, int64_t k)
{
	const struct ht_mem_device *d = r->d;
	for (; r->is_ok && r->at > d->first && r->at - 1 > k; r->at--) {
		int64_t i = r->at - 1;
		uint32_t ended = r->ends[i - d->first];
		for (; r->n_begun && d->lives[r->n_begun - 1].alloc == i; r->n_begun--)
			remove_block(r, &d->lives[r->n_begun - 1]);
		if (ended)
			add_block(r, &d->lives[ended - 1]);
		if (is_of_segment(&r->trace->more->mem_events[i]))
			undo_segment(r, &r->trace->more->mem_events[i]);
	}
	return r->is_ok ? HT_OK : ht_fail_nomem(r->run->ctx);
}

static int64_t as_size(uint64_t size)
{
	return size > INT64_MAX ? INT64_MAX : (int64_t)size;
}

struct ht_mem_room ht_mem_runs_room(struct ht_mem_runs *r, const struct ht_mem_extent *like)
{
	struct ht_mem_room room = { .all = as_size(r->free) };
	size_t slot = r->n_slots ? slot_of(r, like) : 0;
	if (!r->n_slots || !r->slots[slot])
		return room;
	struct kind *kind = &r->kinds[r->slots[slot] - 1];
	room.free = as_size(kind->free);
	while (kind->n_heap && !is_run(r, r->slots[slot] - 1, &kind->heap[0])) {
		kind->heap[0] = kind->heap[--kind->n_heap];
		sift_down(kind->heap, kind->n_heap, 0);
	}
	room.largest = kind->n_heap ? as_size(kind->heap[0].length) : 0;
	return room;
}
