/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_model.h - what every piece of time of a rank waited for: GPU work, host threads, waits.
 *
 *   host      ─[op──[launch]──]──────gap──────[sync wait    ]─[op─
 *                      │                            ▲
 *   stream 7           └─► [  k1  ][  k2  ] ────────┘
 *   stream 16                      └──event──► [ all-reduce ]
 *
 * A piece of GPU work begins when the last of these is over: work before it on its stream, work of other
 * streams that an event makes it wait for, its launch. Where that does not explain when it began, within a
 * tolerance, other work that ended just then is taken as what it waited for, and all that follows from
 * this is called inferred. A host thread does one thing after the other; a call that waits ends after
 * the work it waits for; main thread and autograd threads hand over to each other.
 *
 * The model is made once per rank, for all windows. Walked back from the end of a window (cp_walk.c) it is
 * the critical path; walked forward (cp_retime.c) it gives slack and what-if. Times are nanoseconds of
 * the trace's own clock. O(n log n) time, O(n) memory.
 */
#ifndef HT_GRAPH_CP_MODEL_H
#define HT_GRAPH_CP_MODEL_H

#include "graph/cp_names.h"
#include "graph/cp_types.h"

/* What was the last that a piece of work waited for. */
enum ht_cp_by {
	HT_CP_BY_WORK,   /* other work */
	HT_CP_BY_LAUNCH, /* its launch */
	HT_CP_BY_HOST,   /* its launch, which is not in the trace: the host until it began */
	HT_CP_BY_BEFORE, /* what was launched before the recording, as it was itself: it begins when it did */
};

struct ht_cp_work {
	int64_t start_ns, end_ns;
	int64_t launch_ns; /* start of the launch call, HT_NO_I64 when unknown or later than the work */
	int64_t floor_ns; /* when the last work that it had to wait for was over; HT_NO_I64: none */
	uint32_t floor;   /* that work, HT_NONE: none; it may still run (then floor_ns = start) */
	uint32_t before;  /* of the same stream, begun before: the one that ends last */
	uint32_t row;
	uint32_t launch;                  /* row of the call, HT_NONE as launch_ns */
	uint32_t lane;                    /* stream */
	uint32_t first_source, n_sources; /* slice of sources */
	uint8_t by;                       /* enum ht_cp_by */
	uint8_t bound;                    /* enum ht_cp_bound of its own time */
	bool early;                       /* launched before the recording began */
	bool awaits;   /* an event wait stands before it, its record is not in the trace */
	bool inferred; /* what it waited for is inferred */
	bool queued;   /* its device was busy with work from before the recording */
	bool late;     /* the host was still in the launch call when that was over */
};

/* Work that an event makes other work wait for. */
struct ht_cp_source {
	uint32_t work;
	uint32_t inferred;
};

/* When a device was busy, with one piece of work for each moment. */
struct ht_cp_busy {
	int64_t start_ns, end_ns;
	uint32_t work;
};

/* A host thread from here to the next span: the innermost open row. */
struct ht_cp_span {
	int64_t start_ns;
	uint32_t row;  /* HT_NONE: nothing is open */
	uint32_t mark; /* whose start (== row) or end begins the span */
};

/* A call that waited for GPU work. */
struct ht_cp_held {
	int64_t start_ns, end_ns; /* of the call */
	int64_t from_ns;          /* when the work was over, in (start_ns, end_ns]; or nearly so */
	uint32_t work;
	uint32_t row;
	bool inferred;
};

/* A call that waits for a device, whether it had to or not, and the works of other streams that it waits for as well (cp_join.c). */
struct ht_cp_join {
	int64_t start_ns; /* of the call */
	int64_t device;   /* -1: the only one */
	uint32_t row;
	uint32_t first, n; /* slice of joined */
};

/* A thread goes on where another one stopped. */
struct ht_cp_handover {
	int64_t time_ns; /* an operator begins */
	int64_t from_ns; /* one of the other thread ended */
	int64_t own_ns;  /* the last one of this thread ended, HT_NO_I64: none */
	uint32_t track, from_track;
};

struct ht_cp_window {
	int64_t instance;
	int64_t step; /* number, HT_NO_I64: none */
	int64_t start_ns;
	int64_t host_end_ns; /* of the step or annotation itself */
	int64_t owns_until_ns; /* work that begins or is launched later, see by_start, is none of it */
	int64_t end_ns;        /* of its last work, or host_end_ns */
	uint32_t track;        /* host thread */
	uint32_t row;          /* the step or annotation, HT_NONE: everything */
	uint32_t last;         /* its work that ends last, HT_NONE: none */
	bool by_start;         /* steps seen on the GPU only: work belongs where it runs */
};

struct ht_cp_model {
	const struct ht_trace *trace;
	struct ht_cp_options options;
	struct ht_cp_names names;
	uint8_t *
	        bound_of_row; /* what host rows asked about are bound by; HT_CP_BOUND_NONE: not asked yet */
	const char *note; /* NULL, or one line about the windows; in the arena */

	struct ht_cp_work *works; /* by start, end, row */
	uint32_t *work_of_gpu;    /* by index of trace->gpu, HT_NONE: no time */
	uint32_t *by_end;         /* works by end */
	uint32_t *by_launch;      /* works by launch; without one, and not early, by start */
	uint32_t *latest;         /* by work: which of those up to here ends last */
	size_t n_works, n_by_launch;
	struct ht_cp_source *sources;
	size_t n_sources;
	struct ht_cp_busy *busy; /* by device, start */
	uint32_t *first_busy;    /* by device number, n_devices + 1 */
	uint32_t *device_of_lane;
	int64_t *devices;
	size_t n_lanes, n_devices;
	int64_t least_launch_ns; /* from a launch to its work, at least */
	int64_t least_after_ns; /* from the end of a launch to its work, at least; negative: some begins before that */

	uint32_t *thread_of_track; /* itself, or the track that it is part of (cp_tracks.c) */
	uint32_t *parts;           /* tracks that are part of another one, by that one */
	size_t n_parts;
	/* by track, slices with n_tracks + 1 starts; those of parts are with their thread's */
	struct ht_cp_span *spans;
	uint32_t *first_span;
	struct ht_cp_held *held; /* by end */
	uint32_t *first_held;
	struct ht_cp_join *joins; /* by start */
	uint32_t *joined;         /* works */
	size_t n_joins;
	size_t n_full;                    /* launch calls that find a full queue */
	struct ht_cp_handover *handovers; /* by time */
	uint32_t *first_handover;
	uint32_t main_track; /* HT_NONE: no host thread */
	bool has_host;       /* something of the host was recorded */

	struct ht_cp_window *windows;
	size_t n_windows;
};

/* The model of the rank in hand; everything in run->scratch, to be ended with ht_cp_model_done. HT_USAGE
 * when no chosen instance is there. No windows: the note says why. */
enum ht_status ht_cp_model_make(struct ht_run *run, const struct ht_cp_options *options,
        struct ht_cp_model *ret_model) HT_MUST_USE;
void ht_cp_model_done(struct ht_cp_model *model);

/* Does the work belong to the window: launched in it? */
bool ht_cp_window_owns(
        const struct ht_cp_model *model, const struct ht_cp_window *window, uint32_t work);

/* The first work from which on some may run at a time or begin after it. */
uint32_t ht_cp_first_running(const struct ht_cp_model *model, int64_t time_ns);

/* The span of a track at a time, HT_NONE before the first; of several at a point the last. */
uint32_t ht_cp_span_at(const struct ht_cp_model *model, uint32_t track, int64_t time_ns);
/* What host time of a row depends on; row HT_NONE: no operator. */
enum ht_cp_bound ht_cp_host_bound(struct ht_cp_model *model, uint32_t row);

/* What a host thread last waited for, at or before a time: held or handover or neither (HT_NONE). After a
 * handover (handed) another one at the same moment does not count. */
struct ht_cp_anchor {
	int64_t time_ns; /* HT_NO_I64: none */
	uint32_t held, handover;
};
struct ht_cp_anchor ht_cp_anchor_before(
        const struct ht_cp_model *model, uint32_t track, int64_t time_ns, bool handed);

/* What a held call waited for besides the work that ended last in it; NULL: nothing else. */
const struct ht_cp_join *ht_cp_join_of(
        const struct ht_cp_model *model, const struct ht_cp_held *held);

/* The last piece of the device's busy time that begins before a time; HT_NONE: none. */
uint32_t ht_cp_busy_before(const struct ht_cp_model *model, uint32_t device, int64_t time_ns);
/* How long work was on its way, and as what it counts: the delay before it. */
struct ht_cp_delay {
	int64_t from_ns;
	uint32_t from_row; /* launch call or work */
	uint8_t type;
	uint8_t bound;
};
struct ht_cp_delay ht_cp_delay_of(const struct ht_cp_model *model, uint32_t work);
/* How much of the start of an idle stretch of a delay is the launch call's own time: work that is on its way for longer than
 * launches take (idle.h) and begins when the call is over, or nearly so, waits for the call, which loads code or is held by
 * a lock; but for what every launch takes. */
int64_t ht_cp_call_part_ns(const struct ht_cp_model *model, uint32_t from_row, uint8_t bound,
        int64_t start_ns, int64_t end_ns);

/* ---- the parts (cp_work.c, cp_thread.c, cp_held.c, cp_window.c) ---- */

enum ht_status ht_cp_tracks_join(struct ht_run *run, struct ht_cp_model *model) HT_MUST_USE;
/* All rows of a thread in the order of time, none of a part. Rows of several tracks are made in own. */
enum ht_status ht_cp_track_rows(struct ht_run *run, const struct ht_cp_model *model, uint32_t track,
        struct ht_arena *own, const uint32_t **ret_rows, size_t *ret_n) HT_MUST_USE;
struct ht_cp_wait;
/* The wait rows of the trace with what they wait for. */
enum ht_status ht_cp_waits_collect(struct ht_run *run, struct ht_cp_model *model,
        struct ht_cp_wait **ret_waits, size_t *ret_n) HT_MUST_USE;
enum ht_status ht_cp_works_make(struct ht_run *run, struct ht_cp_model *model,
        const struct ht_cp_wait *waits, size_t n_waits) HT_MUST_USE;
enum ht_status ht_cp_threads_make(struct ht_run *run, struct ht_cp_model *model) HT_MUST_USE;
/* Works whose launch call waited because the queue of their stream was full. (cp_full.c) */
enum ht_status ht_cp_full_find(struct ht_run *run, const struct ht_cp_model *model,
        uint32_t **ret_works, size_t *ret_n) HT_MUST_USE;
enum ht_status ht_cp_held_make(struct ht_run *run, struct ht_cp_model *model,
        const struct ht_cp_wait *waits, size_t n_waits) HT_MUST_USE;
/* Fills in what the listed calls join. (cp_join.c) */
enum ht_status ht_cp_joins_make(struct ht_run *run, struct ht_cp_model *model) HT_MUST_USE;
/* Windows without last and end_ns, which need the works. */
enum ht_status ht_cp_windows_find(struct ht_run *run, struct ht_cp_model *model) HT_MUST_USE;
void ht_cp_windows_close(struct ht_cp_model *model);

/* Rows that stand in host threads. */
bool ht_cp_kind_is_host(uint8_t kind);

#endif
