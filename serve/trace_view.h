/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_view.h - what the trace view asks, besides tiles, as JSON: tracks, one event, its arrows, search, sums.
 *
 * All of it is over the timelines of some ranks, which are on one clock, and none of it knows about HTTP. Shapes are
 * those of web/src/model.ts.
 */
#ifndef SERVE_TRACE_VIEW_H
#define SERVE_TRACE_VIEW_H

#include "json_out.h"

/* The ranks that are looked at, ascending. */
struct serve_ranks {
	const ht_timeline *const *timelines;
	size_t n;
};

/* NULL when there is no such rank. */
const ht_timeline *serve_ranks_find(const struct serve_ranks *ranks, int64_t rank);

/* The name of something in a list, cut where it is longer than names are: hostile ones are a megabyte. */
#define SERVE_LIST_NAME 1000
void serve_list_name(struct serve_json *json, const char *name);

/* Where ranks are on the clock, ascending; they need not be open. */
struct serve_places {
	const struct ht_timeline_info *list;
	size_t n;
};

/* The places, and tracks and steps of those ranks that are open (Tracks). */
void serve_tracks_write(const struct serve_places *places, const struct serve_ranks *ranks,
        uint64_t generation, struct serve_json *json);
/* Fields, arguments, stack and links of an event (EventDetails). HT_USAGE when there is none. */
enum ht_status serve_event_write(
        const struct serve_ranks *ranks, int64_t id, struct serve_json *json) HT_MUST_USE;
/* Its arrows: links with the places of both ends (Flows). */
enum ht_status serve_flows_write(
        const struct serve_ranks *ranks, int64_t id, struct serve_json *json) HT_MUST_USE;

struct serve_search {
	const char *text; /* part of the name; letters of ASCII in any case */
	bool backwards;   /* towards earlier times */
	bool has_place;   /* search goes on from there; else from the first, or the last */
	int64_t from_ns,
	        id; /* events are in order of start, then id; id -1 is before all of that time */
	size_t limit;
};

/* The next spans whose names hold a text, in order of time (Found). */
void serve_search_write(const struct serve_ranks *ranks, const struct serve_search *search,
        struct serve_json *json);
/* Sums of a selection, by class and by name (Sums); the first top names. */
enum ht_status serve_range_write(const struct serve_ranks *ranks, const char *tracks,
        int64_t from_ns, int64_t to_ns, uint64_t top, struct serve_json *json) HT_MUST_USE;

#endif
