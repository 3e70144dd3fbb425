/*
 * seal_tracks.c - rows of each track in time order, B/E pairs, and the call tree of host threads.
 *
 * Order: (ts, longer first, row). Tree: a span's parent is the innermost span of the same host thread that
 * is open when it starts. Ties: of two spans that start together the longer encloses;
 * a span that starts where another ends is its sibling, unless it has no length, then it is inside.
 *
 * A span that ends after the one it started in is counted, and one of the two gives way:
 *   it is cut     its parent stays and, for the tree, it ends with it: a Python frame that was never closed
 *                 is no way around the operators and annotations that it started in
 *   it moves out  records are opened by Python calls that return at once (__enter__), and annotations by
 *                 hand: a record does not end with a Python frame, nor an annotation with an annotation.
 *                 What it outlives is over for the tree, and it goes to what is around that.
 * So ends never rise up the stack of open spans, and the whole is linear.
 */
#include "store/seal.h"

#include "base/sort.h"
#include "base/thread.h"

#include <stdlib.h>
#include <string.h>

struct tracks {
	ht_ctx *ctx;
	struct ht_trace *t;
	uint32_t *rows;        /* the section track_rows */
	uint32_t *parent;      /* the section parent */
	uint64_t *keys;        /* sort keys, parallel to rows */
	uint32_t *order;       /* tracks, those with most rows first */
	struct worker *worker; /* one per thread */
	/* for grouping: rows of a track before a range, at first their number */
	uint32_t *placed;
	size_t n_ranges;
	atomic_bool *has_begins;        /* by track: some rows of it are B or E */
	const struct ht_beside *beside; /* other tasks */
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

/* ---- grouping ---- */

/* The i-th of n_ranges equal shares of the rows. */
static struct ht_range share(const struct tracks *s, size_t i)
{
	uint64_t n = ht_n_events(s->t);
	return (struct ht_range){ (uint32_t)(n * i / s->n_ranges),
		(uint32_t)(n * (i + 1) / s->n_ranges) };
}

static enum ht_status count_range(void *user, size_t i_range, int i_worker)
{
	struct tracks *s = user;
	const struct ht_trace *t = s->t;
	uint32_t *n = s->placed + i_range * t->n_tracks;
	struct ht_range range = share(s, i_range);
	(void)i_worker;
	for (uint32_t row = range.first; row < range.end; row++) {
		n[t->track[row]] += is_timed(t, row);
		if (t->ph[row] == 'B' || t->ph[row] == 'E')
			atomic_store_explicit(
			        &s->has_begins[t->track[row]], true, memory_order_relaxed);
	}
	memset(s->parent + range.first, 0xff, (range.end - range.first) * sizeof *s->parent);
	return HT_OK;
}

static enum ht_status place_range(void *user, size_t i_range, int i_worker)
{
	struct tracks *s = user;
	const struct ht_trace *t = s->t;
	uint32_t *at = s->placed + i_range * t->n_tracks;
	struct ht_range range = share(s, i_range);
	(void)i_worker;
	for (uint32_t row = range.first; row < range.end; row++) {
		if (!is_timed(t, row))
			continue;
		uint32_t place = at[t->track[row]]++;
		s->rows[place] = row;
		s->keys[place] = ht_sort_key_i64(t->ts_ns[row]);
	}
	return HT_OK;
}

/* From how many rows of each track a range has to where it puts them. Returns how many there are in all. */
static uint32_t place_tracks(struct tracks *s)
{
	struct ht_track *tracks = HT_MUTABLE(struct ht_track, s->t->tracks);
	uint32_t at = 0;
	for (size_t i = 0; i < s->t->n_tracks; i++) {
		tracks[i].first = at;
		for (size_t r = 0; r < s->n_ranges; r++) {
			uint32_t *placed = &s->placed[r * s->t->n_tracks + i], n = *placed;
			*placed = at;
			at += n;
		}
		tracks[i].n = at - tracks[i].first;
	}
	return at;
}

/* As many shares as keep all threads busy, but no more places than rows. */
static size_t choose_ranges(ht_ctx *ctx, const struct ht_trace *t)
{
	size_t n = ht_n_ranges(ht_n_events(t)), most = 4 * (size_t)ht_ctx_jobs(ctx);
	size_t fit = t->n_tracks ? ht_n_events(t) / t->n_tracks : 0;
	n = n < most ? n : most;
	n = n < fit ? n : fit;
	return n ? n : 1;
}

/* Group the rows by track, in row order. */
static enum ht_status group(struct tracks *s, struct ht_arena *arena)
{
	struct ht_trace *t = s->t;
	s->n_ranges = choose_ranges(s->ctx, t);
	s->parent = HT_SECTION_ALLOC(s->ctx, t, parent, uint32_t, ht_n_events(t));
	s->placed = ht_arena_alloc(arena, (s->n_ranges * t->n_tracks + 1) * sizeof *s->placed);
	s->has_begins = ht_arena_alloc(arena, (t->n_tracks + 1) * sizeof *s->has_begins);
	if (!s->parent || !s->placed || !s->has_begins)
		return ht_fail_nomem(s->ctx);
	HT_TRY(ht_parallel(s->ctx, s->n_ranges, count_range, s));
	uint32_t n = place_tracks(s);
	s->rows = HT_SECTION_ALLOC(s->ctx, t, track_rows, uint32_t, n);
	s->keys = ht_arena_alloc(arena, ((size_t)n + 1) * sizeof *s->keys);
	if (!s->rows || !s->keys)
		return ht_fail_nomem(s->ctx);
	return ht_parallel(s->ctx, s->n_ranges, place_range, s);
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

static bool sort_range(struct tracks *s, uint32_t first, uint32_t n)
{
	return ht_sort_keys(s->ctx->mem, s->keys + first, s->rows + first, n);
}

/* By time, which is in keys; rows that start together by length, longest first. The sort is stable, so rows come
 * last. */
static enum ht_status sort_track(struct tracks *s, const struct ht_track *track)
{
	const struct ht_trace *t = s->t;
	uint32_t first = track->first, end = first + track->n;
	if (!sort_range(s, first, track->n))
		return ht_fail_nomem(s->ctx);
	for (uint32_t i = first; i < end;) {
		uint32_t j = i + 1;
		while (j < end && s->keys[j] == s->keys[i])
			j++;
		if (j - i > 1) {
			for (uint32_t k = i; k < j; k++)
				s->keys[k] = ~ht_sort_key_i64(t->dur_ns[s->rows[k]]);
			if (!sort_range(s, i, j - i))
				return ht_fail_nomem(s->ctx);
		}
		i = j;
	}
	return HT_OK;
}

/* A span on the stack of open ones, and where it ends for the tree. */
struct open_span {
	int64_t end;
	uint32_t row;
};

/* Is the open span over when one of length dur starts at ts? */
static bool is_over(const struct ht_trace *t, const struct open_span *open, int64_t ts, int64_t dur)
{
	return open->end < ts || (open->end == ts && (dur > 0 || t->dur_ns[open->row] == 0));
}

/* The span a flow row stands on: one that starts with it, else the innermost around it. Kept in parent
 * until seal_flows has used it. Spans that are over are taken off the stack. */
static uint32_t bind_flow(const struct ht_trace *t, uint32_t row, uint32_t last,
        const struct open_span *stack, size_t *n)
{
	if (last != HT_NONE &&
	        (t->ts_ns[last] == t->ts_ns[row] || ht_kind_is_device(t->kind[last])))
		return ht_end_ns(t, last) >= t->ts_ns[row] ? last : HT_NONE;
	while (*n && stack[*n - 1].end < t->ts_ns[row])
		(*n)--;
	return *n ? stack[*n - 1].row : HT_NONE;
}

/* Does a span that outlives the one it started in move out of it, rather than being cut? */
static bool moves_out(const struct ht_trace *t, uint32_t row, uint32_t open)
{
	if (t->kind[row] == HT_KIND_PYTHON)
		return false;
	return t->kind[open] == HT_KIND_PYTHON ||
	       (t->kind[row] == HT_KIND_ANNOTATION && t->kind[open] == HT_KIND_ANNOTATION);
}

/* Link a span to the one around it and return where it ends for the tree. */
static int64_t enclose(struct tracks *s, uint32_t row, const struct open_span *stack, size_t *n,
        struct ht_tally *tally)
{
	const struct ht_trace *t = s->t;
	int64_t end = ht_end_ns(t, row);
	while (*n && is_over(t, &stack[*n - 1], t->ts_ns[row], t->dur_ns[row]))
		(*n)--;
	/* against its own end: what is inside a span that was cut is not another finding */
	bool outlives = *n && ht_end_ns(t, stack[*n - 1].row) < end;
	while (*n && stack[*n - 1].end < end && moves_out(t, row, stack[*n - 1].row))
		(*n)--;
	ht_tally_add(tally, HT_STAT_partial_overlap, outlives);
	s->parent[row] = *n ? stack[*n - 1].row : HT_NONE;
	if (!*n || stack[*n - 1].end >= end)
		return end;
	set_flag(&HT_MUTABLE(uint8_t, t->flags)[row], HT_EV_CUT);
	return stack[*n - 1].end;
}

/* Widen what the thread has seen by a row. */
static void note_span(const struct ht_trace *t, uint32_t row, struct worker *worker)
{
	if (t->flags[row] & HT_EV_BAD_TIME)
		return;
	int64_t ts = t->ts_ns[row], end = ht_end_ns(t, row);
	if (worker->min_ts_ns == HT_NO_I64 || ts < worker->min_ts_ns)
		worker->min_ts_ns = ts;
	if (worker->max_end_ns == HT_NO_I64 || end > worker->max_end_ns)
		worker->max_end_ns = end;
}

static enum ht_status build_tree(struct tracks *s, struct ht_track *track, struct worker *worker)
{
	const struct ht_trace *t = s->t;
	struct ht_vec open = { 0 };
	uint32_t last = HT_NONE;
	bool ok = true;
	for (uint32_t i = 0; ok && i < track->n; i++) {
		uint32_t row = s->rows[track->first + i];
		note_span(t, row, worker);
		if (!ht_is_span(t, row)) {
			if (t->kind[row] == HT_KIND_FLOW)
				s->parent[row] = bind_flow(t, row, last, open.data, &open.n);
			continue;
		}
		track->n_spans++;
		last = row;
		if (ht_kind_is_device(t->kind[row]))
			continue;
		struct open_span span = { enclose(s, row, open.data, &open.n, &worker->tally),
			row };
		ok = HT_VEC_PUSH(s->ctx->mem, &open, struct open_span, span);
	}
	ht_vec_free(s->ctx->mem, &open, sizeof(struct open_span));
	return ok ? HT_OK : ht_fail_nomem(s->ctx);
}

static enum ht_status do_track(struct tracks *s, uint32_t i_track, struct worker *worker)
{
	const struct ht_trace *t = s->t;
	struct ht_track *track = HT_MUTABLE(struct ht_track, t->tracks) + i_track;
	HT_TRY(sort_track(s, track));
	if (atomic_load_explicit(&s->has_begins[i_track], memory_order_relaxed)) {
		/* durations of B rows come from their E rows, and change the order of ties */
		HT_TRY(pair_begin_end(s, track, &worker->tally));
		for (uint32_t i = track->first; i < track->first + track->n; i++)
			s->keys[i] = ht_sort_key_i64(t->ts_ns[s->rows[i]]);
		HT_TRY(sort_track(s, track));
	}
	return build_tree(s, track, worker);
}

/* The longest track, what goes on beside, and the other tracks. */
static enum ht_status do_task(void *user, size_t i_task, int i_worker)
{
	struct tracks *s = user;
	size_t first = s->t->n_tracks > 0, n = s->beside->n;
	if (i_task >= first && i_task < first + n)
		return s->beside->fn(s->beside->user, i_task - first, i_worker);
	return do_track(s, s->order[i_task < first ? i_task : i_task - n], &s->worker[i_worker]);
}

/* ---- all ---- */

/* The longest first, so that no thread is left with it at the end. */
static enum ht_status order_tracks(struct tracks *s, struct ht_arena *arena)
{
	size_t n = s->t->n_tracks;
	uint64_t *keys = ht_arena_alloc(arena, (n + 1) * sizeof *keys);
	s->order = ht_arena_alloc(arena, (n + 1) * sizeof *s->order);
	if (!keys || !s->order)
		return ht_fail_nomem(s->ctx);
	for (uint32_t i = 0; i < n; i++) {
		keys[i] = ~(uint64_t)s->t->tracks[i].n;
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

static enum ht_status seal(ht_ctx *ctx, struct ht_trace *t, struct ht_arena *arena,
        struct ht_tally *tally, const struct ht_beside *beside)
{
	struct tracks s = { .ctx = ctx, .t = t, .beside = beside };
	size_t n_workers = (size_t)ht_ctx_jobs(ctx);
	s.worker = ht_arena_alloc(arena, n_workers * sizeof *s.worker);
	if (!s.worker)
		return ht_fail_nomem(ctx);
	for (size_t w = 0; w < n_workers; w++)
		s.worker[w].min_ts_ns = s.worker[w].max_end_ns = HT_NO_I64;
	HT_TRY(group(&s, arena));
	HT_TRY(order_tracks(&s, arena));
	HT_TRY(ht_parallel(ctx, t->n_tracks + beside->n, do_task, &s));
	join_workers(&s, n_workers, tally);
	return HT_OK;
}

enum ht_status ht_seal_tracks(
        ht_ctx *ctx, struct ht_trace *t, struct ht_tally *tally, const struct ht_beside *beside)
{
	struct ht_arena arena;
	ht_arena_init(&arena, ctx->mem);
	enum ht_status status = seal(ctx, t, &arena, tally, beside);
	ht_arena_done(&arena);
	return status;
}
