/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_state.c - see mem_state.h.
 */
#include "model/snapshot/mem_state.h"

#include "base/mem.h"
#include "model/finding/finding.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"

#include "base/sort.h"
#include "model/snapshot/mem_names.h"

#include <string.h>

#define SMALL_LIMIT ((int64_t)1 << 20)

/* ---- pieces ---- */

/* Blocks that are there, by address. */
struct present {
	uint64_t *addrs;
	uint32_t *lives;
	size_t n;
};

static bool present_init(struct present *p, struct ht_run *run, size_t n_lives)
{
	p->addrs = ht_arena_room(run->scratch, (n_lives + 1) * sizeof *p->addrs);
	p->lives = ht_arena_room(run->scratch, (n_lives + 1) * sizeof *p->lives);
	p->n = 0;
	return p->addrs && p->lives;
}

/* Free runs lie between blocks; there is room for all of them. */
static void list_pieces(
        const struct ht_mem_device *d, const struct present *p, struct ht_mem_layout *state)
{
	size_t i = 0;
	state->n_pieces = 0;
	for (uint32_t x = 0; x < state->n_extents; x++) {
		uint64_t at = state->extents[x].addr, end = state->extents[x].end;
		while (i < p->n && p->addrs[i] < at)
			i++;
		for (; i < p->n && p->addrs[i] < end; i++) {
			const struct ht_mem_life *life = &d->lives[p->lives[i]];
			if (life->addr > at)
				state->pieces[state->n_pieces++] = (struct ht_mem_piece){ at,
					(int64_t)(life->addr - at), x, NULL };
			state->pieces[state->n_pieces++] =
			        (struct ht_mem_piece){ life->addr, life->size, x, life };
			uint64_t after = life->addr + (uint64_t)life->size;
			at = after > at ? after : at;
		}
		if (at < end)
			state->pieces[state->n_pieces++] =
			        (struct ht_mem_piece){ at, (int64_t)(end - at), x, NULL };
	}
}

static size_t max_pieces(const struct present *p, size_t n_extents)
{
	return 2 * p->n + n_extents + 1;
}

enum ht_status ht_mem_layout_at(struct ht_run *run, const struct ht_mem_history *history,
        const struct ht_mem_device *d, int64_t k, struct ht_mem_layout *ret_state)
{
	const struct ht_trace *t = history->trace;
	struct ht_mem_extents extents = { .arena = run->scratch };
	struct present p;
	bool ok = ht_mem_extents_at_end(&extents, t, d->segments, d->n_segments) &&
	          present_init(&p, run, d->n_lives);
	for (int64_t i = d->end - 1; ok && i >= d->first && i > k; i--)
		ok = ht_mem_extents_undo(&extents, &t->more->mem_events[i]);
	if (!ok)
		return ht_fail_nomem(run->ctx);
	for (uint32_t i = 0; i < d->n_lives && d->lives[i].alloc <= k; i++)
		if (ht_mem_life_active(&d->lives[i], k)) {
			p.addrs[p.n] = d->lives[i].addr;
			p.lives[p.n++] = i;
		}
	struct ht_mem_layout state = { .extents = ht_mem_extents_list(&extents),
		.n_extents = extents.n };
	state.pieces =
	        ht_arena_room(run->scratch, max_pieces(&p, state.n_extents) * sizeof *state.pieces);
	if (!state.extents || !state.pieces || !ht_sort_keys(run->ctx->mem, p.addrs, p.lives, p.n))
		return ht_fail_nomem(run->ctx);
	list_pieces(d, &p, &state);
	*ret_state = state;
	return HT_OK;
}

struct ht_mem_free ht_mem_layout_free(
        const struct ht_mem_layout *state, const struct ht_mem_extent *like)
{
	struct ht_mem_free f = { 0 };
	for (size_t i = 0; i < state->n_extents; i++)
		if (!like || ht_mem_extent_is_like(&state->extents[i], like))
			f.reserved += (int64_t)(state->extents[i].end - state->extents[i].addr);
	for (size_t i = 0; i < state->n_pieces; i++) {
		const struct ht_mem_piece *piece = &state->pieces[i];
		if (like && !ht_mem_extent_is_like(&state->extents[piece->extent], like))
			continue;
		if (piece->life) {
			f.waste += piece->size - piece->life->requested;
			continue;
		}
		f.free += piece->size;
		f.n_runs++;
		f.largest = piece->size > f.largest ? piece->size : f.largest;
		f.sum_squares += (double)piece->size * (double)piece->size;
	}
	return f;
}

/* ---- pressure ---- */

/* What one pool of a stream has reserved, and what is in use of it. */
struct pool {
	int64_t stream;
	bool is_small;
	uint32_t id[2]; /* of a private pool; { 0, 0 }: the default */
	int64_t reserved, active;
};

struct pools {
	struct pool list[256];
	size_t n;
};

/* Beyond the last place all share it: streams and private pools are few. */
static struct pool *pool_at(struct pools *p, int64_t stream, bool is_small, const uint32_t *id)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->list[i].stream == stream && p->list[i].is_small == is_small &&
		        p->list[i].id[0] == id[0] && p->list[i].id[1] == id[1])
			return &p->list[i];
	if (p->n < HT_COUNT(p->list))
		p->list[p->n++] = (struct pool){
			.stream = stream, .is_small = is_small, .id = { id[0], id[1] }
		};
	return &p->list[p->n - 1];
}

/* Is a new segment for small blocks? The allocation that wanted it comes next. */
static bool is_for_small(
        const struct ht_trace *t, const struct ht_mem_device *d, int64_t k, int64_t *ret_request)
{
	*ret_request = 0;
	for (int64_t i = k + 1; i < d->end && i < k + 64; i++)
		if (t->more->mem_events[i].action == HT_MEM_ALLOC) {
			*ret_request = t->more->mem_events[i].size;
			return ht_mem_round(t->more->mem_about, t->more->mem_events[i].size) <=
			       SMALL_LIMIT;
		}
	return t->more->mem_events[k].size <= HT_MEM_SMALL_SEGMENT;
}

static void move_life(struct pools *p, const struct ht_mem_history *history,
        const struct ht_mem_life *life, int64_t sign)
{
	const struct ht_trace *t = history->trace;
	uint32_t id[2];
	ht_mem_pool_of_life(history, life, id);
	int64_t stream =
	        life->block != HT_NONE
	                ? t->more->mem_segments[t->more->mem_blocks[life->block].segment].stream
	        : life->alloc >= 0 ? t->more->mem_events[life->alloc].stream
	        : life->free_completed != HT_MEM_NEVER
	                ? t->more->mem_events[life->free_completed].stream
	                : 0;
	bool is_small = ht_mem_round(t->more->mem_about, life->requested) <= SMALL_LIMIT;
	pool_at(p, stream, is_small, id)->active += sign * life->size;
}

enum ht_status ht_mem_pressure_find(struct ht_run *run, const struct ht_mem_history *history,
        const struct ht_mem_device *d, struct ht_mem_pressure *ret_worst)
{
	const struct ht_trace *t = history->trace;
	struct ht_mem_layout state;
	struct pools pools = { 0 };
	struct ht_mem_pressure worst = { .event = HT_MEM_BEFORE, .ratio = -1 };
	uint32_t *ends =
	        ht_arena_alloc(run->scratch, (size_t)(d->end - d->first + 1) * sizeof *ends);
	if (!ends)
		return ht_fail_nomem(run->ctx);
	for (uint32_t i = 0; i < d->n_lives; i++)
		if (d->lives[i].free_completed != HT_MEM_NEVER)
			ends[d->lives[i].free_completed - d->first] = i + 1;
	HT_TRY(ht_mem_layout_at(run, history, d, HT_MEM_BEFORE, &state));
	for (size_t i = 0; i < state.n_extents; i++)
		pool_at(&pools, state.extents[i].stream, state.extents[i].is_small,
		        state.extents[i].pool)
		        ->reserved += (int64_t)(state.extents[i].end - state.extents[i].addr);
	size_t i_life = 0;
	for (; i_life < d->n_lives && d->lives[i_life].alloc == HT_MEM_BEFORE; i_life++)
		move_life(&pools, history, &d->lives[i_life], 1);
	for (int64_t k = d->first; k < d->end; k++) {
		const struct ht_mem_event *e = &t->more->mem_events[k];
		int64_t request;
		uint32_t id[2];
		if (ends[k - d->first])
			move_life(&pools, history, &d->lives[ends[k - d->first] - 1], -1);
		if (i_life < d->n_lives && d->lives[i_life].alloc == k)
			move_life(&pools, history, &d->lives[i_life++], 1);
		bool is_taken =
		        e->action == HT_MEM_SEGMENT_ALLOC || e->action == HT_MEM_SEGMENT_MAP;
		bool is_given =
		        e->action == HT_MEM_SEGMENT_FREE || e->action == HT_MEM_SEGMENT_UNMAP;
		if (!is_taken && !is_given)
			continue;
		bool is_small = is_taken ? is_for_small(t, d, k, &request)
		                         : e->size <= HT_MEM_SMALL_SEGMENT;
		ht_mem_pool_at(history, d->device, e->addr, e, id);
		struct pool *pool = pool_at(&pools, e->stream, is_small, id);
		int64_t wanted = is_taken && request > e->size ? request : e->size;
		int64_t free = pool->reserved - pool->active;
		double ratio = wanted > 0 ? (double)free / (double)wanted : 0;
		if (is_taken && ratio > worst.ratio)
			worst = (struct ht_mem_pressure){ k, e->size, request, free, ratio };
		pool->reserved += is_taken ? e->size : -e->size;
	}
	*ret_worst = worst;
	return HT_OK;
}

const char *ht_mem_fragmentation_help(bool is_expandable)
{
	return ht_finding_advice("fragmentation", is_expandable ? "expandable" : "");
}
