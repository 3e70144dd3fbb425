/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pick.c - ht_pick of thread.h: each range is counted, so that all know where theirs go; then they write.
 */
#include "base/thread.h"

struct picking {
	ht_ctx *ctx;
	ht_pick_fn pick;
	const void *user;
	uint32_t n;
	uint32_t *places; /* of the ranges: how many each has, then where they begin */
	uint32_t *picked;
};

static enum ht_status count_range(void *user, size_t i, int i_worker)
{
	const struct picking *p = user;
	(void)i_worker;
	p->places[i] = (uint32_t)p->pick(p->user, ht_range_at(p->ctx, p->n, i), NULL);
	return HT_OK;
}

static enum ht_status pick_range(void *user, size_t i, int i_worker)
{
	const struct picking *p = user;
	(void)i_worker;
	if (p->places[i + 1] > p->places[i])
		(void)p->pick(p->user, ht_range_at(p->ctx, p->n, i), p->picked + p->places[i]);
	return HT_OK;
}

enum ht_status ht_pick(ht_ctx *ctx, uint32_t n, ht_pick_fn pick, const void *user,
        struct ht_arena *arena, uint32_t **ret_picked, size_t *ret_n)
{
	size_t n_ranges = ht_n_ranges(ctx, n);
	struct picking p = { .ctx = ctx, .pick = pick, .user = user, .n = n };
	p.places = ht_arena_alloc(arena, (n_ranges + 1) * sizeof *p.places);
	if (!p.places)
		return ht_fail_nomem(ctx);
	HT_TRY(ht_parallel(ctx, n_ranges, count_range, &p));
	uint32_t n_picked = 0;
	for (size_t i = 0; i <= n_ranges; i++) {
		uint32_t here = i < n_ranges ? p.places[i] : 0;
		p.places[i] = n_picked;
		n_picked += here;
	}
	p.picked = ht_arena_alloc(arena, ((size_t)n_picked + 1) * sizeof *p.picked);
	if (!p.picked)
		return ht_fail_nomem(ctx);
	HT_TRY(ht_parallel(ctx, n_ranges, pick_range, &p));
	*ret_picked = p.picked;
	*ret_n = n_picked;
	return HT_OK;
}
