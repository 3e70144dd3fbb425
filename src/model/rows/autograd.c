/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autograd.c - see autograd.h.
 */
#include "model/rows/autograd.h"

#include "model/run_memo.h"
#include "base/sort.h"
#include "model/rows/row_ends.h"
#include "base/search.h"
#include "store/args.h"
#include "store/flow.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <stdlib.h>
#include <string.h>

const char *ht_autograd_link_name(enum ht_autograd_link link)
{
	static const char *const names[] = { NULL, "launch", "backward", "forward", "gpu" };
	return names[link];
}

struct build {
	struct ht_run *run;
	const struct ht_trace *t;
	struct ht_arena temporary; /* for what is not answered */
	uint8_t *backward;         /* by row */
	uint32_t *forward, *callers, *parent;
	uint32_t *
	        likely; /* by track: the caller of rows without a link; HT_NONE: no autograd thread */
	uint32_t step_track; /* HT_NONE unless there is exactly one */
};

static void *allocate(struct build *b, size_t n, size_t size)
{
	return ht_arena_alloc(&b->temporary, (n + 1) * size);
}

/* The same for what is written before it is read. */
static void *make_room(struct build *b, size_t n, size_t size)
{
	return ht_arena_room(&b->temporary, (n + 1) * size);
}

/* ---- backward rows and their forward operators ---- */

/* Mark rows by name; false when there are none. */
static bool mark_names(struct build *b)
{
	const struct ht_trace *t = b->t;
	static const char prefix[] = "autograd::engine::evaluate_function";
	size_t n_strings = t->n_string_offsets ? t->n_string_offsets - 1 : 0;
	uint8_t *names = allocate(b, n_strings, 1);
	bool any = false;
	for (uint32_t id = 0; names && id < n_strings; id++)
		any |= (names[id] = !strncmp(ht_str(t, id), prefix, sizeof prefix - 1));
	for (uint32_t row = 0; any && row < ht_n_events(t); row++)
		b->backward[row] = t->name[row] != HT_NO_STR && names[t->name[row]] &&
		                   t->kind[row] == HT_KIND_CPU_OP && ht_is_span(t, row);
	return any;
}

static bool mark_backward(struct build *b)
{
	const struct ht_trace *t = b->t;
	bool any = mark_names(b);
	struct ht_arg_cursor thread = ht_arg_cursor(t, "Fwd thread id");
	for (uint32_t row = 0; thread.n && row < ht_n_events(t); row++)
		if (t->kind[row] == HT_KIND_CPU_OP && ht_is_span(t, row) &&
		        ht_arg_cursor_i64(&thread, row, 0) != 0)
			b->backward[row] = any = true;
	return any;
}

/* Forward operators by sequence number, then start. */
struct sequences {
	uint64_t *numbers;
	uint32_t *rows;
	size_t n;
};

static enum ht_status index_sequences(struct build *b, const int64_t *numbers, struct sequences *s)
{
	const struct ht_trace *t = b->t;
	uint32_t n = ht_n_events(t);
	s->numbers = make_room(b, n, sizeof *s->numbers);
	s->rows = make_room(b, n, sizeof *s->rows);
	if (!s->numbers || !s->rows)
		return ht_fail_nomem(b->run->ctx);
	for (uint32_t row = 0; row < n; row++) {
		if (numbers[row] < 0 || b->backward[row] || t->kind[row] != HT_KIND_CPU_OP ||
		        !ht_is_span(t, row))
			continue;
		s->numbers[s->n] = ht_sort_key_i64(t->ts_ns[row]);
		s->rows[s->n++] = row;
	}
	bool ok = ht_sort_keys(b->run->ctx->mem, s->numbers, s->rows, s->n);
	for (size_t i = 0; i < s->n; i++)
		s->numbers[i] = (uint64_t)numbers[s->rows[i]];
	ok = ok && ht_sort_keys(b->run->ctx->mem, s->numbers, s->rows, s->n);
	return ok ? HT_OK : ht_fail_nomem(b->run->ctx);
}

/* The last of that number that starts before ts. */
static uint32_t last_before(
        const struct ht_trace *t, const struct sequences *s, uint64_t number, int64_t ts)
{
	size_t low = HT_LOWER_BOUND(at, s->n,
	        s->numbers[at] != number ? s->numbers[at] < number : t->ts_ns[s->rows[at]] < ts);
	return low && s->numbers[low - 1] == number ? s->rows[low - 1] : HT_NONE;
}

static void follow_flows(struct build *b)
{
	const struct ht_trace *t = b->t;
	uint32_t new_name = ht_str_find(t, "fwdbwd"), old_name = ht_str_find(t, "forward_backward");
	for (size_t i = 0; i < t->more->n_flows; i++) {
		const struct ht_flow *flow = &t->more->flows[i];
		bool is_ours =
		        flow->cat != HT_NO_STR && (flow->cat == new_name || flow->cat == old_name);
		if (is_ours && flow->from != HT_NONE && flow->to != HT_NONE &&
		        t->kind[flow->from] == HT_KIND_CPU_OP && b->backward[flow->to])
			b->forward[flow->to] = flow->from;
	}
}

static enum ht_status find_forward(struct build *b)
{
	const struct ht_trace *t = b->t;
	struct sequences s = { 0 };
	int64_t *numbers = NULL;
	HT_TRY(ht_arg_dense_i64(b->run->ctx, t, "Sequence number", -1, &b->temporary, &numbers));
	HT_TRY(index_sequences(b, numbers, &s));
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		b->forward[row] =
		        b->backward[row] && numbers[row] >= 0
		                ? last_before(t, &s, (uint64_t)numbers[row], t->ts_ns[row])
		                : HT_NONE;
	follow_flows(b);
	return HT_OK;
}

/* ---- threads ---- */

static void find_step_track(struct build *b)
{
	const struct ht_trace *t = b->t;
	b->step_track = HT_NONE;
	for (size_t i = 0; t->meta_->has_host_steps && i < t->n_steps; i++) {
		uint32_t track = t->track[t->steps[i].row];
		if (b->step_track != HT_NONE && b->step_track != track) {
			b->step_track = HT_NONE;
			return;
		}
		b->step_track = track;
	}
}

/* One track's backward rows: how many forward operators are on each other track. */
struct links {
	uint32_t n_own, n_other, n_backward;
};

static struct links count_links(const struct build *b, uint32_t track, uint32_t *n_from)
{
	const struct ht_trace *t = b->t;
	struct links links = { 0 };
	for (uint32_t i = 0; i < t->tracks[track].n; i++) {
		uint32_t row = t->track_rows[t->tracks[track].first + i];
		uint32_t from = b->forward[row];
		links.n_backward += b->backward[row];
		if (!b->backward[row] || from == HT_NONE)
			continue;
		*(t->track[from] == track ? &links.n_own : &links.n_other) += 1;
		if (n_from)
			n_from[t->track[from]]++;
	}
	return links;
}

/* The track most forward operators are on, autograd threads aside; counts are cleared again. */
static uint32_t most_linked(const struct build *b, uint32_t track, uint32_t *n_from)
{
	const struct ht_trace *t = b->t;
	uint32_t best = HT_NONE, most = 0;
	for (uint32_t i = 0; i < t->tracks[track].n; i++) {
		uint32_t row = t->track_rows[t->tracks[track].first + i];
		if (!b->backward[row] || b->forward[row] == HT_NONE)
			continue;
		uint32_t from = t->track[b->forward[row]];
		if (n_from[from] > most && b->likely[from] == HT_NONE) {
			best = from;
			most = n_from[from];
		}
		n_from[from] = 0;
	}
	return best;
}

static enum ht_status find_threads(struct build *b)
{
	const struct ht_trace *t = b->t;
	uint32_t *n_from = allocate(b, t->n_tracks, sizeof *n_from);
	if (!n_from)
		return ht_fail_nomem(b->run->ctx);
	uint8_t *has_steps = allocate(b, t->n_tracks, 1);
	if (!has_steps)
		return ht_fail_nomem(b->run->ctx);
	for (size_t i = 0; i < t->n_steps; i++)
		has_steps[t->track[t->steps[i].row]] = true;
	find_step_track(b);
	for (uint32_t k = 0; k < t->n_tracks; k++) {
		struct links links = count_links(b, k, NULL);
		bool autograd = links.n_backward && !has_steps[k] && links.n_own <= links.n_other;
		/* for now: itself, to tell autograd threads from others */
		b->likely[k] = autograd ? k : HT_NONE;
	}
	for (uint32_t k = 0; k < t->n_tracks; k++) {
		if (b->likely[k] == HT_NONE)
			continue;
		count_links(b, k, n_from);
		uint32_t caller = most_linked(b, k, n_from);
		caller = caller != HT_NONE ? caller : b->step_track;
		b->likely[k] = caller != HT_NONE ? caller : k;
	}
	return HT_OK;
}

/* ---- callers, and what is open on them ---- */

struct question {
	int64_t ts;
	uint32_t track; /* where to look */
	uint32_t row;   /* top-level row of an autograd thread */
};

static int compare_questions(const void *left, const void *right)
{
	const struct question *a = left, *b = right;
	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* The innermost span of one track that is open at each of the questions, which ascend by time. */
static void ask_track(struct build *b, const struct question *questions, size_t n,
        const int64_t *ends, uint32_t *stack)
{
	const struct ht_trace *t = b->t;
	const struct ht_track *track = &t->tracks[questions[0].track];
	size_t depth = 0, next = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t ts = questions[i].ts;
		for (; next < track->n; next++) {
			uint32_t row = t->track_rows[track->first + next];
			if (t->ts_ns[row] > ts)
				break;
			while (depth && ends[stack[depth - 1]] <= t->ts_ns[row])
				depth--;
			if (ht_is_span(t, row) && !ht_kind_is_device(t->kind[row]))
				stack[depth++] = row;
		}
		while (depth && ends[stack[depth - 1]] <= ts)
			depth--;
		if (depth)
			b->parent[questions[i].row] = stack[depth - 1];
	}
}

static enum ht_status ask(
        struct build *b, struct question *questions, size_t n, const int64_t *ends)
{
	uint32_t *stack = make_room(b, b->t->n_track_rows, sizeof *stack);
	if (!stack)
		return ht_fail_nomem(b->run->ctx);
	ht_sort_items(b->run->ctx->mem, questions, n, sizeof *questions, compare_questions);
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && questions[j].track == questions[i].track;)
			j++;
		ask_track(b, questions + i, j - i, ends, stack);
	}
	return HT_OK;
}

/* Links go down the tree; a top-level row asks who waited for it. */
static size_t choose_callers(struct build *b, struct question *questions)
{
	const struct ht_trace *t = b->t;
	size_t n = 0;
	for (size_t i = 0; i < t->n_track_rows; i++) {
		uint32_t row = t->track_rows[i], up = t->parent[row], track = t->track[row];
		if (up != HT_NONE && b->forward[row] == HT_NONE)
			b->forward[row] = b->forward[up];
		if (b->likely[track] == HT_NONE || !ht_is_span(t, row))
			continue;
		uint32_t from = b->forward[row] == HT_NONE ? HT_NONE : t->track[b->forward[row]];
		if (up != HT_NONE)
			b->callers[row] = b->callers[up];
		else if (from != HT_NONE && b->likely[from] == HT_NONE)
			b->callers[row] = from;
		else if (b->likely[track] != track)
			b->callers[row] = b->likely[track];
		if (up == HT_NONE && b->callers[row] != HT_NONE)
			questions[n++] = (struct question){ t->ts_ns[row], b->callers[row], row };
	}
	return n;
}

static enum ht_status find_callers(struct build *b)
{
	const struct ht_trace *t = b->t;
	struct question *questions = make_room(b, t->n_track_rows, sizeof *questions);
	const int64_t *ends = NULL;
	if (!questions)
		return ht_fail_nomem(b->run->ctx);
	HT_TRY(ht_ends_find(b->run, t, &ends));
	size_t n = choose_callers(b, questions), n_left = 0;
	HT_TRY(ask(b, questions, n, ends));
	/* where nothing is open: forward ran on a thread that is gone, the main thread waits */
	for (size_t i = 0; b->step_track != HT_NONE && i < n; i++)
		if (b->parent[questions[i].row] == HT_NONE && questions[i].track != b->step_track) {
			questions[n_left] = questions[i];
			questions[n_left++].track = b->step_track;
		}
	HT_TRY(ask(b, questions, n_left, ends));
	for (size_t i = 0; i < n_left; i++)
		if (b->parent[questions[i].row] != HT_NONE)
			b->callers[questions[i].row] = b->step_track;
	/* what is inside goes along; parents stand before their children */
	for (size_t i = 0; n_left && i < t->n_track_rows; i++) {
		uint32_t row = t->track_rows[i], up = t->parent[row];
		if (up != HT_NONE && b->likely[t->track[row]] != HT_NONE)
			b->callers[row] = b->callers[up];
	}
	return HT_OK;
}

static enum ht_status answer(struct build *b, struct ht_autograd *ret)
{
	size_t n = ht_n_events(b->t);
	b->backward = allocate(b, n, sizeof *b->backward);
	if (!b->backward)
		return ht_fail_nomem(b->run->ctx);
	if (!mark_backward(b))
		return HT_OK;
	struct ht_arena *scratch = b->run->scratch;
	b->forward = ht_arena_room(scratch, (n + 1) * sizeof *b->forward);
	b->callers = ht_arena_room(scratch, (n + 1) * sizeof *b->callers);
	b->parent = ht_arena_room(scratch, (n + 1) * sizeof *b->parent);
	b->likely = allocate(b, b->t->n_tracks, sizeof *b->likely);
	if (!b->forward || !b->callers || !b->parent || !b->likely)
		return ht_fail_nomem(b->run->ctx);
	memset(b->callers, 0xff, n * sizeof *b->callers);
	memcpy(b->parent, b->t->parent, n * sizeof *b->parent);
	HT_TRY(find_forward(b));
	HT_TRY(find_threads(b));
	HT_TRY(find_callers(b));
	*ret = (struct ht_autograd){
		.parent = b->parent, .callers = b->callers, .forward = b->forward
	};
	return HT_OK;
}

static enum ht_status make(struct ht_run *run, const void *of, void *ret_value)
{
	const struct ht_trace *t = of;
	struct ht_autograd *ret = ret_value;
	struct build b = { .run = run, .t = t };
	*ret = (struct ht_autograd){ .parent = t->parent };
	ht_arena_init_like(&b.temporary, run->scratch);
	enum ht_status status = answer(&b, ret);
	ht_arena_done(&b.temporary);
	return status;
}

enum ht_status ht_autograd_make(
        struct ht_run *run, const struct ht_trace *t, struct ht_autograd *ret)
{
	static const char kind;
	const struct ht_memoized how = { &kind, 0, make, sizeof *ret };
	return ht_run_memoize(run, &how, t, ret);
}
