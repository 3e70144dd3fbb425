/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_history.c - see mem_history.h.
 *
 * Two walks over the events of a device. The first pairs allocations with releases and finds the blocks from before;
 * the second knows at each allocation which blocks follow it in memory, and sums up. O(events × log) time.
 */
#include "model/snapshot/mem_history.h"

#include "base/checked.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "model/snapshot/bit_tree.h"
#include "model/snapshot/mem_extents.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"

#include <stdlib.h>
#include <string.h>

#define MIN_BLOCK   512
#define SMALL_LIMIT ((int64_t)1 << 20)
/* What blocks of all devices together may be larger than they were asked for, by what is around them: in a damaged file each of many blocks can seem
 * to have the same large segment. The sizes of records together are below 2^60 bytes (snapshot_fold.c), so that with this no sum over
 * lives can overflow. */
#define MAX_GUESSED ((int64_t)1 << 61)

/* ---- rounding ---- */

static int64_t divisions_of(const struct ht_mem_about *about, int64_t size)
{
	int log = 63 - __builtin_clzll((uint64_t)size | 1) - 20;
	int last = (int)HT_COUNT(about->roundup_divisions) - 1;
	return about->roundup_divisions[log < 0 ? 0 : log > last ? last : log];
}

int64_t ht_mem_round(const struct ht_mem_about *about, int64_t requested)
{
	if (requested > HT_MAX_TIME_NS)
		return requested;
	int64_t size = requested < 1 ? 1 : requested;
	int64_t divisions = divisions_of(about, size);
	if (divisions > 1 && size > MIN_BLOCK * divisions) {
		int64_t floor = (int64_t)1 << (63 - __builtin_clzll((uint64_t)size));
		int64_t step = floor >> (63 - __builtin_clzll((uint64_t)divisions));
		if (size == floor)
			return size;
		return step ? (size + step - 1) / step * step : floor * 2;
	}
	return (size + MIN_BLOCK - 1) / MIN_BLOCK * MIN_BLOCK;
}

/* ---- addresses to what is there ---- */

/* Open addressing; values are numbers from 1, 0 is none. Addresses stay, also of what is gone. */
struct map {
	uint64_t *keys; /* address + 1 */
	uint32_t *values;
	size_t cap, n;
	struct ht_arena *arena;
};

static bool map_grow(struct map *m)
{
	struct map larger = { .cap = m->cap ? m->cap * 2 : 32, .arena = m->arena, .n = m->n };
	larger.keys = ht_arena_alloc(m->arena, larger.cap * sizeof *larger.keys);
	larger.values = ht_arena_alloc(m->arena, larger.cap * sizeof *larger.values);
	if (!larger.keys || !larger.values)
		return false;
	for (size_t i = 0; i < m->cap; i++) {
		if (!m->keys[i])
			continue;
		size_t at = HT_PROBE(k, larger.cap, m->keys[i], !larger.keys[k]);
		larger.keys[at] = m->keys[i];
		larger.values[at] = m->values[i];
	}
	*m = larger;
	return true;
}

/* The place for the value of an address; NULL when out of memory. */
static uint32_t *map_at(struct map *m, uint64_t addr)
{
	if (2 * m->n >= m->cap && !map_grow(m))
		return NULL;
	uint64_t key = addr + 1;
	size_t at = HT_PROBE(k, m->cap, key, !m->keys[k] || m->keys[k] == key);
	m->n += !m->keys[at];
	m->keys[at] = key;
	return &m->values[at];
}

/* ---- the first walk: lives ---- */

struct making {
	struct ht_run *run;
	ht_ctx *ctx;
	const struct ht_trace *t;
	struct ht_mem_history *h;
	struct ht_mem_device *d;
	struct map live;     /* address to 1 + life */
	struct ht_vec lives; /* struct ht_mem_life */
	int64_t n_guessed;   /* bytes that lives are larger than their rounded sizes */
};

static bool add_life(struct making *m, uint32_t *place, const struct ht_mem_life *life)
{
	if (m->lives.n >= UINT32_MAX - 1 ||
	        !HT_VEC_PUSH(m->ctx->mem, &m->lives, struct ht_mem_life, *life))
		return false;
	*place = (uint32_t)m->lives.n;
	return true;
}

static struct ht_mem_life *life_at(struct making *m, const uint32_t *place)
{
	return *place ? (struct ht_mem_life *)m->lives.data + *place - 1 : NULL;
}

static bool take_event(struct making *m, int64_t k)
{
	const struct ht_mem_event *e = &m->t->more->mem_events[k];
	bool requested = e->action == HT_MEM_FREE_REQUESTED || e->action == HT_MEM_FREE;
	bool completed = e->action == HT_MEM_FREE_COMPLETED || e->action == HT_MEM_FREE;
	if (e->action != HT_MEM_ALLOC && !requested && !completed)
		return true;
	uint32_t *place = map_at(&m->live, e->addr);
	if (!place)
		return false;
	struct ht_mem_life *life = life_at(m, place);
	if (e->action == HT_MEM_ALLOC) {
		/* its release was not recorded */
		if (life) {
			life->free_requested = life->free_requested < k ? life->free_requested : k;
			life->free_completed = k;
		}
		struct ht_mem_life born = { .addr = e->addr,
			.requested = e->size,
			.alloc = k,
			.free_requested = HT_MEM_NEVER,
			.free_completed = HT_MEM_NEVER,
			.stack = e->stack,
			.block = HT_NONE };
		return add_life(m, place, &born);
	}
	if (!life) {
		struct ht_mem_life old = { .addr = e->addr,
			.requested = e->size,
			.alloc = HT_MEM_BEFORE,
			.free_requested = requested ? HT_MEM_NEVER : HT_MEM_BEFORE,
			.free_completed = HT_MEM_NEVER,
			.stack = HT_MEM_NO_STACK,
			.block = HT_NONE };
		if (!add_life(m, place, &old))
			return false;
		life = life_at(m, place);
		m->d->n_lone_frees++;
	}
	if (requested && life->free_requested == HT_MEM_NEVER)
		life->free_requested = k;
	if (completed) {
		/* a free that was only completed */
		if (life->free_requested == HT_MEM_NEVER)
			life->free_requested = k;
		life->free_completed = k;
		*place = 0;
	}
	return true;
}

/* Blocks at the end: their sizes are known; those that nothing allocated were there before. */
static bool take_block(struct making *m, uint32_t i)
{
	const struct ht_mem_block *block = &m->t->more->mem_blocks[i];
	uint32_t *place = map_at(&m->live, block->addr);
	if (!place)
		return false;
	struct ht_mem_life *life = life_at(m, place);
	if (!life) {
		struct ht_mem_life old = { .addr = block->addr,
			.requested = block->requested,
			.alloc = HT_MEM_BEFORE,
			.free_requested =
			        block->state == HT_MEM_PENDING_FREE ? HT_MEM_BEFORE : HT_MEM_NEVER,
			.free_completed = HT_MEM_NEVER,
			.stack = block->stack,
			.block = HT_NONE };
		if (!add_life(m, place, &old))
			return false;
		life = life_at(m, place);
	}
	life->block = i;
	life->size = block->size;
	if (life->stack == HT_MEM_NO_STACK)
		life->stack = block->stack;
	return true;
}

static bool take_blocks(struct making *m, const struct ht_mem_segment *g)
{
	bool ok = true;
	for (uint32_t i = g->first_block; ok && i - g->first_block < g->n_blocks; i++)
		if (m->t->more->mem_blocks[i].state != HT_MEM_INACTIVE)
			ok = take_block(m, i);
	return ok;
}

static int by_address(const void *x, const void *y)
{
	const struct ht_mem_life *a = x, *b = y;
	return (a->addr > b->addr) - (a->addr < b->addr);
}

/* By allocation, those from before first and by address: events were taken in their order, so that only these are out of place. */
static void sort_lives(const struct ht_mem_life *from, size_t n, struct ht_mem_life *to)
{
	size_t n_before = 0;
	for (size_t i = 0; i < n; i++)
		if (from[i].alloc == HT_MEM_BEFORE)
			to[n_before++] = from[i];
	qsort(to, n_before, sizeof *to, by_address);
	for (size_t i = 0; i < n; i++)
		if (from[i].alloc != HT_MEM_BEFORE)
			to[n_before++] = from[i];
}

static enum ht_status find_lives(struct making *m)
{
	struct ht_mem_device *d = m->d;
	m->live = (struct map){ .arena = m->run->scratch };
	m->lives.n = 0;
	bool ok = true;
	for (int64_t k = d->first; ok && k < d->end; k++)
		ok = take_event(m, k);
	for (size_t i = 0; ok && i < d->n_segments; i++)
		ok = take_blocks(m, &m->t->more->mem_segments[d->segments[i]]);
	d->lives = ok ? ht_arena_room(m->run->scratch, (m->lives.n + 1) * sizeof *d->lives) : NULL;
	if (!d->lives)
		return ht_fail_nomem(m->ctx);
	sort_lives(m->lives.data, m->lives.n, d->lives);
	d->n_lives = m->lives.n;
	return HT_OK;
}

/* ---- segments over time ---- */

static struct ht_mem_extent extent_of(uint64_t addr, int64_t size)
{
	return (struct ht_mem_extent){ .addr = addr, .end = addr + (uint64_t)size };
}

static bool extent_add(struct ht_mem_extents *x, uint64_t addr, int64_t size)
{
	struct ht_mem_extent extent = extent_of(addr, size);
	return ht_mem_extents_add(x, &extent);
}

/* Where the segment of an address ends; 0 when none is known. */
static uint64_t extent_end(const struct ht_mem_extents *x, uint64_t addr)
{
	const struct ht_mem_extent *extent = ht_mem_extents_find(x, addr);
	return extent ? extent->end : 0;
}

/* Segments before the first event: those of the end, with events undone. */
static bool first_extents(const struct making *m, struct ht_mem_extents *x)
{
	const struct ht_mem_device *d = m->d;
	bool ok = true;
	for (size_t i = 0; ok && i < d->n_segments; i++) {
		const struct ht_mem_segment *g = &m->t->more->mem_segments[d->segments[i]];
		struct ht_mem_extent extent = extent_of(g->addr, g->total);
		ok = ht_mem_extents_push(x, &extent);
	}
	for (int64_t k = d->end - 1; ok && k >= d->first; k--) {
		const struct ht_mem_event *e = &m->t->more->mem_events[k];
		if (e->action == HT_MEM_SEGMENT_ALLOC)
			ht_mem_extents_remove(x, e->addr);
		else if (e->action == HT_MEM_SEGMENT_FREE)
			ok = extent_add(x, e->addr, e->size);
	}
	return ok;
}

/* ---- the second walk: sizes and sums ---- */

struct replay {
	struct making *m;
	const struct ht_mem_about *about;
	struct ht_mem_extents extents;
	struct ht_bit_tree there; /* places in addrs of blocks that are active */
	uint64_t *addrs;          /* of all lives, each once, ascending */
	size_t n_addrs;
	uint32_t *place;      /* by life: where its address is in addrs */
	int64_t *first_alloc; /* by place in addrs: the first event that allocates there */
	/* lives by the event that ends them: order of free_requested, and of free_completed */
	uint32_t *by_request, *by_completion;
};

/* Where the address of a life is in addrs. */
static size_t place_of(const struct replay *r, const struct ht_mem_life *life)
{
	return r->place[life - r->m->d->lives];
}

/* How large the block of a life is, from what is there around it now. */
static int64_t size_of(const struct replay *r, const struct ht_mem_life *life)
{
	int64_t rounded = ht_mem_round(r->about, life->requested);
	if (rounded <= SMALL_LIMIT || r->about->is_expandable)
		return rounded;
	uint64_t end = extent_end(&r->extents, life->addr);
	size_t next = ht_bit_tree_next(&r->there, place_of(r, life) + 1);
	if (!end)
		return rounded;
	if (next != SIZE_MAX && r->addrs[next] < end)
		end = r->addrs[next];
	int64_t room = (int64_t)(end - life->addr);
	bool is_whole = r->about->max_split_bytes > 0 && rounded >= r->about->max_split_bytes;
	return room >= rounded && (is_whole || room - rounded <= SMALL_LIMIT) ? room : rounded;
}

/* The same of a block from before the first event: what is allocated behind it while it lives tells where it ends, also
 * where its neighbour was gone by then. */
static int64_t old_size_of(const struct replay *r, const struct ht_mem_life *life)
{
	int64_t rounded = ht_mem_round(r->about, life->requested);
	uint64_t end = life->addr + (uint64_t)rounded;
	if (rounded > SMALL_LIMIT && !r->about->is_expandable)
		for (size_t i = HT_LOWER_BOUND(at, r->n_addrs, r->addrs[at] < end);
		        i < r->n_addrs && r->addrs[i] - end <= SMALL_LIMIT; i++)
			if (r->first_alloc[i] < life->free_completed)
				return (int64_t)(r->addrs[i] - life->addr);
	return size_of(r, life);
}

static enum ht_status prepare(struct replay *r)
{
	struct ht_mem_device *d = r->m->d;
	struct ht_arena *arena = r->m->run->scratch;
	size_t n = d->n_lives;
	uint64_t *keys = ht_arena_room(arena, (n + 1) * sizeof *keys);
	r->addrs = ht_arena_room(arena, (n + 1) * sizeof *r->addrs);
	r->by_request = ht_arena_room(arena, (n + 1) * sizeof(uint32_t));
	r->by_completion = ht_arena_room(arena, (n + 1) * sizeof(uint32_t));
	r->place = ht_arena_room(arena, (n + 1) * sizeof(uint32_t));
	r->extents.arena = arena;
	if (!keys || !r->addrs || !r->by_request || !r->by_completion || !r->place ||
	        !first_extents(r->m, &r->extents))
		return ht_fail_nomem(r->m->ctx);
	struct ht_mem *mem = r->m->ctx->mem;
	for (uint32_t i = 0; i < n; i++) {
		keys[i] = (uint64_t)d->lives[i].free_requested + 1;
		r->by_request[i] = r->by_completion[i] = i;
	}
	bool ok = ht_sort_keys(mem, keys, r->by_request, n);
	for (uint32_t i = 0; i < n; i++)
		keys[i] = (uint64_t)d->lives[i].free_completed + 1;
	ok = ok && ht_sort_keys(mem, keys, r->by_completion, n);
	/* keys has done its work */
	uint32_t *order = (uint32_t *)keys;
	for (uint32_t i = 0; i < n; i++) {
		r->addrs[i] = d->lives[i].addr;
		order[i] = i;
	}
	ok = ok && ht_sort_keys(mem, r->addrs, order, n);
	for (size_t i = 0; i < n; i++) {
		if (!i || r->addrs[i] != r->addrs[r->n_addrs - 1])
			r->addrs[r->n_addrs++] = r->addrs[i];
		r->place[order[i]] = (uint32_t)(r->n_addrs - 1);
	}
	r->first_alloc = ht_arena_room(arena, (r->n_addrs + 1) * sizeof *r->first_alloc);
	if (!ok || !r->first_alloc || !ht_bit_tree_init(&r->there, arena, r->n_addrs + 1))
		return ht_fail_nomem(r->m->ctx);
	for (size_t i = n; i > 0; i--)
		r->first_alloc[place_of(r, &d->lives[i - 1])] = d->lives[i - 1].alloc;
	return HT_OK;
}

struct sums {
	int64_t allocated, active, requested;
};

/* The size of a block that the file does not have, as long as such sizes can be true. */
static int64_t guess_size(const struct replay *r, const struct ht_mem_life *life)
{
	int64_t size = life->alloc == HT_MEM_BEFORE ? old_size_of(r, life) : size_of(r, life);
	int64_t rounded = ht_mem_round(r->about, life->requested);
	if (size - rounded > MAX_GUESSED - r->m->n_guessed)
		return rounded;
	r->m->n_guessed += size - rounded;
	return size;
}

static void begin_life(struct replay *r, struct ht_mem_life *life, struct sums *now, int64_t k)
{
	life->was_rounded_up = life->block == HT_NONE;
	if (life->was_rounded_up)
		life->size = guess_size(r, life);
	if (life->free_requested > k)
		now->allocated = ht_add_sat(now->allocated, life->size);
	now->active = ht_add_sat(now->active, life->size);
	now->requested = ht_add_sat(now->requested, life->requested);
}

/* Blocks from before the first event, which all are there when sizes are looked at. */
static size_t begin_all(struct replay *r, struct sums *now)
{
	struct ht_mem_device *d = r->m->d;
	size_t n = 0;
	for (; n < d->n_lives && d->lives[n].alloc == HT_MEM_BEFORE; n++)
		ht_bit_tree_add(&r->there, place_of(r, &d->lives[n]));
	for (size_t i = 0; i < n; i++)
		begin_life(r, &d->lives[i], now, HT_MEM_BEFORE);
	return n;
}

static bool move_segments(struct replay *r, const struct ht_mem_event *e)
{
	if (e->action == HT_MEM_SEGMENT_ALLOC) {
		ht_mem_extents_remove(&r->extents, e->addr);
		return extent_add(&r->extents, e->addr, e->size);
	}
	if (e->action == HT_MEM_SEGMENT_FREE)
		ht_mem_extents_remove(&r->extents, e->addr);
	return true;
}

static void note_peaks(struct ht_mem_device *d, const struct sums *now, int64_t k)
{
	if (now->allocated > d->peak_allocated) {
		d->peak_allocated = now->allocated;
		d->peak_at = k;
	}
	if (now->requested > d->peak_requested) {
		d->peak_requested = now->requested;
		d->requested_peak_at = k;
	}
	if (now->active - now->allocated > d->held_most) {
		d->held_most = now->active - now->allocated;
		d->held_at = k;
	}
}

static enum ht_status walk(struct replay *r)
{
	struct ht_mem_device *d = r->m->d;
	struct ht_mem_history *h = r->m->h;
	struct sums now = { 0 };
	size_t i_request = 0, i_completion = 0, i_life = begin_all(r, &now);
	d->base_allocated = now.allocated;
	d->base_active = now.active;
	d->base_requested = now.requested;
	note_peaks(d, &now, HT_MEM_BEFORE);
	for (int64_t k = d->first; k < d->end; k++) {
		if (!move_segments(r, &r->m->t->more->mem_events[k]))
			return ht_fail_nomem(r->m->ctx);
		for (; i_request < d->n_lives &&
		        d->lives[r->by_request[i_request]].free_requested <= k;
		        i_request++)
			if (d->lives[r->by_request[i_request]].free_requested >= d->first)
				now.allocated = ht_sub_sat(
				        now.allocated, d->lives[r->by_request[i_request]].size);
		for (; i_completion < d->n_lives &&
		        d->lives[r->by_completion[i_completion]].free_completed <= k;
		        i_completion++) {
			const struct ht_mem_life *life = &d->lives[r->by_completion[i_completion]];
			now.active = ht_sub_sat(now.active, life->size);
			now.requested = ht_sub_sat(now.requested, life->requested);
			ht_bit_tree_remove(&r->there, place_of(r, life));
		}
		if (i_life < d->n_lives && d->lives[i_life].alloc == k) {
			begin_life(r, &d->lives[i_life], &now, k);
			ht_bit_tree_add(&r->there, place_of(r, &d->lives[i_life++]));
		}
		h->allocated[k] = now.allocated;
		h->active[k] = now.active;
		h->requested[k] = now.requested;
		note_peaks(d, &now, k);
	}
	return HT_OK;
}

/* Backwards from the end, which is stated. */
static void walk_reserved(struct making *m)
{
	struct ht_mem_device *d = m->d;
	int64_t reserved = d->reserved;
	d->peak_reserved = INT64_MIN;
	for (int64_t k = d->end - 1; k >= d->first - 1; k--) {
		if (reserved >= d->peak_reserved) {
			d->peak_reserved = reserved;
			d->reserved_peak_at = k < d->first ? HT_MEM_BEFORE : k;
		}
		if (k < d->first)
			break;
		m->h->reserved[k] = reserved;
		const struct ht_mem_event *e = &m->t->more->mem_events[k];
		if (e->action == HT_MEM_SEGMENT_ALLOC || e->action == HT_MEM_SEGMENT_MAP)
			reserved = ht_sub_sat(reserved, e->size);
		else if (e->action == HT_MEM_SEGMENT_FREE || e->action == HT_MEM_SEGMENT_UNMAP)
			reserved = ht_add_sat(reserved, e->size);
	}
	d->base_reserved = reserved;
}

/* ---- the whole ---- */

static void state_end(struct making *m)
{
	struct ht_mem_device *d = m->d;
	for (size_t i = 0; i < d->n_segments; i++) {
		const struct ht_mem_segment *g = &m->t->more->mem_segments[d->segments[i]];
		d->allocated = ht_add_sat(d->allocated, g->allocated);
		d->active = ht_add_sat(d->active, g->active);
		d->requested = ht_add_sat(d->requested, g->requested);
		d->reserved = ht_add_sat(d->reserved, g->total);
	}
}

static enum ht_status make_device(struct making *m)
{
	struct replay r = { .m = m, .about = m->t->more->mem_about };
	m->d->peak_at = m->d->reserved_peak_at = m->d->requested_peak_at = HT_MEM_BEFORE;
	m->d->held_at = HT_MEM_BEFORE;
	state_end(m);
	HT_TRY(find_lives(m));
	HT_TRY(prepare(&r));
	HT_TRY(walk(&r));
	walk_reserved(m);
	return HT_OK;
}

/* Devices with events or segments, each with its slice of both. */
static void list_devices(
        const struct ht_trace *t, const uint32_t *segments, struct ht_mem_history *h)
{
	int64_t k = 0;
	size_t i = 0;
	for (uint32_t device = 0; device < t->more->mem_about->n_devices; device++) {
		struct ht_mem_device d = { .device = device, .first = k, .segments = segments + i };
		while (k < (int64_t)t->more->n_mem_events &&
		        t->more->mem_events[k].device == device)
			k++;
		d.end = k;
		for (; i < t->more->n_mem_segments &&
		        t->more->mem_segments[segments[i]].device == device;
		        i++)
			d.n_segments++;
		if (d.n_segments || d.end > d.first)
			h->devices[h->n_devices++] = d;
	}
}

enum ht_status ht_mem_history_make(struct ht_run *run, const struct ht_mem_history **ret_history)
{
	const struct ht_trace *t = run->trace;
	struct ht_arena *arena = run->scratch;
	struct ht_mem_history *h = ht_arena_alloc(arena, sizeof *h);
	struct making m = { .run = run, .ctx = run->ctx, .t = t, .h = h };
	size_t n = t->more->n_mem_events + 1,
	       n_devices = t->more->n_mem_about ? t->more->mem_about->n_devices : 0;
	if (!h)
		return ht_fail_nomem(run->ctx);
	h->trace = t;
	h->devices = ht_arena_alloc(arena, (n_devices + 1) * sizeof *h->devices);
	h->allocated = ht_arena_room(arena, n * sizeof *h->allocated);
	h->active = ht_arena_room(arena, n * sizeof *h->active);
	h->requested = ht_arena_room(arena, n * sizeof *h->requested);
	h->reserved = ht_arena_room(arena, n * sizeof *h->reserved);
	if (!h->devices || !h->allocated || !h->active || !h->requested || !h->reserved)
		return ht_fail_nomem(run->ctx);
	uint32_t *segments = NULL;
	enum ht_status status = ht_mem_segments_sort(run, &segments);
	if (status == HT_OK && n_devices)
		list_devices(t, segments, h);
	for (size_t i = 0; status == HT_OK && i < h->n_devices; i++) {
		m.d = &h->devices[i];
		status = make_device(&m);
	}
	ht_vec_free(run->ctx->mem, &m.lives, sizeof(struct ht_mem_life));
	HT_TRY(status);
	*ret_history = h;
	return HT_OK;
}
