/* SPDX-License-Identifier: Apache-2.0 */
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
 * The ends of a slice's roots do not fall: a root starts when the one before is over, or moves out of it as it ends
 * later. So those with one parent follow each other, and where they stop is found by searching. All that is inside a
 * root is right, unless the root is cut. Then it is walked again, up to a root at whose start nothing of the
 * slice is open. That happens wherever a record ends: the Python frame that ends it outlives it.
 */
#include "store/seal_tree.h"

#include "base/search.h"

/* A span on the stack of open ones, and where it ends for the tree. */
struct open_span {
	int64_t end;
	uint32_t row;
	bool is_older; /* it started before the slice */
};

/* Roots up to end, from where the run before ended, have this parent; HT_NONE: they have theirs already. */
struct root_run {
	uint32_t end, parent;
};

/* A root is its place in the slice's rows, and whether it moved out of another: then what it outlives is known. */
#define MOVED_ROOT ((uint64_t)1 << 63)

static uint32_t root_place(const struct ht_slice_tree *slice, uint32_t i)
{
	return (uint32_t)slice->roots[i];
}

static uint32_t root_at(const struct ht_slice_tree *slice, uint32_t i)
{
	return slice->rows[root_place(slice, i)];
}

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
        uint32_t i, bool is_alone)
{
	uint32_t row = slice->rows[i], last = walk->last,
	         *parent = &HT_MUTABLE(uint32_t, t->parent)[row];
	if (last != HT_NONE &&
	        (t->ts_ns[last] == t->ts_ns[row] || ht_kind_is_device(t->kind[last]))) {
		*parent = ht_end_ns(t, last) >= t->ts_ns[row] ? last : HT_NONE;
		return;
	}
	const struct open_span *top = leave_for_flow(t, walk, row);
	*parent = top ? top->row : HT_NONE;
	if (is_alone && !top) {
		slice->n_leading += last == HT_NONE;
		slice->roots[slice->n_roots++] = i;
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

/* Link a span to the one around it and return where it ends for the tree. What is over was left. */
static int64_t enclose(const struct ht_trace *t, struct ht_walk *walk, uint32_t row)
{
	int64_t end = ht_end_ns(t, row);
	const struct open_span *top = innermost(walk);
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

/* Does a span outlive the one it starts in? Against that one's own end: what is inside a span that was cut is not
 * another finding. */
static bool outlives(const struct ht_trace *t, uint32_t row, const struct open_span *top)
{
	return top && ht_end_ns(t, top->row) < ht_end_ns(t, row);
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

/* Down the rows [first, end) of a slice. Alone: what is open before it is not known. */
static enum ht_status walk_down(ht_ctx *ctx, const struct ht_trace *t, struct ht_slice_tree *slice,
        struct ht_walk *walk, struct ht_range range, bool is_alone)
{
	for (uint32_t i = range.first; i < range.end; i++) {
		uint32_t row = slice->rows[i];
		note_time(t, row, slice);
		if (!ht_is_span(t, row)) {
			if (t->kind[row] == HT_KIND_FLOW)
				bind_flow(t, slice, walk, i, is_alone);
			continue;
		}
		slice->n_spans++;
		walk->last = row;
		if (ht_kind_is_gpu_work(t->kind[row]))
			note_work(t, slice, walk, row);
		if (ht_kind_is_device(t->kind[row]))
			continue;
		const struct open_span *top = leave_spans(t, walk, row);
		slice->n_overlaps += outlives(t, row, top);
		struct open_span span = { .end = enclose(t, walk, row), .row = row };
		if (is_alone && !walk->open.n)
			slice->roots[slice->n_roots++] = i | (top ? MOVED_ROOT : 0);
		if (!HT_VEC_PUSH(ctx->mem, &walk->open, struct open_span, span))
			return ht_fail_nomem(ctx);
	}
	return HT_OK;
}

enum ht_status ht_slice_grow(ht_ctx *ctx, struct ht_trace *t, struct ht_slice_tree *slice)
{
	struct ht_range all = { 0, slice->n };
	ht_walk_init(&slice->end);
	slice->min_ts_ns = slice->max_end_ns = HT_NO_I64;
	return walk_down(ctx, t, slice, &slice->end, all, slice->roots != NULL);
}

/* ---- joining ---- */

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

struct joining {
	ht_ctx *ctx;
	const struct ht_trace *t;
	struct ht_slice_tree *slice;
	struct ht_walk *walk;       /* with all that is open */
	struct ht_slice_tree again; /* what is seen on a second walk, */
	struct ht_slice_tree alone; /* and was on the first, which is repeated for it */
	bool at_end;                /* the second walk went to the end of the slice */
};

/* Roots up to end have this parent. */
static enum ht_status push_run(struct joining *j, uint32_t end, uint32_t parent)
{
	struct root_run run = { end, parent };
	return HT_VEC_PUSH(j->ctx->mem, &j->slice->runs, struct root_run, run)
	               ? HT_OK
	               : ht_fail_nomem(j->ctx);
}

static const struct open_span *leave_for_root(struct joining *j, uint32_t i)
{
	uint32_t row = root_at(j->slice, i);
	return ht_is_span(j->t, row) ? leave_spans(j->t, j->walk, row)
	                             : leave_for_flow(j->t, j->walk, row);
}

/* Walk rows again: as on the first walk, to know what was counted, and with all that is open. */
static enum ht_status walk_again(struct joining *j, struct ht_range range)
{
	const uint32_t *rows = j->slice->rows;
	uint8_t *flags = HT_MUTABLE(uint8_t, j->t->flags);
	HT_TRY(walk_down(j->ctx, j->t, &j->alone, &j->alone.end, range, false));
	/* only where it is: others look at the flags of flow rows meanwhile */
	for (uint32_t i = range.first; i < range.end; i++)
		if (flags[rows[i]] & HT_EV_CUT)
			(void)__atomic_fetch_and(
			        &flags[rows[i]], (uint8_t)~HT_EV_CUT, __ATOMIC_RELAXED);
	return walk_down(j->ctx, j->t, &j->again, j->walk, range, false);
}

/* A root was cut, and ends there: what follows is walked again, up to a root at whose start nothing of the slice is
 * open. Returns in *i which one that is. */
static enum ht_status redo(struct joining *j, uint32_t *i, int64_t end)
{
	struct ht_mem *mem = j->ctx->mem;
	uint32_t row = root_at(j->slice, *i), n = j->slice->n_roots;
	struct ht_range range = { root_place(j->slice, *i) + 1, 0 };
	struct open_span cut = { .end = end, .row = row };
	struct open_span whole = { .end = ht_end_ns(j->t, row), .row = row };
	j->again.n_overlaps = j->alone.n_overlaps = 0;
	j->alone.end.open.n = 0;
	j->alone.end.last = j->walk->last = row;
	if (!HT_VEC_PUSH(mem, &j->walk->open, struct open_span, cut) ||
	        !HT_VEC_PUSH(mem, &j->alone.end.open, struct open_span, whole))
		return ht_fail_nomem(j->ctx);
	bool is_done = false;
	while (!is_done) {
		++*i;
		range.end = *i < n ? root_place(j->slice, *i) : j->slice->n;
		HT_TRY(walk_again(j, range));
		range.first = range.end;
		is_done = *i == n;
		if (!is_done && !(j->slice->roots[*i] & MOVED_ROOT)) {
			const struct open_span *top = leave_for_root(j, *i);
			is_done = !top || top->is_older;
		}
	}
	j->at_end = *i == n;
	j->slice->n_overlaps += j->again.n_overlaps - j->alone.n_overlaps;
	return HT_OK;
}

/* The i-th root ends after what it started in: it moves out of that, or is cut. */
static enum ht_status join_overlap(struct joining *j, uint32_t *i, const struct open_span *top)
{
	uint32_t row = root_at(j->slice, *i);
	if (!(j->slice->roots[*i] & MOVED_ROOT))
		j->slice->n_overlaps += outlives(j->t, row, top);
	int64_t end = enclose(j->t, j->walk, row);
	if (end == ht_end_ns(j->t, row))
		++*i;
	else
		HT_TRY(redo(j, i, end));
	return push_run(j, *i, HT_NONE);
}

/* Find the parents of the roots. */
static enum ht_status join_roots(struct joining *j)
{
	const struct ht_trace *t = j->t;
	uint32_t n = j->slice->n_roots;
	for (uint32_t i = j->slice->n_leading; i < n;) {
		const struct open_span *top = leave_for_root(j, i);
		uint32_t row = root_at(j->slice, i);
		if (!top)
			break; /* nor has any of the rest a parent */
		if (ht_is_span(t, row) && top->end < ht_end_ns(t, row)) {
			HT_TRY(join_overlap(j, &i, top));
			continue;
		}
		uint32_t next = i + 1;
		i = next + (uint32_t)HT_LOWER_BOUND(at, n - next,
		                   is_inside(t, root_at(j->slice, next + (uint32_t)at), top->end));
		HT_TRY(push_run(j, i, top->row));
	}
	return HT_OK;
}

/* What the slice left open is open, unless its end was walked again. */
static enum ht_status join_open(struct joining *j)
{
	struct ht_vec *open = &j->walk->open;
	const struct open_span *left = j->slice->end.open.data;
	size_t n = j->at_end ? 0 : j->slice->end.open.n;
	if (!ht_vec_reserve(j->ctx->mem, open, sizeof *left, n))
		return ht_fail_nomem(j->ctx);
	struct open_span *all = open->data;
	for (size_t i = 0; i < n; i++)
		all[open->n++] = left[i];
	for (size_t i = open->n; i-- > 0 && !all[i].is_older;)
		all[i].is_older = true;
	return HT_OK;
}

enum ht_status ht_slice_join(
        ht_ctx *ctx, struct ht_trace *t, struct ht_slice_tree *slice, struct ht_walk *walk)
{
	struct joining j = { .ctx = ctx, .t = t, .slice = slice, .walk = walk };
	j.again.rows = j.alone.rows = slice->rows;
	ht_walk_init(&j.alone.end);
	join_work(t, slice, walk);
	for (uint32_t i = 0; i < slice->n_leading; i++)
		bind_flow(t, slice, walk, root_place(slice, i), false);
	enum ht_status status = join_roots(&j);
	ht_slice_done(&j.alone, ctx->mem);
	HT_TRY(status);
	HT_TRY(join_open(&j));
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
			if (runs[r].parent != HT_NONE)
				HT_MUTABLE(uint32_t, t->parent)[root_at(slice, i)] = runs[r].parent;
}
