/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_tracks.c - rows of each track in time order, B/E pairs, and the call tree of host threads (seal_tree.h).
 *
 * Order: (ts, longer first, row). Long tracks are cut into slices of time, so that several threads sort them and make
 * their trees; rows are put straight into their slice when they are grouped. Where the cuts are is chosen
 * from a sample of the rows, and does not matter. With one thread there are none.
 */
#include "base/checked.h"
#include "store/seal_tree.h"

#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/thread.h"
#include "store/row_order.h"
#include "store/trace_meta.h"

#include <string.h>

/* Slices for each thread, so that all of them end at about the same time. */
#define SLICES_PER_JOB 8
/* So many rows are looked at for each slice. */
#define SAMPLES 16

/* Rows of one track that follow each other in time. */
struct slice {
	uint32_t track;
	uint32_t first, n;          /* its rows in track_rows */
	struct ht_slice_tree *tree; /* of a track that was cut, else NULL */
};

struct tracks {
	ht_ctx *ctx;
	struct ht_trace *t;
	uint32_t *rows;   /* the section track_rows */
	uint32_t *parent; /* the section parent */
	uint64_t *roots;  /* of slices of tracks that were cut, parallel to rows; else NULL */
	struct slice *slices;
	int64_t *limits_ns;    /* by slice: its rows start before, unless it is a track's last */
	uint32_t *first_slice; /* by track, and the end */
	size_t n_slices, n_trees;
	uint32_t *order;       /* slices, those with most rows first */
	struct worker *worker; /* one per thread */
	/* for grouping: rows of a slice before a share, at first their number; n_placed of each share */
	uint32_t *placed;
	size_t n_shares, n_placed;
	atomic_bool *has_begins; /* by track: some rows of it are B or E */
};

/* What a thread found. */
struct worker {
	struct ht_tally tally;
	int64_t min_ts_ns, max_end_ns; /* of rows with a usable time; HT_NO_I64: none */
};

static bool is_timed(const struct ht_trace *t, uint32_t row)
{
	return !(t->flags[row] & HT_EV_NO_TS) && t->kind[row] != HT_KIND_METADATA;
}

/* ---- where to cut ---- */

struct sample {
	uint64_t *keys;
	uint32_t *rows;
	size_t n, stride;
};

/* Some of the rows by track and time. One of each stride, not the same one each time. */
static enum ht_status take_sample(
        struct tracks *s, size_t n_wanted, struct ht_arena *arena, struct sample *ret)
{
	const struct ht_trace *t = s->t;
	size_t n_events = ht_n_events(t), stride = n_events / n_wanted;
	stride = stride ? stride : 1;
	struct sample sample = { .stride = stride };
	sample.keys = ht_arena_alloc(arena, (n_events / stride + 1) * sizeof *sample.keys);
	sample.rows = ht_arena_alloc(arena, (n_events / stride + 1) * sizeof *sample.rows);
	if (!sample.keys || !sample.rows)
		return ht_fail_nomem(s->ctx);
	for (size_t i = 0; (i + 1) * stride <= n_events; i++) {
		uint32_t row = (uint32_t)(i * stride + ht_hash_mix(i, stride) % stride);
		if (!is_timed(t, row))
			continue;
		sample.keys[sample.n] = ht_sort_key_i64(t->ts_ns[row]);
		sample.rows[sample.n++] = row;
	}
	bool ok = ht_sort_keys(s->ctx->mem, sample.keys, sample.rows, sample.n);
	for (size_t i = 0; i < sample.n; i++)
		sample.keys[i] = t->track[sample.rows[i]];
	ok = ok && ht_sort_keys(s->ctx->mem, sample.keys, sample.rows, sample.n);
	*ret = sample;
	return ok ? HT_OK : ht_fail_nomem(s->ctx);
}

/* Cut one track after n_samples of it; adds its slices. */
static void cut_track(struct tracks *s, uint32_t track, const uint32_t *sampled, size_t n_samples,
        size_t n_wanted)
{
	size_t first = s->n_slices;
	s->first_slice[track] = (uint32_t)first;
	for (size_t k = 1; k < n_wanted; k++) {
		int64_t limit = s->t->ts_ns[sampled[n_samples * k / n_wanted]];
		if (s->n_slices > first && s->limits_ns[s->n_slices - 1] >= limit)
			continue;
		s->limits_ns[s->n_slices] = limit;
		s->slices[s->n_slices++].track = track;
	}
	s->slices[s->n_slices++].track = track;
}

/* How many rows make a slice; 0: tracks are not cut. */
static size_t slice_rows(const struct tracks *s)
{
	size_t jobs = (size_t)ht_ctx_jobs(s->ctx), least = ht_range_rows(s->ctx);
	size_t n = ht_n_events(s->t) / (SLICES_PER_JOB * jobs);
	if (s->ctx->range_rows)
		return least;
	return jobs == 1 ? 0 : n > least ? n : least;
}

static enum ht_status cut_tracks(struct tracks *s, struct ht_arena *arena)
{
	const struct ht_trace *t = s->t;
	size_t rows = slice_rows(s), n_cuts = rows ? ht_n_events(t) / rows : 0, at = 0;
	size_t n_most = t->n_tracks + n_cuts + 1;
	struct sample sample = { 0 };
	if (n_cuts)
		HT_TRY(take_sample(s, n_cuts * SAMPLES, arena, &sample));
	s->slices = ht_arena_alloc(arena, n_most * sizeof *s->slices);
	s->limits_ns = ht_arena_alloc(arena, n_most * sizeof *s->limits_ns);
	s->first_slice = ht_arena_alloc(arena, (t->n_tracks + 1) * sizeof *s->first_slice);
	if (!s->slices || !s->limits_ns || !s->first_slice)
		return ht_fail_nomem(s->ctx);
	for (uint32_t track = 0; track < t->n_tracks; track++) {
		size_t first = at;
		while (at < sample.n && sample.keys[at] == track)
			at++;
		size_t n_wanted = n_cuts ? (at - first) * sample.stride / rows : 0;
		cut_track(s, track, sample.rows ? sample.rows + first : NULL, at - first, n_wanted);
	}
	s->first_slice[t->n_tracks] = (uint32_t)s->n_slices;
	return HT_OK;
}

/* The slice of a row; rows that follow each other are mostly of the same one. */
static uint32_t slice_of(const struct tracks *s, uint32_t row, uint32_t hint)
{
	uint32_t track = s->t->track[row];
	uint32_t first = s->first_slice[track], last = s->first_slice[track + 1] - 1;
	if (first == last)
		return first;
	int64_t ts = s->t->ts_ns[row];
	bool same = hint >= first && hint <= last && (hint == last || ts < s->limits_ns[hint]) &&
	            (hint == first || ts >= s->limits_ns[hint - 1]);
	return same ? hint
	            : first + (uint32_t)HT_LOWER_BOUND(
	                              at, last - first, s->limits_ns[first + at] <= ts);
}

/* ---- grouping ---- */

/* The i-th of n_shares equal shares of the rows. */
static struct ht_range share(const struct tracks *s, size_t i)
{
	uint64_t n = ht_n_events(s->t);
	return (struct ht_range){ (uint32_t)(n * i / s->n_shares),
		(uint32_t)(n * (i + 1) / s->n_shares) };
}

static enum ht_status count_share(void *user, size_t i_share, int i_worker)
{
	struct tracks *s = user;
	const struct ht_trace *t = s->t;
	uint32_t *n = s->placed + i_share * s->n_placed, slice = 0;
	struct ht_range range = share(s, i_share);
	(void)i_worker;
	for (uint32_t row = range.first; row < range.end; row++) {
		if (is_timed(t, row))
			n[slice = slice_of(s, row, slice)]++;
		if (t->ph[row] == 'B' || t->ph[row] == 'E')
			atomic_store_explicit(
			        &s->has_begins[t->track[row]], true, memory_order_relaxed);
	}
	memset(s->parent + range.first, 0xff, (range.end - range.first) * sizeof *s->parent);
	return HT_OK;
}

static enum ht_status place_share(void *user, size_t i_share, int i_worker)
{
	struct tracks *s = user;
	const struct ht_trace *t = s->t;
	uint32_t *at = s->placed + i_share * s->n_placed, slice = 0;
	struct ht_range range = share(s, i_share);
	(void)i_worker;
	for (uint32_t row = range.first; row < range.end; row++) {
		if (!is_timed(t, row))
			continue;
		slice = slice_of(s, row, slice);
		s->rows[at[slice]++] = row;
	}
	return HT_OK;
}

/* From how many rows of each slice a share has to where it puts them. Returns how many there are in all. */
static uint32_t place_slices(struct tracks *s)
{
	struct ht_track *tracks = HT_MUTABLE(struct ht_track, s->t->tracks);
	uint32_t at = 0;
	for (size_t i = 0; i < s->n_slices; i++) {
		struct slice *slice = &s->slices[i];
		slice->first = at;
		for (size_t r = 0; r < s->n_shares; r++) {
			uint32_t *placed = &s->placed[r * s->n_placed + i], n = *placed;
			*placed = at;
			at += n;
		}
		slice->n = at - slice->first;
		if (s->first_slice[slice->track] == i)
			tracks[slice->track].first = slice->first;
		tracks[slice->track].n = at - tracks[slice->track].first;
	}
	return at;
}

/* As many shares as keep all threads busy, but no more places than rows. */
static size_t choose_shares(const struct tracks *s)
{
	const struct ht_trace *t = s->t;
	size_t n = ht_n_ranges(s->ctx, ht_n_events(t)), most = 4 * (size_t)ht_ctx_jobs(s->ctx);
	size_t fit = ht_n_events(t) / s->n_placed;
	n = n < most ? n : most;
	n = n < fit ? n : fit;
	return n ? n : 1;
}

/* Group the rows by slice, in row order. */
static enum ht_status group(struct tracks *s, struct ht_arena *arena)
{
	struct ht_trace *t = s->t;
	/* some more, so that no two threads write to one cache line */
	s->n_placed = s->n_slices + 64 / sizeof *s->placed;
	s->n_shares = choose_shares(s);
	s->parent = HT_SECTION_ALLOC(s->ctx, t, parent, uint32_t, ht_n_events(t));
	s->placed = ht_arena_alloc(arena, s->n_shares * s->n_placed * sizeof *s->placed);
	s->has_begins = ht_arena_alloc(arena, (t->n_tracks + 1) * sizeof *s->has_begins);
	if (!s->parent || !s->placed || !s->has_begins)
		return ht_fail_nomem(s->ctx);
	HT_TRY(ht_parallel(s->ctx, s->n_shares, count_share, s));
	uint32_t n = place_slices(s);
	s->rows = HT_SECTION_ALLOC(s->ctx, t, track_rows, uint32_t, n);
	if (!s->rows)
		return ht_fail_nomem(s->ctx);
	return ht_parallel(s->ctx, s->n_shares, place_share, s);
}

/* ---- one track ---- */

/* Tasks beside this one look at other flags of the row (ht_time_was_refused). */
static void set_flag(uint8_t *flags, uint8_t flag)
{
	(void)__atomic_fetch_or(flags, flag, __ATOMIC_RELAXED);
}

/* E closes the last open B of its track; the B becomes a span. */
static enum ht_status pair_begin_end(
        struct tracks *s, const struct ht_track *track, struct ht_tally *tally)
{
	struct ht_trace *t = s->t;
	int64_t *dur = HT_MUTABLE(int64_t, t->dur_ns);
	uint8_t *flags = HT_MUTABLE(uint8_t, t->flags);
	struct ht_vec open = { 0 };
	bool ok = true;
	for (uint32_t i = 0; ok && i < track->n; i++) {
		uint32_t row = s->rows[track->first + i];
		if (t->ph[row] == 'B') {
			ok = HT_VEC_PUSH(s->ctx->mem, &open, uint32_t, row);
		} else if (t->ph[row] == 'E' && !open.n) {
			ht_tally_add(tally, HT_STAT_unmatched_end, 1);
		} else if (t->ph[row] == 'E') {
			uint32_t begin = ((uint32_t *)open.data)[--open.n];
			int64_t length;
			bool ok_length =
			        !__builtin_sub_overflow(t->ts_ns[row], t->ts_ns[begin], &length);
			dur[begin] = ok_length && length > 0 ? length : 0;
			set_flag(&flags[begin], HT_EV_SPAN);
		}
	}
	for (size_t i = 0; i < open.n; i++)
		set_flag(&flags[((uint32_t *)open.data)[i]], HT_EV_SPAN);
	ht_tally_add(tally, HT_STAT_unmatched_begin, open.n);
	ht_vec_free(s->ctx->mem, &open, sizeof(uint32_t));
	return ok ? HT_OK : ht_fail_nomem(s->ctx);
}

static enum ht_status sort_slice(struct tracks *s, const struct slice *slice)
{
	return ht_rows_order(s->ctx->mem, s->t, s->rows + slice->first, slice->n)
	               ? HT_OK
	               : ht_fail_nomem(s->ctx);
}

/* Add what was seen of a slice. */
static void note_slice(
        const struct ht_slice_tree *tree, struct ht_track *track, struct worker *worker)
{
	track->n_spans += tree->n_spans;
	ht_tally_add(&worker->tally, HT_STAT_partial_overlap, tree->n_overlaps);
	ht_tally_add(&worker->tally, HT_STAT_kernels_overlap_on_stream, tree->n_work_overlaps);
	if (tree->min_ts_ns == HT_NO_I64)
		return;
	if (worker->min_ts_ns == HT_NO_I64 || tree->min_ts_ns < worker->min_ts_ns)
		worker->min_ts_ns = tree->min_ts_ns;
	if (worker->max_end_ns == HT_NO_I64 || tree->max_end_ns > worker->max_end_ns)
		worker->max_end_ns = tree->max_end_ns;
}

/* A track in one go. */
static enum ht_status do_track(struct tracks *s, uint32_t i_track, struct worker *worker)
{
	struct ht_trace *t = s->t;
	struct ht_track *track = HT_MUTABLE(struct ht_track, t->tracks) + i_track;
	struct ht_slice_tree tree = { .rows = s->rows + track->first, .n = track->n };
	uint32_t first = s->first_slice[i_track], end = s->first_slice[i_track + 1];
	for (uint32_t i = first; i < end; i++)
		HT_TRY(sort_slice(s, &s->slices[i]));
	if (atomic_load_explicit(&s->has_begins[i_track], memory_order_relaxed)) {
		/* durations of B rows come from their E rows, and change the order of ties */
		HT_TRY(pair_begin_end(s, track, &worker->tally));
		for (uint32_t i = first; i < end; i++)
			HT_TRY(sort_slice(s, &s->slices[i]));
	}
	enum ht_status status = ht_slice_grow(s->ctx, t, &tree);
	note_slice(&tree, track, worker);
	ht_slice_done(&tree, s->ctx->mem);
	return status;
}

/* ---- slices ---- */

static enum ht_status do_slice(void *user, size_t i_task, int i_worker)
{
	struct tracks *s = user;
	uint32_t i_slice = s->order[i_task];
	struct slice *slice = &s->slices[i_slice];
	if (!slice->tree && s->first_slice[slice->track] != i_slice)
		return HT_OK; /* its first one is for the whole track */
	if (!slice->tree)
		return do_track(s, slice->track, &s->worker[i_worker]);
	HT_TRY(sort_slice(s, slice));
	slice->tree->rows = s->rows + slice->first;
	slice->tree->n = slice->n;
	slice->tree->roots =
	        s->first_slice[slice->track] == i_slice ? NULL : s->roots + slice->first;
	return ht_slice_grow(s->ctx, s->t, slice->tree);
}

/* The slices of each track in order. */
static enum ht_status join_track(void *user, size_t i_track, int i_worker)
{
	struct tracks *s = user;
	struct ht_track *track = HT_MUTABLE(struct ht_track, s->t->tracks) + i_track;
	struct ht_walk walk;
	enum ht_status status = HT_OK;
	ht_walk_init(&walk);
	for (uint32_t i = s->first_slice[i_track]; i < s->first_slice[i_track + 1]; i++) {
		struct ht_slice_tree *tree = s->slices[i].tree;
		if (!tree || status != HT_OK)
			break;
		status = ht_slice_join(s->ctx, s->t, tree, &walk);
		note_slice(tree, track, &s->worker[i_worker]);
	}
	ht_walk_done(&walk, s->ctx->mem);
	return status;
}

static enum ht_status link_slice(void *user, size_t i_slice, int i_worker)
{
	struct tracks *s = user;
	(void)i_worker;
	if (s->slices[i_slice].tree)
		ht_slice_link(s->t, s->slices[i_slice].tree);
	return HT_OK;
}

/* Give a tree to each slice of the tracks that were cut. Tracks with B and E rows are done in one go, as their pairs
 * are. */
static enum ht_status give_trees(struct tracks *s, struct ht_arena *arena)
{
	for (size_t i = 0; i < s->n_slices; i++) {
		uint32_t track = s->slices[i].track;
		if (s->first_slice[track + 1] - s->first_slice[track] == 1 ||
		        atomic_load_explicit(&s->has_begins[track], memory_order_relaxed))
			continue;
		s->slices[i].tree = ht_arena_alloc(arena, sizeof *s->slices[i].tree);
		if (!s->slices[i].tree)
			return ht_fail_nomem(s->ctx);
		s->n_trees++;
	}
	if (s->n_trees)
		s->roots = ht_arena_room(arena, (s->t->n_track_rows + 1) * sizeof *s->roots);
	return s->n_trees && !s->roots ? ht_fail_nomem(s->ctx) : HT_OK;
}

/* ---- all ---- */

/* The longest first, so that no thread is left with it at the end. */
static enum ht_status order_slices(struct tracks *s, struct ht_arena *arena)
{
	size_t n = s->n_slices;
	uint64_t *keys = ht_arena_alloc(arena, (n + 1) * sizeof *keys);
	s->order = ht_arena_alloc(arena, (n + 1) * sizeof *s->order);
	if (!keys || !s->order)
		return ht_fail_nomem(s->ctx);
	for (uint32_t i = 0; i < n; i++) {
		keys[i] = ~(uint64_t)s->slices[i].n;
		s->order[i] = i;
	}
	return ht_sort_keys(s->ctx->mem, keys, s->order, n) ? HT_OK : ht_fail_nomem(s->ctx);
}

static void join_workers(const struct tracks *s, size_t n_workers, struct ht_tally *tally)
{
	struct ht_trace_meta *meta = HT_MUTABLE(struct ht_trace_meta, s->t->meta_);
	meta->min_ts_ns = meta->max_end_ns = HT_NO_I64;
	for (size_t w = 0; w < n_workers; w++) {
		const struct worker *worker = &s->worker[w];
		for (int code = 0; code < HT_N_STATS; code++)
			ht_tally_add(tally, (enum ht_stat_code)code, worker->tally.count[code]);
		if (worker->min_ts_ns == HT_NO_I64)
			continue;
		if (meta->min_ts_ns == HT_NO_I64 || worker->min_ts_ns < meta->min_ts_ns)
			meta->min_ts_ns = worker->min_ts_ns;
		if (meta->max_end_ns == HT_NO_I64 || worker->max_end_ns > meta->max_end_ns)
			meta->max_end_ns = worker->max_end_ns;
	}
}

static enum ht_status do_slices(struct tracks *s)
{
	HT_TRY(ht_parallel(s->ctx, s->n_slices, do_slice, s));
	if (!s->n_trees)
		return HT_OK;
	HT_TRY(ht_parallel(s->ctx, s->t->n_tracks, join_track, s));
	return ht_parallel(s->ctx, s->n_slices, link_slice, s);
}

static enum ht_status seal(
        ht_ctx *ctx, struct ht_trace *t, struct ht_arena *arena, struct ht_tally *tally)
{
	struct tracks s = { .ctx = ctx, .t = t };
	size_t n_workers = (size_t)ht_ctx_jobs(ctx);
	s.worker = ht_arena_alloc(arena, n_workers * sizeof *s.worker);
	if (!s.worker)
		return ht_fail_nomem(ctx);
	for (size_t w = 0; w < n_workers; w++)
		s.worker[w].min_ts_ns = s.worker[w].max_end_ns = HT_NO_I64;
	HT_TRY(cut_tracks(&s, arena));
	HT_TRY(group(&s, arena));
	HT_TRY(order_slices(&s, arena));
	HT_TRY(give_trees(&s, arena));
	enum ht_status status = do_slices(&s);
	for (size_t i = 0; i < s.n_slices; i++)
		if (s.slices[i].tree)
			ht_slice_done(s.slices[i].tree, ctx->mem);
	HT_TRY(status);
	join_workers(&s, n_workers, tally);
	return HT_OK;
}

enum ht_status ht_seal_tracks(ht_ctx *ctx, struct ht_trace *t, struct ht_tally *tally)
{
	struct ht_arena arena;
	ht_arena_init(&arena, ctx->mem);
	enum ht_status status = seal(ctx, t, &arena, tally);
	ht_arena_done(&arena);
	return status;
}
