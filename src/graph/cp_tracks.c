/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_tracks.c - host threads whose rows are in several tracks. See cp_model.h.
 *
 * Ascend's profiler has the calls of its runtime in a process of their own, under the number of the thread that calls:
 *
 *   python 11  [ aten::item                ]
 *   CANN   11     [ aclrtSynchronizeStream ]   what the operator waits for is in the call
 *
 * A track of calls alone is part of the thread of that number, where one track, and no more, has operators of it.
 */
#include "graph/cp_model.h"

#include "base/search.h"
#include "base/sort.h"
#include "store/row_order.h"
#include "store/columns.h"

#include <string.h>

enum { HAS_CALLS = 1, HAS_OTHERS = 2 };

static enum ht_status look_at_tracks(struct ht_run *run, struct ht_cp_model *m, uint8_t **ret_has)
{
	const struct ht_trace *t = m->trace;
	uint8_t *has = ht_arena_alloc(run->scratch, t->n_tracks + 1);
	if (!has)
		return ht_fail_nomem(run->ctx);
	for (uint32_t row = 0; row < t->n_kind; row++)
		if (ht_cp_kind_is_host(t->kind[row]))
			has[t->track[row]] |=
			        ht_kind_is_call(t->kind[row]) ? HAS_CALLS : HAS_OTHERS;
	*ret_has = has;
	return HT_OK;
}

static bool same_thread(const struct ht_track *a, const struct ht_track *b)
{
	return a->tid == b->tid && a->tid_type == b->tid_type && a->document == b->document;
}

/* Tracks by number of thread; those of a number that others have, too. */
struct numbers {
	uint64_t *keys;
	uint32_t *tracks;
	size_t n;
};

static uint32_t thread_of(const struct ht_cp_model *m, const struct numbers *numbers,
        const uint8_t *has, uint32_t track)
{
	const struct ht_track *tracks = m->trace->tracks;
	uint64_t key = ht_sort_key_i64(tracks[track].tid);
	uint32_t found = HT_NONE;
	if (has[track] != HAS_CALLS)
		return track;
	for (size_t i = HT_LOWER_BOUND(at, numbers->n, numbers->keys[at] < key);
	        i < numbers->n && numbers->keys[i] == key; i++) {
		uint32_t other = numbers->tracks[i];
		if (!(has[other] & HAS_OTHERS) || !same_thread(&tracks[other], &tracks[track]))
			continue;
		/* whose it is of two cannot be told */
		if (found != HT_NONE)
			return track;
		found = other;
	}
	return found == HT_NONE ? track : found;
}

/* Parts by the thread that they belong to. */
static enum ht_status list_parts(struct ht_run *run, struct ht_cp_model *m)
{
	size_t n_tracks = m->trace->n_tracks;
	uint64_t *keys = ht_arena_alloc(run->scratch, (n_tracks + 1) * sizeof *keys);
	m->parts = ht_arena_alloc(run->scratch, (n_tracks + 1) * sizeof *m->parts);
	if (!keys || !m->parts)
		return ht_fail_nomem(run->ctx);
	for (uint32_t k = 0; k < n_tracks; k++)
		if (m->thread_of_track[k] != k) {
			keys[m->n_parts] = m->thread_of_track[k];
			m->parts[m->n_parts++] = k;
		}
	return ht_sort_keys(run->ctx->mem, keys, m->parts, m->n_parts) ? HT_OK
	                                                               : ht_fail_nomem(run->ctx);
}

enum ht_status ht_cp_tracks_join(struct ht_run *run, struct ht_cp_model *m)
{
	const struct ht_trace *t = m->trace;
	uint8_t *has = NULL;
	struct numbers numbers = { .n = t->n_tracks };
	HT_TRY(look_at_tracks(run, m, &has));
	m->thread_of_track = ht_arena_alloc(run->scratch, (t->n_tracks + 1) * sizeof(uint32_t));
	numbers.keys = ht_arena_alloc(run->scratch, (t->n_tracks + 1) * sizeof *numbers.keys);
	numbers.tracks = ht_arena_alloc(run->scratch, (t->n_tracks + 1) * sizeof *numbers.tracks);
	if (!m->thread_of_track || !numbers.keys || !numbers.tracks)
		return ht_fail_nomem(run->ctx);
	for (uint32_t k = 0; k < t->n_tracks; k++) {
		numbers.keys[k] = ht_sort_key_i64(t->tracks[k].tid);
		numbers.tracks[k] = k;
	}
	if (!ht_sort_keys(run->ctx->mem, numbers.keys, numbers.tracks, numbers.n))
		return ht_fail_nomem(run->ctx);
	for (uint32_t k = 0; k < t->n_tracks; k++)
		m->thread_of_track[k] = thread_of(m, &numbers, has, k);
	return list_parts(run, m);
}

static size_t first_part(const struct ht_cp_model *m, uint32_t track)
{
	return HT_LOWER_BOUND(at, m->n_parts, m->thread_of_track[m->parts[at]] < track);
}

enum ht_status ht_cp_track_rows(struct ht_run *run, const struct ht_cp_model *m, uint32_t track,
        struct ht_arena *own, const uint32_t **ret_rows, size_t *ret_n)
{
	const struct ht_trace *t = m->trace;
	size_t first = first_part(m, track), end = first, n = t->tracks[track].n;
	for (; end < m->n_parts && m->thread_of_track[m->parts[end]] == track; end++)
		n += t->tracks[m->parts[end]].n;
	*ret_rows = t->track_rows + t->tracks[track].first;
	*ret_n = m->thread_of_track[track] == track ? n : 0;
	if (first == end)
		return HT_OK;
	uint64_t *keys = ht_arena_room(own, (n + 1) * sizeof *keys);
	uint32_t *rows = ht_arena_room(own, (n + 1) * sizeof *rows);
	if (!keys || !rows)
		return ht_fail_nomem(run->ctx);
	size_t used = t->tracks[track].n;
	memcpy(rows, *ret_rows, used * sizeof *rows);
	for (size_t i = first; i < end; i++) {
		const struct ht_track *part = &t->tracks[m->parts[i]];
		memcpy(rows + used, t->track_rows + part->first, part->n * sizeof *rows);
		used += part->n;
	}
	for (size_t i = 0; i < n; i++)
		keys[i] = rows[i];
	*ret_rows = rows;
	return ht_sort_keys(run->ctx->mem, keys, rows, n) &&
	                       ht_rows_order(run->ctx->mem, t, rows, n)
	               ? HT_OK
	               : ht_fail_nomem(run->ctx);
}
