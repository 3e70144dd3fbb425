/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.h - the spans of a track by time: which overlap an interval, on which lane they are drawn, and what
 * they look like from far away.
 *
 * Lanes: spans of a track that overlap get different lanes, the lowest that is free, so that none hides
 * another; a properly nested track has its depth as lanes. The spans of one lane are disjoint, so both their
 * starts and their ends ascend, and everything about a lane is a binary search:
 *
 *     lane 0   [==][=][========]      [===]       rows: lane after lane, by start
 *     lane 1    []      [=] [==]                  sums: durations before each, so that those of any
 *     lane 2             |                              run of spans are one subtraction
 *
 * From far away, time is cut into pieces of the resolution, counted from where the query begins. Of the spans
 * of a lane that start in one piece only the last can be as long as the piece: it is told by itself then, and
 * the others come together. So an answer has at most two hits per lane and piece, found in O(log n) each,
 * however many spans there are; the longest of a run comes from a pyramid of maxima.
 *
 * The index is made from a sealed trace when it is asked for: O(n log lanes).
 */
#ifndef HT_STORE_RANGES_H
#define HT_STORE_RANGES_H

#include "base/status.h"
#include "store/event.h"

struct ht_trace;

#define HT_RANGE_FANOUT 16
#define HT_RANGE_LEVELS 8 /* 16^8 is the number of rows at most */

struct ht_track_ranges {
	const uint32_t *rows; /* spans with a usable time, by lane, then by start */
	const int64_t
	        *sums_ns;      /* durations of the spans before each place in rows; n + 1 entries */
	const uint32_t *first; /* by lane: its place in rows; n_lanes + 1 entries */
	const uint32_t
	        *longest; /* places of the longest span of each block of 16, level after level */
	size_t first_longest[HT_RANGE_LEVELS + 1];
	size_t n, n_lanes, n_levels;
	int64_t first_ns, last_ns; /* first start and last end; 0 when there is no span */
};

struct ht_ranges {
	const struct ht_trace *trace;
	struct ht_track_ranges *tracks; /* by track */
	size_t n_tracks;
};

/* For all tracks of a trace; memory in the arena. */
enum ht_status ht_ranges_make(ht_ctx *ctx, const struct ht_trace *trace, struct ht_arena *arena,
        struct ht_ranges *ret_ranges) HT_MUST_USE;

/* What a query tells: a span (n 1), or n spans of a lane that start in one piece of the resolution and are
 * shorter than it. */
struct ht_range_hit {
	int64_t start_ns, end_ns; /* of the first start and the last end */
	int64_t sum_ns;           /* of the durations */
	uint32_t row;             /* the span, or the longest of them */
	uint32_t lane;
	uint32_t n;
};

/* Called for each hit, lane by lane and in order of start; false stops. */
typedef bool (*ht_range_fn)(void *user, const struct ht_range_hit *hit);

/* All spans that overlap [from_ns, to_ns), or start in it when they have no length. resolution_ns 0: every span
 * by itself; else short ones that start in the interval come together. */
void ht_track_range(const struct ht_ranges *ranges, uint32_t track, int64_t from_ns, int64_t to_ns,
        int64_t resolution_ns, ht_range_fn fn, void *user);

/* The lane of a row of the track; false when it is no span of it. O(lanes * log n). */
bool ht_track_lane(
        const struct ht_ranges *ranges, uint32_t track, uint32_t row, uint32_t *ret_lane);

#endif
