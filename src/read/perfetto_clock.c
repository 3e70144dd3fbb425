/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_clock.c - times of different clocks on one, by the snapshots of a Perfetto trace.
 *
 * Clocks that stand in one snapshot are neighbours. From the clock of the world (that of the machine where no snapshot has
 * it) each clock gets the neighbour that is nearest to it, breadth first, so there are no loops. A time goes from clock to
 * clock by the latest snapshot of the two that is not after it, the first one when all are:
 *
 *   snapshot {A 3000, B 3200}, snapshot {B 1200, C 5200}:   A 3503 = B 3703 = C 7703
 */
#include "read/perfetto.h"

#include "base/sort.h"

#define MAX_HOPS 16

uint32_t ht_pf_clock(struct ht_pf *pf, uint64_t sequence, uint64_t id)
{
	bool is_own = id >= HT_PF_OWN_CLOCK && id < HT_PF_GLOBAL_CLOCK;
	uint64_t key = is_own ? ht_hash_mix(sequence + 1, id) | (uint64_t)1 << 63 : id;
	uint32_t found = ht_map64_find(&pf->clock_of, key);
	if (found != HT_NONE)
		return found;
	struct ht_pf_clock_ref clock = { .key = key, .next = HT_NONE };
	found = (uint32_t)pf->clocks.n;
	pf->failed |= !HT_VEC_PUSH(pf->ctx->mem, &pf->clocks, struct ht_pf_clock_ref, clock) ||
	              !ht_map64_put(pf->ctx->mem, &pf->clock_of, key, found);
	return pf->failed ? HT_NONE : found;
}

static void take_clock(
        struct ht_pf *pf, struct ht_pf_writer *w, const unsigned char *bytes, size_t n)
{
	struct ht_wire wire = { .p = bytes, .end = bytes + n };
	struct ht_wire_field field;
	uint64_t id = 0;
	struct ht_pf_increment step = { .multiplier = 1 };
	while (ht_wire_next(&wire, &field))
		switch (field.number) {
		case HT_PF_CLOCK_ID: id = field.value; break;
		case HT_PF_CLOCK_TIME: step.last = field.value; break;
		case HT_PF_CLOCK_INCREMENTAL: step.is_incremental = field.value != 0; break;
		case HT_PF_CLOCK_MULTIPLIER: step.multiplier = field.value ? field.value : 1; break;
		default: break;
		}
	if (wire.bad) {
		ht_pf_count(pf, HT_STAT_packet_lost);
		return;
	}
	step.last *= step.multiplier;
	struct ht_pf_moment moment = { pf->n_snapshots, ht_pf_clock(pf, w->id, id), step.last };
	pf->failed |= moment.clock == HT_NONE ||
	              !HT_VEC_PUSH(pf->ctx->mem, &pf->moments, struct ht_pf_moment, moment);
	if (!step.is_incremental && step.multiplier == 1)
		return;
	uint32_t at = ht_map64_find(&w->clocks, id);
	if (at != HT_NONE) {
		((struct ht_pf_increment *)pf->increments.data)[at] = step;
		return;
	}
	at = (uint32_t)pf->increments.n;
	pf->failed |= !HT_VEC_PUSH(pf->ctx->mem, &pf->increments, struct ht_pf_increment, step) ||
	              !ht_map64_put(pf->ctx->mem, &w->clocks, id, at);
}

void ht_pf_snapshot(struct ht_pf *pf, struct ht_pf_writer *w, const unsigned char *bytes, size_t n)
{
	struct ht_wire wire = { .p = bytes, .end = bytes + n };
	struct ht_wire_field field;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_SNAPSHOT_CLOCK && field.type == HT_WIRE_BYTES)
			take_clock(pf, w, field.bytes, field.n);
	if (wire.bad)
		ht_pf_count(pf, HT_STAT_packet_lost);
	pf->n_snapshots++;
}

/* ---- ways ---- */

struct ways {
	struct ht_pf *pf;
	uint32_t *queue;     /* clocks */
	uint32_t *of_clock;  /* moments by clock */
	uint32_t *first;     /* by clock: its part of them; n_clocks + 1 */
	uint32_t *snapshots; /* by snapshot: its first moment; n_snapshots + 1 */
	uint8_t *is_seen;    /* snapshots */
};

static void list_moments(struct ways *v)
{
	const struct ht_pf_moment *moments = v->pf->moments.data;
	size_t n = v->pf->moments.n, n_clocks = v->pf->clocks.n;
	for (size_t i = 0; i < n; i++)
		v->first[moments[i].clock + 1]++;
	for (size_t i = 0; i < n_clocks; i++)
		v->first[i + 1] += v->first[i];
	for (size_t i = 0; i < n; i++)
		v->of_clock[v->first[moments[i].clock]++] = (uint32_t)i;
	for (size_t i = n_clocks; i > 0; i--)
		v->first[i] = v->first[i - 1];
	v->first[0] = 0;
	for (size_t i = 0; i < n; i++)
		v->snapshots[moments[i].snapshot + 1] = (uint32_t)i + 1;
	for (size_t i = 0; i < v->pf->n_snapshots; i++)
		if (v->snapshots[i + 1] < v->snapshots[i])
			v->snapshots[i + 1] = v->snapshots[i];
}

static void walk(struct ways *v, uint32_t root)
{
	const struct ht_pf_moment *moments = v->pf->moments.data;
	struct ht_pf_clock_ref *clocks = v->pf->clocks.data;
	size_t n = 0, at = 0;
	clocks[root].next = root;
	v->queue[n++] = root;
	for (; at < n; at++) {
		uint32_t clock = v->queue[at];
		for (uint32_t i = v->first[clock]; i < v->first[clock + 1]; i++) {
			uint32_t snapshot = moments[v->of_clock[i]].snapshot;
			if (v->is_seen[snapshot])
				continue;
			v->is_seen[snapshot] = 1;
			for (uint32_t k = v->snapshots[snapshot]; k < v->snapshots[snapshot + 1];
			        k++)
				if (clocks[moments[k].clock].next == HT_NONE) {
					clocks[moments[k].clock].next = clock;
					v->queue[n++] = moments[k].clock;
				}
		}
	}
}

static int compare_links(const void *left, const void *right)
{
	const struct ht_pf_link *a = left, *b = right;
	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	return (a->time > b->time) - (a->time < b->time);
}

/* What each clock and its neighbour said at one moment. stamp: by clock, 1 + its moment in the snapshot in hand. */
static bool link_clocks(struct ways *v, uint32_t *stamp)
{
	struct ht_pf *pf = v->pf;
	const struct ht_pf_moment *moments = pf->moments.data;
	struct ht_pf_clock_ref *clocks = pf->clocks.data;
	for (size_t s = 0; s < pf->n_snapshots; s++) {
		uint32_t first = v->snapshots[s], end = v->snapshots[s + 1];
		for (uint32_t k = first; k < end; k++)
			stamp[moments[k].clock] = k + 1;
		for (uint32_t k = first; k < end; k++) {
			uint32_t clock = moments[k].clock, next = clocks[clock].next;
			if (next == HT_NONE || next == clock || stamp[next] <= first ||
			        stamp[next] > end)
				continue;
			struct ht_pf_link link = { clock, moments[k].time,
				moments[stamp[next] - 1].time };
			if (!HT_VEC_PUSH(pf->ctx->mem, &pf->links, struct ht_pf_link, link))
				return false;
		}
	}
	struct ht_pf_link *links = pf->links.data;
	ht_sort_items(pf->ctx->mem, links, pf->links.n, sizeof *links, compare_links);
	for (size_t i = 0; i < pf->links.n; i++) {
		struct ht_pf_clock_ref *clock = &clocks[links[i].clock];
		if (!clock->n_points++)
			clock->first_point = (uint32_t)i;
	}
	return true;
}

enum ht_status ht_pf_join_clocks(struct ht_pf *pf)
{
	struct ht_arena arena;
	struct ways v = { .pf = pf };
	uint32_t root = ht_map64_find(&pf->clock_of, HT_PF_REALTIME);
	size_t n_clocks, n = pf->moments.n + 1;
	pf->has_root = root != HT_NONE;
	if (root == HT_NONE)
		root = ht_pf_clock(pf, 0, HT_PF_BOOTTIME);
	n_clocks = pf->clocks.n + 2;
	ht_arena_init(&arena, pf->ctx->mem);
	v.queue = ht_arena_alloc(&arena, n_clocks * sizeof *v.queue);
	v.of_clock = ht_arena_alloc(&arena, n * sizeof *v.of_clock);
	v.first = ht_arena_alloc(&arena, n_clocks * sizeof *v.first);
	v.snapshots = ht_arena_alloc(&arena, ((size_t)pf->n_snapshots + 2) * sizeof *v.snapshots);
	v.is_seen = ht_arena_alloc(&arena, (size_t)pf->n_snapshots + 1);
	uint32_t *stamp = ht_arena_alloc(&arena, n_clocks * sizeof *stamp);
	bool ok = !pf->failed && v.queue && v.of_clock && v.first && v.snapshots && v.is_seen &&
	          stamp;
	if (ok) {
		list_moments(&v);
		walk(&v, root);
		ok = link_clocks(&v, stamp);
	}
	ht_arena_done(&arena);
	return ok ? HT_OK : ht_fail_nomem(pf->ctx);
}

int64_t ht_pf_time(const struct ht_pf *pf, uint32_t clock, uint64_t time)
{
	const struct ht_pf_clock_ref *clocks = pf->clocks.data;
	const struct ht_pf_link *links = pf->links.data;
	for (unsigned i = 0; i < MAX_HOPS && clocks[clock].next != clock; i++) {
		if (clocks[clock].next == HT_NONE || !clocks[clock].n_points)
			break;
		size_t low = clocks[clock].first_point, end = low + clocks[clock].n_points;
		for (size_t high = end; high - low > 1;) {
			size_t middle = low + (high - low) / 2;
			if (links[middle].time <= time)
				low = middle;
			else
				high = middle;
		}
		time += links[low].next_time - links[low].time;
		clock = clocks[clock].next;
	}
	return (int64_t)time;
}
