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
 *     own time  = from leaving the last collective of the step before to leaving the last one of this step, less
 *                 the time in its collectives, less waits in other communication (receives, other groups): who
 *                 waits itself is not the cause. Where the step before is not looked at, only what is taken off
 *                 is compared.
 *     lateness  = own time - the median of the other ranks of the group (of two, the larger); the largest of its
 *                 groups
 * A rank is late in a step when its lateness is more than each of
 *     what its lateness varies by, over the middle half of its steps
 *     twice what the other ranks of the group are apart, over their middle half; of the values of the step and of
 *          three quarters of the steps the larger. In a group of two, what the median of the other groups is apart
 *     HT_LATE_SHARE of its step: its length on the host, or of its GPU work when that takes longer
 * and a candidate when it is late in more than half of its steps, of which there must be two.
 */
#ifndef HT_MODEL_STRAGGLERS_OWN_TIME_H
#define HT_MODEL_STRAGGLERS_OWN_TIME_H

#include "model/stragglers/lateness.h"

/* Less of a step than this is not worth a name. */
#define HT_LATE_SHARE 0.05

struct ht_verdict {
	const size_t *members; /* parts of the group in which it is latest; NULL: it is in none */
	size_t n_members, i_member;
	size_t n_steps, n_late_steps;
	int64_t lateness_ns;       /* median over its steps, HT_NO_I64 without any */
	int64_t least_ns, most_ns; /* over the steps in which it is late */
	int64_t late_steps_ns;     /* and their sum */
	bool is_candidate;
};

/* The columns of the GPU work by step of one rank, and writing them: what per_rank contributes. */
extern const struct ht_column ht_step_work_columns[];
enum { HT_N_STEP_WORK_COLUMNS = 2 };
enum ht_status ht_step_work_put(
        struct ht_run *run, const struct ht_frame *frame, ht_table *table) HT_MUST_USE;

/* One verdict per part, whose facts[steps_k] has the steps. Memory in scratch. */
enum ht_status ht_own_time_judge(struct ht_run *run, const struct ht_parts *parts, size_t steps_k,
        const struct ht_lateness *lateness, struct ht_verdict **ret_verdicts) HT_MUST_USE;

#endif
