/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_steps.h - how long steps take: the one definition that every table, report and page has.
 *
 * completion  of a step: the later of the end of its host span and the end of its last activity, never before the
 *             completion of the step before it (store/seal_step_facts.h)
 * step time   from the completion of the step before it to its own. The first step of a rank has none before it: it runs
 *             from its start, or where the GPU activity of before ends that it waits for (store/earlier_work.h), is marked, and stays out of
 *             medians when there is another
 * latency     from its start to its completion: longer than the step time where the CPU runs ahead
 *
 *     host    | 1 | 2 | 3 |            the CPU runs ahead of the GPU
 *     GPU      [ 1   ][ 2   ][ 3   ]
 *     time    |-- 1 --|- 2 --|- 3 --|  latency of 3: from the start of its host span to the end of its activity
 *
 * The steps of a rank are those of the thread that launches most. The time of a step of the job is that of its slowest
 * rank, and the step time of the job the median of those. All this is known to the roster, so that any run can have it when
 * parts are brought together.
 * Period: with gradient accumulation steps take turns. Times (but the first) repeat with a period of two or more steps when
 * there are two periods at least, the longest place of the period takes 1.25 times the shortest, and the steps of a place
 * differ by at most a quarter of what those two do. Then the mean time of a period is known too.
 */
#ifndef HT_MODEL_STEPS_TIMED_STEPS_H
#define HT_MODEL_STEPS_TIMED_STEPS_H

#include "model/rows/selection.h"

struct ht_timed_step {
	int64_t number, start_ns, done_ns;
	int64_t time_ns, latency_ns;
	uint32_t i_step; /* of the list that it was made from */
	bool is_first;
};

/* All steps of a rank, in time; memory in scratch. */
enum ht_status ht_timed_steps_make(struct ht_run *run, const struct ht_step *steps, size_t n,
        struct ht_timed_step **ret_list, size_t *ret_n) HT_MUST_USE;

struct ht_period {
	size_t n_steps;  /* 0: none */
	int64_t mean_ns; /* of all its steps together */
};
/* Of times in the order of steps, without that of the first step. */
struct ht_period ht_period_find(const int64_t *times_ns, size_t n);

/* A step of all ranks. */
struct ht_job_step {
	int64_t number;
	int64_t time_ns, rank; /* of the slowest */
	bool is_first;         /* on some rank */
	bool is_left_out;      /* of the median: it is the first, and there is another */
};

struct ht_job_steps {
	struct ht_job_step
	        *list; /* by number: those that are chosen, on all ranks that have steps */
	size_t n, n_ranks;
	int64_t median_ns;         /* HT_NO_I64: no rank has steps */
	size_t n_median;           /* those */
	int64_t least_ns, most_ns; /* of the same */
	struct ht_period period;
};

enum ht_status ht_job_steps_make(
        struct ht_run *run, size_t side, struct ht_job_steps *ret_steps) HT_MUST_USE;
/* The place of a step in the list, or how many there are: it is none of them. */
size_t ht_job_steps_find(const struct ht_job_steps *job, int64_t number);

#endif
