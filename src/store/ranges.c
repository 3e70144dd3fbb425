/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.c - see ranges.h.
 */
#include "store/ranges.h"

#include "base/checked.h"
#include "base/search.h"
#include "store/columns.h"

/* ---- lanes ---- */

/* Ends of the lanes as a tree of minima, so that the lowest free lane is found in O(log lanes). */
struct lanes {
	int64_t *tree; /* 2 * size entries, the root at 1 */
	size_t size;   /* a power of two */
	size_t n;      /* lanes in use */
};

static enum ht_status grow_lanes(ht_ctx *ctx, struct ht_arena *arena, struct lanes *lanes)
{
	size_t size = lanes->size ? lanes->size * 2 : 16;
	int64_t *tree = ht_arena_alloc(arena, 2 * size * sizeof *tree);
	if (!tree)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < size; i++)
		tree[size + i] = i < lanes->size ? lanes->tree[lanes->size + i] : INT64_MIN;
	for (size_t i = size - 1; i; i--)
		tree[i] = tree[2 * i] < tree[2 * i + 1] ? tree[2 * i] : tree[2 * i + 1];
	lanes->tree = tree;
	lanes->size = size;
	return HT_OK;
}

/* The lowest lane that is free at start, taken until end. */
static size_t take_lane(struct lanes *lanes, int64_t start_ns, int64_t end_ns)
{
	size_t at = 1;
	while (at < lanes->size)
		at = lanes->tree[2 * at] <= start_ns ? 2 * at : 2 * at + 1;
	size_t lane = at - lanes->size;
	lanes->tree[at] = end_ns;
	for (at /= 2; at; at /= 2)
		lanes->tree[at] = lanes->tree[2 * at] < lanes->tree[2 * at + 1]
		                          ? lanes->tree[2 * at]
		                          : lanes->tree[2 * at + 1];
	if (lane >= lanes->n)
		lanes->n = lane + 1;
	return lane;
}

/* The lane of each of n rows, which ascend by start. */
static enum ht_status choose_lanes(ht_ctx *ctx, const struct ht_trace *t, struct ht_arena *scratch,
        const uint32_t *rows, size_t n, uint32_t *ret_lane_of, size_t *ret_n_lanes)
{
	struct lanes lanes = { 0 };
	HT_TRY(grow_lanes(ctx, scratch, &lanes));
	for (size_t i = 0; i < n; i++) {
		int64_t start = t->ts_ns[rows[i]], end = ht_end_ns(t, rows[i]);
		if (lanes.tree[1] > start)
			HT_TRY(grow_lanes(ctx, scratch, &lanes));
		/* a span of no length still needs a place of its own */
		ret_lane_of[i] = (uint32_t)take_lane(&lanes, start, end > start ? end : start + 1);
	}
	*ret_n_lanes = lanes.n;
	return HT_OK;
}

/* ---- the longest of a run ---- */

static bool is_longer(
        const struct ht_trace *t, const struct ht_track_ranges *r, uint32_t a, uint32_t b)
{
	return t->dur_ns[r->rows[a]] > t->dur_ns[r->rows[b]];
}

/* Place of the longest span of place i of a level; level 0 are the spans. */
static uint32_t longest_at(const struct ht_track_ranges *r, size_t level, size_t i)
{
	return level ? r->longest[r->first_longest[level - 1] + i] : (uint32_t)i;
}

static enum ht_status build_longest(
        ht_ctx *ctx, const struct ht_trace *t, struct ht_arena *arena, struct ht_track_ranges *r)
{
	size_t n_all = 0;
	for (size_t n = r->n; n > HT_RANGE_FANOUT && r->n_levels < HT_RANGE_LEVELS;) {
		n = (n + HT_RANGE_FANOUT - 1) / HT_RANGE_FANOUT;
		r->first_longest[r->n_levels++] = n_all;
		n_all += n;
		r->first_longest[r->n_levels] = n_all;
	}
	uint32_t *longest = ht_arena_alloc(arena, (n_all + 1) * sizeof *longest);
	if (!longest)
		return ht_fail_nomem(ctx);
	r->longest = longest;
	size_t n_below = r->n;
	for (size_t level = 0; level < r->n_levels; level++) {
		for (size_t i = 0; i < n_below; i++) {
			uint32_t *best = &longest[r->first_longest[level] + i / HT_RANGE_FANOUT];
			uint32_t one = longest_at(r, level, i);
			if (i % HT_RANGE_FANOUT == 0 || is_longer(t, r, one, *best))
				*best = one;
		}
		n_below = r->first_longest[level + 1] - r->first_longest[level];
	}
	return HT_OK;
}

/* Of the spans at [first, end), which are some; of equals the first in time. */
static uint32_t find_longest(
        const struct ht_trace *t, const struct ht_track_ranges *r, size_t first, size_t end)
{
	uint32_t best = (uint32_t)first, best_high = UINT32_MAX;
	for (size_t level = 0; first < end; level++) {
		bool is_top = level == r->n_levels;
		for (; first < end && (is_top || first % HT_RANGE_FANOUT); first++)
			if (is_longer(t, r, longest_at(r, level, first), best))
				best = longest_at(r, level, first);
		for (; first < end && end % HT_RANGE_FANOUT; end--) {
			uint32_t one = longest_at(r, level, end - 1);
			if (best_high == UINT32_MAX || !is_longer(t, r, best_high, one))
				best_high = one;
		}
		first /= HT_RANGE_FANOUT;
		end /= HT_RANGE_FANOUT;
	}
	return best_high != UINT32_MAX && is_longer(t, r, best_high, best) ? best_high : best;
}

/* ---- making ---- */

/* Rows by lane, then by start, with their sums. */
static enum ht_status put_in_lanes(ht_ctx *ctx, const struct ht_trace *t, struct ht_arena *arena,
        const uint32_t *rows, const uint32_t *lane_of, struct ht_track_ranges *r)
{
	uint32_t *first = ht_arena_alloc(arena, (r->n_lanes + 2) * sizeof *first);
	uint32_t *sorted = ht_arena_alloc(arena, (r->n + 1) * sizeof *sorted);
	int64_t *sums_ns = ht_arena_alloc(arena, (r->n + 1) * sizeof *sums_ns);
	if (!first || !sorted || !sums_ns)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i <= r->n_lanes + 1; i++)
		first[i] = 0;
	for (size_t i = 0; i < r->n; i++)
		first[lane_of[i] + 2]++;
	for (size_t i = 1; i <= r->n_lanes + 1; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < r->n; i++)
		sorted[first[lane_of[i] + 1]++] = rows[i];
	sums_ns[0] = 0;
	for (size_t i = 0; i < r->n; i++)
		sums_ns[i + 1] = ht_add_sat(sums_ns[i], t->dur_ns[sorted[i]]);
	r->first = first;
	r->rows = sorted;
	r->sums_ns = sums_ns;
	return HT_OK;
}

static void find_extent(const struct ht_trace *t, struct ht_track_ranges *r)
{
	for (size_t lane = 0; lane < r->n_lanes; lane++) {
		int64_t start = t->ts_ns[r->rows[r->first[lane]]];
		int64_t end = ht_end_ns(t, r->rows[r->first[lane + 1] - 1]);
		r->first_ns = lane && r->first_ns < start ? r->first_ns : start;
		r->last_ns = lane && r->last_ns > end ? r->last_ns : end;
	}
}

static enum ht_status make_track(ht_ctx *ctx, const struct ht_trace *t, uint32_t i_track,
        struct ht_arena *arena, struct ht_arena *scratch, struct ht_track_ranges *ret)
{
	const struct ht_track *track = &t->tracks[i_track];
	uint32_t *rows = ht_arena_alloc(scratch, (track->n + 1) * sizeof *rows);
	uint32_t *lane_of = ht_arena_alloc(scratch, (track->n + 1) * sizeof *lane_of);
	struct ht_track_ranges r = { 0 };
	if (!rows || !lane_of)
		return ht_fail_nomem(ctx);
	for (uint32_t i = 0; i < track->n; i++) {
		uint32_t row = t->track_rows[track->first + i];
		if (ht_is_span(t, row))
			rows[r.n++] = row;
	}
	HT_TRY(choose_lanes(ctx, t, scratch, rows, r.n, lane_of, &r.n_lanes));
	HT_TRY(put_in_lanes(ctx, t, arena, rows, lane_of, &r));
	HT_TRY(build_longest(ctx, t, arena, &r));
	find_extent(t, &r);
	*ret = r;
	return HT_OK;
}

enum ht_status ht_ranges_make(ht_ctx *ctx, const struct ht_trace *trace, struct ht_arena *arena,
        struct ht_ranges *ret_ranges)
{
	struct ht_ranges ranges = { .trace = trace, .n_tracks = trace->n_tracks };
	enum ht_status status = HT_OK;
	ranges.tracks = ht_arena_alloc(arena, (ranges.n_tracks + 1) * sizeof *ranges.tracks);
	if (!ranges.tracks)
		return ht_fail_nomem(ctx);
	for (uint32_t i = 0; i < ranges.n_tracks && status == HT_OK; i++) {
		struct ht_arena scratch;
		ht_arena_init(&scratch, ctx->mem);
		status = make_track(ctx, trace, i, arena, &scratch, &ranges.tracks[i]);
		ht_arena_done(&scratch);
	}
	if (status == HT_OK)
		*ret_ranges = ranges;
	return status;
}

/* ---- queries ---- */

struct query {
	const struct ht_trace *trace;
	const struct ht_track_ranges *track;
	int64_t from_ns, to_ns, resolution_ns;
	ht_range_fn fn;
	void *user;
};

static int64_t start_at(const struct query *q, size_t i)
{
	return q->trace->ts_ns[q->track->rows[i]];
}

static int64_t end_at(const struct query *q, size_t i)
{
	return ht_end_ns(q->trace, q->track->rows[i]);
}

static bool tell_span(const struct query *q, uint32_t lane, size_t i)
{
	int64_t start = start_at(q, i), end = end_at(q, i);
	struct ht_range_hit hit = { start, end, end - start, q->track->rows[i], lane, 1 };
	return q->fn(q->user, &hit);
}

static bool tell_run(const struct query *q, uint32_t lane, size_t first, size_t end)
{
	const struct ht_track_ranges *r = q->track;
	if (end - first == 1)
		return tell_span(q, lane, first);
	struct ht_range_hit hit = { .start_ns = start_at(q, first),
		.end_ns = end_at(q, end - 1),
		.sum_ns = r->sums_ns[end] - r->sums_ns[first],
		.row = r->rows[find_longest(q->trace, r, first, end)],
		.lane = lane,
		.n = (uint32_t)(end - first) };
	return q->fn(q->user, &hit);
}

/* The end of the run of spans from first on that start before a time: first in steps that double, then between
 * the last two. */
static size_t run_end(const struct query *q, size_t first, size_t end, int64_t before_ns)
{
	size_t step = 1, low = first;
	while (low + step < end && start_at(q, low + step) < before_ns) {
		low += step;
		step *= 2;
	}
	size_t n = (low + step < end ? low + step : end) - low;
	return low + HT_LOWER_BOUND(at, n, start_at(q, low + at) < before_ns);
}

/* The end of the piece of time that a start lies in; pieces are counted from the query's start. */
static int64_t piece_end_ns(const struct query *q, int64_t start_ns)
{
	uint64_t since = (uint64_t)start_ns - (uint64_t)q->from_ns;
	int64_t begin = start_ns - (int64_t)(since % (uint64_t)q->resolution_ns);
	return ht_add_sat(begin, q->resolution_ns);
}

static bool tell_lane(const struct query *q, uint32_t lane)
{
	size_t first = q->track->first[lane], end = q->track->first[lane + 1];
	first += HT_LOWER_BOUND(at, end - first,
	        start_at(q, first + at) < q->from_ns && end_at(q, first + at) <= q->from_ns);
	end = first + HT_LOWER_BOUND(at, end - first, start_at(q, first + at) < q->to_ns);
	while (first < end) {
		if (!q->resolution_ns || start_at(q, first) < q->from_ns) {
			if (!tell_span(q, lane, first++))
				return false;
			continue;
		}
		size_t next = run_end(q, first, end, piece_end_ns(q, start_at(q, first)));
		bool is_long = end_at(q, next - 1) - start_at(q, next - 1) >= q->resolution_ns;
		size_t short_end = next - is_long;
		if (short_end > first && !tell_run(q, lane, first, short_end))
			return false;
		if (is_long && !tell_span(q, lane, next - 1))
			return false;
		first = next;
	}
	return true;
}

void ht_track_range(const struct ht_ranges *ranges, uint32_t i_track, int64_t from_ns,
        int64_t to_ns, int64_t resolution_ns, ht_range_fn fn, void *user)
{
	const struct ht_track_ranges *track = &ranges->tracks[i_track];
	struct query q = { ranges->trace, track, from_ns, to_ns,
		resolution_ns > 0 ? resolution_ns : 0, fn, user };
	if (!track->n || to_ns <= track->first_ns || from_ns > track->last_ns)
		return;
	for (uint32_t lane = 0; lane < track->n_lanes; lane++)
		if (!tell_lane(&q, lane))
			return;
}

bool ht_track_lane(
        const struct ht_ranges *ranges, uint32_t i_track, uint32_t row, uint32_t *ret_lane)
{
	const struct ht_track_ranges *r = &ranges->tracks[i_track];
	const struct ht_trace *t = ranges->trace;
	for (uint32_t lane = 0; lane < r->n_lanes; lane++) {
		size_t first = r->first[lane], n = r->first[lane + 1] - first;
		size_t i = first +
		           HT_LOWER_BOUND(at, n, t->ts_ns[r->rows[first + at]] < t->ts_ns[row]);
		if (i < first + n && r->rows[i] == row) {
			*ret_lane = lane;
			return true;
		}
	}
	return false;
}
