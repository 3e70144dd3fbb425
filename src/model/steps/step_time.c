/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_time.c - see step_time.h.
 *
 * Each thread's rows become pieces in time order: who is innermost, without what is inside of nothing. A window
 * then walks the pieces of its thread; what is left open is offered to the backward threads one by one.
 */
#include "model/steps/step_time.h"
#include "model/rows/selection.h"
#include "model/steps/step_roles.h"
#include "base/search.h"
#include "store/columns.h"
#include "store/trace_meta.h"

#include <stdlib.h>
#include <string.h>

/* ---- pieces ---- */

static void push_piece(struct ht_owned_times *pieces, int64_t start, int64_t end, uint32_t row)
{
	if (start < end)
		pieces->list[pieces->n++] = (struct ht_owned_time){ start, end, row };
}

/* A row that opens ends one piece, a row that closes another. */
static enum ht_status cut_track(
        const struct ht_step_time *time, uint32_t i_track, struct ht_owned_times *ret_pieces)
{
	const struct ht_trace *t = time->trace;
	const struct ht_track *track = &t->tracks[i_track];
	struct ht_arena *scratch = time->run->scratch;
	struct ht_owned_times pieces = { 0 };
	pieces.list = ht_arena_room(scratch, (2 * (size_t)track->n + 1) * sizeof *pieces.list);
	uint32_t *open = ht_arena_room(scratch, ((size_t)track->n + 1) * sizeof *open);
	size_t n_open = 0;
	int64_t at = INT64_MIN;
	if (!pieces.list || !open)
		return ht_fail_nomem(time->run->ctx);
	for (uint32_t i = 0; i <= track->n; i++) {
		uint32_t row = i < track->n ? t->track_rows[track->first + i] : HT_NONE;
		if (row != HT_NONE && !time->in_frame[row])
			continue;
		int64_t ts = row == HT_NONE ? INT64_MAX : t->ts_ns[row];
		while (n_open && ht_end_ns(t, open[n_open - 1]) <= ts) {
			int64_t end = ht_end_ns(t, open[--n_open]);
			push_piece(&pieces, at, end, open[n_open]);
			at = end > at ? end : at;
		}
		if (row == HT_NONE)
			break;
		if (n_open)
			push_piece(&pieces, at, ts, open[n_open - 1]);
		at = ts;
		open[n_open++] = row;
	}
	*ret_pieces = pieces;
	return HT_OK;
}

enum ht_status ht_own_time_add(struct ht_step_time *time, uint32_t track, int64_t *ns)
{
	struct ht_owned_times pieces = { 0 };
	HT_TRY(cut_track(time, track, &pieces));
	for (size_t i = 0; i < pieces.n; i++)
		ns[pieces.list[i].row] += pieces.list[i].end - pieces.list[i].start;
	return HT_OK;
}

/* ---- windows ---- */

static int by_start(const void *left, const void *right)
{
	const struct ht_window *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static int by_number(const void *left, const void *right)
{
	const struct ht_window *a = left, *b = right;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

/* Of several windows with one number the first stays; by start. */
static void sort_windows(struct ht_step_time *time)
{
	size_t n = 0;
	qsort(time->windows, time->n_windows, sizeof *time->windows, by_number);
	for (size_t i = 0; i < time->n_windows; i++)
		if (!n || time->windows[n - 1].number != time->windows[i].number)
			time->windows[n++] = time->windows[i];
	time->n_windows = n;
	qsort(time->windows, n, sizeof *time->windows, by_start);
}

/* The host thread whose outermost rows take the most time. */
static enum ht_status busiest_track(
        struct ht_run *run, const struct ht_frame *frame, uint32_t *ret_track)
{
	const struct ht_trace *t = frame->trace;
	int64_t *ns = ht_arena_alloc(run->scratch, (t->n_tracks + 1) * sizeof *ns);
	uint32_t best = HT_NONE;
	if (!ns)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < frame->n_rows; i++) {
		uint32_t row = frame->rows[i];
		if (!ht_kind_is_device(t->kind[row]) && t->parent[row] == HT_NONE)
			ns[t->track[row]] += t->dur_ns[row];
	}
	for (uint32_t i = 0; i < t->n_tracks; i++)
		if (ns[i] > 0 && (best == HT_NONE || ns[i] > ns[best]))
			best = i;
	*ret_track = best;
	return HT_OK;
}

static enum ht_status find_windows(
        struct ht_run *run, const struct ht_frame *frame, struct ht_step_time *time)
{
	const struct ht_trace *t = frame->trace;
	time->windows = ht_arena_alloc(run->scratch, (t->n_steps + 1) * sizeof *time->windows);
	if (!time->windows)
		return ht_fail_nomem(run->ctx);
	struct ht_selection chosen;
	HT_TRY(ht_selection_of(run, &chosen));
	if (chosen.is_whole) {
		struct ht_window all = { t->meta_->min_ts_ns, t->meta_->max_end_ns, HT_NO_I64,
			HT_NONE };
		struct ht_bounds bounds;
		HT_TRY(ht_bounds_make(run, &bounds));
		if (bounds.is_whole && bounds.n) {
			all.start = bounds.list[0].start;
			all.end = bounds.list[0].end;
		}
		if (all.start == HT_NO_I64)
			return HT_OK;
		HT_TRY(busiest_track(run, frame, &all.track));
		time->windows[time->n_windows++] = all;
		return HT_OK;
	}
	for (uint32_t i = 0; i < t->n_steps; i++) {
		const struct ht_step *step = &t->steps[i];
		bool on_host = !ht_kind_is_device(t->kind[step->row]);
		if (step->is_main && ht_selection_has(&chosen, i))
			time->windows[time->n_windows++] =
			        (struct ht_window){ step->ts_ns, step->end_ns, step->number,
				        on_host ? t->track[step->row] : HT_NONE };
	}
	sort_windows(time);
	return HT_OK;
}

/* ---- threads ---- */

/* Which thread waits for which: the first row that has a caller tells. */
static void find_callers(
        const struct ht_frame *frame, const struct ht_autograd *autograd, struct ht_step_time *time)
{
	const struct ht_trace *t = frame->trace;
	for (uint32_t k = 0; k < t->n_tracks; k++)
		time->caller[k] = HT_NONE;
	for (size_t i = 0; i < frame->n_rows && autograd->callers; i++) {
		uint32_t row = frame->rows[i], *caller = &time->caller[t->track[row]];
		if (*caller == HT_NONE)
			*caller = ht_autograd_caller(autograd, row);
	}
}

static enum ht_status find_threads(
        const struct ht_frame *frame, const struct ht_autograd *autograd, struct ht_step_time *time)
{
	const struct ht_trace *t = frame->trace;
	struct ht_arena *scratch = time->run->scratch;
	time->caller = ht_arena_alloc(scratch, (t->n_tracks + 1) * sizeof *time->caller);
	time->takes_part = ht_arena_alloc(scratch, t->n_tracks + 1);
	time->pieces = ht_arena_alloc(scratch, (t->n_tracks + 1) * sizeof *time->pieces);
	if (!time->caller || !time->takes_part || !time->pieces)
		return ht_fail_nomem(time->run->ctx);
	find_callers(frame, autograd, time);
	for (size_t i = 0; i < time->n_windows; i++) {
		uint32_t own = time->windows[i].track;
		if (own == HT_NONE || time->takes_part[own])
			continue;
		for (uint32_t k = 0; k < t->n_tracks; k++)
			time->takes_part[k] |= k == own || time->caller[k] == own;
	}
	for (uint32_t k = 0; k < t->n_tracks; k++)
		if (time->takes_part[k])
			HT_TRY(cut_track(time, k, &time->pieces[k]));
	return HT_OK;
}

/* Rows that own time: those of the host. That of Python functions is of what is around them, unless they are asked for. */
static const bool *mark_rows(struct ht_run *run, const struct ht_frame *frame, bool with_python)
{
	const struct ht_trace *t = frame->trace;
	bool *in = ht_arena_alloc(run->scratch, t->n_kind + 1);
	for (size_t i = 0; in && i < frame->n_rows; i++)
		in[frame->rows[i]] = !ht_kind_is_device(t->kind[frame->rows[i]]) &&
		                     (with_python || t->kind[frame->rows[i]] != HT_KIND_PYTHON);
	return in;
}

enum ht_status ht_step_time_init(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_autograd *autograd, bool with_python, struct ht_step_time *ret_time)
{
	*ret_time = (struct ht_step_time){ .run = run, .trace = frame->trace };
	ret_time->in_frame = mark_rows(run, frame, with_python);
	if (!ret_time->in_frame)
		return ht_fail_nomem(run->ctx);
	HT_TRY(find_windows(run, frame, ret_time));
	return find_threads(frame, autograd, ret_time);
}

void ht_step_time_done(struct ht_step_time *time)
{
	ht_vec_free(time->run->ctx->mem, &time->open, sizeof(struct ht_owned_time));
	ht_vec_free(time->run->ctx->mem, &time->left, sizeof(struct ht_owned_time));
}

/* ---- slices ---- */

/* One window on its way to slices. */
struct walk {
	struct ht_step_time *time;
	const struct ht_window *window;
	ht_slice_fn fn;
	void *user;
	bool ok;
};

/* The first piece that ends after a time. */
static size_t first_after(const struct ht_owned_times *pieces, int64_t time)
{
	return HT_LOWER_BOUND(at, pieces->n, pieces->list[at].end <= time);
}

static void give(struct walk *walk, int64_t start, int64_t end, uint32_t row)
{
	if (start < end && walk->ok)
		walk->ok = walk->fn(walk->user, row, end - start);
}

static void keep(struct walk *walk, struct ht_vec *vec, struct ht_owned_time piece)
{
	if (piece.start < piece.end && walk->ok)
		walk->ok = HT_VEC_PUSH(walk->time->run->ctx->mem, vec, struct ht_owned_time, piece);
}

/* Another thread may be what a thread waits for that is in no operator or call. */
static void give_or_keep(struct walk *walk, int64_t start, int64_t end, uint32_t row)
{
	uint8_t kind = row == HT_NONE ? HT_KIND_ANNOTATION : walk->time->trace->kind[row];
	if (kind == HT_KIND_ANNOTATION || kind == HT_KIND_PYTHON)
		keep(walk, &walk->time->open, (struct ht_owned_time){ start, end, row });
	else
		give(walk, start, end, row);
}

/* The window's own thread. */
static void walk_own(struct walk *walk)
{
	const struct ht_window *window = walk->window;
	struct ht_owned_times pieces = { 0 };
	if (window->track != HT_NONE)
		pieces = walk->time->pieces[window->track];
	int64_t at = window->start;
	for (size_t i = first_after(&pieces, at); i < pieces.n; i++) {
		const struct ht_owned_time *piece = &pieces.list[i];
		if (piece->start >= window->end)
			break;
		int64_t start = piece->start > at ? piece->start : at;
		int64_t end = piece->end < window->end ? piece->end : window->end;
		give_or_keep(walk, at, start, HT_NONE);
		give_or_keep(walk, start, end, piece->row);
		at = end;
	}
	give_or_keep(walk, at, window->end, HT_NONE);
}

/* Give what is open to the rows that another thread has open then. */
static void offer(struct walk *walk, const struct ht_owned_times *pieces)
{
	struct ht_step_time *time = walk->time;
	time->left.n = 0;
	for (size_t k = 0; k < time->open.n; k++) {
		struct ht_owned_time open = ((struct ht_owned_time *)time->open.data)[k];
		for (size_t i = first_after(pieces, open.start); i < pieces->n; i++) {
			const struct ht_owned_time *piece = &pieces->list[i];
			if (piece->start >= open.end)
				break;
			int64_t start = piece->start > open.start ? piece->start : open.start;
			int64_t end = piece->end < open.end ? piece->end : open.end;
			keep(walk, &time->left,
			        (struct ht_owned_time){ open.start, start, open.row });
			give(walk, start, end, piece->row);
			open.start = end;
		}
		keep(walk, &time->left, open);
	}
	struct ht_vec swap = time->open;
	time->open = time->left;
	time->left = swap;
}

enum ht_status ht_step_time_walk(
        struct ht_step_time *time, size_t i_window, ht_slice_fn fn, void *user)
{
	const struct ht_window *window = &time->windows[i_window];
	struct walk walk = { time, window, fn, user, true };
	time->open.n = 0;
	walk_own(&walk);
	for (uint32_t i = 0; i < time->trace->n_tracks && window->track != HT_NONE; i++)
		if (time->caller[i] == window->track && i != window->track)
			offer(&walk, &time->pieces[i]);
	for (size_t i = 0; i < time->open.n; i++) {
		struct ht_owned_time piece = ((struct ht_owned_time *)time->open.data)[i];
		give(&walk, piece.start, piece.end, piece.row);
	}
	return walk.ok ? HT_OK : ht_fail_nomem(time->run->ctx);
}
