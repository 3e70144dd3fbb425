/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_retime.h - the model walked forward: how long a window would be with other durations, and how much
 * longer each event could take before the window gets longer.
 *
 * Every start is the latest of what it waits for, plus the time that passed since the last of them; of the
 * others the least that is known to pass: nothing for work and waits, for a launch the shortest time
 * from any launch of the rank to its work. With the recorded durations this gives the recorded times. What happened before the window, and
 * work of earlier windows that is still in it, stays as it was. A launch that is late because the host is still in the
 * call gets earlier with the call.
 */
#ifndef HT_GRAPH_CP_RETIME_H
#define HT_GRAPH_CP_RETIME_H

#include "graph/cp_model.h"
#include "graph/cp_whatif.h"

/* No end of the window depends on it. */
#define HT_CP_FREE INT64_MAX

/* One for all windows of a model. */
struct ht_cp_clock {
	struct ht_run *run;
	struct ht_cp_model *m;
	const struct ht_cp_window *window;
	struct ht_cp_rules *rules; /* NULL: recorded durations */
	bool scales_host;          /* or the host is as it was */
	const double *factors;     /* by work, in place of rules; NULL: none */
	/* what happens, by time: held calls, handovers, works, numbered in that order */
	uint32_t *items;
	int64_t *item_ns;
	size_t n_items, n_held, n_handovers;
	/* forward: new times */
	int64_t *work_start, *work_end, *held_end, *handover_ns;
	int64_t *span_sum;   /* by span: scaled time of the track before it, in the window */
	double *span_factor; /* by span */
	double *gap_factor;  /* by track: before its first span */
	/* backward: how much later it could be */
	int64_t *work_slack; /* by work, of its end */
	int64_t *held_slack, *handover_slack;
	int64_t *span_slack; /* by span, of its end */
	int64_t *row_slack;  /* by row of the host */
	size_t n_slacks;     /* of all five */
	struct ht_vec set;   /* int64_t *: those that are not free ... */
	bool lists_set;      /* ... unless they were too many */
	struct ht_vec points;
};

struct ht_cp_retimed {
	int64_t length_ns;  /* of the window */
	int64_t matched_ns; /* time in the window that a rule fits */
	size_t n_matched;   /* pieces of it */
};

/* What a clock is for: ht_cp_retime or ht_cp_slack_find. */
enum ht_cp_way { HT_CP_FORWARD, HT_CP_BACKWARD };

/* Memory in run->scratch; to be ended with ht_cp_clock_done. */
enum ht_status ht_cp_clock_make(struct ht_run *run, struct ht_cp_model *model, enum ht_cp_way way,
        struct ht_cp_clock *ret_clock) HT_MUST_USE;
void ht_cp_clock_done(struct ht_cp_clock *clock);

/* rules NULL: the recorded length. */
void ht_cp_retime(struct ht_cp_clock *clock, const struct ht_cp_window *window,
        struct ht_cp_rules *rules, struct ht_cp_retimed *ret_retimed);

/* How long the window would be if each work took so many times as long, by work; host time is as it was. */
int64_t ht_cp_retime_works(
        struct ht_cp_clock *clock, const struct ht_cp_window *window, const double *factors);

/* Fill the slack arrays for a window; HT_CP_FREE where nothing depends on it. (cp_slack.c) */
enum ht_status ht_cp_slack_find(
        struct ht_cp_clock *clock, const struct ht_cp_window *window) HT_MUST_USE;

/* The first and last (excluded) item of the window. */
void ht_cp_clock_items(const struct ht_cp_clock *clock, size_t *ret_first, size_t *ret_end);
/* The time that passes from the end of a source to the start of work, at least. */
int64_t ht_cp_lag(const struct ht_cp_model *model, uint32_t work, uint32_t source);
int64_t ht_cp_launch_lag(const struct ht_cp_model *model, uint32_t work);

#endif
