/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - the tracks of a rank asked by time: what a drawing of a trace needs; include
 * holotrace.h.
 */
#ifndef HOLOTRACE_TIMELINE_H
#define HOLOTRACE_TIMELINE_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- time ----------------------------------------------------------------------------------- */

/* The tracks of one rank (threads and streams), asked by time. Immutable; any number of threads may
 * ask. */
typedef struct ht_timeline ht_timeline;

struct ht_track_info {
	size_t struct_size;              /* sizeof, see the top */
	int64_t pid, tid;                /* -1 when they are texts */
	const char *pid_text, *tid_text; /* "" when they are numbers */
	const char *process, *thread;    /* names, NULL when the file has none */
	int32_t device;                  /* GPU index of a stream, -1 for a thread of the host */
	size_t n_spans, n_lanes;         /* spans on different lanes do not hide each other */
	int64_t first_ns, last_ns;       /* first start and last end, in set time */
	/* of NPU traces: "framework", "CANN", "hardware", "communication", "overlap"; NULL for
	 * others */
	const char *layer;
};

/* A rank and its clock. Set time is the time of all ranks' tables: 0 is the first event of all. */
struct ht_timeline_info {
	int64_t rank;
	int64_t from_ns, to_ns; /* first start and last end of its events */
	bool aligned;           /* times of all ranks of the set can be compared */
	int64_t moved_ns;       /* by how much collectives say that its file's clock is off */
	int64_t uncertainty_ns; /* how far they leave that open; -1: nothing is known */
};

struct ht_step_info {
	size_t struct_size; /* sizeof, see the top */
	int64_t id;         /* of its event */
	int64_t number;
	int64_t start_ns, end_ns;
};

/* A span, or n short ones of a lane that start close to each other. Times are set time. */
struct ht_span {
	size_t struct_size; /* sizeof, see the top; of those that a callback gets, the library's */
	int64_t id;         /* of the event, or of the longest of the n */
	int64_t start_ns, end_ns;
	int64_t sum_ns; /* of the durations */
	uint32_t name;  /* for ht_timeline_name */
	uint32_t n;
	uint16_t lane;
	uint8_t kind; /* for ht_timeline_kind */
	/* what GPU work does: 0 compute, 1 communication, 2 copy, 3 fill, 4 wait; 255: none */
	uint8_t work;
	/* of the call of a collective: how long it waits at its start for the last rank; 0: not, or
	 * unknown */
	int64_t wait_ns;
};

typedef bool (*ht_span_fn)(void *user, const struct ht_span *span);

typedef bool (*ht_place_fn)(void *user, const struct ht_timeline_info *place);

/* Tell where each rank of a set is on its clock, ascending, without opening any. False from the
 * callback stops. */
HT_API enum ht_status ht_timeline_places(
        ht_ctx *ctx, ht_set *set, ht_place_fn fn, void *user) HT_MUST_USE;
/* The i-th rank of a set; it stays open after the set is closed. */
HT_API enum ht_status ht_timeline_open(
        ht_ctx *ctx, ht_set *set, size_t i, ht_timeline **ret_timeline) HT_MUST_USE;
HT_API void ht_timeline_close(ht_timeline *timeline);
HT_API const struct ht_timeline_info *ht_timeline_info(const ht_timeline *timeline);
HT_API size_t ht_timeline_n_tracks(const ht_timeline *timeline);
/* False when there is no such track. Strings live with the timeline. */
HT_API bool ht_timeline_track(
        const ht_timeline *timeline, size_t track, struct ht_track_info *ret_track);
/* The i-th profiler step, by start; false when there are fewer. */
HT_API bool ht_timeline_step(const ht_timeline *timeline, size_t i, struct ht_step_info *ret_step);
/* Tell every span that overlaps [from_ns, to_ns) of set time, lane by lane. With a resolution above
 * 0 the interval is cut into pieces of that length, and spans of a lane that start in one piece and
 * are shorter than it come together: at most two per lane and piece, however many there are. False
 * from the callback stops. */
HT_API void ht_timeline_range(const ht_timeline *timeline, size_t track, int64_t from_ns,
        int64_t to_ns, int64_t resolution_ns, ht_span_fn fn, void *user);
/* One event as it stands on its track; false when it is no span. */
HT_API bool ht_timeline_span(
        const ht_timeline *timeline, uint32_t row, size_t *ret_track, struct ht_span *ret_span);
HT_API const char *ht_timeline_name(const ht_timeline *timeline, uint32_t name);
/* "kernel", "cpu_op", ...: what an event of that kind is. */
HT_API const char *ht_timeline_kind(uint8_t kind);
/* "compute", "communication", ...: what GPU work does; NULL for what is none. */
HT_API const char *ht_timeline_work(uint8_t work);
/* Everything about one event: its fields, links and arguments as rows of key and value. */
HT_API enum ht_status ht_timeline_event(
        ht_ctx *ctx, const ht_timeline *timeline, uint32_t row, ht_table **ret_table) HT_MUST_USE;

/* Two events that belong together; one of them is the one asked for, or around it. */
struct ht_link {
	int64_t from, to;
	/* "parent" (from is around to, or called it), "launch", "operator", "forward", "collective"
	 * (the same on another rank), or the category of a flow of the file: "fwdbwd", "async_npu",
	 * "HostToDevice" */
	const char *name;
};

typedef bool (*ht_link_fn)(void *user, const struct ht_link *link);

/* Tell the links of an event: parents first, from the innermost outwards. False from the callback
 * stops. */
HT_API enum ht_status ht_timeline_links(ht_ctx *ctx, const ht_timeline *timeline, uint32_t row,
        ht_link_fn fn, void *user) HT_MUST_USE;

/* What is summed. */
struct ht_sum_options {
	size_t struct_size;     /* sizeof, see the top */
	int64_t from_ns, to_ns; /* of set time; spans are cut to it */
	const char *tracks;     /* a list "rank:track,..." of the timelines' tracks, NULL for all */
	/* "class": per rank and device what GPU work of a class, or host events of a kind, take,
	 * and for how long the device did nothing. "name": per name and class, the longest first.
	 * NULL: class */
	const char *by;
};

/* Sums over a range of time. */
HT_API enum ht_status ht_timeline_sum(ht_ctx *ctx, const ht_timeline *const *timelines,
        size_t n_timelines, const struct ht_sum_options *options, ht_table **ret_table) HT_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
