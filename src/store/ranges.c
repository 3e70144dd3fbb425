/*
 * ranges.c - see ranges.h.
 */
#include "store/ranges.h"

#include "base/search.h"

#define MAX_LEVELS 16
#define MAX_LANES  65535

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

static enum ht_status give_lanes(ht_ctx *ctx, const struct ht_trace *t, struct ht_arena *arena,
        struct ht_track_ranges *track)
{
	struct lanes lanes = { 0 };
	struct ht_arena scratch;
	uint16_t *of = ht_arena_alloc(arena, (track->n + 1) * sizeof *of);
	if (!of)
		return ht_fail_nomem(ctx);
	ht_arena_init(&scratch, ctx->mem);
	enum ht_status status = grow_lanes(ctx, &scratch, &lanes);
	for (size_t i = 0; i < track->n && status == HT_OK; i++) {
		uint32_t row = track->rows[i];
		int64_t start = t->ts_ns[row], end = ht_end_ns(t, row);
		if (lanes.tree[1] > start)
			status = grow_lanes(ctx, &scratch, &lanes);
		if (status != HT_OK)
			break;
		/* a span of no length still needs a place of its own */
		size_t lane = take_lane(&lanes, start, end > start ? end : start + 1);
		of[i] = (uint16_t)(lane < MAX_LANES ? lane : MAX_LANES);
	}
	ht_arena_done(&scratch);
	track->lanes = of;
	track->n_lanes = (uint16_t)(lanes.n < MAX_LANES ? lanes.n : MAX_LANES);
	return status;
}

/* ---- pyramid ---- */

static void add(struct ht_range_block *to, const struct ht_range_block *from)
{
	if (!to->n) {
		*to = *from;
		return;
	}
	to->first_ns = from->first_ns < to->first_ns ? from->first_ns : to->first_ns;
	if (from->last_start_ns > to->last_start_ns)
		to->last_start_ns = from->last_start_ns;
	to->last_ns = from->last_ns > to->last_ns ? from->last_ns : to->last_ns;
	to->sum_ns += from->sum_ns;
	to->n += from->n;
	if (from->longest_ns > to->longest_ns) {
		to->longest_ns = from->longest_ns;
		to->longest_row = from->longest_row;
	}
}

static struct ht_range_block leaf(const struct ht_trace *t, uint32_t row)
{
	return (struct ht_range_block){ .first_ns = t->ts_ns[row],
		.last_start_ns = t->ts_ns[row],
		.last_ns = ht_end_ns(t, row),
		.sum_ns = t->dur_ns[row],
		.longest_ns = t->dur_ns[row],
		.longest_row = row,
		.n = 1 };
}

static enum ht_status build_pyramid(ht_ctx *ctx, const struct ht_trace *t, struct ht_arena *arena,
        struct ht_track_ranges *track)
{
	size_t *first = ht_arena_alloc(arena, (MAX_LEVELS + 1) * sizeof *first), n_blocks = 0;
	size_t n_levels = 0;
	if (!first)
		return ht_fail_nomem(ctx);
	for (size_t n = track->n; n > 1 && n_levels < MAX_LEVELS;) {
		n = (n + HT_RANGE_FANOUT - 1) / HT_RANGE_FANOUT;
		first[n_levels++] = n_blocks;
		n_blocks += n;
	}
	first[n_levels] = n_blocks;
	struct ht_range_block *blocks = ht_arena_alloc(arena, (n_blocks + 1) * sizeof *blocks);
	if (!blocks)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < track->n && n_levels; i++) {
		struct ht_range_block one = leaf(t, track->rows[i]);
		add(&blocks[i / HT_RANGE_FANOUT], &one);
	}
	for (size_t level = 1; level < n_levels; level++)
		for (size_t i = first[level - 1]; i < first[level]; i++)
			add(&blocks[first[level] + (i - first[level - 1]) / HT_RANGE_FANOUT],
			        &blocks[i]);
	track->blocks = blocks;
	track->n_levels = n_levels;
	track->first_block = first;
	return HT_OK;
}

/* ---- making ---- */

static enum ht_status make_track(ht_ctx *ctx, const struct ht_trace *t, uint32_t i_track,
        struct ht_arena *arena, struct ht_track_ranges *ret)
{
	const struct ht_track *track = &t->tracks[i_track];
	uint32_t *rows = ht_arena_alloc(arena, (track->n + 1) * sizeof *rows);
	struct ht_track_ranges r = { .rows = rows };
	if (!rows)
		return ht_fail_nomem(ctx);
	for (uint32_t i = 0; i < track->n; i++) {
		uint32_t row = t->track_rows[track->first + i];
		if (ht_is_span(t, row))
			rows[r.n++] = row;
	}
	HT_TRY(give_lanes(ctx, t, arena, &r));
	HT_TRY(build_pyramid(ctx, t, arena, &r));
	*ret = r;
	return HT_OK;
}

enum ht_status ht_ranges_make(ht_ctx *ctx, const struct ht_trace *trace, struct ht_arena *arena,
        struct ht_ranges *ret_ranges)
{
	struct ht_ranges ranges = { .trace = trace, .n_tracks = trace->n_tracks };
	ranges.tracks = ht_arena_alloc(arena, (ranges.n_tracks + 1) * sizeof *ranges.tracks);
	if (!ranges.tracks)
		return ht_fail_nomem(ctx);
	for (uint32_t i = 0; i < ranges.n_tracks; i++)
		HT_TRY(make_track(ctx, trace, i, arena, &ranges.tracks[i]));
	*ret_ranges = ranges;
	return HT_OK;
}

/* ---- queries ---- */

struct query {
	const struct ht_trace *trace;
	const struct ht_track_ranges *track;
	int64_t from_ns, to_ns, resolution_ns;
	size_t n; /* spans that start before to_ns */
	ht_range_fn fn;
	void *user;
};

static bool overlaps(const struct query *q, int64_t start_ns, int64_t end_ns)
{
	return start_ns < q->to_ns && (end_ns > q->from_ns || start_ns >= q->from_ns);
}

static bool tell_spans(const struct query *q, size_t first, size_t end)
{
	for (size_t i = first; i < end && i < q->n; i++) {
		uint32_t row = q->track->rows[i];
		int64_t start = q->trace->ts_ns[row], stop = ht_end_ns(q->trace, row);
		if (!overlaps(q, start, stop))
			continue;
		struct ht_range_hit hit = { start, stop, stop - start, row, (uint32_t)i, 1 };
		if (!q->fn(q->user, &hit))
			return false;
	}
	return true;
}

static const struct ht_range_block *block_at(const struct query *q, size_t level, size_t i)
{
	return &q->track->blocks[q->track->first_block[level] + i];
}

static size_t n_blocks_at(const struct query *q, size_t level)
{
	return q->track->first_block[level + 1] - q->track->first_block[level];
}

/* A block whose spans start within the resolution: the long ones are told, the others go into rest. Goes down
 * only to where long ones are. The depth is that of the pyramid. */
static bool gather(const struct query *q, size_t level, size_t i, struct ht_range_block *rest)
{
	const struct ht_range_block *block = block_at(q, level, i);
	if (block->longest_ns <= q->resolution_ns) {
		add(rest, block);
		return true;
	}
	size_t first = i * HT_RANGE_FANOUT, end = first + HT_RANGE_FANOUT;
	if (level) {
		size_t n = n_blocks_at(q, level - 1);
		for (size_t k = first; k < end && k < n; k++)
			if (!gather(q, level - 1, k, rest))
				return false;
		return true;
	}
	for (size_t k = first; k < end && k < q->track->n; k++) {
		uint32_t row = q->track->rows[k];
		if (q->trace->dur_ns[row] > q->resolution_ns) {
			if (!tell_spans(q, k, k + 1))
				return false;
			continue;
		}
		struct ht_range_block one = leaf(q->trace, row);
		add(rest, &one);
	}
	return true;
}

static bool tell_together(const struct query *q, size_t level, size_t i, size_t position)
{
	struct ht_range_block rest = { 0 };
	if (!gather(q, level, i, &rest))
		return false;
	if (!rest.n || !overlaps(q, rest.first_ns, rest.last_ns))
		return true;
	struct ht_range_hit hit = { rest.first_ns, rest.last_ns, rest.sum_ns, rest.longest_row,
		(uint32_t)position, rest.n };
	return q->fn(q->user, &hit);
}

/* Goes down into the blocks of a level that reach into the interval; false when told to stop. The depth is
 * that of the pyramid. */
static bool visit(const struct query *q, size_t level, size_t first, size_t end, size_t width)
{
	size_t n_here = n_blocks_at(q, level);
	for (size_t i = first; i < end && i < n_here; i++) {
		const struct ht_range_block *block = block_at(q, level, i);
		size_t start = i * width;
		bool goes_on;
		if (start >= q->n)
			return true;
		if (!overlaps(q, block->first_ns, block->last_ns))
			continue;
		if (q->resolution_ns && block->n > 1 &&
		        block->last_start_ns - block->first_ns <= q->resolution_ns)
			goes_on = tell_together(q, level, i, start);
		else if (!level)
			goes_on = tell_spans(q, start, start + width);
		else
			goes_on = visit(q, level - 1, i * HT_RANGE_FANOUT,
			        (i + 1) * HT_RANGE_FANOUT, width / HT_RANGE_FANOUT);
		if (!goes_on)
			return false;
	}
	return true;
}

void ht_track_range(const struct ht_ranges *ranges, uint32_t i_track, int64_t from_ns,
        int64_t to_ns, int64_t resolution_ns, ht_range_fn fn, void *user)
{
	const struct ht_trace *t = ranges->trace;
	const struct ht_track_ranges *track = &ranges->tracks[i_track];
	struct query q = { .trace = t,
		.track = track,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.resolution_ns = resolution_ns,
		.n = HT_LOWER_BOUND(at, track->n, t->ts_ns[track->rows[at]] < to_ns),
		.fn = fn,
		.user = user };
	if (!track->n_levels) {
		(void)tell_spans(&q, 0, track->n);
		return;
	}
	size_t top = track->n_levels - 1, width = HT_RANGE_FANOUT;
	for (size_t level = 0; level < top; level++)
		width *= HT_RANGE_FANOUT;
	(void)visit(&q, top, 0, SIZE_MAX, width);
}
