/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_steps.c - see timed_steps.h.
 */
#include "model/steps/timed_steps.h"

#include "base/search.h"
#include "base/checked.h"
#include "base/sort.h"
#include "model/numbers/stats.h"
#include "store/columns.h"

#include <stdlib.h>

enum ht_status ht_timed_steps_make(struct ht_run *run, const struct ht_step *steps, size_t n,
        struct ht_timed_step **ret_list, size_t *ret_n)
{
	struct ht_timed_step *list = ht_arena_alloc(run->scratch, (n + 1) * sizeof *list);
	size_t n_list = 0;
	if (!list)
		return ht_fail_nomem(run->ctx);
	for (uint32_t i = 0; i < n; i++) {
		const struct ht_step *step = &steps[i];
		if (!step->is_main)
			continue;
		bool is_first = n_list == 0;
		int64_t since = is_first ? step->begin_ns : list[n_list - 1].done_ns;
		list[n_list++] = (struct ht_timed_step){ .number = step->number,
			.start_ns = step->ts_ns,
			.done_ns = step->done_ns,
			.time_ns = ht_sub_sat(step->done_ns, since),
			.latency_ns = ht_sub_sat(step->done_ns, step->ts_ns),
			.i_step = i,
			.is_first = is_first };
	}
	*ret_list = list;
	*ret_n = n_list;
	return HT_OK;
}

/* ---- periods ---- */

/* Are the steps of a place in the period alike, next to what tells the places apart? */
static bool repeats(const int64_t *times, size_t n, size_t period)
{
	int64_t least = INT64_MAX, most = 0, widest = 0;
	for (size_t place = 0; place < period; place++) {
		int64_t low = INT64_MAX, high = 0;
		for (size_t i = place; i < n; i += period) {
			low = times[i] < low ? times[i] : low;
			high = times[i] > high ? times[i] : high;
		}
		least = high < least ? high : least;
		most = low > most ? low : most;
		widest = high - low > widest ? high - low : widest;
	}
	return least > 0 && most / 5 >= least / 4 && widest <= (most - least) / 4;
}

struct ht_period ht_period_find(const int64_t *times, size_t n)
{
	struct ht_period period = { 0 };
	/* longer ones are nobody's schedule, and looking for them would take long */
	enum { LONGEST = 64 };
	if (n < 4)
		return period;
	for (size_t k = 2; k <= n / 2 && k <= LONGEST; k++) {
		if (!repeats(times, n, k))
			continue;
		size_t n_periods = n / k;
		__int128 sum = 0;
		for (size_t i = 0; i < n_periods * k; i++)
			sum += times[i];
		return (struct ht_period){ k, (int64_t)(sum / (int64_t)n_periods) };
	}
	return period;
}

/* ---- the job ---- */

static int by_number(const void *left, const void *right)
{
	const struct ht_job_step *a = left, *b = right;
	int order = ht_order_i64(a->number, b->number);
	/* the slowest first; of equals the first rank */
	order = order ? order : ht_order_i64(b->time_ns, a->time_ns);
	return order ? order : ht_order_i64(a->rank, b->rank);
}

/* Chosen steps of all ranks, one after the other. */
static enum ht_status collect(struct ht_run *run, size_t side, struct ht_job_steps *job)
{
	struct ht_common_steps common;
	size_t n = 0;
	HT_TRY(ht_common_steps_make(run, side, &common));
	for (size_t i = 0; i < run->chosen[side].n; i++)
		n += ht_run_chosen(run, side, i)->n_steps;
	job->list = ht_arena_alloc(run->scratch, (n + 1) * sizeof *job->list);
	if (!job->list)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < run->chosen[side].n; i++) {
		const struct ht_rank *rank = ht_run_chosen(run, side, i);
		struct ht_timed_step *steps = NULL;
		struct ht_selection selection;
		HT_TRY(ht_selection_make(
		        run, run->steps[side], rank->steps, rank->n_steps, &selection));
		HT_TRY(ht_timed_steps_make(run, rank->steps, rank->n_steps, &steps, &n));
		job->n_ranks += n > 0;
		for (size_t k = 0; k < n; k++)
			if (ht_selection_has(&selection, steps[k].i_step) &&
			        ht_common_steps_have(&common, steps[k].number))
				job->list[job->n++] = (struct ht_job_step){ steps[k].number,
					steps[k].time_ns, rank->number, steps[k].is_first, false };
	}
	return HT_OK;
}

/* One per number: the slowest rank's. */
static void merge(struct ht_job_steps *job)
{
	size_t n = 0;
	qsort(job->list, job->n, sizeof *job->list, by_number);
	for (size_t i = 0; i < job->n; i++) {
		if (n && job->list[n - 1].number == job->list[i].number)
			job->list[n - 1].is_first |= job->list[i].is_first;
		else
			job->list[n++] = job->list[i];
	}
	job->n = n;
}

enum ht_status ht_job_steps_make(struct ht_run *run, size_t side, struct ht_job_steps *ret_steps)
{
	struct ht_job_steps job = { .median_ns = HT_NO_I64 };
	bool any = false;
	HT_TRY(collect(run, side, &job));
	merge(&job);
	int64_t *times = ht_arena_alloc(run->scratch, (job.n + 1) * sizeof *times);
	if (!times)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < job.n; i++)
		any |= !job.list[i].is_first;
	for (size_t i = 0; i < job.n; i++) {
		int64_t ns = job.list[i].time_ns;
		job.list[i].is_left_out = any && job.list[i].is_first;
		if (job.list[i].is_left_out)
			continue;
		job.least_ns = !job.n_median || ns < job.least_ns ? ns : job.least_ns;
		job.most_ns = !job.n_median || ns > job.most_ns ? ns : job.most_ns;
		times[job.n_median++] = ns;
	}
	job.period = ht_period_find(times, job.n_median);
	if (job.n_median)
		job.median_ns = ht_middle_i64(times, job.n_median);
	*ret_steps = job;
	return HT_OK;
}

size_t ht_job_steps_find(const struct ht_job_steps *job, int64_t number)
{
	size_t i = HT_LOWER_BOUND(at, job->n, job->list[at].number < number);
	return i < job->n && job->list[i].number == number ? i : job->n;
}
