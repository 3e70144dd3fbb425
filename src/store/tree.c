/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.c - see tree.h.
 */
#include "store/tree.h"

#include "store/columns.h"

#include <string.h>

enum ht_status ht_tree_nearest(ht_ctx *ctx, const struct ht_trace *t, ht_tree_match *match,
        const void *user, struct ht_arena *arena, uint32_t **ret_nearest)
{
	size_t n = ht_n_events(t);
	uint32_t *nearest = ht_arena_room(arena, (n + 1) * sizeof *nearest);
	if (!nearest)
		return ht_fail_nomem(ctx);
	memset(nearest, 0xff, (n + 1) * sizeof *nearest);
	for (size_t i = 0; i < t->n_track_rows; i++) {
		uint32_t row = t->track_rows[i], up = t->parent[row];
		if (up != HT_NONE)
			nearest[row] = match(t, up, user) ? up : nearest[up];
	}
	*ret_nearest = nearest;
	return HT_OK;
}

enum ht_status ht_tree_ends(
        ht_ctx *ctx, const struct ht_trace *t, struct ht_arena *arena, int64_t **ret_ends)
{
	size_t n = ht_n_events(t);
	/* rows that are in no track have none */
	int64_t *ends = (t->n_track_rows < n ? ht_arena_alloc : ht_arena_room)(
	        arena, (n + 1) * sizeof *ends);
	if (!ends)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < t->n_track_rows; i++) {
		uint32_t row = t->track_rows[i], up = t->parent[row];
		bool cut = up != HT_NONE && (t->flags[row] & HT_EV_CUT);
		ends[row] = cut ? ends[up] : ht_end_ns(t, row);
	}
	*ret_ends = ends;
	return HT_OK;
}
