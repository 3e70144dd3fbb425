/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_time.h - which ranks keep the others waiting in most steps: the verdict on stragglers.
 *
 * Ranks of a group leave a collective together and wait for each other at the next, so who makes them wait is who
 * spends most time between collectives. That time is measured on each rank's own clock, so neither clocks nor the
 * order in which kernels get their turn on a shared GPU matter: who starts late and ends late loses nothing.
 *
 *     rank 0   ──work──[~~~~~~~wait~~~~~~~|transfer]──work──
 *     rank 2   ────────────work──────────[|transfer]──work──
 *
 * By step and process group, over the collectives that make all ranks wait for the last:
 *     own time  = from leaving the last collective of the step before to leaving the last one of this step, less the
 *                 time in which the rank communicates and does nothing else, in this group or another (waits.h): who
 *                 waits itself is not the cause. Where the step before is not looked at, only what is taken off is
 *                 compared.
 * A step counts where no recording ends: all ranks of the group have as many collectives in it. In a step the latest k
 * ranks, at most half of the group, are late when the gap between their own times and those of the rest is more than
 *     twice what the rest is apart, over its middle half; of the values of the step and of three quarters of the steps
 *          the larger. In a group of two, what larger groups are apart in the median, or other pairs where there are none
 *     HT_LATE_SHARE of the step: its length on the host, or of its GPU work when that takes longer
 *     what the rank's lateness varies by, over the middle half of its steps; where it is late in some steps only, within
 *          those and within the others. Of a candidate the steps without this condition count, too
 * the largest such k: a node may be slow, not only a rank. Ranks that are late in more than half of the steps, of which
 * there must be two, are candidates; or in half of them, when those are four.
 *     lateness of a late rank = its own time - the largest of those who are not late, and no more than those wait for
 *                               it, behind kernels or not: what the step would lose without it. Ten buckets behind one
 *                               slow forward pass are one wait. A slow stage of a pipeline may have bubbles of its own to
 *                               hide in: then the step loses less
 *     lost to the candidates  = the latest of those who are late - the latest of all others: what it would lose if all
 *                               of them were as fast as the rest
 */
#ifndef HT_MODEL_STRAGGLERS_OWN_TIME_H
#define HT_MODEL_STRAGGLERS_OWN_TIME_H

#include "model/stragglers/waits.h"

/* Less of a step than this is not worth a name. */
#define HT_LATE_SHARE 0.03

/* Late in no more than half of the steps, so many must be. */
#define HT_LATE_HALF_LEAST 4

/* The candidates of a group. */
struct ht_late_set {
	size_t *parts; /* ascending */
	size_t n;
	size_t n_steps, n_late_steps; /* that count, and in which one of them is late */
	int64_t lost_ns;              /* to them, over all steps */
};

struct ht_verdict {
	const size_t *members; /* parts of the group in which it is latest; NULL: it is in none */
	size_t n_members, i_member;
	size_t n_steps, n_late_steps;
	/* of a candidate the mean over its steps, those in which it is not late are 0; else the median of its own time above
	 * the latest of the others; HT_NO_I64 without steps */
	int64_t lateness_ns;
	int64_t least_ns, most_ns; /* over the steps in which it is late */
	int64_t late_steps_ns;     /* and their sum */
	bool is_candidate;
	const struct ht_late_set *set; /* NULL unless it is one */
};

/* Where no rank is late in most steps, ranks may still wait: for another one in each step. Of the group that loses most. */
struct ht_rank_spread {
	int64_t lost_ns; /* the latest against the middle rank, and no more than that one waits; over all steps */
	int64_t span_ns; /* of these steps */
	size_t n_steps,
	        n_latest; /* steps that count, and ranks that are the latest in one of them */
};

/* The columns of the GPU work by step of one rank, and writing them: what per_rank contributes. */
#define HT_STEP_WORK_COLUMNS(COLUMN)                                                               \
	COLUMN(HT_STEP_WORK_STEP, "step", HT_I64, HT_KEY, "profiler step that launched the work",  \
	        NULL)                                                                              \
	COLUMN(HT_STEP_WORK_SPAN_NS, "span_ns", HT_DURATION, HT_MEASURE,                           \
	        "length of the step, or of its GPU activity when that takes longer", NULL)
HT_COLUMN_NUMBERS(HT_STEP_WORK_COLUMNS, HT_N_STEP_WORK_COLUMNS);
extern const struct ht_column ht_step_work_columns[HT_N_STEP_WORK_COLUMNS];
enum ht_status ht_step_work_put(
        struct ht_run *run, const struct ht_frame *frame, ht_table *table) HT_MUST_USE;

/* One verdict per part, whose facts[steps_k] has the steps, and how ranks differ. Memory in scratch. */
enum ht_status ht_own_time_judge(struct ht_run *run, const struct ht_parts *parts, size_t steps_k,
        const struct ht_lateness *lateness, const struct ht_rank_waits *waits,
        struct ht_verdict **ret_verdicts, struct ht_rank_spread *ret_spread) HT_MUST_USE;

#endif
