/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_changes.c - how steps change while a run goes on: new levels, trends, every k-th step that takes longer.
 *
 *   level   a change point (job/changes.h) of the step time of the job; of a rank, of its GPU activity (durations but for communication) less the median
 *           of all ranks in that step, as what all ranks have in common is no rank's fault, and waiting makes step times of ranks alike. Chances count p
 *           times the places and series that it could have been in (ht_change_chance), and must be below 5 %; less than 1 % is not told
 *   trend   where there is no new level: the median slope over all pairs of steps (Theil and Sen), when Kendall's test is sure (z above 4) and the run
 *           has drifted by 2 % or more
 *   period  steps above the median by 10 % and by 6 deviations (from the median of deviations), when three quarters of them are k apart: checkpoints, garbage
 *           collection, evaluation. They are left out of the others
 * The first step is left out. Reads steps and GPU activity. O(n w^2) for windows of w = 50 steps.
 *
 * Example: 40 steps of 100 ms, every 10th of 150 ms: one row, period, every 10, from 100 to 150 ms.
 */
#include "analysis/analysis.h"
#include "base/sort.h"
#include "job/changes.h"
#include "model/numbers/stats.h"
#include "model/steps/step_profile.h"
#include "model/steps/timed_steps.h"

#include <math.h>
#include <stdlib.h>

#define MIN_STEPS      8
#define ALARM_LEVEL    0.05
#define MIN_CHANGE     0.01
#define MIN_DRIFT      0.02
#define SURE_Z         4
#define TREND_POINTS   1000
#define OUTLIER_SHARE  0.1
#define OUTLIER_SIGMAS 6
/* A normal distribution's deviation over the median of deviations. */
#define SIGMA_OF_MAD 1.4826
#define PERIOD_SHARE 0.75

static enum ht_status profile_rank(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                                     \
	COLUMN(COL_CHANGE, "change", HT_STR, HT_KEY, "level, trend or period", NULL)                        \
	COLUMN(COL_WHAT, "what", HT_STR, HT_KEY,                                                            \
	        "step time of the job, or GPU activity of a rank", NULL)                                    \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank; null for the job", NULL)                            \
	COLUMN(COL_STEP, "step", HT_I64, HT_MEASURE,                                                        \
	        "first step of the new level, or of the period", NULL)                                      \
	COLUMN(COL_EVERY, "every", HT_I64, HT_MEASURE, "of a period: steps from one to the next",           \
	        NULL)                                                                                       \
	COLUMN(COL_BEFORE, "before_ns", HT_DURATION_F64, HT_MEASURE,                                        \
	        "mean of the level before; of a trend at its start, of a period the median of other steps", \
	        NULL)                                                                                       \
	COLUMN(COL_AFTER, "after_ns", HT_DURATION_F64, HT_MEASURE,                                          \
	        "mean of the new level; of a trend at its end, of a period the mean of its steps",          \
	        NULL)                                                                                       \
	COLUMN(COL_SHARE, "change_share", HT_RATIO, HT_MEASURE, "after over before, less 1", NULL)          \
	COLUMN(COL_P, "p_value", HT_F64, HT_DETAIL,                                                         \
	        "of a level: chance that it is none, by Student's t", NULL)                                 \
	COLUMN(COL_STEPS, "steps", HT_I64, HT_DETAIL, "steps that were looked at", NULL)
HT_COLUMNS(columns, COLUMNS);

const struct ht_analysis ht_analysis_step_changes = {
	.info = { .name = "step-changes",
	        .group = "overview",
	        .title = "Changes over steps",
	        .question =
	                "Do steps get longer while the run goes on, at once, bit by bit, or every k-th?",
	        .method =
	                "Change points of step time (Hunter) and, per rank, of GPU activity less the median of "
	                "all ranks; the median slope; steps that stand out at even distances.",
	        HT_ONE_SCHEMA(columns),
	        .n_sets = 1 },
	.facts = { { "names", ht_profile_columns, HT_N_PROFILE_COLUMNS },
	        { "steps", ht_profile_step_columns, HT_N_PROFILE_STEP_COLUMNS } },
	.per_rank = profile_rank,
	.finish = finish,
};

static enum ht_status profile_rank(struct ht_run *run, struct ht_part *part)
{
	struct ht_profile_options options = { .by = HT_BY_NAME };
	struct ht_profile_tables tables = { part->facts[0], part->facts[1], NULL, NULL };
	return ht_profile_put(run, &options, &tables);
}

/* A series of steps. */
struct series {
	struct ht_run *run;
	ht_table *table;
	const char *what;
	int64_t rank; /* HT_NO_I64: the job */
	int64_t *numbers;
	double *values, *room;
	size_t n;
	double n_series; /* that are looked at together */
};

static void put(const struct series *s, const char *change, size_t at, int64_t every, double before,
        double after, double p)
{
	ht_table_row(s->table);
	ht_table_put_str(s->table, COL_CHANGE, change);
	ht_table_put_str(s->table, COL_WHAT, s->what);
	ht_table_put_known(s->table, COL_RANK, s->rank, HT_NO_I64);
	ht_table_put_i64(s->table, COL_STEP, s->numbers[at]);
	ht_table_put_known(s->table, COL_EVERY, every, HT_NO_I64);
	ht_table_put_f64(s->table, COL_BEFORE, before);
	ht_table_put_f64(s->table, COL_AFTER, after);
	ht_table_put_f64(s->table, COL_SHARE, after / before - 1);
	ht_table_put_f64(s->table, COL_P, p);
	ht_table_put_i64(s->table, COL_STEPS, (int64_t)s->n);
}

/* ---- every k-th step ---- */

static int64_t find_distance(const size_t *outliers, size_t n, double *room)
{
	for (size_t i = 1; i < n; i++)
		room[i - 1] = (double)(outliers[i] - outliers[i - 1]);
	qsort(room, n - 1, sizeof *room, ht_compare_f64);
	double middle = room[(n - 1) / 2];
	size_t n_same = 0;
	for (size_t i = 0; i + 1 < n; i++)
		n_same += room[i] == middle;
	return middle >= 2 && (double)n_same >= PERIOD_SHARE * (double)(n - 1) ? (int64_t)middle
	                                                                       : 0;
}

/* Tell outliers that come evenly, and leave them out of the series. */
static enum ht_status find_period(struct series *s)
{
	size_t *outliers = ht_arena_alloc(s->run->scratch, (s->n + 1) * sizeof *outliers), n = 0;
	double *deviations = ht_arena_alloc(s->run->scratch, (s->n + 1) * sizeof *deviations),
	       sum = 0;
	if (!outliers || !deviations)
		return ht_fail_nomem(s->run->ctx);
	double median = ht_middle_f64(s->values, s->n, s->room);
	for (size_t i = 0; i < s->n; i++)
		deviations[i] = fabs(s->values[i] - median);
	double sigma = SIGMA_OF_MAD * ht_middle_f64(deviations, s->n, s->room);
	double limit = median + fmax(OUTLIER_SIGMAS * sigma, OUTLIER_SHARE * median);
	for (size_t i = 0; i < s->n; i++)
		if (s->values[i] > limit) {
			sum += s->values[i];
			outliers[n++] = i;
		}
	int64_t every = n >= 3 ? find_distance(outliers, n, s->room) : 0;
	if (!every)
		return HT_OK;
	put(s, "period", outliers[0], every, median, sum / (double)n, NAN);
	for (size_t i = 0; i < n; i++)
		s->values[outliers[i]] = NAN;
	(void)ht_changes_fill(s->values, s->n);
	return HT_OK;
}

/* ---- levels and trends ---- */

static enum ht_status find_levels(const struct series *s, size_t *ret_n)
{
	struct ht_changes_options options = { HT_CHANGES_WINDOW, HT_CHANGES_MAX_PVALUE,
		MIN_CHANGE };
	struct ht_change *changes;
	size_t n;
	*ret_n = 0;
	HT_TRY(ht_changes_find(
	        s->run->ctx, s->run->scratch, s->values, s->n, &options, &changes, &n));
	for (size_t i = 0; i < n; i++) {
		const struct ht_change *c = &changes[i];
		if (!(ht_change_chance(c, s->n) * s->n_series <= ALARM_LEVEL))
			continue;
		put(s, "level", c->index, HT_NO_I64, c->mean_before, c->mean_after, c->p);
		(*ret_n)++;
	}
	return HT_OK;
}

/* Of long runs every so-many-th step: all pairs are looked at. */
static enum ht_status find_trend(const struct series *s)
{
	size_t stride = (s->n + TREND_POINTS - 1) / TREND_POINTS, n = (s->n + stride - 1) / stride,
	       k = 0;
	double *slopes = ht_arena_alloc(s->run->scratch, (n * n / 2 + 1) * sizeof *slopes),
	       order = 0;
	if (!slopes)
		return ht_fail_nomem(s->run->ctx);
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++) {
			double rise = s->values[j * stride] - s->values[i * stride];
			order += (rise > 0) - (rise < 0);
			slopes[k++] = rise / (double)((j - i) * stride);
		}
	double count = (double)n, z = order / sqrt(count * (count - 1) * (2 * count + 5) / 18);
	double median = ht_middle_f64(s->values, s->n, s->room);
	qsort(slopes, k, sizeof *slopes, ht_compare_f64);
	double drift = slopes[k / 2] * (double)(s->n - 1);
	if (fabs(z) > SURE_Z && fabs(drift) >= MIN_DRIFT * median)
		put(s, "trend", 0, HT_NO_I64, median - drift / 2, median + drift / 2, NAN);
	return HT_OK;
}

static enum ht_status look_at_job(struct series *s)
{
	struct ht_job_steps job;
	size_t n_levels;
	HT_TRY(ht_job_steps_make(s->run, 0, &job));
	s->numbers = ht_arena_alloc(s->run->scratch, (job.n + 1) * sizeof *s->numbers);
	s->values = ht_arena_alloc(s->run->scratch, (job.n + 1) * sizeof *s->values);
	s->room = ht_arena_alloc(s->run->scratch, (job.n + 1) * sizeof *s->room);
	if (!s->numbers || !s->values || !s->room)
		return ht_fail_nomem(s->run->ctx);
	for (size_t i = 0; i < job.n; i++)
		if (!job.list[i].is_left_out) {
			s->numbers[s->n] = job.list[i].number;
			s->values[s->n++] = (double)job.list[i].time_ns;
		}
	if (s->n < MIN_STEPS)
		return ht_table_add_note(s->table,
		        "n/a: %zu step%s besides the first; %d or more are needed", s->n,
		        s->n == 1 ? "" : "s", MIN_STEPS);
	HT_TRY(find_period(s));
	HT_TRY(find_levels(s, &n_levels));
	return n_levels ? HT_OK : find_trend(s);
}

/* ---- ranks ---- */

/* GPU activity of a step of a rank; NAN: it has no such step. Steps of a part ascend. */
static double work_of(const struct ht_part *part, int64_t number)
{
	const ht_table *steps = part->facts[1];
	size_t low = 0, high = ht_table_n_rows(steps);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ht_table_i64(steps, middle, HT_STEP_NUMBER) < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == ht_table_n_rows(steps) || ht_table_i64(steps, low, HT_STEP_NUMBER) != number)
		return NAN;
	return (double)ht_table_i64(steps, low, HT_STEP_KERNEL_NS) +
	       (double)ht_table_i64(steps, low, HT_STEP_COPY_NS);
}

static enum ht_status look_at_ranks(const struct series *job, const struct ht_parts *parts)
{
	double *common = ht_arena_alloc(job->run->scratch, (job->n + 1) * sizeof *common);
	double *room = ht_arena_alloc(job->run->scratch, (parts->n + job->n + 1) * sizeof *room);
	double *values = ht_arena_alloc(job->run->scratch, (job->n + 1) * sizeof *values);
	if (!common || !room || !values)
		return ht_fail_nomem(job->run->ctx);
	for (size_t i = 0; i < job->n; i++) {
		for (size_t k = 0; k < parts->n; k++) {
			room[k] = work_of(&parts->list[k], job->numbers[i]);
			if (isnan(room[k]))
				return HT_OK;
		}
		qsort(room, parts->n, sizeof *room, ht_compare_f64);
		common[i] = room[parts->n / 2];
	}
	double usual = ht_middle_f64(common, job->n, room);
	for (size_t k = 0; k < parts->n && usual > 0; k++) {
		struct series s = *job;
		size_t n_levels;
		s.what = "GPU activity";
		s.rank = parts->list[k].rank;
		s.n_series = (double)parts->n;
		s.values = values;
		s.room = room;
		for (size_t i = 0; i < s.n; i++)
			values[i] = work_of(&parts->list[k], s.numbers[i]) - common[i] + usual;
		HT_TRY(find_levels(&s, &n_levels));
	}
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct series job = {
		.run = run, .table = table, .what = "step time", .rank = HT_NO_I64, .n_series = 1
	};
	HT_TRY(look_at_job(&job));
	if (job.n < MIN_STEPS)
		return HT_OK;
	if (parts->n > 1)
		HT_TRY(look_at_ranks(&job, parts));
	return ht_table_add_note(
	        table, "%zu steps of %zu rank%s", job.n, parts->n, parts->n == 1 ? "" : "s");
}
