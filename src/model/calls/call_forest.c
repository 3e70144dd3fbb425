/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_forest.c - see call_forest.h. Which launch device work belongs to: call_match.c.
 *
 * The sums of all rows of a thread are found together: rows and launches in the order of their ends, launches entering
 * a tree of sums by their start (Fenwick's), so that each row asks for "started in mine, ended by now" in log n, however
 * events overlap.
 */
#include "model/calls/call_forest.h"

#include "base/checked.h"
#include "base/search.h"
#include "base/sort.h"
#include "model/calls/call_match.h"
#include "model/numbers/interval.h"
#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

#define WHOLE_US 1000

/* ---- rows ---- */

struct thread {
	int64_t first_ts;
	uint32_t track;
};

static int compare_thread(const void *left, const void *right)
{
	const struct thread *a = left, *b = right;
	if (a->first_ts != b->first_ts)
		return a->first_ts < b->first_ts ? -1 : 1;
	return (a->track > b->track) - (a->track < b->track);
}

static bool is_monitored(const struct ht_match *m, uint32_t row)
{
	static const char prefix[] = "nn.Module";
	const struct ht_trace *t = m->t;
	return m->monitor[row] && (!m->options->modules_only || !strncmp(ht_str(t, t->name[row]),
	                                                                prefix, sizeof prefix - 1));
}

/* Threads with monitored events, by the start of their first. */
static enum ht_status list_threads(
        const struct ht_match *m, struct thread **ret_threads, size_t *ret_n, size_t *ret_n_rows)
{
	const struct ht_trace *t = m->t;
	size_t n = 0, n_rows = 0;
	struct thread *threads =
	        ht_arena_alloc(m->run->scratch, (t->n_tracks + 1) * sizeof *threads);
	if (!threads)
		return ht_fail_nomem(m->run->ctx);
	for (uint32_t k = 0; k < t->n_tracks; k++) {
		size_t before = n_rows;
		for (uint32_t i = 0; i < t->tracks[k].n; i++) {
			uint32_t row = t->track_rows[t->tracks[k].first + i];
			if (!is_monitored(m, row))
				continue;
			if (n_rows++ == before)
				threads[n++] = (struct thread){ t->ts_ns[row], k };
		}
	}
	qsort(threads, n, sizeof *threads, compare_thread);
	*ret_threads = threads;
	*ret_n = n;
	*ret_n_rows = n_rows;
	return HT_OK;
}

/* Does an open event contain one that starts later? */
static bool contains(const struct ht_forest *f, uint32_t outer, uint32_t inner)
{
	const struct ht_trace *t = f->trace;
	int64_t end = ht_end_ns(t, outer), inner_end = ht_end_ns(t, inner);
	return inner_end <= end ||
	       (t->ts_ns[inner] < end && inner_end <= ht_add_sat(end, f->slack_ns));
}

/* Append the rows of one thread. What does not contain a later event contains no other after it either. */
static void add_thread(
        const struct ht_match *m, uint32_t track, uint32_t *stack, struct ht_forest *f)
{
	const struct ht_trace *t = m->t;
	size_t n_open = 0;
	for (uint32_t i = 0; i < t->tracks[track].n; i++) {
		uint32_t row = t->track_rows[t->tracks[track].first + i];
		if (!is_monitored(m, row))
			continue;
		while (n_open && !contains(f, f->rows[stack[n_open - 1]].row, row)) {
			struct ht_forest_row *over = &f->rows[stack[--n_open]];
			over->later_touches = t->dur_ns[over->row] > 0 &&
			                      ht_end_ns(t, over->row) == t->ts_ns[row];
		}
		uint32_t up = n_open ? stack[n_open - 1] : HT_NONE;
		f->rows[f->n_rows] = (struct ht_forest_row){ .row = row,
			.parent = up,
			.depth = (uint32_t)n_open + 1,
			.head = n_open < HT_FOREST_HALF ? (uint32_t)f->n_rows : f->rows[up].head };
		stack[n_open++] = (uint32_t)f->n_rows++;
		if (n_open > f->deepest)
			f->deepest = (uint32_t)n_open;
	}
}

static enum ht_status add_rows(const struct ht_match *m, struct ht_forest *f)
{
	struct thread *threads = NULL;
	size_t n_threads = 0, n_rows = 0;
	HT_TRY(list_threads(m, &threads, &n_threads, &n_rows));
	f->rows = ht_arena_alloc(m->run->scratch, (n_rows + 1) * sizeof *f->rows);
	uint32_t *stack = ht_arena_alloc(m->run->scratch, (n_rows + 1) * sizeof *stack);
	if (!f->rows || !stack)
		return ht_fail_nomem(m->run->ctx);
	for (size_t i = 0; i < n_threads; i++)
		add_thread(m, threads[i].track, stack, f);
	return HT_OK;
}

/* Files of old profilers have whole microseconds only, where ends are off by up to one. */
static int64_t slack_of(const struct ht_frame *frame)
{
	const struct ht_trace *t = frame->trace;
	for (size_t i = 0; i < frame->n_rows; i++)
		if (t->ts_ns[frame->rows[i]] % WHOLE_US || t->dur_ns[frame->rows[i]] % WHOLE_US)
			return 0;
	return WHOLE_US;
}

/* ---- sums ---- */

struct sums {
	__int128 device_ns, launch_ns;
	uint64_t n_works;
};

/* Sums over the first so many launches of a slice, as a Fenwick tree. */
struct tree {
	struct sums *nodes;
	size_t n;
};

static void tree_add(struct tree *tree, size_t at, const struct ht_forest_launch *launch)
{
	for (size_t i = at + 1; i <= tree->n; i += i & (~i + 1)) {
		tree->nodes[i].device_ns += launch->device_ns;
		tree->nodes[i].launch_ns += launch->own_ns;
		tree->nodes[i].n_works += launch->n_works;
	}
}

static struct sums tree_sum(const struct tree *tree, size_t n)
{
	struct sums sum = { 0, 0, 0 };
	for (size_t i = n; i; i -= i & (~i + 1)) {
		sum.device_ns += tree->nodes[i].device_ns;
		sum.launch_ns += tree->nodes[i].launch_ns;
		sum.n_works += tree->nodes[i].n_works;
	}
	return sum;
}

static int64_t narrow(__int128 value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

struct ender {
	int64_t end;
	size_t i; /* of a row, or of a launch in its slice */
};

static int compare_end(const void *left, const void *right)
{
	const struct ender *a = left, *b = right;
	return (a->end > b->end) - (a->end < b->end);
}

/* First launch of a slice that starts at a time or later. */
static size_t first_from(const struct ht_forest *f, struct ht_forest_slice slice, int64_t time)
{
	const struct ht_forest_launch *list = f->launches + slice.first;
	return HT_LOWER_BOUND(at, slice.n, list[at].start < time);
}

/* Launches without length at the end of a row, unless a sibling that starts there has them; zero has the sums of such
 * launches before each of the slice. */
static void add_at_end(const struct ht_forest *f, struct ht_forest_slice slice,
        const struct sums *zero, const struct ht_forest_row *row, struct sums *sum)
{
	int64_t end = ht_end_ns(f->trace, row->row);
	if (row->later_touches && !f->any_thread)
		return;
	/* times fit 62 bits, so one more is no overflow */
	const struct sums *low = &zero[first_from(f, slice, end)],
	                  *high = &zero[first_from(f, slice, end + 1)];
	sum->device_ns += high->device_ns - low->device_ns;
	sum->launch_ns += high->launch_ns - low->launch_ns;
	sum->n_works += high->n_works - low->n_works;
}

static const struct sums *sum_zero(
        struct ht_arena *own, const struct ht_forest *f, struct ht_forest_slice slice)
{
	struct sums *zero = ht_arena_alloc(own, (slice.n + 1) * sizeof *zero);
	for (size_t i = 0; zero && i < slice.n; i++) {
		const struct ht_forest_launch *launch = &f->launches[slice.first + i];
		zero[i + 1] = zero[i];
		if (launch->end != launch->start)
			continue;
		zero[i + 1].device_ns += launch->device_ns;
		zero[i + 1].launch_ns += launch->own_ns;
		zero[i + 1].n_works += launch->n_works;
	}
	return zero;
}

/* Rows [first, end) are of the thread whose launches the slice has; own is what goes afterwards. */
static enum ht_status sum_launches(struct ht_run *run, struct ht_arena *own, struct ht_forest *f,
        size_t first, size_t end, struct ht_forest_slice slice)
{
	size_t n = end - first, done = 0;
	struct ender *rows = ht_arena_alloc(own, (n + 1) * sizeof *rows);
	struct ender *launches = ht_arena_alloc(own, (slice.n + 1) * sizeof *launches);
	struct tree tree = { ht_arena_alloc(own, (slice.n + 2) * sizeof *tree.nodes), slice.n };
	const struct sums *zero = sum_zero(own, f, slice);
	if (!rows || !launches || !tree.nodes || !zero)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct ender){ ht_add_sat(ht_end_ns(f->trace, f->rows[first + i].row),
			                          f->slack_ns),
			first + i };
	for (size_t i = 0; i < slice.n; i++)
		launches[i] = (struct ender){ f->launches[slice.first + i].end, i };
	ht_sort_items(run->ctx->mem, rows, n, sizeof *rows, compare_end);
	ht_sort_items(run->ctx->mem, launches, slice.n, sizeof *launches, compare_end);
	for (size_t i = 0; i < n; i++) {
		struct ht_forest_row *row = &f->rows[rows[i].i];
		for (; done < slice.n && launches[done].end <= rows[i].end; done++)
			tree_add(&tree, launches[done].i,
			        &f->launches[slice.first + launches[done].i]);
		struct sums low = tree_sum(&tree, first_from(f, slice, f->trace->ts_ns[row->row]));
		struct sums sum =
		        tree_sum(&tree, first_from(f, slice, ht_end_ns(f->trace, row->row)));
		sum.device_ns -= low.device_ns;
		sum.launch_ns -= low.launch_ns;
		sum.n_works -= low.n_works;
		add_at_end(f, slice, zero, row, &sum);
		row->device_ns = narrow(sum.device_ns);
		row->launch_ns = narrow(sum.launch_ns);
		row->n_works = sum.n_works > UINT32_MAX ? UINT32_MAX : (uint32_t)sum.n_works;
	}
	return HT_OK;
}

static enum ht_status sum_rows(struct ht_run *run, struct ht_forest *f, size_t first, size_t end,
        struct ht_forest_slice slice)
{
	struct ht_arena own;
	if (!slice.n)
		return HT_OK;
	ht_arena_init_small(&own, run->ctx->mem);
	enum ht_status status = sum_launches(run, &own, f, first, end, slice);
	ht_arena_done(&own);
	return status;
}

static enum ht_status sum_threads(struct ht_run *run, struct ht_forest *f)
{
	const struct ht_trace *t = f->trace;
	if (f->any_thread)
		return sum_rows(run, f, 0, f->n_rows, f->slices[0]);
	for (size_t i = 0, k; i < f->n_rows; i = k) {
		uint32_t track = t->track[f->rows[i].row];
		for (k = i + 1; k < f->n_rows && t->track[f->rows[k].row] == track;)
			k++;
		HT_TRY(sum_rows(run, f, i, k, f->slices[track]));
	}
	return HT_OK;
}

/* ---- walking ---- */

struct ht_forest_walk ht_forest_walk(const struct ht_forest *f, const struct ht_forest_row *row)
{
	const struct ht_trace *t = f->trace;
	struct ht_forest_slice slice = f->slices[f->any_thread ? 0 : t->track[row->row]];
	int64_t end = ht_end_ns(t, row->row);
	size_t at = first_from(f, slice, t->ts_ns[row->row]);
	return (struct ht_forest_walk){ f, row, slice.first + at,
		slice.first + first_from(f, slice, end + 1) };
}

const struct ht_forest_launch *ht_forest_next(struct ht_forest_walk *walk)
{
	const struct ht_forest *f = walk->forest;
	int64_t end = ht_end_ns(f->trace, walk->row->row);
	while (walk->at < walk->end) {
		const struct ht_forest_launch *launch = &f->launches[walk->at++];
		if (launch->start == end) {
			if (launch->end == end && (f->any_thread || !walk->row->later_touches))
				return launch;
		} else if (launch->end <= end + f->slack_ns) {
			return launch;
		}
	}
	return NULL;
}

/* ---- all of it ---- */

static int compare_start(const void *left, const void *right)
{
	const struct ht_interval *a = left, *b = right;
	return (a->start > b->start) - (a->start < b->start);
}

/* Which launches of a slice are inside of one of the roots. Of the roots that have started the one that ends last
 * decides. */
static void mark_taken(struct ht_run *run, const struct ht_forest *f, struct ht_forest_slice slice,
        struct ht_interval *roots, size_t n_roots, bool *taken)
{
	int64_t end = INT64_MIN;
	size_t k = 0;
	ht_sort_items(run->ctx->mem, roots, n_roots, sizeof *roots, compare_start);
	for (size_t i = slice.first; i < slice.first + slice.n; i++) {
		const struct ht_forest_launch *launch = &f->launches[i];
		for (; k < n_roots && roots[k].start <= launch->start; k++)
			end = roots[k].end > end ? roots[k].end : end;
		taken[i] = launch->end <= end ||
		           (launch->start < end && launch->end <= end + f->slack_ns);
	}
}

/* What is in no row. */
static enum ht_status count_unmatched(const struct ht_match *m, struct ht_forest *f)
{
	const struct ht_trace *t = m->t;
	bool *taken = ht_arena_alloc(m->run->scratch, f->n_launches + 1);
	struct ht_interval *roots =
	        ht_arena_alloc(m->run->scratch, (f->n_rows + 1) * sizeof *roots);
	if (!taken || !roots)
		return ht_fail_nomem(m->run->ctx);
	for (size_t i = 0, n = 0; i < f->n_rows; i++) {
		uint32_t row = f->rows[i].row;
		bool last = i + 1 == f->n_rows ||
		            (!f->any_thread && t->track[f->rows[i + 1].row] != t->track[row]);
		if (f->rows[i].depth == 1)
			roots[n++] = (struct ht_interval){ t->ts_ns[row], ht_end_ns(t, row) };
		if (!last)
			continue;
		mark_taken(
		        m->run, f, f->slices[f->any_thread ? 0 : t->track[row]], roots, n, taken);
		n = 0;
	}
	for (size_t i = 0; i < f->n_launches; i++) {
		if (taken[i] || f->launches[i].row == HT_NONE)
			continue;
		f->n_unmatched_launches++;
		ht_sum(&f->unmatched_launch_ns, f->launches[i].own_ns);
	}
	ht_match_count_unmatched(m, taken, f);
	return HT_OK;
}

enum ht_status ht_forest_make(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_forest_options *options, struct ht_forest *ret_forest)
{
	struct ht_forest f = { .trace = frame->trace,
		.any_thread = options->any_thread,
		.slack_ns = slack_of(frame) };
	struct ht_match m = { .run = run, .t = frame->trace, .options = options };
	bool *in = NULL;
	HT_TRY(ht_frame_marks(run, frame, &in));
	HT_TRY(ht_match_rows(&m, in));
	HT_TRY(add_rows(&m, &f));
	HT_TRY(ht_match_launches(&m, &f));
	HT_TRY(sum_threads(run, &f));
	HT_TRY(count_unmatched(&m, &f));
	*ret_forest = f;
	return HT_OK;
}
