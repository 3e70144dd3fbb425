/*
 * mem_state.c - see mem_state.h.
 */
#include "model/snapshot/mem_state.h"

#include "model/finding/finding.h"

#include "base/search.h"
#include "base/sort.h"
#include "model/snapshot/bit_tree.h"
#include "model/snapshot/mem_names.h"

#include <string.h>

#define SMALL_LIMIT   ((int64_t)1 << 20)
#define SMALL_SEGMENT ((int64_t)2 << 20)

/* ---- extents ---- */

/* The extents of a device while events are undone. */
struct undoing {
	const struct ht_mem_device *d;
	struct ht_mem_extents extents;
};

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

static bool undo(struct undoing *u, const struct ht_mem_event *e)
{
	uint64_t end = e->addr + (uint64_t)e->size;
	if (end < e->addr)
		return true;
	if (e->action == HT_MEM_SEGMENT_ALLOC || e->action == HT_MEM_SEGMENT_MAP)
		return cut(&u->extents, e->addr, end);
	if (e->action != HT_MEM_SEGMENT_FREE && e->action != HT_MEM_SEGMENT_UNMAP)
		return true;
	struct ht_mem_extent extent = { .addr = e->addr,
		.end = end,
		.stream = e->stream,
		.pool = { e->pool[0], e->pool[1] },
		.is_small = e->size <= SMALL_SEGMENT,
		.is_expandable = e->action == HT_MEM_SEGMENT_UNMAP };
	return cut(&u->extents, e->addr, end) && ht_mem_extents_add(&u->extents, &extent);
}

static struct ht_mem_extent extent_of(const struct ht_mem_segment *g)
{
	return (struct ht_mem_extent){ .addr = g->addr,
		.end = g->addr + (uint64_t)g->total,
		.stream = g->stream,
		.pool = { g->pool[0], g->pool[1] },
		.is_small = g->type == HT_MEM_SMALL,
		.is_expandable = g->is_expandable };
}

/* Expandable segments are mapped piece by piece; blocks know nothing of that. Returns how many are left. */
static size_t join_runs(struct ht_mem_extent *list, size_t n_list)
{
	size_t n = 0;
	for (size_t i = 0; i < n_list; i++) {
		struct ht_mem_extent *last = n ? &list[n - 1] : NULL;
		const struct ht_mem_extent *next = &list[i];
		if (last && last->end == next->addr && last->is_expandable && next->is_expandable &&
		        last->stream == next->stream)
			last->end = next->end;
		else
			list[n++] = *next;
	}
	return n;
}

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

/* The segments at the end. */
static bool start_undoing(struct undoing *u, const struct ht_trace *t)
{
	bool ok = true;
	for (size_t i = 0; ok && i < t->n_mem_segments; i++) {
		struct ht_mem_extent extent = extent_of(&t->mem_segments[i]);
		if (t->mem_segments[i].device == u->d->device && extent.end >= extent.addr)
			ok = ht_mem_extents_add(&u->extents, &extent);
	}
	return ok;
}

enum ht_status ht_mem_layout_at(struct ht_run *run, const struct ht_mem_history *history,
        const struct ht_mem_device *d, int64_t k, struct ht_mem_layout *ret_state)
{
	const struct ht_trace *t = history->trace;
	struct undoing u = { .d = d, .extents = { .arena = run->scratch } };
	struct present p;
	bool ok = start_undoing(&u, t) && present_init(&p, run, d->n_lives);
	for (int64_t i = d->end - 1; ok && i >= d->first && i > k; i--)
		ok = undo(&u, &t->mem_events[i]);
	if (!ok)
		return ht_fail_nomem(run->ctx);
	for (uint32_t i = 0; i < d->n_lives && d->lives[i].alloc <= k; i++)
		if (ht_mem_life_active(&d->lives[i], k)) {
			p.addrs[p.n] = d->lives[i].addr;
			p.lives[p.n++] = i;
		}
	struct ht_mem_layout state = { .extents = u.extents.list,
		.n_extents = join_runs(u.extents.list, u.extents.n) };
	state.pieces =
	        ht_arena_room(run->scratch, max_pieces(&p, state.n_extents) * sizeof *state.pieces);
	if (!state.pieces || !ht_sort_keys(run->ctx->mem, p.addrs, p.lives, p.n))
		return ht_fail_nomem(run->ctx);
	list_pieces(d, &p, &state);
	*ret_state = state;
	return HT_OK;
}

/* ---- many moments ---- */

struct ht_mem_walk {
	struct ht_run *run;
	const struct ht_trace *trace;
	const struct ht_mem_device *d;
	struct undoing u;
	int64_t at;                /* the first event that is undone */
	size_t n_begun;            /* lives that are allocated by then */
	uint32_t *lives, *places;  /* lives by address, and where each is among them */
	uint32_t *ends;            /* 1 + the life that an event ends */
	struct ht_bit_tree active; /* places of lives */
	struct present present;
	struct ht_mem_layout state;
	size_t cap_extents, cap_pieces;
};

/* Room that grows by doubling, so that all of it together is as much as the last. */
static bool grow(struct ht_run *run, void **list, size_t *cap, size_t n, size_t size)
{
	if (n <= *cap)
		return true;
	*cap = 2 * n;
	*list = ht_arena_room(run->scratch, *cap * size);
	return *list != NULL;
}

static bool order_lives(struct ht_mem_walk *w)
{
	const struct ht_mem_device *d = w->d;
	w->lives = ht_arena_room(w->run->scratch, (d->n_lives + 1) * sizeof *w->lives);
	w->places = ht_arena_room(w->run->scratch, (d->n_lives + 1) * sizeof *w->places);
	if (!w->lives || !w->places || !present_init(&w->present, w->run, d->n_lives))
		return false;
	for (uint32_t i = 0; i < d->n_lives; i++) {
		w->present.addrs[i] = d->lives[i].addr;
		w->lives[i] = i;
	}
	if (!ht_sort_keys(w->run->ctx->mem, w->present.addrs, w->lives, d->n_lives))
		return false;
	for (uint32_t i = 0; i < d->n_lives; i++)
		w->places[w->lives[i]] = i;
	return true;
}

enum ht_status ht_mem_walk_new(struct ht_run *run, const struct ht_mem_history *history,
        const struct ht_mem_device *d, struct ht_mem_walk **ret_walk)
{
	struct ht_mem_walk *w = ht_arena_alloc(run->scratch, sizeof *w);
	size_t n_events = (size_t)(d->end - d->first);
	uint32_t *ends = ht_arena_alloc(run->scratch, (n_events + 1) * sizeof *ends);
	if (!w || !ends)
		return ht_fail_nomem(run->ctx);
	*w = (struct ht_mem_walk){ .run = run,
		.trace = history->trace,
		.d = d,
		.u = { .d = d, .extents = { .arena = run->scratch } },
		.at = d->end,
		.n_begun = d->n_lives,
		.ends = ends };
	if (!start_undoing(&w->u, w->trace) || !order_lives(w) ||
	        !ht_bit_tree_init(&w->active, run->scratch, d->n_lives + 1))
		return ht_fail_nomem(run->ctx);
	for (uint32_t i = 0; i < d->n_lives; i++)
		if (d->lives[i].free_completed == HT_MEM_NEVER)
			ht_bit_tree_add(&w->active, w->places[i]);
		else
			ends[d->lives[i].free_completed - d->first] = i + 1;
	*ret_walk = w;
	return HT_OK;
}

static bool go_back(struct ht_mem_walk *w, int64_t k)
{
	const struct ht_mem_device *d = w->d;
	bool ok = true;
	for (; ok && w->at > d->first && w->at - 1 > k; w->at--) {
		int64_t i = w->at - 1;
		uint32_t ended = w->ends[i - d->first];
		if (ended)
			ht_bit_tree_add(&w->active, w->places[ended - 1]);
		for (; w->n_begun && d->lives[w->n_begun - 1].alloc == i; w->n_begun--)
			ht_bit_tree_remove(&w->active, w->places[w->n_begun - 1]);
		ok = undo(&w->u, &w->trace->mem_events[i]);
	}
	return ok;
}

enum ht_status ht_mem_walk_to(struct ht_mem_walk *w, int64_t k, struct ht_mem_layout *ret_state)
{
	struct present *p = &w->present;
	struct ht_mem_layout *state = &w->state;
	bool ok = go_back(w, k) && grow(w->run, (void **)&state->extents, &w->cap_extents,
	                                   w->u.extents.n, sizeof *state->extents);
	if (!ok)
		return ht_fail_nomem(w->run->ctx);
	if (w->u.extents.n)
		memcpy(state->extents, w->u.extents.list, w->u.extents.n * sizeof *state->extents);
	state->n_extents = join_runs(state->extents, w->u.extents.n);
	p->n = 0;
	for (size_t i = ht_bit_tree_next(&w->active, 0); i != SIZE_MAX;
	        i = ht_bit_tree_next(&w->active, i + 1)) {
		p->addrs[p->n] = w->d->lives[w->lives[i]].addr;
		p->lives[p->n++] = w->lives[i];
	}
	if (!grow(w->run, (void **)&state->pieces, &w->cap_pieces, max_pieces(p, state->n_extents),
	            sizeof *state->pieces))
		return ht_fail_nomem(w->run->ctx);
	list_pieces(w->d, p, state);
	*ret_state = *state;
	return HT_OK;
}

static bool is_like(const struct ht_mem_extent *x, const struct ht_mem_extent *like)
{
	return !like || (x->stream == like->stream && x->pool[0] == like->pool[0] &&
	                        x->pool[1] == like->pool[1] && x->is_small == like->is_small);
}

struct ht_mem_free ht_mem_layout_free(
        const struct ht_mem_layout *state, const struct ht_mem_extent *like)
{
	struct ht_mem_free f = { 0 };
	for (size_t i = 0; i < state->n_extents; i++)
		if (is_like(&state->extents[i], like))
			f.reserved += (int64_t)(state->extents[i].end - state->extents[i].addr);
	for (size_t i = 0; i < state->n_pieces; i++) {
		const struct ht_mem_piece *piece = &state->pieces[i];
		if (!is_like(&state->extents[piece->extent], like))
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
		if (t->mem_events[i].action == HT_MEM_ALLOC) {
			*ret_request = t->mem_events[i].size;
			return ht_mem_round(t->mem_about, t->mem_events[i].size) <= SMALL_LIMIT;
		}
	return t->mem_events[k].size <= SMALL_SEGMENT;
}

static void move_life(struct pools *p, const struct ht_mem_history *history,
        const struct ht_mem_life *life, int64_t sign)
{
	const struct ht_trace *t = history->trace;
	uint32_t id[2];
	ht_mem_pool_of_life(history, life, id);
	int64_t stream =
	        life->block != HT_NONE ? t->mem_segments[t->mem_blocks[life->block].segment].stream
	        : life->alloc >= 0     ? t->mem_events[life->alloc].stream
	        : life->free_completed != HT_MEM_NEVER ? t->mem_events[life->free_completed].stream
	                                               : 0;
	bool is_small = ht_mem_round(t->mem_about, life->requested) <= SMALL_LIMIT;
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
		const struct ht_mem_event *e = &t->mem_events[k];
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
		bool is_small =
		        is_taken ? is_for_small(t, d, k, &request) : e->size <= SMALL_SEGMENT;
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
