/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renumber.c - ids of tracks and categories depend on which thread met them first: number them by first appearance in
 * the file, and drop those that only a wrong guess met.
 */
#include "base/mem.h"
#include "store/assemble.h"
#include "store/seal.h"

#include "base/sort.h"
#include "base/thread.h"

#include <string.h>

struct numbering {
	ht_ctx *ctx;
	struct ht_trace *t;
	atomic_uint *first_track,
	        *first_cat;            /* by id: the first row that has it, HT_NONE: no row */
	uint32_t *new_track, *new_cat; /* by id */
};

/* Rows ascend, so few come before what is known. */
static void note_first(atomic_uint *first, uint32_t row)
{
	unsigned known = atomic_load_explicit(first, memory_order_relaxed);
	while (row < known && !atomic_compare_exchange_weak(first, &known, row))
		;
}

static enum ht_status find_first(void *user, size_t i_range, int i_worker)
{
	const struct numbering *s = user;
	struct ht_range range = ht_range_at(s->ctx, ht_n_events(s->t), i_range);
	(void)i_worker;
	for (uint32_t row = range.first; row < range.end; row++) {
		note_first(&s->first_track[s->t->track[row]], row);
		note_first(&s->first_cat[s->t->cat[row]], row);
	}
	return HT_OK;
}

static enum ht_status rename_range(void *user, size_t i_range, int i_worker)
{
	const struct numbering *s = user;
	struct ht_range range = ht_range_at(s->ctx, ht_n_events(s->t), i_range);
	uint32_t *track = HT_MUTABLE(uint32_t, s->t->track);
	uint16_t *cat = HT_MUTABLE(uint16_t, s->t->cat);
	(void)i_worker;
	for (uint32_t row = range.first; row < range.end; row++) {
		track[row] = s->new_track[track[row]];
		cat[row] = (uint16_t)s->new_cat[cat[row]];
	}
	return HT_OK;
}

/* The ids that rows have, in order of their first rows. */
static enum ht_status order_ids(ht_ctx *ctx, const atomic_uint *first, size_t n,
        struct ht_arena *arena, uint32_t **ret_ids, size_t *ret_n)
{
	uint64_t *keys = ht_arena_alloc(arena, (n + 1) * sizeof *keys);
	uint32_t *ids = ht_arena_alloc(arena, (n + 1) * sizeof *ids);
	size_t n_used = 0;
	if (!keys || !ids)
		return ht_fail_nomem(ctx);
	for (uint32_t id = 0; id < n; id++)
		if (atomic_load_explicit(&first[id], memory_order_relaxed) != HT_NONE) {
			keys[n_used] = atomic_load_explicit(&first[id], memory_order_relaxed);
			ids[n_used++] = id;
		}
	*ret_ids = ids;
	*ret_n = n_used;
	return ht_sort_keys(ctx->mem, keys, ids, n_used) ? HT_OK : ht_fail_nomem(ctx);
}

/* Put the items of a section, which were numbered by id, in the order of the ids; says whether one moved. */
static enum ht_status reorder(ht_ctx *ctx, void **items, size_t *n, size_t size,
        const uint32_t *ids, size_t n_ids, uint32_t *new_ids, bool *moved)
{
	char *kept = ht_mem_alloc(ctx->mem, n_ids * size);
	if (!kept)
		return ht_fail_nomem(ctx);
	for (uint32_t i = 0; i < n_ids; i++) {
		memcpy(kept + i * size, (char *)*items + ids[i] * size, size);
		new_ids[ids[i]] = i;
		*moved |= ids[i] != i;
	}
	ht_mem_free(ctx->mem, *items, *n * size);
	*items = kept;
	*n = n_ids;
	return HT_OK;
}

static enum ht_status number_all(struct numbering *s, struct ht_arena *arena)
{
	struct ht_trace *t = s->t;
	ht_ctx *ctx = s->ctx;
	size_t n_ranges = ht_n_ranges(ctx, ht_n_events(t)), n_both = t->n_tracks + t->n_categories;
	atomic_uint *first = ht_arena_alloc(arena, (n_both + 1) * sizeof *first);
	uint32_t *renamed = ht_arena_alloc(arena, (n_both + 1) * sizeof *renamed), *ids;
	void *tracks = HT_MUTABLE(struct ht_track, t->tracks);
	void *categories = HT_MUTABLE(struct ht_category, t->categories);
	bool moved = false;
	size_t n;
	if (!first || !renamed)
		return ht_fail_nomem(ctx);
	memset(first, 0xff, (n_both + 1) * sizeof *first);
	s->first_track = first;
	s->first_cat = first + t->n_tracks;
	s->new_track = renamed;
	s->new_cat = renamed + t->n_tracks;
	HT_TRY(ht_parallel(ctx, n_ranges, find_first, s));
	HT_TRY(order_ids(ctx, s->first_track, t->n_tracks, arena, &ids, &n));
	HT_TRY(reorder(
	        ctx, &tracks, &t->n_tracks, sizeof(struct ht_track), ids, n, s->new_track, &moved));
	t->tracks = tracks;
	HT_TRY(order_ids(ctx, s->first_cat, t->n_categories, arena, &ids, &n));
	HT_TRY(reorder(ctx, &categories, &t->n_categories, sizeof(struct ht_category), ids, n,
	        s->new_cat, &moved));
	t->categories = categories;
	return moved ? ht_parallel(ctx, n_ranges, rename_range, s) : HT_OK;
}

enum ht_status ht_renumber(ht_ctx *ctx, struct ht_trace *t)
{
	struct numbering s = { .ctx = ctx, .t = t };
	struct ht_arena arena;
	ht_arena_init(&arena, ctx->mem);
	enum ht_status status = number_all(&s, &arena);
	ht_arena_done(&arena);
	return status;
}
