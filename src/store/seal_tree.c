/*
 * seal_tree.c - see seal_tree.h.
 *
 * A span's parent is the innermost span of the same host thread that is open when it starts. Ties: of two spans that
 * start together the longer encloses; a span that starts where another ends is its sibling, unless it has no length,
 * then it is inside.
 *
 * A span that ends after the one it started in is counted, and one of the two gives way:
 *   it is cut     its parent stays and, for the tree, it ends with it: a Python frame that was never closed
 *                 is no way around the operators and annotations that it started in
 *   it moves out  records are opened by Python calls that return at once (__enter__), and annotations by
 *                 hand: a record does not end with a Python frame, nor an annotation with an annotation.
 *                 What it outlives is over for the tree, and it goes to what is around that.
 * So ends never rise up the stack of open spans, and the whole is linear.
 *
 * Of a slice, roots that are inside what is open when it begins change nothing for each other, and neither do their
 * ends fall: a root starts when the one before is over, or moves out of it as it ends later. So those with one parent
 * follow each other, and where they stop is found by searching.
 */
#include "store/seal_tree.h"

#include "base/search.h"

/* A span on the stack of open ones, and where it ends for the tree. */
struct open_span {
	int64_t end;
	uint32_t row;
};

/* Roots up to end, from where the run before ended, have this parent. */
struct root_run {
	uint32_t end, parent;
};

void ht_walk_init(struct ht_walk *walk)
{
	*walk = (struct ht_walk){ .last = HT_NONE, .work_end_ns = INT64_MIN };
}

void ht_walk_done(struct ht_walk *walk, struct ht_mem *mem)
{
	ht_vec_free(mem, &walk->open, sizeof(struct open_span));
}

void ht_slice_done(struct ht_slice_tree *slice, struct ht_mem *mem)
{
	ht_walk_done(&slice->end, mem);
	ht_vec_free(mem, &slice->runs, sizeof(struct root_run));
}

/* The innermost open span, NULL when none is. */
static const struct open_span *innermost(const struct ht_walk *walk)
{
	return walk->open.n ? (const struct open_span *)walk->open.data + walk->open.n - 1 : NULL;
}

/* Is the open span over when one of length dur starts at ts? */
static bool is_over(const struct ht_trace *t, const struct open_span *open, int64_t ts, int64_t dur)
{
	return open->end < ts || (open->end == ts && (dur > 0 || t->dur_ns[open->row] == 0));
}

/* Take what is over off the stack; the same for a flow row, which is on a span up to its end. */
static const struct open_span *leave_spans(
        const struct ht_trace *t, struct ht_walk *walk, uint32_t row)
{
	const struct open_span *top;
	while ((top = innermost(walk)) && is_over(t, top, t->ts_ns[row], t->dur_ns[row]))
		walk->open.n--;
	return top;
}

static const struct open_span *leave_for_flow(
        const struct ht_trace *t, struct ht_walk *walk, uint32_t row)
{
	const struct open_span *top;
	while ((top = innermost(walk)) && top->end < t->ts_ns[row])
		walk->open.n--;
	return top;
}

/* The span a flow row stands on: one that starts with it, else the innermost around it. Kept in parent
 * until seal_flows has used it. */
static void bind_flow(const struct ht_trace *t, struct ht_slice_tree *slice, struct ht_walk *walk,
        uint32_t row, bool is_alone)
{
	uint32_t last = walk->last, *parent = &HT_MUTABLE(uint32_t, t->parent)[row];
	if (last != HT_NONE &&
	        (t->ts_ns[last] == t->ts_ns[row] || ht_kind_is_device(t->kind[last]))) {
		*parent = ht_end_ns(t, last) >= t->ts_ns[row] ? last : HT_NONE;
		return;
	}
	const struct open_span *top = leave_for_flow(t, walk, row);
	*parent = top ? top->row : HT_NONE;
	if (is_alone && !top) {
		slice->n_leading += last == HT_NONE;
		slice->roots[slice->n_roots++] = row;
	}
}

/* Does a span that outlives the one it started in move out of it, rather than being cut? */
static bool moves_out(const struct ht_trace *t, uint32_t row, uint32_t open)
{
	if (t->kind[row] == HT_KIND_PYTHON)
		return false;
	return t->kind[open] == HT_KIND_PYTHON ||
	       (t->kind[row] == HT_KIND_ANNOTATION && t->kind[open] == HT_KIND_ANNOTATION);
}

/* Tasks beside this one look at other flags of the row (ht_time_was_refused). */
static void set_cut(const struct ht_trace *t, uint32_t row)
{
	(void)__atomic_fetch_or(&HT_MUTABLE(uint8_t, t->flags)[row], HT_EV_CUT, __ATOMIC_RELAXED);
}

/* Link a span to the one around it and return where it ends for the tree. */
static int64_t enclose(
        const struct ht_trace *t, struct ht_slice_tree *slice, struct ht_walk *walk, uint32_t row)
{
	int64_t end = ht_end_ns(t, row);
	const struct open_span *top = leave_spans(t, walk, row);
	/* against its own end: what is inside a span that was cut is not another finding */
	slice->n_overlaps += top && ht_end_ns(t, top->row) < end;
	while (top && top->end < end && moves_out(t, row, top->row)) {
		walk->open.n--;
		top = innermost(walk);
	}
	HT_MUTABLE(uint32_t, t->parent)[row] = top ? top->row : HT_NONE;
	if (!top || top->end >= end)
		return end;
	set_cut(t, row);
	return top->end;
}

/* Widen what was seen by a row. */
static void note_time(const struct ht_trace *t, uint32_t row, struct ht_slice_tree *slice)
{
	if (t->flags[row] & HT_EV_BAD_TIME)
		return;
	int64_t ts = t->ts_ns[row], end = ht_end_ns(t, row);
	if (slice->min_ts_ns == HT_NO_I64 || ts < slice->min_ts_ns)
		slice->min_ts_ns = ts;
	if (slice->max_end_ns == HT_NO_I64 || end > slice->max_end_ns)
		slice->max_end_ns = end;
}

/* Work that begins before earlier work of its stream has ended is counted. */
static void note_work(
        const struct ht_trace *t, struct ht_slice_tree *slice, struct ht_walk *walk, uint32_t row)
{
	int64_t end = ht_end_ns(t, row);
	slice->n_work++;
	slice->n_work_overlaps += t->ts_ns[row] < walk->work_end_ns;
	walk->work_end_ns = end > walk->work_end_ns ? end : walk->work_end_ns;
}

/* Down the rows of a slice. Alone: what is open before it is not known. */
static enum ht_status walk_down(ht_ctx *ctx, const struct ht_trace *t, struct ht_slice_tree *slice,
        struct ht_walk *walk, bool is_alone)
{
	slice->n_roots = slice->n_leading = 0;
	slice->n_spans = slice->n_overlaps = slice->n_work = slice->n_work_overlaps = 0;
	slice->min_ts_ns = slice->max_end_ns = HT_NO_I64;
	for (uint32_t i = 0; i < slice->n; i++) {
		uint32_t row = slice->rows[i];
		note_time(t, row, slice);
		if (!ht_is_span(t, row)) {
			if (t->kind[row] == HT_KIND_FLOW)
				bind_flow(t, slice, walk, row, is_alone);
			continue;
		}
		slice->n_spans++;
		walk->last = row;
		if (ht_kind_is_gpu_work(t->kind[row]))
			note_work(t, slice, walk, row);
		if (ht_kind_is_device(t->kind[row]))
			continue;
		struct open_span span = { enclose(t, slice, walk, row), row };
		if (is_alone && !walk->open.n)
			slice->roots[slice->n_roots++] = row;
		if (!HT_VEC_PUSH(ctx->mem, &walk->open, struct open_span, span))
			return ht_fail_nomem(ctx);
	}
	return HT_OK;
}

enum ht_status ht_slice_grow(ht_ctx *ctx, struct ht_trace *t, struct ht_slice_tree *slice)
{
	ht_walk_init(&slice->end);
	return walk_down(ctx, t, slice, &slice->end, slice->roots != NULL);
}

/* ---- joining ---- */

/* Again, with what is open before it. */
static enum ht_status grow_again(
        ht_ctx *ctx, struct ht_trace *t, struct ht_slice_tree *slice, struct ht_walk *walk)
{
	for (uint32_t i = 0; i < slice->n; i++)
		(void)__atomic_fetch_and(&HT_MUTABLE(uint8_t, t->flags)[slice->rows[i]],
		        (uint8_t)~HT_EV_CUT, __ATOMIC_RELAXED);
	slice->runs.n = 0;
	return walk_down(ctx, t, slice, walk, false);
}

/* Work that begins before the work of slices before has ended, as far as the slice did not count it. */
static void join_work(
        const struct ht_trace *t, struct ht_slice_tree *slice, const struct ht_walk *walk)
{
	int64_t end = INT64_MIN;
	if (slice->n_work && t->ts_ns[slice->rows[slice->n - 1]] < walk->work_end_ns) {
		slice->n_work_overlaps = slice->n_work;
		return;
	}
	for (uint32_t i = 0; slice->n_work && i < slice->n && end < walk->work_end_ns; i++) {
		uint32_t row = slice->rows[i];
		if (t->ts_ns[row] >= walk->work_end_ns)
			break;
		if (!ht_is_span(t, row) || !ht_kind_is_gpu_work(t->kind[row]))
			continue;
		slice->n_work_overlaps += t->ts_ns[row] >= end;
		end = ht_end_ns(t, row) > end ? ht_end_ns(t, row) : end;
	}
}

/* Is a root inside what ends there, without a doubt? */
static bool is_inside(const struct ht_trace *t, uint32_t row, int64_t end)
{
	return t->ts_ns[row] < end && (!ht_is_span(t, row) || ht_end_ns(t, row) <= end);
}

/* Find the parents of the roots from i on. False when one of them outlives what it started in. */
static bool join_roots(ht_ctx *ctx, const struct ht_trace *t, struct ht_slice_tree *slice,
        struct ht_walk *walk, enum ht_status *ret_status)
{
	uint32_t n = slice->n_roots;
	for (uint32_t i = slice->n_leading; i < n;) {
		uint32_t row = (uint32_t)slice->roots[i];
		bool is_span = ht_is_span(t, row);
		const struct open_span *top =
		        is_span ? leave_spans(t, walk, row) : leave_for_flow(t, walk, row);
		if (!top)
			return true; /* nor has any of the rest a parent */
		if (is_span && top->end < ht_end_ns(t, row))
			return false;
		const uint64_t *next = slice->roots + ++i;
		i += (uint32_t)HT_LOWER_BOUND(
		        at, n - i, is_inside(t, (uint32_t)next[at], top->end));
		struct root_run run = { i, top->row };
		if (!HT_VEC_PUSH(ctx->mem, &slice->runs, struct root_run, run)) {
			*ret_status = ht_fail_nomem(ctx);
			return true;
		}
	}
	return true;
}

enum ht_status ht_slice_join(
        ht_ctx *ctx, struct ht_trace *t, struct ht_slice_tree *slice, struct ht_walk *walk)
{
	const struct open_span *opened = slice->end.open.data;
	size_t n_open = walk->open.n;
	enum ht_status status = HT_OK;
	for (uint32_t i = 0; i < slice->n_leading; i++)
		bind_flow(t, slice, walk, (uint32_t)slice->roots[i], false);
	if (!join_roots(ctx, t, slice, walk, &status)) {
		walk->open.n = n_open; /* nothing was opened since */
		return grow_again(ctx, t, slice, walk);
	}
	HT_TRY(status);
	join_work(t, slice, walk);
	for (size_t i = 0; i < slice->end.open.n; i++)
		if (!HT_VEC_PUSH(ctx->mem, &walk->open, struct open_span, opened[i]))
			return ht_fail_nomem(ctx);
	if (slice->end.last != HT_NONE)
		walk->last = slice->end.last;
	if (slice->end.work_end_ns > walk->work_end_ns)
		walk->work_end_ns = slice->end.work_end_ns;
	return HT_OK;
}

void ht_slice_link(struct ht_trace *t, const struct ht_slice_tree *slice)
{
	const struct root_run *runs = slice->runs.data;
	uint32_t i = slice->n_leading;
	for (size_t r = 0; r < slice->runs.n; r++)
		for (; i < runs[r].end; i++)
			HT_MUTABLE(uint32_t, t->parent)[slice->roots[i]] = runs[r].parent;
}
