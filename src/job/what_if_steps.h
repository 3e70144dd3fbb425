/* SPDX-License-Identifier: Apache-2.0 */
/*
 * what_if_steps.h - what steps of a job would take with other durations, from its traces.
 */
#ifndef HT_JOB_WHAT_IF_STEPS_H
#define HT_JOB_WHAT_IF_STEPS_H

#include "model/part.h"

#define HT_WHAT_IF_COLUMNS(COLUMN)                                                                                  \
	COLUMN(HT_WHAT_IF_QUESTION, "question", HT_STR, HT_KEY,                                                     \
	        "what is different, or the rules of scale", NULL)                                                   \
	COLUMN(HT_WHAT_IF_RECORDED, "mean_step_time_ns", HT_DURATION_F64, HT_MEASURE,                               \
	        "mean step time as recorded: from the last end of the step before on any rank to that of this one", \
	        NULL)                                                                                               \
	COLUMN(HT_WHAT_IF_NEW, "new_mean_step_time_ns", HT_DURATION_F64, HT_MEASURE,                                \
	        "mean step time of the replay", NULL)                                                               \
	COLUMN(HT_WHAT_IF_SAVED, "saved_ns", HT_DURATION_F64, HT_MEASURE,                                           \
	        "savings per step: the replay without edits less this one", NULL)                                   \
	COLUMN(HT_WHAT_IF_SHARE, "saved_share", HT_RATIO, HT_MEASURE,                                               \
	        "that, of replayed step time", NULL)                                                                \
	COLUMN(HT_WHAT_IF_LOW, "low_ns", HT_DURATION_F64, HT_MEASURE,                                               \
	        "new step time: lower end of its 95 % interval, steps resampled", NULL)                             \
	COLUMN(HT_WHAT_IF_HIGH, "high_ns", HT_DURATION_F64, HT_MEASURE, "upper end", NULL)                          \
	COLUMN(HT_WHAT_IF_ERROR, "replay_error", HT_RATIO, HT_DETAIL,                                               \
	        "how far the replay without edits is off the recorded step time, in the median",                    \
	        NULL)                                                                                               \
	COLUMN(HT_WHAT_IF_WORST_ERROR, "worst_replay_error", HT_RATIO, HT_DETAIL,                                   \
	        "the same of the step that is off the most", NULL)                                                  \
	COLUMN(HT_WHAT_IF_STEPS, "steps", HT_I64, HT_DETAIL, "steps that were replayed", NULL)
HT_COLUMN_NUMBERS(HT_WHAT_IF_COLUMNS, HT_N_WHAT_IF_COLUMNS);
extern const struct ht_column ht_what_if_columns[HT_N_WHAT_IF_COLUMNS];

#define HT_WHAT_IF_GAP_COLUMNS(COLUMN)                                                             \
	COLUMN(HT_GAP_RANK, "rank", HT_I64, HT_KEY, "rank", NULL)                                  \
	COLUMN(HT_GAP_LENGTH, "gap_ns", HT_DURATION, HT_MEASURE,                                   \
	        "how much later it began than all that it waits for", NULL)                        \
	COLUMN(HT_GAP_UNTIL, "ts_ns", HT_TIME, HT_DETAIL, "when it began", NULL)                   \
	COLUMN(HT_GAP_NAME, "name", HT_STR, HT_KEY, "GPU activity after the gap", NULL)            \
	COLUMN(HT_GAP_ROW, "index", HT_I64, HT_DETAIL, "row of the event", NULL)
HT_COLUMN_NUMBERS(HT_WHAT_IF_GAP_COLUMNS, HT_N_WHAT_IF_GAP_COLUMNS);
extern const struct ht_column ht_what_if_gap_columns[HT_N_WHAT_IF_GAP_COLUMNS];

/* Ready questions and, where scale is not NULL, the user's own; parts have the graphs of job/event_graph.h. */
enum ht_status ht_what_if_ask(struct ht_run *run, const struct ht_parts *parts, const char *scale,
        ht_table *table) HT_MUST_USE;

/* What the replay does not explain, longest first. */
enum ht_status ht_what_if_gaps(
        struct ht_run *run, const struct ht_parts *parts, ht_table *table) HT_MUST_USE;

/* Whose slowdown it is: the measures of the straggler analysis of operations (job/ops.h), with phases of ranks for operations. */
enum ht_what_if_type {
	HT_WHAT_IF_FORWARD,
	HT_WHAT_IF_BACKWARD,
	HT_WHAT_IF_OPTIMIZER,
	HT_WHAT_IF_TRANSFERS,
	HT_WHAT_IF_CPU, /* all phases on the CPU, and on the GPU */
	HT_WHAT_IF_GPU,
	HT_WHAT_IF_N_TYPES
};
struct ht_what_if_slowdown {
	bool is_known; /* else a note says why not */
	double time_ns, ideal_ns;
	double of_type[HT_WHAT_IF_N_TYPES]; /* S_t: ideal but for this, over ideal */
	double *of_part;                    /* S_w, by part: the same */
	bool *is_worst;                     /* by part: one of the worst 3 % */
	struct ht_what_if_share {
		double share, added, left_ns; /* M, A, T_rem */
	} worst, last;                        /* of the worst ranks, and of the last stage */
	int64_t n_stages, n_replicas;
	double *of_stage, *of_replica; /* S_stage, S_dp: ideal but for these ranks */
	const char *slow_group;        /* whose transfers take most above the ideal; NULL: none */
	bool has_uneven_batches;       /* ranks take longer in turn, forward and backward alike */
};
enum ht_status ht_what_if_slowdown_find(struct ht_run *run, const struct ht_parts *parts,
        ht_table *table, struct ht_what_if_slowdown *ret) HT_MUST_USE;

#endif
