/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_steps.c - see slow_steps.h.
 */
#include "verdict/slow_steps.h"

#include "verdict/step_facts.h"
#include "model/advice/slow_step.h"
#include "model/numbers/stats.h"
#include "table/optional.h"
#include "base/search.h"
#include "base/sort.h"

/* How long a step with a number takes; negative: it has none, or its time is not known. */
static int64_t length_of(const ht_table *steps, size_t row)
{
	return ht_table_is_null(steps, row, HT_FOUND_STEP_NUMBER) ||
	                       ht_table_is_null(steps, row, HT_FOUND_STEP_TIME_NS)
	               ? -1
	               : ht_table_i64(steps, row, HT_FOUND_STEP_TIME_NS);
}

/* Two excesses are the same when they differ by less than this part of them. */
#define ECHO 4
/* Of more slow steps nobody asks which are echoes. */
#define MOST_ECHOES 64

/* So many of the steps, one in this number, and slow ones are no exception. */
#define RECURRING 3

/* A first step, of which it is not known when it began. */
static bool is_first(const struct ht_findings *f, int64_t number)
{
	size_t i = ht_job_steps_find(&f->job, number);
	return i < f->job.n && f->job.list[i].is_left_out;
}

static bool is_left_out(const struct ht_findings *f, const ht_table *steps, size_t row)
{
	return !ht_table_is_null(steps, row, HT_FOUND_STEP_NUMBER) &&
	       is_first(f, ht_table_i64(steps, row, HT_FOUND_STEP_NUMBER));
}

/* A first step that takes long from its own start on is slow, whenever it began: it compiles, or loads. */
static bool is_slow(const struct ht_part *part, size_t row, int64_t median_ns)
{
	const ht_table *steps = part->facts[HT_FOUND_STEPS];
	return ht_step_is_slow(length_of(steps, row), median_ns) &&
	       !ht_table_i64_or(steps, row, HT_FOUND_STEP_BEHIND, 0);
}

/* Ranks that take turns at being slow make each step of the job as long: none is an exception then. */
static bool is_slow_for_job(const struct ht_findings *f, int64_t number)
{
	size_t i = ht_job_steps_find(&f->job, number);
	return i == f->job.n || ht_step_is_slow(f->job.list[i].time_ns, f->device.median_ns);
}

/* Appends the numbers of a rank's slow steps. */
static enum ht_status add_rank(struct ht_findings *f, const struct ht_part *part)
{
	const ht_table *steps = part->facts[HT_FOUND_STEPS];
	size_t n_rows = ht_table_n_rows(steps), n = 0;
	int64_t *values = ht_arena_alloc(f->run->scratch, (n_rows + 1) * sizeof *values);
	if (!values)
		return ht_fail_nomem(f->run->ctx);
	for (size_t i = 0; i < n_rows; i++)
		if (!is_left_out(f, steps, i) && length_of(steps, i) >= 0)
			values[n++] = length_of(steps, i);
	int64_t median_ns = n >= HT_SLOW_STEPS_LEAST ? ht_middle_i64(values, n) : 0;
	for (size_t i = 0; i < n_rows; i++)
		if (is_slow(part, i, median_ns))
			f->slow.numbers[f->slow.n++] = ht_table_i64(steps, i, HT_FOUND_STEP_NUMBER);
	return HT_OK;
}

/* Of a rank by its part: what a slow step has above the median of its rank; 0: it is not slow, or not there. */
static int64_t excess_of(const struct ht_findings *f, size_t i_part, int64_t number)
{
	const struct ht_part *part = &f->parts->list[i_part];
	const ht_table *steps = part->facts[HT_FOUND_STEPS];
	for (size_t i = 0; i < ht_table_n_rows(steps); i++)
		if (length_of(steps, i) >= 0 &&
		        ht_table_i64(steps, i, HT_FOUND_STEP_NUMBER) == number &&
		        is_slow(part, i, f->device.median_ns))
			return length_of(steps, i) - f->device.median_ns;
	return 0;
}

/* A step is an echo when whoever is slow in it was not in the one before, where another rank was, by about as much. */
static bool is_echo(const struct ht_findings *f, int64_t number)
{
	int64_t before = 0, now = 0;
	for (size_t p = 0; p < f->parts->n; p++) {
		int64_t then_ns = excess_of(f, p, number - 1), now_ns = excess_of(f, p, number);
		if (then_ns && now_ns)
			return false;
		before = then_ns > before ? then_ns : before;
		now = now_ns > now ? now_ns : now;
	}
	return before && now && now < before + before / ECHO && before < now + now / ECHO;
}

static void add_times(struct ht_findings *f, const struct ht_part *part)
{
	const ht_table *steps = part->facts[HT_FOUND_STEPS];
	struct ht_found_slow *slow = &f->slow;
	for (size_t i = 0; i < ht_table_n_rows(steps); i++) {
		int64_t ns = length_of(steps, i);
		if (ns < 0 || !ht_findings_is_slow(f, ht_table_i64(steps, i, HT_FOUND_STEP_NUMBER)))
			continue;
		if (!slow->n_rows++ || ns > slow->most_ns) {
			slow->most_ns = ns;
			slow->rank = part->rank;
			slow->row = ht_table_i64_or(steps, i, HT_FOUND_STEP_ROW, HT_NO_I64);
			slow->number = ht_table_i64(steps, i, HT_FOUND_STEP_NUMBER);
		}
		ht_sum(&slow->ns, ns);
		if (!ht_findings_is_apart(f, ht_table_i64(steps, i, HT_FOUND_STEP_NUMBER)))
			continue;
		slow->n_apart_rows++;
		ht_sum(&slow->apart_ns, ns);
	}
}

/* Two at least, and one in each period, or in RECURRING steps where there is none; a first step is slow for reasons of its own. */
static bool recurs(const struct ht_findings *f)
{
	size_t n_first = 0, n_own = 0;
	size_t every = f->job.period.n_steps > RECURRING ? f->job.period.n_steps : RECURRING;
	for (size_t i = 0; i < f->job.n; i++)
		n_first += f->job.list[i].is_left_out;
	for (size_t i = 0; i < f->slow.n; i++)
		n_own += !is_first(f, f->slow.numbers[i]);
	n_own = n_own > f->slow.n_echoes ? n_own - f->slow.n_echoes : 0;
	return n_own >= 2 && n_own >= (f->n_steps - n_first) / every;
}

enum ht_status ht_found_slow_steps(struct ht_findings *f)
{
	size_t n = ht_parts_n_rows(f->parts, HT_FOUND_STEPS), n_kept = 0;
	f->slow.numbers = ht_arena_alloc(f->run->scratch, (n + 1) * sizeof *f->slow.numbers);
	if (!f->slow.numbers)
		return ht_fail_nomem(f->run->ctx);
	for (size_t p = 0; p < f->parts->n; p++)
		HT_TRY(add_rank(f, &f->parts->list[p]));
	ht_sort_i64(f->slow.numbers, f->slow.n);
	for (size_t i = 0; i < f->slow.n; i++)
		if ((!n_kept || f->slow.numbers[n_kept - 1] != f->slow.numbers[i]) &&
		        is_slow_for_job(f, f->slow.numbers[i]))
			f->slow.numbers[n_kept++] = f->slow.numbers[i];
	f->slow.n = n_kept;
	for (size_t i = 0; f->parts->n > 1 && f->slow.n <= MOST_ECHOES && i < f->slow.n; i++)
		f->slow.n_echoes += is_echo(f, f->slow.numbers[i]);
	/* each rank has its own: nothing is usual then */
	if (f->slow.n >= f->n_steps)
		f->slow.n = f->slow.n_echoes = 0;
	f->slow.recurs = recurs(f);
	for (size_t i = 0; i < f->slow.n; i++)
		f->slow.n_apart += ht_findings_is_apart(f, f->slow.numbers[i]);
	for (size_t p = 0; p < f->parts->n; p++)
		add_times(f, &f->parts->list[p]);
	return HT_OK;
}

bool ht_findings_is_slow(const struct ht_findings *f, int64_t number)
{
	size_t i = HT_LOWER_BOUND(at, f->slow.n, f->slow.numbers[at] < number);
	return number != HT_NO_I64 && i < f->slow.n && f->slow.numbers[i] == number;
}

int64_t ht_findings_usual_step(const struct ht_findings *f)
{
	size_t n = f->device.n_mean - f->slow.n_rows;
	return n ? (f->device.sum_ns - f->slow.ns) / (int64_t)n : 0;
}

bool ht_findings_is_apart(const struct ht_findings *f, int64_t number)
{
	return ht_findings_is_slow(f, number) && (!f->slow.recurs || is_first(f, number));
}

int64_t ht_findings_bound_step(const struct ht_findings *f)
{
	size_t n = f->device.n_mean - f->slow.n_apart_rows;
	return n ? (f->device.sum_ns - f->slow.apart_ns) / (int64_t)n : 0;
}

struct ht_slow_cause ht_findings_slow_cause(const struct ht_findings *f)
{
	struct ht_slow_cause cause = { 0 };
	int64_t n_slow = (int64_t)(f->slow.n - f->slow.n_echoes),
	        n_other = (int64_t)(f->n_steps - f->slow.n);
	for (int k = 0; n_slow && n_other && k < HT_CP_N_BOUNDS; k++) {
		const struct ht_path_bound *bound = &f->path[k];
		int64_t more_ns = bound->slow_ns / n_slow - (bound->ns - bound->slow_ns) / n_other;
		if (more_ns > cause.ns)
			cause = (struct ht_slow_cause){ bound, more_ns };
	}
	/* what one rank does at the end of a step the others wait for in the next: both are slow by it */
	int64_t most_ns = f->slow.n_rows && n_other
	                          ? f->slow.ns / (int64_t)f->slow.n_rows - ht_findings_usual_step(f)
	                          : 0;
	most_ns = n_slow ? most_ns * (int64_t)f->slow.n / n_slow : 0;
	cause.ns = cause.ns < most_ns ? cause.ns : most_ns;
	return cause.ns > 0 ? cause : (struct ht_slow_cause){ 0 };
}
