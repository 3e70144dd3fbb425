/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.c - is the test slower than the base by more than allowed, and more than noise: a yes or no for CI.
 *
 * Metrics, per step and rank:
 *     step    median step time of the job (timed_steps.h)
 *     gpu     durations of GPU work without communication
 *     comm    durations of communication on the GPU, of the rank that has least of it in a step: what the others have more
 *             is waiting for it
 *     kernel  every kernel that computes, is on both sides and takes min-share of the GPU time of one of them; and the same
 *             kernel on a single rank, where that changes by more than the limit beyond the median of the other ranks
 *     efficiency  only when asked for: GPU time over the least time at the roofs of the device, times that of base (use_compare.h):
 *             what the work of base takes as efficiently, so that more work is no slowdown
 * The change of a metric is the mean over the runs of test against that over the runs of base; a run counts by the
 * mean of its steps. It fails the gate when it is above max-slowdown and its interval is above 0. Intervals hold
 * together: confidence is shared out over the metrics asked for, and within kernel over the kernels.
 *
 * Steps of a run vary, and runs vary by more than that; the two are kept apart (sampling.h). With several runs on a
 * side the spread of runs is measured. With one on each it is assumed: 15 % for what the host has a part in (step,
 * comm, copies), 0.5 % for the sum of kernels and 0.6 % for single ones, which is more than recordings of one
 * program on one machine showed. So one run on each side finds slow kernels, hardly ever slow hosts; what could
 * have been found is in every row (detectable_share: found four times of five).
 *
 * A kernel or the GPU is slower only if its typical time is too (typical_time.h): calls that were held up, as happens
 * where processes share a GPU, are no change of the program. Kernels on one side only are counted, and judged in gpu.
 * Does not see: another number of ranks (those that all runs have count), other inputs, another machine.
 * Order: step, gpu, comm, then kernels that are slower or faster, largest difference first; all-rows shows the rest.
 *
 * Example: one run each, gemm 100 us in every step of base, 110 us in test: +10 %, interval +7 % to +13 %: slower.
 */
#include "analysis/analysis.h"
#include "model/compare/diff_sides.h"
#include "model/compare/rank_gaps.h"
#include "model/compare/step_samples.h"
#include "model/compare/typical_sides.h"
#include "model/compare/use_compare.h"
#include "table/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status choose(struct ht_run *run);
static enum ht_status profile_rank(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_METRIC, "metric", HT_STR, HT_KEY, "step, gpu, comm, kernel or efficiency",      \
	        NULL)                                                                              \
	COLUMN(COL_NAME, "name", HT_STR, HT_KEY, "of the kernel", NULL)                            \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank that alone changed; null: all", NULL)       \
	COLUMN(COL_VERDICT, "verdict", HT_STR, HT_MEASURE,                                         \
	        "slower: fails the gate; faster; same: a slowdown beyond the limit is "            \
	        "excluded; unclear: "                                                              \
	        "it is not; added, removed: on one side only",                                     \
	        NULL)                                                                              \
	COLUMN(COL_BASE_NS, "base_ns", HT_DURATION_F64, HT_MEASURE,                                \
	        "per step and rank, mean over the runs of the baseline", NULL)                     \
	COLUMN(COL_TEST_NS, "test_ns", HT_DURATION_F64, HT_MEASURE, "likewise of this run", NULL)  \
	COLUMN(COL_CHANGE_SHARE, "change_share", HT_RATIO, HT_MEASURE,                             \
	        "this run over the baseline, less 1", NULL)                                        \
	COLUMN(COL_LOW_SHARE, "low_share", HT_RATIO, HT_MEASURE, "lower end of its interval",      \
	        NULL)                                                                              \
	COLUMN(COL_HIGH_SHARE, "high_share", HT_RATIO, HT_MEASURE, "upper end", NULL)              \
	COLUMN(COL_DETECTABLE_SHARE, "detectable_share", HT_RATIO, HT_MEASURE,                     \
	        "slowdown that the gate would have found four times of five", NULL)                \
	COLUMN(COL_TYPICAL_SHARE, "typical_share", HT_RATIO, HT_DETAIL,                            \
	        "change of the typical call, which accidents do not move; must be "                \
	        "above the limit too",                                                             \
	        NULL)                                                                              \
	COLUMN(COL_STEP_NOISE, "step_noise", HT_RATIO, HT_DETAIL,                                  \
	        "deviation between the steps of a run", NULL)                                      \
	COLUMN(COL_RUN_NOISE, "run_noise", HT_RATIO, HT_DETAIL,                                    \
	        "deviation between runs beyond that", NULL)                                        \
	COLUMN(COL_NOISE_SOURCE, "noise_source", HT_STR, HT_DETAIL,                                \
	        "whether run_noise was measured or is assumed", NULL)                              \
	COLUMN(COL_BASE_RUNS, "base_runs", HT_I64, HT_DETAIL, "runs of the baseline", NULL)        \
	COLUMN(COL_TEST_RUNS, "test_runs", HT_I64, HT_DETAIL, "runs that are compared with them",  \
	        NULL)
HT_COLUMNS(columns, COLUMNS);

/* The part's table of utilisation. */
enum { USE = 3 };

static const struct ht_param params[] = {
	{ "max-slowdown", HT_RATIO, "0.03", "how much slower this run may be: 0.03 or 3%", NULL },
	{ "metric", HT_STR, "all",
	        "what to judge; all is all but efficiency, which is GPU time over the least time at the "
	        "roofs of the device",
	        "all|step|gpu|kernel|comm|efficiency" },
	{ "confidence", HT_RATIO, "0.99", "how sure to be before failing, over all that is judged",
	        NULL },
	{ "min-share", HT_RATIO, "0.005", "share of the GPU time from which a kernel is judged",
	        NULL },
	{ "all-rows", HT_BOOL, "false",
	        "show kernels that are neither slower nor faster too, and those of one side only",
	        NULL },
	{ "n-base", HT_I64, "1", "how many of the runs are the baseline, from the first", NULL },
};

const struct ht_analysis ht_analysis_gate = {
	.info = { .name = "gate",
	        .group = "compare",
	        .title = "Gate",
	        .question =
	                "Is this run slower than the baseline, beyond what is allowed and beyond noise?",
	        .method =
	                "Means over runs of the means over steps; Student's t over the spread of runs, which "
	                "one run on each side cannot show and which is assumed then (15 % on the host, "
	                "0.5 % of the GPU's kernels together, 0.6 % of each). Fails when a change is above "
	                "max-slowdown and its interval above 0.",
	        HT_ONE_SCHEMA(columns),
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 2,
	        .sides = { "base", "test" } },
	.facts = { { "names", ht_profile_columns, HT_N_PROFILE_COLUMNS },
	        { "steps", ht_profile_step_columns, HT_N_PROFILE_STEP_COLUMNS },
	        { "typical", ht_profile_typical_columns, HT_N_PROFILE_TYPICAL_COLUMNS },
	        [USE] = { "use", ht_use_columns, HT_N_USE_COLUMNS } },
	.choose = choose,
	.per_rank = profile_rank,
	.finish = finish,
};

/* What recordings of one program vary by, and how well that is known. */
static const struct ht_run_noise host_noise = { 0.15, 8, false };
static const struct ht_run_noise gpu_noise = { 0.005, 30, true };
static const struct ht_run_noise kernel_noise = { 0.006, 30, true };
/* how often a slowdown of detectable_share is missed */
#define MISS 0.2

enum verdict { SLOWER, FASTER, SAME, UNCLEAR, ADDED, REMOVED };

/* One row to be. */
struct judged {
	const char *metric, *name;
	int64_t rank; /* HT_NO_I64: all of them */
	struct ht_run_gap gap;
	double chance;  /* of a false alarm that is taken */
	double typical; /* change of the typical time, NaN when there is none */
	double low, high, detectable;
	enum verdict verdict;
};

struct gate {
	struct ht_run *run;
	struct ht_step_samples samples;
	size_t n_base, n_metrics, n_kernels;
	double max_slowdown, chance; /* taken for one metric */
	struct ht_sample *runs;      /* of the values in hand, by set */
	struct ht_typical_sides typical;
	struct judged *rows;
	size_t n_rows, n_kernel_rows, n_rank_rows; /* one after the other */
};
/* More single ranks are not listed. */
#define MOST_RANK_ROWS 64

static enum ht_status choose(struct ht_run *run)
{
	int64_t n_base = ht_run_i64(run, "n-base");
	double max_slowdown = ht_run_f64(run, "max-slowdown");
	double confidence = ht_run_f64(run, "confidence");
	/* other rules would only change what is measured */
	run->policy = &ht_own_policy;
	if (n_base < 1 || (size_t)n_base >= run->n_sets)
		return ht_fail(run->ctx, HT_USAGE, NULL, -1, "give a run for either side",
		        "%lld of %zu runs are the base: both sides need one", (long long)n_base,
		        run->n_sets);
	if (!(max_slowdown >= 0 && max_slowdown < 1))
		return ht_fail(run->ctx, HT_USAGE, NULL, -1, "3% and 0.03 are the same",
		        "--max-slowdown %s: expected a share from 0 to below 1",
		        ht_run_str(run, "max-slowdown"));
	if (!(confidence >= 0.5 && confidence < 1))
		return ht_fail(run->ctx, HT_USAGE, NULL, -1, "99% and 0.99 are the same",
		        "--confidence %s: expected a share from 0.5 to below 1",
		        ht_run_str(run, "confidence"));
	return ht_sides_choose(run);
}

static enum ht_status profile_rank(struct ht_run *run, struct ht_part *part)
{
	struct ht_profile_options options = { .by = HT_BY_NAME, .cpu = true, .gpu = true };
	struct ht_profile_tables tables = { part->facts[0], part->facts[1], part->facts[2], NULL };
	if (ht_run_is(run, "metric", "efficiency"))
		HT_TRY(ht_use_facts_put(run, true, part->facts[USE]));
	return ht_profile_put(run, &options, &tables);
}

/* ---- judging ---- */

static bool is_asked(const struct gate *gate, const char *metric)
{
	return ht_run_is(gate->run, "metric", "all") || ht_run_is(gate->run, "metric", metric);
}

static struct ht_runs side_of(const struct gate *gate, size_t side)
{
	size_t n_test = gate->run->n_sets - gate->n_base;
	return side ? (struct ht_runs){ gate->runs + gate->n_base, n_test }
	            : (struct ht_runs){ gate->runs, gate->n_base };
}

/* values NULL: step times. */
static struct ht_run_gap measure(struct gate *gate, const double *values, struct ht_run_noise noise)
{
	for (size_t side = 0; side < gate->run->n_sets; side++)
		gate->runs[side] = values ? ht_step_samples_of(&gate->samples, values, side)
		                          : gate->samples.step_time[side];
	return ht_runs_gap(side_of(gate, 0), side_of(gate, 1), noise);
}

/* The same of the name in hand. */
static struct ht_run_gap measure_own(struct gate *gate)
{
	for (size_t side = 0; side < gate->run->n_sets; side++)
		gate->runs[side] = ht_step_samples_own(&gate->samples, side);
	return ht_runs_gap(side_of(gate, 0), side_of(gate, 1), kernel_noise);
}

static void judge(const struct gate *gate, struct judged *row)
{
	const struct ht_run_gap *gap = &row->gap;
	double change = gap->gap.mean / gap->base;
	double reach = ht_gap_reach(&gap->gap, row->chance) / gap->base;
	double found = reach + ht_gap_reach(&gap->gap, MISS) / gap->base;
	row->low = change - reach;
	row->high = change + reach;
	row->detectable = fmax(gate->max_slowdown, found);
	/* a few calls that were held up move the mean, and only that */
	bool is_accident = row->typical <= gate->max_slowdown;
	if (change > gate->max_slowdown && row->low > 0 && !is_accident)
		row->verdict = SLOWER;
	else if (change < -gate->max_slowdown && row->high < 0)
		row->verdict = FASTER;
	else
		row->verdict = row->high <= gate->max_slowdown ? SAME : UNCLEAR;
}

/* A metric that is not there is no row. */
static void judge_metric(struct gate *gate, const char *metric, const double *values,
        struct ht_run_noise noise, double typical)
{
	struct judged row = {
		.metric = metric, .rank = HT_NO_I64, .chance = gate->chance, .typical = typical
	};
	row.gap = measure(gate, values, noise);
	if (!is_asked(gate, metric) || !(row.gap.base > 0))
		return;
	judge(gate, &row);
	gate->rows[gate->n_rows++] = row;
}

/* Copies depend on the host, kernels do not. */
static struct ht_run_noise noise_of_gpu(struct gate *gate)
{
	double kernels = measure(gate, gate->samples.kernel_ns, gpu_noise).base;
	double copies = measure(gate, gate->samples.copy_ns, host_noise).base;
	double all = kernels + copies;
	struct ht_run_noise noise = gpu_noise;
	if (all > 0)
		noise.share = hypot(gpu_noise.share * kernels, host_noise.share * copies) / all;
	return noise;
}

static enum ht_status judge_gpu(struct gate *gate)
{
	struct ht_step_samples *samples = &gate->samples;
	double *values =
	        ht_arena_alloc(gate->run->scratch, (samples->n_values + 1) * sizeof *values);
	if (!values)
		return ht_fail_nomem(gate->run->ctx);
	for (size_t i = 0; i < samples->n_values; i++)
		values[i] = samples->kernel_ns[i] + samples->copy_ns[i];
	judge_metric(
	        gate, "gpu", values, noise_of_gpu(gate), ht_typical_sides_growth(&gate->typical));
	return HT_OK;
}

/* Devices whose peaks are not known have none. */
static enum ht_status judge_efficiency(struct gate *gate)
{
	double *values = NULL;
	if (!ht_run_is(gate->run, "metric", "efficiency"))
		return HT_OK;
	HT_TRY(ht_use_samples_make(
	        &gate->samples, gate->samples.parts, USE, gate->n_base, &values));
	judge_metric(gate, "efficiency", values, gpu_noise, NAN);
	return HT_OK;
}

/* ---- kernels ---- */

/* Kernels that take enough of either side's GPU time. */
static enum ht_status collect_kernels(struct gate *gate)
{
	struct ht_step_samples *samples = &gate->samples;
	double min_share = ht_run_f64(gate->run, "min-share");
	struct ht_run_gap all = measure(gate, samples->kernel_ns, kernel_noise);
	while (ht_step_samples_next(samples)) {
		if (samples->place != HT_PLACE_KERNEL)
			continue;
		struct judged row = {
			.metric = "kernel", .name = ht_step_samples_name(samples), .rank = HT_NO_I64
		};
		row.gap = measure_own(gate);
		if (row.gap.base < min_share * all.base && row.gap.test < min_share * all.test)
			continue;
		row.verdict = row.gap.base > 0 ? REMOVED : ADDED;
		if (row.gap.base > 0 && row.gap.test > 0) {
			row.verdict = UNCLEAR;
			gate->n_kernels++;
		}
		gate->rows[gate->n_rows + gate->n_kernel_rows++] = row;
	}
	return HT_OK;
}

static double size_of(const struct judged *row)
{
	return fabs(row->gap.gap.mean);
}

static bool is_one_sided(const struct judged *row)
{
	return row->verdict == ADDED || row->verdict == REMOVED;
}

static int compare_kernels(const void *left, const void *right)
{
	const struct judged *a = left, *b = right;
	if ((a->verdict == SLOWER) != (b->verdict == SLOWER))
		return a->verdict == SLOWER ? -1 : 1;
	if (size_of(a) != size_of(b))
		return size_of(a) > size_of(b) ? -1 : 1;
	int names = strcmp(a->name, b->name);
	return names ? names : (a->rank > b->rank) - (a->rank < b->rank);
}

/* A kernel in hand on single ranks: of those that stand out the slower ones become rows. */
static void judge_ranks(struct gate *gate, struct ht_rank_gaps *ranks, const char *name)
{
	ht_rank_gaps_own(ranks, kernel_noise);
	for (size_t r = 0; r < ranks->n; r++) {
		const struct ht_rank_gap *own = &ranks->gaps[r];
		struct judged row = { .metric = "kernel",
			.name = name,
			.rank = own->rank,
			.gap = own->gap,
			.chance = gate->chance / (double)(gate->n_kernels * ranks->n) };
		if (!(own->change - own->others > gate->max_slowdown) ||
		        gate->n_rank_rows == MOST_RANK_ROWS)
			continue;
		row.typical = ht_rank_typical_growth(ranks, 2, r, name);
		judge(gate, &row);
		if (row.verdict == SLOWER)
			gate->rows[gate->n_rows + gate->n_kernel_rows + gate->n_rank_rows++] = row;
	}
}

static bool is_judged(const struct gate *gate, const char *name)
{
	const struct judged *kernels = gate->rows + gate->n_rows;
	for (size_t i = 0; i < gate->n_kernel_rows; i++)
		if (!is_one_sided(&kernels[i]) && !strcmp(kernels[i].name, name))
			return true;
	return false;
}

static enum ht_status judge_kernels_of_ranks(struct gate *gate)
{
	struct ht_step_samples *samples = &gate->samples;
	struct ht_rank_gaps ranks;
	HT_TRY(ht_rank_gaps_init(samples, gate->n_base, &ranks));
	ht_step_samples_seek(samples, 0);
	while (ranks.n && ht_step_samples_next(samples)) {
		if (samples->place != HT_PLACE_KERNEL)
			continue;
		const char *name = ht_step_samples_name(samples);
		if (!name)
			return ht_fail_nomem(gate->run->ctx);
		if (is_judged(gate, name))
			judge_ranks(gate, &ranks, name);
	}
	return HT_OK;
}

static enum ht_status judge_kernels(struct gate *gate)
{
	if (!is_asked(gate, "kernel"))
		return HT_OK;
	HT_TRY(collect_kernels(gate));
	struct judged *kernels = gate->rows + gate->n_rows;
	for (size_t i = 0; i < gate->n_kernel_rows; i++) {
		if (kernels[i].verdict != UNCLEAR)
			continue;
		kernels[i].chance = gate->chance / (double)gate->n_kernels;
		kernels[i].typical = ht_typical_sides_growth_of(&gate->typical, kernels[i].name);
		judge(gate, &kernels[i]);
	}
	qsort(kernels, gate->n_kernel_rows, sizeof *kernels, compare_kernels);
	HT_TRY(judge_kernels_of_ranks(gate));
	qsort(kernels + gate->n_kernel_rows, gate->n_rank_rows, sizeof *kernels, compare_kernels);
	return HT_OK;
}

/* ---- cells ---- */

static void put_judged(const struct gate *gate, ht_table *table, const struct judged *row)
{
	static const char *const words[] = { "slower", "faster", "same", "unclear", "added",
		"removed" };
	const struct ht_run_gap *gap = &row->gap;
	bool one_sided = is_one_sided(row);
	ht_table_row(table);
	ht_table_put_str(table, COL_METRIC, row->metric);
	ht_table_put_str(table, COL_NAME, row->name);
	ht_table_put_known(table, COL_RANK, row->rank, HT_NO_I64);
	ht_table_put_str(table, COL_VERDICT, words[row->verdict]);
	ht_table_put_f64(table, COL_BASE_NS, gap->base);
	ht_table_put_f64(table, COL_TEST_NS, gap->test);
	ht_table_put_f64(table, COL_CHANGE_SHARE, gap->base > 0 ? gap->gap.mean / gap->base : NAN);
	ht_table_put_f64(table, COL_LOW_SHARE, one_sided ? NAN : row->low);
	ht_table_put_f64(table, COL_HIGH_SHARE, one_sided ? NAN : row->high);
	ht_table_put_f64(table, COL_DETECTABLE_SHARE, one_sided ? NAN : row->detectable);
	ht_table_put_f64(table, COL_TYPICAL_SHARE, one_sided ? NAN : row->typical);
	ht_table_put_f64(table, COL_STEP_NOISE, gap->base > 0 ? gap->step_std / gap->base : NAN);
	ht_table_put_f64(table, COL_RUN_NOISE, gap->base > 0 ? gap->run_std / gap->base : NAN);
	ht_table_put_str(table, COL_NOISE_SOURCE, gap->measured ? "measured" : "assumed");
	ht_table_put_i64(table, COL_BASE_RUNS, (int64_t)gate->n_base);
	ht_table_put_i64(table, COL_TEST_RUNS, (int64_t)(gate->run->n_sets - gate->n_base));
}

static bool is_shown(const struct gate *gate, const struct judged *row)
{
	return !row->name || row->verdict == SLOWER || row->verdict == FASTER ||
	       ht_run_bool(gate->run, "all-rows");
}

/* ---- notes ---- */

static const char *percent(struct ht_run *run, double share)
{
	char text[HT_FORMAT_BYTES];
	ht_format_double(text, HT_RATIO, share);
	return ht_arena_printf(run->scratch, "%s%s", share > 0 ? "+" : "", text);
}

static double middle_of(double *values, size_t n)
{
	ht_values_sort(values, n);
	return values[n / 2];
}

/* What grew less than this part of what grew in the other place is no cause. */
#define LEAST_CAUSE 0.1

/* What grew most in a place: the first thing to look at. */
struct cause {
	const char *name;
	double ns;
};

static struct cause find_cause(struct gate *gate, bool (*counts)(enum ht_place place))
{
	struct ht_step_samples *samples = &gate->samples;
	struct cause cause = { 0 };
	ht_step_samples_seek(samples, 0);
	while (ht_step_samples_next(samples)) {
		if (!counts(samples->place))
			continue;
		const char *name = ht_step_samples_name(samples);
		double ns = measure_own(gate).gap.mean;
		/* equal ones by name: the order of names is that of the files */
		if (ns > cause.ns || (ns == cause.ns && cause.name && strcmp(name, cause.name) < 0))
			cause = (struct cause){ name, ns };
	}
	return cause;
}

static bool is_cpu(enum ht_place place)
{
	return place == HT_PLACE_CPU;
}

static bool is_work(enum ht_place place)
{
	return place == HT_PLACE_KERNEL || place == HT_PLACE_COPY;
}

static bool is_comm(enum ht_place place)
{
	return place == HT_PLACE_COMM;
}

static enum ht_status note_cause(
        const struct judged *row, const char *where, struct cause cause, ht_table *table)
{
	char total[HT_FORMAT_BYTES], part[HT_FORMAT_BYTES];
	if (!cause.name)
		return HT_OK;
	ht_format_double(total, HT_DURATION_F64, row->gap.gap.mean);
	ht_format_double(part, HT_DURATION_F64, cause.ns);
	return ht_table_add_note(table, "%s is %s longer; most %s: %s +%s", row->metric, total,
	        where, cause.name, part);
}

static enum ht_status note_slower(struct gate *gate, const struct judged *row, ht_table *table)
{
	if (!strcmp(row->metric, "step")) {
		struct cause host = find_cause(gate, is_cpu), work = find_cause(gate, is_work);
		if (host.ns >= work.ns * LEAST_CAUSE)
			HT_TRY(note_cause(row, "on the host", host, table));
		if (work.ns >= host.ns * LEAST_CAUSE)
			HT_TRY(note_cause(row, "on the GPU", work, table));
		return HT_OK;
	}
	if (!strcmp(row->metric, "gpu"))
		return note_cause(row, "of it", find_cause(gate, is_work), table);
	if (!strcmp(row->metric, "comm"))
		return note_cause(row, "of it", find_cause(gate, is_comm), table);
	return HT_OK;
}

/* How many, what would have been found, and what is on one side only. */
static enum ht_status note_kernels(struct gate *gate, ht_table *table)
{
	const struct judged *kernels = gate->rows + gate->n_rows;
	double *detectable =
	        ht_arena_alloc(gate->run->scratch, (gate->n_kernels + 1) * sizeof *detectable);
	size_t n = 0, n_slower = 0, n_one_sided[2] = { 0, 0 };
	double one_sided_ns[2] = { 0, 0 };
	if (!detectable)
		return ht_fail_nomem(gate->run->ctx);
	for (size_t i = 0; i < gate->n_kernel_rows; i++) {
		if (is_one_sided(&kernels[i])) {
			n_one_sided[kernels[i].verdict == ADDED]++;
			one_sided_ns[kernels[i].verdict == ADDED] += size_of(&kernels[i]);
			continue;
		}
		detectable[n++] = kernels[i].detectable;
		n_slower += kernels[i].verdict == SLOWER;
	}
	if (n) {
		const char *found = percent(gate->run, middle_of(detectable, n));
		if (!found)
			return ht_fail_nomem(gate->run->ctx);
		HT_TRY(ht_table_add_note(table,
		        "%zu kernels judged, %zu slower; in half of them %s would have been found",
		        n, n_slower, found));
	}
	if (!n_one_sided[0] && !n_one_sided[1])
		return HT_OK;
	char removed[HT_FORMAT_BYTES], added[HT_FORMAT_BYTES];
	ht_format_double(removed, HT_DURATION_F64, one_sided_ns[0]);
	ht_format_double(added, HT_DURATION_F64, one_sided_ns[1]);
	return ht_table_add_note(table,
	        "on one side only: %zu kernels of the baseline (%s a step), %zu of this run (%s); gpu judges them",
	        n_one_sided[0], removed, n_one_sided[1], added);
}

/* What is slower by more than the limit, and may be noise: "; not cleared: step +55.2 %". NULL when out of memory. */
static const char *unclear_text(struct gate *gate)
{
	struct ht_run *run = gate->run;
	const char *text = "";
	for (size_t i = 0; text && i < gate->n_rows; i++) {
		const struct judged *row = &gate->rows[i];
		double share = row->gap.base > 0 ? row->gap.gap.mean / row->gap.base : 0;
		if (row->verdict != UNCLEAR || share <= gate->max_slowdown)
			continue;
		const char *change = percent(run, share);
		text = change ? ht_arena_printf(run->scratch, "%s%s%s %s", text,
		                        *text ? ", " : "; not cleared: ", row->metric, change)
		              : NULL;
	}
	return text;
}

/* "failed: kernel gemm +10.0 %; gpu +4.0 %" or "passed" */
static enum ht_status note_verdict(struct gate *gate, ht_table *table)
{
	struct ht_run *run = gate->run;
	const char *failed = NULL;
	size_t n_named = 0, n_more = 0;
	for (size_t i = 0; i < gate->n_rows + gate->n_kernel_rows + gate->n_rank_rows; i++) {
		const struct judged *row = &gate->rows[i];
		if (row->verdict != SLOWER)
			continue;
		if (n_named++ >= 5) {
			n_more++;
			continue;
		}
		const char *change = percent(run, row->gap.gap.mean / row->gap.base);
		const char *of = row->rank == HT_NO_I64
		                         ? ""
		                         : ht_arena_printf(run->scratch, " on rank %lld",
		                                   (long long)row->rank);
		failed = ht_arena_printf(run->scratch, "%s%s%s%s%s%s %s", failed ? failed : "",
		        failed ? "; " : "", row->metric, row->name ? " " : "",
		        row->name ? row->name : "", of ? of : "", change ? change : "");
		if (!failed || !change || !of)
			return ht_fail_nomem(run->ctx);
	}
	const char *limit = percent(run, gate->max_slowdown);
	if (!limit)
		return ht_fail_nomem(run->ctx);
	const char *doubt = unclear_text(gate);
	if (!doubt)
		return ht_fail_nomem(run->ctx);
	if (!failed)
		return ht_table_add_note(table,
		        "passed: nothing is slower by more than %s beyond noise%s",
		        gate->max_slowdown > 0 ? limit + 1 : "0 %", doubt);
	ht_table_set_check_failed(table);
	return ht_table_add_note(
	        table, n_more ? "failed: %s; and %zu more" : "failed: %s", failed, n_more);
}

/* What communication takes longer on the mean of ranks than on the one that has least of it. */
static enum ht_status note_waiting(struct gate *gate, ht_table *table)
{
	struct ht_step_samples *samples = &gate->samples;
	struct ht_run_gap all = measure(gate, samples->comm_ns, host_noise);
	struct ht_run_gap transfer = measure(gate, samples->transfer_ns, host_noise);
	double more_ns = all.gap.mean - transfer.gap.mean;
	double step_ns = measure(gate, NULL, host_noise).base;
	char text[HT_FORMAT_BYTES];
	if (!is_asked(gate, "comm") || !(more_ns > gate->max_slowdown * step_ns))
		return HT_OK;
	ht_format_double(text, HT_DURATION_F64, more_ns);
	return ht_table_add_note(table,
	        "waiting for other ranks takes %s per step longer: stragglers names them", text);
}

static enum ht_status add_notes(struct gate *gate, ht_table *table)
{
	bool unclear = false, measured = gate->run->n_sets > 2;
	for (size_t i = 0; i < gate->n_rows; i++) {
		unclear |= gate->rows[i].verdict == UNCLEAR;
		if (gate->rows[i].verdict == SLOWER)
			HT_TRY(note_slower(gate, &gate->rows[i], table));
	}
	HT_TRY(note_kernels(gate, table));
	HT_TRY(note_waiting(gate, table));
	if (unclear && !measured)
		HT_TRY(ht_table_add_note(table,
		        "one run on each side does not show how runs vary; with several (--base A --base "
		        "B --test C --test D) smaller changes are found"));
	return note_verdict(gate, table);
}

/* ---- finishing ---- */

/* Steps in the recording of a side, of the rank that has most. */
static size_t n_recorded(struct ht_run *run, size_t side)
{
	size_t most = 0;
	for (size_t i = 0; i < run->chosen[side].n; i++)
		if (ht_run_chosen(run, side, i)->n_steps > most)
			most = ht_run_chosen(run, side, i)->n_steps;
	return most;
}

/* A whole recording is one sample, which is longer the more steps were recorded. */
static enum ht_status check_lengths(const struct gate *gate)
{
	struct ht_run *run = gate->run;
	size_t first = n_recorded(run, 0);
	for (size_t side = 1; side < run->n_sets; side++)
		if (gate->samples.sets[side].numbers[0] == HT_NO_I64 &&
		        n_recorded(run, side) != first)
			return ht_fail(run->ctx, HT_USAGE, NULL, -1,
			        "leave --step out to compare step by step",
			        "whole recordings of %zu and %zu steps cannot be compared", first,
			        n_recorded(run, side));
	return HT_OK;
}

static enum ht_status check_steps(const struct gate *gate)
{
	for (size_t side = 0; side < gate->run->n_sets; side++)
		if (!gate->samples.sets[side].n)
			return ht_fail(gate->run->ctx, HT_MISSING, NULL, -1,
			        "holotrace info shows the steps of a run",
			        "run %zu of %zu has nothing to judge in the chosen steps", side + 1,
			        gate->run->n_sets);
	return check_lengths(gate);
}

/* "1 run against 2 · 4 to 5 steps each · limit 3.0 % · 99 % confidence" */
static enum ht_status set_headline(struct gate *gate, ht_table *table)
{
	struct ht_run *run = gate->run;
	char limit[HT_FORMAT_BYTES], confidence[HT_FORMAT_BYTES];
	size_t least = SIZE_MAX, most = 0;
	for (size_t side = 0; side < run->n_sets; side++) {
		size_t n = gate->samples.sets[side].n;
		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	ht_format_double(limit, HT_RATIO, gate->max_slowdown);
	ht_format_double(confidence, HT_RATIO, ht_run_f64(run, "confidence"));
	const char *steps = least == most
	                            ? ht_arena_printf(run->scratch, "%zu", most)
	                            : ht_arena_printf(run->scratch, "%zu to %zu", least, most);
	const char *text =
	        steps ? ht_arena_printf(run->scratch,
	                        "%zu run%s against %zu of the baseline · %s step%s each · limit %s · "
	                        "confidence %s",
	                        run->n_sets - gate->n_base,
	                        run->n_sets - gate->n_base == 1 ? "" : "s", gate->n_base, steps,
	                        most == 1 ? "" : "s", limit, confidence)
	              : NULL;
	return text ? ht_table_set_method(table, text) : ht_fail_nomem(run->ctx);
}

static enum ht_status judge_all(struct gate *gate, ht_table *table)
{
	struct ht_step_samples *samples = &gate->samples;
	size_t n = 4 + MOST_RANK_ROWS;
	HT_TRY(check_steps(gate));
	HT_TRY(set_headline(gate, table));
	while (ht_step_samples_next(samples))
		n++;
	ht_step_samples_seek(samples, 0);
	gate->rows = ht_arena_alloc(gate->run->scratch, n * sizeof *gate->rows);
	gate->runs = ht_arena_alloc(gate->run->scratch, HT_MAX_SETS * sizeof *gate->runs);
	if (!gate->rows || !gate->runs)
		return ht_fail_nomem(gate->run->ctx);
	judge_metric(gate, "step", NULL, host_noise, NAN);
	HT_TRY(judge_gpu(gate));
	judge_metric(gate, "comm", samples->transfer_ns, host_noise, NAN);
	HT_TRY(judge_efficiency(gate));
	HT_TRY(judge_kernels(gate));
	if (!gate->n_rows && !gate->n_kernels)
		return ht_fail(gate->run->ctx, HT_MISSING, NULL, -1, "choose another --metric",
		        "the runs have nothing in common to judge by %s",
		        ht_run_str(gate->run, "metric"));
	for (size_t i = 0; i < gate->n_rows + gate->n_kernel_rows + gate->n_rank_rows; i++)
		if (is_shown(gate, &gate->rows[i]))
			put_judged(gate, table, &gate->rows[i]);
	return add_notes(gate, table);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct gate gate = { .run = run,
		.n_base = (size_t)ht_run_i64(run, "n-base"),
		.n_metrics = ht_run_is(run, "metric", "all") ? 4 : 1,
		.max_slowdown = ht_run_f64(run, "max-slowdown") };
	gate.chance = (1 - ht_run_f64(run, "confidence")) / (double)gate.n_metrics;
	enum ht_status status =
	        ht_step_samples_init(run, parts, &(struct ht_sample_tables){ 0 }, &gate.samples);
	if (status == HT_OK)
		status = ht_typical_sides_find(run, parts, 2, gate.n_base, &gate.typical);
	if (status == HT_OK)
		status = judge_all(&gate, table);
	ht_step_samples_done(&gate.samples);
	return status;
}
