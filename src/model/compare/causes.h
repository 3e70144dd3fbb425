/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causes.h - what explains the change of a step between two runs: causes first, then what follows from them.
 *
 *   kernel, copy    GPU activity that takes more or less time
 *   transfer        communication without waiting: of each step that of the rank which has least of it
 *   cpu             own time of the thread of the steps; it counts where no GPU activity explains the change
 *   rank wait       communication beyond that: waiting for the rank that comes last; a consequence
 *   device wait     calls that return when the device has come to an end, and copies that may; a consequence
 *
 * Over the mean of all ranks one slow rank of many hardly shows, so each rank is looked at by itself: ranks whose change is more than
 * twice the median of all are named, with what it costs there.
 * Changes that may be noise are left out, and so are those below 1 % of the change of the step, or 0.1 % of the step.
 */
#ifndef HT_MODEL_COMPARE_CAUSES_H
#define HT_MODEL_COMPARE_CAUSES_H

#include "model/compare/step_samples.h"

enum ht_cause_kind {
	HT_CAUSE_KERNEL,
	HT_CAUSE_COPY,
	HT_CAUSE_TRANSFER,
	HT_CAUSE_CPU,
	HT_CAUSE_RANK_WAIT,
	HT_CAUSE_DEVICE_WAIT,
	HT_N_CAUSE_KINDS
};

struct ht_cause {
	enum ht_cause_kind kind;
	const char *name;     /* in scratch or the parts; NULL: of communication as a whole */
	const int64_t *ranks; /* whose it is, ascending; n_ranks 0: of all of them */
	size_t n_ranks;
	double mean[2];     /* per step, over those ranks: control and test */
	struct ht_gap gap;  /* test minus control */
	int64_t count[2];   /* calls over all ranks and steps; 0 on both sides: not counted */
	const char *source; /* line of the user's code; NULL: not known */
};

struct ht_causes {
	struct ht_gap step;    /* of the step time of the job */
	double known_ns;       /* its mean; NAN: it may be noise */
	struct ht_cause *list; /* causes before consequences, the largest first */
	size_t n;
};

/* k_lines: the parts' table of work_lines.h. Names of the samples are those of rows, not paths. Memory in scratch. */
enum ht_status ht_causes_find(
        struct ht_step_samples *samples, size_t k_lines, struct ht_causes *ret_causes) HT_MUST_USE;
/* Noise is not known of one step on each side: then nothing is doubted. */
bool ht_gap_may_be_noise(const struct ht_gap *gap);
/* Test minus control of two samples; NAN where it is nothing or may be noise, so that no part is a share of it. */
double ht_known_change(const struct ht_sample *sides);
/* Whether nobody would take a change for noise, though few or uneven steps may not tell it from noise. */
bool ht_is_large_change(double change, double of);
/* Whether it is the CPU that changed the step, rather than GPU activity: this explains little of it, or less than the CPU does while the GPU has
 * nothing to do for most of a step. Of each the largest change that goes the way of the step, as positive numbers. */
bool ht_cpu_comes_first(
        const struct ht_step_samples *samples, double step_ns, double cpu_ns, double gpu_ns);
/* Both ends of the interval into column and the next one; nulls when nothing is known of noise. */
void ht_interval_put(
        ht_table *table, size_t low, size_t high, const struct ht_gap *gap, double reach);
static inline bool ht_cause_is_consequence(const struct ht_cause *cause)
{
	return cause->kind >= HT_CAUSE_RANK_WAIT;
}

/* View causes of diff. */
#define HT_CAUSE_COLUMNS(COLUMN)                                                                                                                \
	COLUMN(HT_CAUSE_ROLE, "role", HT_STR, HT_KEY,                                                                                           \
	        "cause, or consequence: time that passes until something else is over", NULL)                                                   \
	COLUMN(HT_CAUSE_WHAT, "what", HT_STR, HT_KEY,                                                                                           \
	        "kernel, copy, transfer, CPU; rank wait: waiting for the rank that comes last; device wait: in calls that wait for the device", \
	        NULL)                                                                                                                           \
	COLUMN(HT_CAUSE_RANKS, "ranks", HT_STR, HT_KEY, "ranks whose change it is", NULL)                                                       \
	COLUMN(HT_CAUSE_NAME, "name", HT_STR, HT_KEY,                                                                                           \
	        "kernel, copy, operator or call; null: communication as a whole", NULL)                                                         \
	COLUMN(HT_CAUSE_SOURCE, "source", HT_STR, HT_MEASURE,                                                                                   \
	        "line of the user's code that launches most of it", NULL)                                                                       \
	COLUMN(HT_CAUSE_CHANGE, "change", HT_STR, HT_MEASURE,                                                                                   \
	        "added, removed, more or fewer calls; slower or faster", NULL)                                                                  \
	COLUMN(HT_CAUSE_CONTROL_NS, "control_step_ns", HT_DURATION_F64, HT_DETAIL,                                                              \
	        "time per step in the baseline, mean over these ranks", NULL)                                                                   \
	COLUMN(HT_CAUSE_TEST_NS, "test_step_ns", HT_DURATION_F64, HT_DETAIL,                                                                    \
	        "time per step in this run", NULL)                                                                                              \
	COLUMN(HT_CAUSE_DIFF_NS, "step_diff_ns", HT_DURATION_F64, HT_MEASURE,                                                                   \
	        "this run minus the baseline, per step", NULL)                                                                                  \
	COLUMN(HT_CAUSE_LOW_NS, "low_ns", HT_DURATION, HT_MEASURE,                                                                              \
	        "lower end of its 95 % interval over steps", NULL)                                                                              \
	COLUMN(HT_CAUSE_HIGH_NS, "high_ns", HT_DURATION, HT_MEASURE, "upper end", NULL)                                                         \
	COLUMN(HT_CAUSE_SHARE, "share", HT_RATIO, HT_MEASURE,                                                                                   \
	        "step_diff_ns of the change in step time; null where that is within noise", NULL)
HT_COLUMN_NUMBERS(HT_CAUSE_COLUMNS, HT_N_CAUSE_COLUMNS);
extern const struct ht_column ht_cause_columns[HT_N_CAUSE_COLUMNS];
enum ht_status ht_causes_put(
        struct ht_run *run, const struct ht_causes *causes, ht_table *table) HT_MUST_USE;

/* View ranks of diff. */
#define HT_RANK_CHANGE_COLUMNS(COLUMN)                                                             \
	COLUMN(HT_RANK_CHANGE_RANK, "rank", HT_I64, HT_KEY, "rank of both runs", NULL)             \
	COLUMN(HT_RANK_CHANGE_CONTROL_NS, "control_ns", HT_DURATION_F64, HT_MEASURE,               \
	        "GPU activities of its step without waiting for other ranks, in the baseline",     \
	        NULL)                                                                              \
	COLUMN(HT_RANK_CHANGE_TEST_NS, "test_ns", HT_DURATION_F64, HT_MEASURE, "in this run",      \
	        NULL)                                                                              \
	COLUMN(HT_RANK_CHANGE_DIFF_NS, "diff_ns", HT_DURATION_F64, HT_MEASURE,                     \
	        "this run minus the baseline, per step", NULL)                                     \
	COLUMN(HT_RANK_CHANGE_LOW_NS, "low_ns", HT_DURATION, HT_MEASURE,                           \
	        "lower end of its 95 % interval over steps", NULL)                                 \
	COLUMN(HT_RANK_CHANGE_HIGH_NS, "high_ns", HT_DURATION, HT_MEASURE, "upper end", NULL)      \
	COLUMN(HT_RANK_CHANGE_CHANGE, "change", HT_STR, HT_MEASURE,                                \
	        "slower, faster, within noise or equal", NULL)                                     \
	COLUMN(HT_RANK_CHANGE_CONTROL_WAIT_NS, "control_wait_ns", HT_DURATION_F64, HT_MEASURE,     \
	        "communication of its step beyond that of the rank that has least, in the "        \
	        "baseline",                                                                        \
	        NULL)                                                                              \
	COLUMN(HT_RANK_CHANGE_TEST_WAIT_NS, "test_wait_ns", HT_DURATION_F64, HT_MEASURE,           \
	        "the same in this run", NULL)                                                      \
	COLUMN(HT_RANK_CHANGE_DIFF_WAIT_NS, "diff_wait_ns", HT_DURATION_F64, HT_MEASURE,           \
	        "this run minus the baseline, per step", NULL)
HT_COLUMN_NUMBERS(HT_RANK_CHANGE_COLUMNS, HT_N_RANK_CHANGE_COLUMNS);
extern const struct ht_column ht_rank_change_columns[HT_N_RANK_CHANGE_COLUMNS];
enum ht_status ht_rank_changes_put(
        const struct ht_step_samples *samples, ht_table *table) HT_MUST_USE;

#endif
