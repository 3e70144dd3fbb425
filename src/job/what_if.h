/*
 * what_if.h - what steps of a job would take with other durations, from its traces.
 */
#ifndef HT_JOB_WHAT_IF_H
#define HT_JOB_WHAT_IF_H

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
	        "upper bound on savings per step", NULL)                                                            \
	COLUMN(HT_WHAT_IF_SHARE, "saved_share", HT_RATIO, HT_MEASURE, "that, of step time", NULL)                   \
	COLUMN(HT_WHAT_IF_LOW, "low_ns", HT_DURATION_F64, HT_MEASURE,                                               \
	        "new step time: lower end of its 95 % interval, steps resampled", NULL)                             \
	COLUMN(HT_WHAT_IF_HIGH, "high_ns", HT_DURATION_F64, HT_MEASURE, "upper end", NULL)                          \
	COLUMN(HT_WHAT_IF_ERROR, "replay_error", HT_RATIO, HT_DETAIL,                                               \
	        "how far the replay without edits is off the recorded step time, in the median",                    \
	        NULL)                                                                                               \
	COLUMN(HT_WHAT_IF_STEPS, "steps", HT_I64, HT_DETAIL, "steps that were replayed", NULL)
HT_COLUMN_NUMBERS(HT_WHAT_IF_COLUMNS, HT_N_WHAT_IF_COLUMNS);
extern const struct ht_column ht_what_if_columns[HT_N_WHAT_IF_COLUMNS];

/* Ready questions and, where scale is not NULL, the user's own; parts have the chains of graph/cp_across.h. */
enum ht_status ht_what_if_ask(struct ht_run *run, const struct ht_parts *parts, const char *scale,
        ht_table *table) HT_MUST_USE;

/* Whose slowdown it is: the measures of the straggler analysis of operations (job/ops.h), with chains between collectives for operations
 * and their median over ranks as ideal. */
struct ht_what_if_slowdown {
	bool is_known; /* else a note says why not */
	double time_ns, ideal_ns;
	double *of_part;              /* S_w, by part: ideal but for this one, over ideal */
	bool *is_worst;               /* by part: one of the worst 3 % */
	double share, added, left_ns; /* M_W, A_W, T_rem */
};
enum ht_status ht_what_if_slowdown_find(struct ht_run *run, const struct ht_parts *parts,
        ht_table *table, struct ht_what_if_slowdown *ret) HT_MUST_USE;

#endif
