/*
 * ranges.h - the events of a track by time: which overlap an interval, on which lane they are drawn, and what
 * they look like from far away.
 *
 * A track's spans stand in order of start (track_rows). Above them a pyramid of blocks, 16 spans or 16 blocks
 * each, knows when a block's spans begin and end at the latest, how long they are together and how long the
 * longest is:
 *
 *     level 2   [                               |          ...
 *     level 1   [   |   |   |   ... 16 blocks   |   |      ...
 *     spans     ||||||||||||||||||||||||||||||||||||||||   ...
 *
 * A query goes down only into blocks that reach into the interval, so long spans that began long before are
 * found in O(log n + answer). From far away the spans of a block that all start within a pixel are one answer,
 * not a thousand; those of them that are longer than a pixel are told one by one.
 *
 * Lanes: spans of a track that overlap get different lanes, the lowest that is free, so that none hides
 * another; a properly nested track has its depth as lanes.
 *
 * The index is made from a sealed trace when it is asked for: O(n log lanes).
 */
#ifndef HT_STORE_RANGES_H
#define HT_STORE_RANGES_H

#include "store/trace.h"

#define HT_RANGE_FANOUT 16

struct ht_range_block {
	int64_t first_ns, last_start_ns, last_ns; /* first and last start, latest end */
	int64_t sum_ns;                           /* of the durations */
	int64_t longest_ns;
	uint32_t longest_row;
	uint32_t n; /* spans */
};

struct ht_track_ranges {
	const uint32_t *rows; /* spans with a usable time, ascending by start */
	const uint16_t *lanes;
	size_t n;
	uint16_t n_lanes;
	const struct ht_range_block *blocks; /* level after level, the finest first */
	size_t n_levels;
	const size_t *first_block; /* by level: index into blocks; n_levels + 1 entries */
};

struct ht_ranges {
	const struct ht_trace *trace;
	struct ht_track_ranges *tracks; /* by track */
	size_t n_tracks;
};

/* For all tracks of a trace; memory in the arena. */
enum ht_status ht_ranges_make(ht_ctx *ctx, const struct ht_trace *trace, struct ht_arena *arena,
        struct ht_ranges *ret_ranges) HT_MUST_USE;

/* What a query tells: a span (n 1), or n spans that start within the resolution and are no longer than it. */
struct ht_range_hit {
	int64_t start_ns, end_ns;
	int64_t sum_ns;    /* of the durations */
	uint32_t row;      /* the span, or the longest of the block */
	uint32_t position; /* of the span, or of the first of the block, in rows and lanes */
	uint32_t n;
};

/* Called for each hit, in order of start when every span is told; false stops. */
typedef bool (*ht_range_fn)(void *user, const struct ht_range_hit *hit);

/* All spans that overlap [from_ns, to_ns), or start in it when they have no length. resolution_ns 0: every span
 * by itself; else short ones come together. */
void ht_track_range(const struct ht_ranges *ranges, uint32_t track, int64_t from_ns, int64_t to_ns,
        int64_t resolution_ns, ht_range_fn fn, void *user);

#endif
