/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inside.c - see inside.h.
 */
#include "model/rows/inside.h"

#include "model/rows/row_ends.h"
#include "store/columns.h"

enum ht_status ht_inside_nearest(struct ht_run *run, const struct ht_trace *t,
        const struct ht_autograd *autograd, ht_tree_match *match, const void *user,
        uint32_t **ret_nearest)
{
	uint32_t *nearest = NULL;
	HT_TRY(ht_tree_nearest(run->ctx, t, match, user, run->scratch, &nearest));
	/* then from autograd threads over to their callers, which are complete */
	for (size_t i = 0; autograd->callers && i < t->n_track_rows; i++) {
		uint32_t row = t->track_rows[i], up = autograd->parent[row];
		if (nearest[row] == HT_NONE && up != HT_NONE && autograd->callers[row] != HT_NONE)
			nearest[row] = match(t, up, user) ? up : nearest[up];
	}
	*ret_nearest = nearest;
	return HT_OK;
}

enum ht_status ht_inside_make(struct ht_run *run, const struct ht_trace *t,
        const struct ht_autograd *autograd, enum ht_kind kind, ht_tree_match *match,
        const void *user, struct ht_inside *ret_inside)
{
	struct ht_inside inside = { .trace = t, .autograd = autograd };
	const int64_t *ends = NULL;
	size_t n = 0;
	HT_TRY(ht_ends_find(run, t, &ends));
	for (size_t row = 0; row < ht_n_events(t); row++)
		n += t->kind[row] == kind;
	inside.windows = ht_arena_alloc(run->scratch, (n + 1) * sizeof *inside.windows);
	inside.first = ht_arena_alloc(run->scratch, (t->n_tracks + 1) * sizeof *inside.first);
	inside.n = ht_arena_alloc(run->scratch, (t->n_tracks + 1) * sizeof *inside.n);
	if (!inside.windows || !inside.first || !inside.n)
		return ht_fail_nomem(run->ctx);
	n = 0;
	for (size_t k = 0; k < t->n_tracks; k++) {
		inside.first[k] = (uint32_t)n;
		for (uint32_t i = 0; i < t->tracks[k].n; i++) {
			uint32_t row = t->track_rows[t->tracks[k].first + i];
			if (t->kind[row] == kind && ht_is_span(t, row) && match(t, row, user))
				inside.windows[n++] =
				        (struct ht_interval){ t->ts_ns[row], ends[row] };
		}
		inside.n[k] = (uint32_t)ht_interval_merge(
		        run->ctx->mem, inside.windows + inside.first[k], n - inside.first[k]);
		n = inside.first[k] + inside.n[k];
	}
	*ret_inside = inside;
	return HT_OK;
}

bool ht_inside_has(const struct ht_inside *inside, uint32_t row)
{
	const uint32_t tracks[2] = { inside->trace->track[row],
		ht_autograd_caller(inside->autograd, row) };
	int64_t ts = inside->trace->ts_ns[row];
	for (size_t k = 0; k < HT_COUNT(tracks); k++)
		if (tracks[k] != HT_NONE &&
		        ht_interval_has(inside->windows + inside->first[tracks[k]],
		                inside->n[tracks[k]], ts))
			return true;
	return false;
}
