/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_host.c - the annotations that are open where rows start; see annotate.h.
 *
 * Annotations may overlap without nesting, so they are swept, not walked: each track's annotations enter a
 * linked list when they start and leave it when they end, wherever in the list they are.
 *
 *   a  [-----------)        list at x: a b      innermost is what started last: b
 *   b      [-----------)         at y: b
 *             x      y
 *
 * Rows are asked for in time order. Between two changes of the list all have the same chain, which is made
 * once. O(n log n).
 */
#include "model/calls/annotate.h"
#include "store/columns.h"

#include "base/sort.h"
#include "model/device/launch.h"
#include "model/rows/row_ends.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

/* One row asks on one track. */
struct question {
	int64_t ts;
	uint32_t track;
	uint32_t n_before; /* annotations of the track that start before it, itself aside */
	uint32_t i;        /* which row */
};

/* The annotations that are open between two changes; spelled when first asked for. */
struct stack {
	struct ht_chain chain;
	const char *text; /* NULL: not yet */
};

struct sweep {
	struct ht_run *run;
	struct ht_arena temporary; /* for all but texts */
	const struct ht_trace *t;
	const int64_t *ends;
	uint32_t *list;            /* annotations of all tracks, in track order */
	uint32_t *first;           /* by track: where its annotations are in list; n_tracks + 1 */
	uint32_t *place;           /* by row: position in list */
	uint32_t *by_end;          /* positions in list, of each track by end */
	uint32_t *previous, *next; /* by position: the linked list of what is open */
	uint8_t *gone;             /* by position */
	uint32_t *asks;            /* by row asked for: the row that it asks as */
	struct question *questions;
	struct stack **own,
	        **waiting; /* by row asked for: on its thread, on its caller; NULL: none */
};

static bool is_annotation(const struct ht_trace *t, uint32_t row)
{
	return (t->kind[row] == HT_KIND_ANNOTATION || t->kind[row] == HT_KIND_GPU_ANNOTATION) &&
	       ht_is_span(t, row);
}

static enum ht_status list_annotations(struct sweep *s, bool with_steps)
{
	const struct ht_trace *t = s->t;
	struct ht_arena *arena = &s->temporary;
	size_t n = 0;
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		n += is_annotation(t, row);
	s->list = ht_arena_room(arena, (n + 1) * sizeof *s->list);
	s->by_end = ht_arena_room(arena, (n + 1) * sizeof *s->by_end);
	s->previous = ht_arena_room(arena, (n + 1) * sizeof *s->previous);
	s->next = ht_arena_room(arena, (n + 1) * sizeof *s->next);
	s->gone = ht_arena_alloc(arena, n + 1);
	s->first = ht_arena_alloc(arena, (t->n_tracks + 1) * sizeof *s->first);
	s->place = ht_arena_room(arena, ((size_t)ht_n_events(t) + 1) * sizeof *s->place);
	uint64_t *keys = ht_arena_room(arena, (n + 1) * sizeof *keys);
	if (!s->list || !s->by_end || !s->previous || !s->next || !s->gone || !s->first ||
	        !s->place || !keys)
		return ht_fail_nomem(s->run->ctx);
	uint32_t at = 0;
	for (size_t k = 0; k < t->n_tracks; k++) {
		s->first[k] = at;
		for (uint32_t i = 0; i < t->tracks[k].n; i++) {
			uint32_t row = t->track_rows[t->tracks[k].first + i];
			if (!is_annotation(t, row) ||
			        (!with_steps && ht_annotation_is_step(t, row)))
				continue;
			keys[at] = ht_sort_key_i64(s->ends[row]);
			s->by_end[at] = s->place[row] = at;
			s->list[at++] = row;
		}
		if (!ht_sort_keys(s->run->ctx->mem, keys + s->first[k], s->by_end + s->first[k],
		            at - s->first[k]))
			return ht_fail_nomem(s->run->ctx);
	}
	s->first[t->n_tracks] = at;
	return HT_OK;
}

/* How many annotations of the track have started at ts, likely as many as of the row before. */
static uint32_t n_started(const struct sweep *s, uint32_t track, int64_t ts, size_t *likely)
{
	const uint32_t *rows = s->list + s->first[track];
	size_t n = s->first[track + 1] - s->first[track];
	*likely = HT_LOWER_BOUND_NEAR(at, n, *likely, s->t->ts_ns[rows[at]] <= ts);
	return (uint32_t)*likely;
}

static int compare_questions(const void *left, const void *right)
{
	const struct question *a = left, *b = right;
	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	if (a->n_before != b->n_before)
		return a->n_before < b->n_before ? -1 : 1;
	return (a->i > b->i) - (a->i < b->i);
}

/* The ends of the list as a chain. last is the innermost position, HT_NONE when nothing is open. */
static struct stack *make_stack(struct sweep *s, uint32_t outermost, uint32_t last, uint32_t n)
{
	struct stack *stack = ht_arena_alloc(&s->temporary, sizeof *stack);
	if (!stack)
		return NULL;
	struct ht_chain *chain = &stack->chain;
	const uint32_t n_kept = 2 * HT_CHAIN_HALF;
	chain->n = n;
	uint32_t n_first = n <= n_kept ? n : HT_CHAIN_HALF;
	for (uint32_t i = 0; i < n_first; i++, outermost = s->next[outermost])
		chain->rows[i] = s->list[outermost];
	for (uint32_t i = 0; n > n_kept && i < HT_CHAIN_HALF; i++, last = s->previous[last])
		chain->rows[n_kept - 1 - i] = s->list[last];
	return stack;
}

/* The annotations of one track that are open, as a doubly linked list in order of start. */
struct opened {
	uint32_t outermost, last, n;
	struct stack *stack; /* NULL: changed since it was made */
};

static void enter(struct sweep *s, struct opened *o, uint32_t position)
{
	s->previous[position] = o->last;
	s->next[position] = HT_NONE;
	if (o->last == HT_NONE)
		o->outermost = position;
	else
		s->next[o->last] = position;
	o->last = position;
	o->n++;
	o->stack = NULL;
}

static void leave(struct sweep *s, struct opened *o, uint32_t position)
{
	uint32_t before = s->previous[position], after = s->next[position];
	*(before == HT_NONE ? &o->outermost : &s->next[before]) = after;
	*(after == HT_NONE ? &o->last : &s->previous[after]) = before;
	o->n--;
	o->stack = NULL;
}

static bool sweep_track(
        struct sweep *s, const struct question *questions, size_t n, struct stack **ret)
{
	uint32_t first = s->first[questions[0].track], end = s->first[questions[0].track + 1];
	uint32_t entered = first, left = first;
	struct opened o = { HT_NONE, HT_NONE, 0, NULL };
	for (uint32_t i = first; i < end; i++)
		s->gone[i] = false;
	for (size_t q = 0; q < n; q++) {
		for (; entered < first + questions[q].n_before; entered++)
			if (!s->gone[entered])
				enter(s, &o, entered);
		for (; left < end && s->ends[s->list[s->by_end[left]]] <= questions[q].ts; left++) {
			s->gone[s->by_end[left]] = true;
			if (s->by_end[left] < entered)
				leave(s, &o, s->by_end[left]);
		}
		if (o.n && !o.stack && !(o.stack = make_stack(s, o.outermost, o.last, o.n)))
			return false;
		ret[questions[q].i] = o.n ? o.stack : NULL;
	}
	return true;
}

static enum ht_status sweep_all(struct sweep *s, size_t n, struct stack **ret)
{
	ht_sort_items(s->run->ctx->mem, s->questions, n, sizeof *s->questions, compare_questions);
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && s->questions[j].track == s->questions[i].track;)
			j++;
		if (!sweep_track(s, s->questions + i, j - i, ret))
			return ht_fail_nomem(s->run->ctx);
	}
	return HT_OK;
}

/* Where a row asks: where it stands itself, or its launch. gpu_at: see ht_gpu_of_row_near. */
static uint32_t place_of(const struct ht_trace *t, uint32_t row, size_t *gpu_at)
{
	const struct ht_gpu *gpu = NULL;
	if (row != HT_NONE && ht_kind_is_gpu_work(t->kind[row]))
		gpu = ht_gpu_of_row_near(t, row, gpu_at);
	uint32_t place = gpu ? ht_host_place(t, gpu) : HT_NONE;
	return place != HT_NONE ? place : row;
}

static enum ht_status ask(
        struct sweep *s, const struct ht_autograd *autograd, size_t n_rows, bool with_steps)
{
	const struct ht_trace *t = s->t;
	for (int waiting = 0; waiting < 2; waiting++) {
		size_t n = 0, likely = 0;
		for (size_t i = 0; i < n_rows; i++) {
			uint32_t row = s->asks[i];
			if (row == HT_NONE || (t->flags[row] & HT_EV_NO_TS))
				continue;
			uint32_t track =
			        waiting ? ht_autograd_caller(autograd, row) : t->track[row];
			if (track == HT_NONE || s->first[track] == s->first[track + 1])
				continue;
			bool listed = !waiting && is_annotation(t, row) &&
			              (with_steps || !ht_annotation_is_step(t, row));
			uint32_t n_before = listed ? s->place[row] - s->first[track]
			                           : n_started(s, track, t->ts_ns[row], &likely);
			s->questions[n++] =
			        (struct question){ t->ts_ns[row], track, n_before, (uint32_t)i };
		}
		HT_TRY(sweep_all(s, n, waiting ? s->waiting : s->own));
	}
	return HT_OK;
}

/* The text of a stack by itself, made once. */
static const char *spell(const struct sweep *s, struct stack *stack)
{
	if (!stack->text)
		stack->text = ht_chain_text(s->run->scratch, s->t, &stack->chain, " / ");
	return stack->text;
}

static enum ht_status put_answers(const struct sweep *s, size_t n, struct ht_annotated *ret)
{
	const struct ht_trace *t = s->t;
	const struct stack *last_own = NULL, *last_waiting = NULL;
	const char *both = NULL; /* of the two last, one inside the other */
	for (size_t i = 0; i < n; i++) {
		struct stack *own = s->own[i], *waiting = s->waiting[i];
		ret[i] = (struct ht_annotated){ NULL, HT_NONE, HT_AUTOGRAD_LINK_NONE };
		if (!own && !waiting)
			continue;
		if (own && waiting && (own != last_own || waiting != last_waiting)) {
			struct ht_chain all = ht_chain_join(&waiting->chain, &own->chain);
			both = ht_chain_text(s->run->scratch, t, &all, " / ");
			last_own = own;
			last_waiting = waiting;
		}
		const char *text = own && waiting ? both : spell(s, own ? own : waiting);
		if (!text)
			return ht_fail_nomem(s->run->ctx);
		bool device = ht_kind_is_device(t->kind[s->asks[i]]);
		ret[i] = (struct ht_annotated){ text,
			ht_chain_last(own ? &own->chain : &waiting->chain),
			device ? HT_AUTOGRAD_LINK_GPU
			: own  ? HT_AUTOGRAD_LINK_LAUNCH
			       : HT_AUTOGRAD_LINK_BACKWARD };
	}
	return HT_OK;
}

static enum ht_status sweep_rows(struct sweep *s, const struct ht_autograd *autograd,
        const uint32_t *rows, size_t n, bool with_steps, struct ht_annotated *ret)
{
	HT_TRY(ht_ends_find(s->run, s->t, &s->ends));
	HT_TRY(list_annotations(s, with_steps));
	s->asks = ht_arena_room(&s->temporary, (n + 1) * sizeof *s->asks);
	s->questions = ht_arena_room(&s->temporary, (n + 1) * sizeof *s->questions);
	s->own = ht_arena_alloc(&s->temporary, (n + 1) * sizeof *s->own);
	s->waiting = ht_arena_alloc(&s->temporary, (n + 1) * sizeof *s->waiting);
	if (!s->asks || !s->questions || !s->own || !s->waiting)
		return ht_fail_nomem(s->run->ctx);
	for (size_t i = 0, gpu_at = 0; i < n; i++)
		s->asks[i] = place_of(s->t, rows[i], &gpu_at);
	HT_TRY(ask(s, autograd, n, with_steps));
	return put_answers(s, n, ret);
}

enum ht_status ht_annotate_rows(struct ht_run *run, const struct ht_trace *t,
        const struct ht_autograd *autograd, const uint32_t *rows, size_t n, bool with_steps,
        struct ht_annotated *ret)
{
	struct sweep s = { .run = run, .t = t };
	ht_arena_init_like(&s.temporary, run->scratch);
	enum ht_status status = sweep_rows(&s, autograd, rows, n, with_steps, ret);
	ht_arena_done(&s.temporary);
	return status;
}
