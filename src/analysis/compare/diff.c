/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.c - what changed between two runs: step time, and what explains it by operator and kernel.
 *
 * Headline: mean step time of control and test with their spread over steps, and the difference with its 95 %
 * interval. Per name (or call path, or name and input shape), over the chosen ranks and steps:
 *     cpu         time of the step that is its own: innermost on the thread of the steps, or in the backward
 *                 pass that this waits for (step_time.h); these rows add up to the difference in step time
 *     background  own time on other host threads
 *     gpu         durations; these rows add up to the difference in GPU time
 * so that one change is one row, not one per caller. A row's interval is over steps, by Student's t; its variance
 * is helped by what rows of its kind vary by (struct ht_noise). Rows whose difference may be noise (Benjamini and
 * Hochberg at 5 %) are folded into one row per device, unless all-rows asks for them, and so is what is beyond the
 * 65,536 largest changes. With one step on each side nothing is known of noise: rows are shown without interval.
 *
 * Views operators, kernels and modules put the tables of those analyses side by side, matched by name (and shape) or
 * path, largest change first. View memory does so with the lines that hold memory in snapshots (memory_diff.h); of runs
 * that are snapshots alone it is what diff shows.
 * Which ranks and steps: see diff_sides.h; a note under the table tells.
 * With hta-compat: HTA's rows and durations (every row with a duration, by stream argument and iteration), names
 * of host and GPU merged, first rank, first step, HTA's order, change by the counts.
 *
 * O(n) + sorting the names. Order: largest |diff_ns| first, then name (of paths name by name, from outside), then
 * device; folded rows last. Paths are numbers in a tree of names until a row is shown: memory does not grow with their
 * depth.
 *
 * Example: control has aten::mm 2x in one step for 30 us of its own, test 3x for 24 us: count +1, diff_ns -6000,
 * change_share -20 %, "more calls, faster".
 */
#include "analysis/analysis.h"
#include "base/mem.h"
#include "model/finding/hint.h"
#include "model/compare/diff_sides.h"
#include "model/compare/line_change.h"
#include "model/compare/step_change.h"
#include "model/compare/step_samples.h"
#include "model/compare/use_compare.h"
#include "model/compare/view_diff.h"
#include "model/compare/work_lines.h"
#include "model/compare/memory_diff.h"
#include "model/policy.h"
#include "model/compare/metric_text.h"
#include "table/format.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

/* Chance of an interval to miss on each side, and share of noise among what is shown. */
#define MISS        0.025
#define FALSE_SHARE 0.05
/* No reader looks at more, and their texts could be many times what was read. */
#define MOST_ROWS 65536
/* How many degrees of freedom the spread of other rows is worth: as much as that of three steps. */
#define KNOWN_DF 2

static enum ht_status count_rank(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define ROWS_COLUMNS(COLUMN)                                                                         \
	COLUMN(ROWS_NAME, "name", HT_STR, HT_KEY,                                                    \
	        "operator, annotation, runtime call, kernel, copy or set; others: "                  \
	        "names within noise, and "                                                           \
	        "beyond the 65,536 largest changes",                                                 \
	        NULL)                                                                                \
	COLUMN(ROWS_DEVICE, "device", HT_STR, HT_KEY,                                                \
	        "cpu: on the thread of the steps or in the backward pass that it waits for; "        \
	        "background: other host threads; gpu; null with hta-compat",                         \
	        NULL)                                                                                \
	COLUMN(ROWS_CONTROL_COUNT, "control_count", HT_I64, HT_DETAIL,                               \
	        "events of this name in the baseline", NULL)                                         \
	COLUMN(ROWS_TEST_COUNT, "test_count", HT_I64, HT_DETAIL,                                     \
	        "events of this name in this run", NULL)                                             \
	COLUMN(ROWS_DIFF_COUNT, "diff_count", HT_I64, HT_DETAIL, "this run minus the baseline",      \
	        NULL)                                                                                \
	COLUMN(ROWS_CONTROL_NS, "control_ns", HT_DURATION, HT_DETAIL,                                \
	        "their own time in the baseline, over all ranks and steps", NULL)                    \
	COLUMN(ROWS_TEST_NS, "test_ns", HT_DURATION, HT_DETAIL, "their own time in this run",        \
	        NULL)                                                                                \
	COLUMN(ROWS_DIFF_NS, "diff_ns", HT_DURATION, HT_DETAIL, "this run minus the baseline",       \
	        NULL)                                                                                \
	COLUMN(ROWS_CHANGE_SHARE, "change_share", HT_RATIO, HT_DETAIL,                               \
	        "diff_ns over control_ns, null without a baseline", NULL)                            \
	COLUMN(ROWS_CHANGE, "change", HT_STR, HT_MEASURE,                                            \
	        "added, removed, more or fewer calls; slower, faster or within noise; equal",        \
	        NULL)                                                                                \
	COLUMN(ROWS_CONTROL_STEP_NS, "control_step_ns", HT_DURATION_F64, HT_MEASURE,                 \
	        "control_ns per step and rank", NULL)                                                \
	COLUMN(ROWS_TEST_STEP_NS, "test_step_ns", HT_DURATION_F64, HT_MEASURE,                       \
	        "test_ns per step and rank", NULL)                                                   \
	COLUMN(ROWS_STEP_DIFF_NS, "step_diff_ns", HT_DURATION_F64, HT_MEASURE,                       \
	        "this run minus the baseline, per step and rank", NULL)                              \
	COLUMN(ROWS_LOW_NS, "low_ns", HT_DURATION, HT_MEASURE,                                       \
	        "lower end of its 95 % interval over steps", NULL)                                   \
	COLUMN(ROWS_HIGH_NS, "high_ns", HT_DURATION, HT_MEASURE, "upper end", NULL)                  \
	COLUMN(ROWS_SHARE, "share", HT_RATIO, HT_MEASURE,                                            \
	        "step_diff_ns of the difference in host spans of steps (cpu) or in GPU time (gpu); " \
	        "null where that is within noise",                                                   \
	        NULL)                                                                                \
	COLUMN(ROWS_N_NAMES, "n_names", HT_I64, HT_DETAIL,                                           \
	        "names in this row: more than 1 for others", NULL)
HT_COLUMNS(of_rows, ROWS_COLUMNS);

#define SUMMARY_COLUMNS(COLUMN)                                                                    \
	COLUMN(SUMMARY_METRIC, "metric", HT_STR, HT_KEY,                                           \
	        "step: step time of the job, the median; host: host spans of steps; gpu: "         \
	        "durations of GPU activities; comm: those of it that are communication",           \
	        NULL)                                                                              \
	COLUMN(SUMMARY_CONTROL_NS, "control_ns", HT_DURATION_F64, HT_MEASURE,                      \
	        "mean over the steps of the baseline", NULL)                                       \
	COLUMN(SUMMARY_CONTROL_STD_NS, "control_std_ns", HT_DURATION_F64, HT_MEASURE,              \
	        "deviation over its steps", NULL)                                                  \
	COLUMN(SUMMARY_CONTROL_STEPS, "control_steps", HT_I64, HT_DETAIL, "its steps", NULL)       \
	COLUMN(SUMMARY_TEST_NS, "test_ns", HT_DURATION_F64, HT_MEASURE,                            \
	        "mean over the steps of this run", NULL)                                           \
	COLUMN(SUMMARY_TEST_STD_NS, "test_std_ns", HT_DURATION_F64, HT_MEASURE,                    \
	        "deviation over its steps", NULL)                                                  \
	COLUMN(SUMMARY_TEST_STEPS, "test_steps", HT_I64, HT_DETAIL, "its steps", NULL)             \
	COLUMN(SUMMARY_DIFF_NS, "diff_ns", HT_DURATION_F64, HT_MEASURE,                            \
	        "this run minus the baseline", NULL)                                               \
	COLUMN(SUMMARY_LOW_NS, "low_ns", HT_DURATION, HT_MEASURE,                                  \
	        "lower end of its 95 % interval over steps", NULL)                                 \
	COLUMN(SUMMARY_HIGH_NS, "high_ns", HT_DURATION, HT_MEASURE, "upper end", NULL)             \
	COLUMN(SUMMARY_CHANGE_SHARE, "change_share", HT_RATIO, HT_MEASURE,                         \
	        "diff_ns over control_ns", NULL)
HT_COLUMNS(of_summary, SUMMARY_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "rows", of_rows, HT_COUNT(of_rows) },
	{ "summary", of_summary, HT_COUNT(of_summary) },
	{ "causes", ht_cause_columns, HT_N_CAUSE_COLUMNS },
	{ "ranks", ht_rank_change_columns, HT_N_RANK_CHANGE_COLUMNS },
	{ "operators", ht_op_diff_columns, HT_N_OP_DIFF_COLUMNS },
	{ "kernels", ht_kernel_diff_columns, HT_N_KERNEL_DIFF_COLUMNS },
	{ "modules", ht_module_diff_columns, HT_N_MODULE_DIFF_COLUMNS },
	{ "memory", ht_mem_diff_columns, HT_N_MEM_DIFF_COLUMNS },
};

/* Views that put the tables of other analyses side by side, and the part's table of each. */
static const struct {
	const char *name;
	enum ht_view_diff view;
	size_t k;
} side_by_side[] = { { "operators", HT_DIFF_OPERATORS, 2 }, { "kernels", HT_DIFF_KERNELS, 3 },
	{ "modules", HT_DIFF_MODULES, 4 } };

/* The part's tables of paths, of utilisation, of memory and of lines of code. */
enum { PATHS = 5, USE, HELD, LINES, LINE_TIMES };

static const struct ht_param params[] = {
	{ "view", HT_STR, "rows",
	        "names that explain the difference; step and GPU time only; causes before consequences; each rank by itself; "
	        "or operators, kernels, modules, or lines that hold memory of both side by side",
	        "rows|summary|causes|ranks|operators|kernels|modules|memory" },
	{ "device", HT_STR, "all", "which rows to compare", "all|cpu|gpu" },
	{ "by", HT_STR, "name",
	        "what makes two events the same, line: the function of your code around them; of operators name or shape",
	        "name|path|shape|line" },
	{ "all-rows", HT_BOOL, "false", "show every row, also those that may be noise", NULL },
	{ "control-rank", HT_STR, NULL, "ranks of the baseline: 0,2-3 or all", NULL },
	{ "test-rank", HT_STR, NULL, "ranks of this run: 0,2-3 or all", NULL },
	{ "control-step", HT_STR, NULL, "steps of the baseline: 3-5,7 or all", NULL },
	{ "test-step", HT_STR, NULL, "steps of this run: 3-5,7 or all", NULL },
	{ "short-names", HT_BOOL, "false", "without template arguments and parameters", NULL },
};

const struct ht_analysis ht_analysis_diff = {
	.info = { .name = "diff",
	        .group = "compare",
	        .page_view = "diff",
	        .title = "Differences between two runs",
	        .question =
	                "How much longer is a step, and which operators and kernels explain it?",
	        .method =
	                "Every moment of a step belongs to the innermost row of its thread, or of the "
	                "backward pass that this waits for; GPU activity counts by its duration. Per name "
	                "over the chosen ranks and steps of both runs, this run minus the baseline, with 95 % "
	                "intervals over steps; what may be noise is folded.",
	        .hta = "TraceDiff.compare_traces, TraceDiff.ops_diff",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .charts = "rows|summary|causes|ranks|operators|kernels",
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 2 },
	.facts = { { "names", ht_profile_columns, HT_N_PROFILE_COLUMNS },
	        { "steps", ht_profile_step_columns, HT_N_PROFILE_STEP_COLUMNS },
	        { "operators", ht_op_group_columns, HT_N_OP_GROUP_COLUMNS },
	        { "kernels", ht_kernel_group_columns, HT_N_KERNEL_GROUP_COLUMNS },
	        { "modules", ht_module_group_columns, HT_N_MODULE_GROUP_COLUMNS },
	        [PATHS] = { "paths", ht_name_path_columns, HT_N_NAME_PATH_COLUMNS },
	        [USE] = { "use", ht_use_columns, HT_N_USE_COLUMNS },
	        [HELD] = { "held", ht_held_columns, HT_N_HELD_COLUMNS },
	        [LINES] = { "lines", ht_work_line_columns, HT_N_WORK_LINE_COLUMNS },
	        [LINE_TIMES] = { "line_times", ht_profile_columns, HT_N_PROFILE_COLUMNS } },
	.choose = ht_mem_diff_choose,
	.per_rank = count_rank,
	.finish = finish,
};

/* The view of the run in side_by_side; beyond its end: one of the other views. */
static size_t find_side_by_side(const struct ht_run *run)
{
	size_t i = 0;
	while (i < HT_COUNT(side_by_side) && !ht_run_is(run, "view", side_by_side[i].name))
		i++;
	return i;
}

static enum ht_status count_rank(struct ht_run *run, struct ht_part *part)
{
	if (ht_run_is(run, "view", "memory"))
		return ht_mem_held_put(run, part->facts[HELD]);
	size_t i_view = find_side_by_side(run);
	if (i_view < HT_COUNT(side_by_side))
		return ht_view_diff_put(run, side_by_side[i_view].view,
		        ht_run_is(run, "by", "shape"), part->facts[side_by_side[i_view].k]);
	struct ht_profile_options options = { .by = ht_run_is(run, "by", "path")    ? HT_BY_PATH
		                                    : ht_run_is(run, "by", "shape") ? HT_BY_SHAPE
		                                    : ht_run_is(run, "by", "line")  ? HT_BY_LINE
		                                                                    : HT_BY_NAME,
		.cpu = !ht_run_is(run, "device", "gpu"),
		.gpu = !ht_run_is(run, "device", "cpu"),
		.short_names = ht_run_bool(run, "short-names") };
	struct ht_profile_tables tables = { .names = part->facts[0],
		.steps = part->facts[1],
		.paths = options.by == HT_BY_PATH ? part->facts[PATHS] : NULL };
	if (options.gpu && !run->policy->compares_counts) {
		HT_TRY(ht_use_facts_put(run, false, part->facts[USE]));
		/* causes have names, not paths */
		if (options.by != HT_BY_PATH) {
			HT_TRY(ht_work_lines_put(run, part->facts[LINES]));
			HT_TRY(ht_line_times_put(run, part->facts[LINE_TIMES]));
		}
	}
	return (run->policy->compares_counts ? ht_profile_put_rows : ht_profile_put)(
	        run, &options, &tables);
}

/* A difference of so much of a step is worth a note. */
#define WORTH_A_NOTE 0.05

/* One row to be: a name, or several folded. */
struct row {
	const char *name;
	enum ht_place place;
	int64_t count[2], ns[2];
	double mean[2], squares[2]; /* of its samples: time per step and rank */
	double chance;              /* that the difference is noise */
	uint64_t n_names;           /* 0: a name of its own */
};

/* What is kept of a name until its row is made: there may be as many as events. */
struct entry {
	uint64_t change; /* |diff_ns| */
	double chance;
	uint32_t line; /* where the samples have it */
	uint32_t
	        order; /* of the name among all names; added ones last for a comparison of counts */
};

/* The rows of one place that are shown as one. */
struct others {
	struct row row;
	double *values;  /* by sample */
	bool has_change; /* not all of it may be noise */
};

/* All that is compared. */
struct compare {
	struct ht_run *run;
	struct ht_step_samples samples;
	struct entry *entries;
	size_t n_entries;
	struct others others[HT_N_PLACES];
	struct entry noisiest; /* of what was folded as noise the largest change */
	/* of control and test: step times of the job; host spans of steps, GPU time, communication */
	struct ht_sample step[2], host[2], gpu[2], comm[2];
	double whole[HT_N_PLACES]; /* what the rows of a place add up to; NAN: it may be noise */
	int64_t n_steps[2];        /* over all ranks */
	bool tested;               /* steps tell of noise */
	double typical
	        [2]; /* how rows of the host and of the GPU vary, as a share of their time squared */
	double limit;                 /* chances above it may be noise */
	double quantile_df, quantile; /* of the interval asked for last */
};

/* ---- rows ---- */

static void set_sample(struct row *row, size_t side, const struct ht_sample *sample)
{
	row->mean[side] = sample->mean;
	row->squares[side] = sample->squares;
}

/* Of the name in hand; its text is made when it is shown. */
static struct row row_in_hand(const struct ht_step_samples *samples)
{
	struct row row = { .place = samples->place };
	for (size_t side = 0; side < 2; side++) {
		struct ht_sample sample = ht_step_samples_own(samples, side);
		row.count[side] = samples->count[side];
		row.ns[side] = samples->ns[side];
		set_sample(&row, side, &sample);
	}
	return row;
}

static uint64_t magnitude(const struct row *row)
{
	int64_t diff_ns = ht_sub_sat(row->ns[1], row->ns[0]);
	return diff_ns < 0 ? 0 - (uint64_t)diff_ns : (uint64_t)diff_ns;
}

static enum ht_status collect(struct compare *compare)
{
	struct ht_step_samples *samples = &compare->samples;
	size_t n = 0;
	const uint32_t *places = ht_name_tree_places(&samples->tree, compare->run->scratch);
	while (ht_step_samples_next(samples))
		n++;
	compare->entries = ht_arena_alloc(compare->run->scratch, (n + 1) * sizeof(struct entry));
	if (!places || !compare->entries)
		return ht_fail_nomem(compare->run->ctx);
	ht_step_samples_seek(samples, 0);
	while (ht_step_samples_next(samples)) {
		struct row row = row_in_hand(samples);
		compare->entries[compare->n_entries++] = (struct entry){ magnitude(&row), 1,
			(uint32_t)samples->first, places[samples->name] };
	}
	return HT_OK;
}

/* The row of an entry. */
static struct row row_of(struct compare *compare, const struct entry *entry)
{
	ht_step_samples_seek(&compare->samples, entry->line);
	(void)ht_step_samples_next(&compare->samples);
	struct row row = row_in_hand(&compare->samples);
	row.chance = entry->chance;
	return row;
}

static double larger_mean(const struct row *row)
{
	return fmax(row->mean[0], row->mean[1]);
}

/* Other rows tell what a row varies by at least; of what was folded, its own steps. */
static struct ht_gap gap_of(const struct compare *compare, const struct row *row)
{
	double mean = larger_mean(row);
	struct ht_noise known = { 0 };
	struct ht_sample side[2];
	for (size_t i = 0; i < 2; i++)
		side[i] = (struct ht_sample){ compare->host[i].n, row->mean[i], row->squares[i] };
	if (compare->tested && !row->n_names)
		known = (struct ht_noise){
			compare->typical[ht_place_is_gpu(row->place)] * mean * mean, KNOWN_DF
		};
	return ht_sample_gap(&side[0], &side[1], known);
}

/* The upper quartile of what rows vary by, so that most are quieter. */
static double typical_variance(struct compare *compare, bool on_gpu, double *room)
{
	double df = (double)(compare->host[0].n + compare->host[1].n) - 2;
	size_t n = 0;
	for (size_t i = 0; i < compare->n_entries; i++) {
		struct row row = row_of(compare, &compare->entries[i]);
		double mean = larger_mean(&row);
		if (ht_place_is_gpu(row.place) == on_gpu && row.mean[0] > 0 && row.mean[1] > 0)
			room[n++] = (row.squares[0] + row.squares[1]) / df / (mean * mean);
	}
	ht_values_sort(room, n);
	return n ? room[n * 3 / 4] : 0;
}

/* Without steps that tell of noise every chance is 1, and stands for nothing. */
static enum ht_status test_rows(struct compare *compare)
{
	size_t n = compare->n_entries, n_bytes = (n + 1) * sizeof(double);
	if (!compare->tested)
		return HT_OK;
	double *room = ht_mem_alloc(compare->run->ctx->mem, n_bytes);
	if (!room)
		return ht_fail_nomem(compare->run->ctx);
	for (size_t k = 0; k < 2; k++)
		compare->typical[k] = typical_variance(compare, k, room);
	for (size_t i = 0; i < n; i++) {
		struct row row = row_of(compare, &compare->entries[i]);
		struct ht_gap gap = gap_of(compare, &row);
		compare->entries[i].chance = room[i] = ht_gap_chance(&gap);
	}
	compare->limit = ht_false_discovery_limit(room, n, FALSE_SHARE);
	ht_mem_free(compare->run->ctx->mem, room, n_bytes);
	return HT_OK;
}

/* ---- order ---- */

static int by_change(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	if (a->change != b->change)
		return a->change > b->change ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	/* of one name, lines are by place */
	return a->line < b->line ? -1 : a->line > b->line;
}

static int by_order(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	if (a->change != b->change)
		return a->change < b->change ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Names that control has before those that were added. */
static void sort_as_counts(struct compare *compare)
{
	for (size_t i = 0; i < compare->n_entries; i++)
		compare->entries[i].change = row_of(compare, &compare->entries[i]).count[0] == 0;
	ht_sort_items(compare->run->ctx->mem, compare->entries, compare->n_entries,
	        sizeof(struct entry), by_order);
}

static int by_size(const void *left, const void *right)
{
	const struct row *a = &((const struct others *)left)->row;
	const struct row *b = &((const struct others *)right)->row;
	if (magnitude(a) != magnitude(b))
		return magnitude(a) > magnitude(b) ? -1 : 1;
	return (int)a->place - (int)b->place;
}

/* ---- folding ---- */

/* all GPU work is one device to the reader */
static enum ht_place shown_place(enum ht_place place)
{
	return ht_place_is_gpu(place) ? HT_PLACE_KERNEL : place;
}

static enum ht_status others_init(struct compare *compare)
{
	size_t n_bytes = (compare->samples.n_values + 1) * sizeof(double);
	for (size_t place = 0; place < HT_N_PLACES; place++) {
		struct others *others = &compare->others[place];
		others->row = (struct row){ .name = "others", .place = (enum ht_place)place };
		others->values = ht_arena_alloc(compare->run->scratch, n_bytes);
		if (!others->values)
			return ht_fail_nomem(compare->run->ctx);
	}
	return HT_OK;
}

/* Add an entry to the others of its place. */
static void fold(struct compare *compare, const struct entry *entry)
{
	const struct ht_step_samples *samples = &compare->samples;
	struct row row = row_of(compare, entry);
	struct others *others = &compare->others[shown_place(row.place)];
	others->row.n_names++;
	others->has_change |= entry->chance <= compare->limit;
	for (size_t side = 0; side < 2; side++) {
		ht_sum(&others->row.count[side], row.count[side]);
		ht_sum(&others->row.ns[side], row.ns[side]);
	}
	for (size_t i = 0; i < samples->n_touched[1]; i++)
		others->values[samples->touched[i]] += samples->values[samples->touched[i]];
}

/* What may be noise, and what is not among the largest changes, becomes one row per place, tested as the sum that it
 * is. Largest change first. */
static void fold_rows(struct compare *compare)
{
	size_t n = 0;
	for (size_t i = 0; i < compare->n_entries; i++) {
		const struct entry *entry = &compare->entries[i];
		if (compare->tested && entry->chance > compare->limit) {
			fold(compare, entry);
			if (entry->change > compare->noisiest.change)
				compare->noisiest = *entry;
		} else {
			compare->entries[n++] = *entry;
		}
	}
	ht_sort_items(compare->run->ctx->mem, compare->entries, n, sizeof(struct entry), by_change);
	for (size_t i = MOST_ROWS; i < n; i++)
		fold(compare, &compare->entries[i]);
	compare->n_entries = n < MOST_ROWS ? n : MOST_ROWS;
	for (size_t place = 0; place < HT_N_PLACES; place++) {
		struct others *others = &compare->others[place];
		for (size_t side = 0; side < 2; side++) {
			struct ht_sample sample =
			        ht_step_samples_of(&compare->samples, others->values, side);
			set_sample(&others->row, side, &sample);
		}
		struct ht_gap gap = gap_of(compare, &others->row);
		others->row.chance = others->has_change ? ht_gap_chance(&gap) : 1;
	}
	qsort(compare->others, HT_N_PLACES, sizeof *compare->others, by_size);
}

/* ---- cells ---- */

static const char *count_change(const struct row *row)
{
	if (row->count[0] == 0)
		return "added";
	if (row->count[1] == 0)
		return "removed";
	if (row->count[1] == row->count[0])
		return "equal";
	return row->count[1] > row->count[0] ? "increased" : "decreased";
}

/* Calls per step and rank, so that another number of steps is no change. */
static int calls_change(const struct compare *compare, const struct row *row)
{
	__int128 control = (__int128)row->count[0] * compare->n_steps[1];
	__int128 test = (__int128)row->count[1] * compare->n_steps[0];
	return (test > control) - (test < control);
}

static const char *time_change(const struct compare *compare, const struct row *row)
{
	if (row->mean[0] == row->mean[1])
		return NULL;
	if (compare->tested && row->chance > compare->limit)
		return "within noise";
	return row->mean[1] > row->mean[0] ? "slower" : "faster";
}

static const char *change(const struct compare *compare, const struct row *row)
{
	static const char *const calls[3] = { "fewer calls", NULL, "more calls" };
	if (compare->run->policy->compares_counts)
		return count_change(row);
	if (!row->count[0] != !row->count[1])
		return row->count[0] ? "removed" : "added";
	const char *count = calls[calls_change(compare, row) + 1];
	const char *time = time_change(compare, row);
	if (!count || !time)
		return count ? count : time ? time : "equal";
	return ht_arena_printf(compare->run->scratch, "%s, %s", count, time);
}

/* Half of the interval; NAN when nothing is known of noise. */
static double reach_of(struct compare *compare, const struct ht_gap *gap)
{
	/* rows have the same degrees of freedom, and a quantile takes a while */
	if (gap->df > 0 && gap->df != compare->quantile_df) {
		compare->quantile_df = gap->df;
		compare->quantile = ht_student_quantile(MISS, gap->df);
	}
	return gap->df > 0 ? gap->error * compare->quantile : NAN;
}

static void put_row(ht_table *table, struct compare *compare, const struct row *row)
{
	static const char *const devices[] = { NULL, "cpu", "background", "gpu", "gpu", "gpu" };
	int64_t diff_ns = ht_sub_sat(row->ns[1], row->ns[0]);
	ht_table_row(table);
	ht_table_put_str(table, ROWS_NAME, row->name);
	ht_table_put_str(table, ROWS_DEVICE, devices[row->place]);
	ht_table_put_i64(table, ROWS_CONTROL_COUNT, row->count[0]);
	ht_table_put_i64(table, ROWS_TEST_COUNT, row->count[1]);
	ht_table_put_i64(table, ROWS_DIFF_COUNT, ht_sub_sat(row->count[1], row->count[0]));
	ht_table_put_i64(table, ROWS_CONTROL_NS, row->ns[0]);
	ht_table_put_i64(table, ROWS_TEST_NS, row->ns[1]);
	ht_table_put_i64(table, ROWS_DIFF_NS, diff_ns);
	ht_table_put_f64(table, ROWS_CHANGE_SHARE,
	        row->ns[0] > 0 ? (double)diff_ns / (double)row->ns[0] : NAN);
	ht_table_put_str(table, ROWS_CHANGE, change(compare, row));
	if (compare->run->policy->compares_counts) {
		ht_table_put_nulls_to_end(table, ROWS_CONTROL_STEP_NS);
		return;
	}
	struct ht_gap gap = gap_of(compare, row);
	ht_table_put_f64(table, ROWS_CONTROL_STEP_NS, row->mean[0]);
	ht_table_put_f64(table, ROWS_TEST_STEP_NS, row->mean[1]);
	ht_table_put_f64(table, ROWS_STEP_DIFF_NS, gap.mean);
	ht_interval_put(table, ROWS_LOW_NS, ROWS_HIGH_NS, &gap, reach_of(compare, &gap));
	ht_table_put_f64(table, ROWS_SHARE, gap.mean / compare->whole[row->place]);
	ht_table_put_i64(table, ROWS_N_NAMES, row->n_names ? (int64_t)row->n_names : 1);
}

/* ---- headline ---- */

/* Columns of each side. */
enum { N_OF_SIDE = SUMMARY_TEST_NS - SUMMARY_CONTROL_NS };

static void put_metric(
        ht_table *table, struct compare *compare, const char *metric, const struct ht_sample *sides)
{
	struct ht_gap gap = ht_sample_gap(&sides[0], &sides[1], (struct ht_noise){ 0 });
	ht_table_row(table);
	ht_table_put_str(table, SUMMARY_METRIC, metric);
	for (size_t side = 0; side < 2; side++) {
		ht_table_put_f64(table, SUMMARY_CONTROL_NS + N_OF_SIDE * side, sides[side].mean);
		ht_table_put_f64(table, SUMMARY_CONTROL_STD_NS + N_OF_SIDE * side,
		        ht_sample_std(&sides[side]));
		ht_table_put_i64(
		        table, SUMMARY_CONTROL_STEPS + N_OF_SIDE * side, (int64_t)sides[side].n);
	}
	ht_table_put_f64(table, SUMMARY_DIFF_NS, gap.mean);
	ht_interval_put(table, SUMMARY_LOW_NS, SUMMARY_HIGH_NS, &gap, reach_of(compare, &gap));
	ht_table_put_f64(
	        table, SUMMARY_CHANGE_SHARE, sides[0].mean > 0 ? gap.mean / sides[0].mean : NAN);
}

static enum ht_status set_headline(struct compare *compare, ht_table *table)
{
	struct ht_run *run = compare->run;
	const struct ht_set_samples *control = &compare->samples.sets[0];
	bool whole = control->n && control->numbers[0] == HT_NO_I64;
	const char *text = ht_metrics_text(run, whole ? "Whole trace" : "Step time", compare->step,
	        compare->gpu, (size_t[]){ compare->host[0].n, compare->host[1].n });
	return text ? ht_table_set_method(table, text) : ht_fail_nomem(run->ctx);
}

/* ---- notes ---- */

/* Which ranks and steps of both sides were compared. */
static enum ht_status say_sides(struct ht_run *run, ht_table *table)
{
	const char *control = ht_diff_describe(run, 0), *test = ht_diff_describe(run, 1);
	if (!control || !test)
		return ht_fail_nomem(run->ctx);
	return ht_table_add_note(table, "baseline: %s; this run: %s", control, test);
}

/* Much of a step that varies too much to be told from noise is still what the owner asks for: it has its name. */
static enum ht_status note_noisiest(struct compare *compare, ht_table *table)
{
	char buf[HT_FORMAT_BYTES];
	struct ht_arena *scratch = compare->run->scratch;
	if (!compare->noisiest.change)
		return HT_OK;
	struct row row = row_of(compare, &compare->noisiest);
	double diff_ns = row.mean[1] - row.mean[0];
	if (fabs(diff_ns) < WORTH_A_NOTE * compare->host[0].mean)
		return HT_OK;
	const char *path = ht_step_samples_name(&compare->samples);
	const char *name = path ? ht_hint_name(scratch, path) : NULL;
	if (!name)
		return ht_fail_nomem(compare->run->ctx);
	ht_format_double(buf, HT_DURATION_F64, fabs(diff_ns));
	return ht_table_add_note(table,
	        "large, but steps vary too much to tell it from noise: %s %c%s a step (--all-rows)",
	        name, diff_ns < 0 ? '-' : '+', buf);
}

static enum ht_status add_notes(struct compare *compare, ht_table *table)
{
	struct ht_run *run = compare->run;
	bool any = compare->samples.n_lines > 0;
	if (!any)
		HT_TRY(ht_table_add_note(table, "no events to compare"));
	if (!run->policy->compares_counts && any && ht_run_is(run, "view", "rows"))
		HT_TRY(ht_table_add_note(table,
		        "CPU rows add up to the difference in host spans of steps, GPU rows to that in "
		        "GPU time"));
	if (!run->policy->compares_counts && any && !compare->tested)
		HT_TRY(ht_table_add_note(
		        table, "one step on each side: noise is not known; compare more steps"));
	HT_TRY(note_noisiest(compare, table));
	return say_sides(run, table);
}

static void summarize(struct compare *compare)
{
	struct ht_step_samples *samples = &compare->samples;
	for (size_t side = 0; side < 2; side++) {
		compare->step[side] = samples->step_time[side];
		compare->host[side] = ht_step_samples_of(samples, samples->step_ns, side);
		compare->gpu[side] = ht_step_samples_of(samples, samples->gpu_ns, side);
		compare->comm[side] = ht_step_samples_of(samples, samples->comm_ns, side);
		for (size_t i = 0; i < samples->sets[side].n; i++)
			compare->n_steps[side] += samples->sets[side].n_ranks[i];
	}
	for (size_t i = 0; i < HT_N_PLACES; i++)
		compare->whole[i] = i == HT_PLACE_CPU    ? ht_known_change(compare->host)
		                    : ht_place_is_gpu(i) ? ht_known_change(compare->gpu)
		                                         : NAN;
	compare->tested = !compare->run->policy->compares_counts && compare->host[0].n &&
	                  compare->host[1].n && compare->host[0].n + compare->host[1].n > 2;
}

static enum ht_status put_rows(struct compare *compare, ht_table *table)
{
	struct ht_run *run = compare->run;
	struct ht_mem *mem = run->ctx->mem;
	HT_TRY(collect(compare));
	HT_TRY(test_rows(compare));
	HT_TRY(others_init(compare));
	if (run->policy->compares_counts)
		sort_as_counts(compare);
	else if (ht_run_bool(run, "all-rows"))
		ht_sort_items(
		        mem, compare->entries, compare->n_entries, sizeof(struct entry), by_change);
	else
		fold_rows(compare);
	for (size_t i = 0; i < compare->n_entries; i++) {
		struct row row = row_of(compare, &compare->entries[i]);
		row.name = ht_step_samples_name(&compare->samples);
		if (!row.name)
			return ht_fail_nomem(run->ctx);
		put_row(table, compare, &row);
	}
	for (size_t i = 0; i < HT_N_PLACES; i++)
		if (compare->others[i].row.n_names)
			put_row(table, compare, &compare->others[i].row);
	return HT_OK;
}

static enum ht_status put_summary(struct compare *compare, ht_table *table)
{
	if (compare->run->policy->refuse)
		return compare->run->policy->refuse(compare->run, "summary of a comparison");
	put_metric(table, compare, "step", compare->step);
	put_metric(table, compare, "host", compare->host);
	if (compare->gpu[0].mean > 0 || compare->gpu[1].mean > 0)
		put_metric(table, compare, "gpu", compare->gpu);
	if (compare->comm[0].mean > 0 || compare->comm[1].mean > 0)
		put_metric(table, compare, "comm", compare->comm);
	return HT_OK;
}

/* The rows of the view that was asked for, and the conclusion. */
static enum ht_status put_view(struct compare *compare, ht_table *table)
{
	struct ht_run *run = compare->run;
	bool is_causes = ht_run_is(run, "view", "causes"),
	     is_ranks = ht_run_is(run, "view", "ranks");
	struct ht_causes causes = { 0 };
	if ((is_causes || is_ranks) && run->policy->refuse)
		return run->policy->refuse(run, "causes of a change");
	if (is_causes && compare->samples.k_paths)
		return ht_fail(run->ctx, HT_USAGE, NULL, -1, "leave --by path out",
		        "causes have names, not paths");
	if (!run->policy->compares_counts && !compare->samples.k_paths)
		HT_TRY(ht_causes_find(&compare->samples, LINES, &causes));
	if (is_causes)
		HT_TRY(ht_causes_put(run, &causes, table));
	else if (is_ranks)
		HT_TRY(ht_rank_changes_put(&compare->samples, table));
	else
		HT_TRY((ht_run_is(run, "view", "summary") ? put_summary : put_rows)(
		        compare, table));
	if (!causes.list)
		return HT_OK;
	struct ht_line_change line;
	HT_TRY(ht_line_change_find(
	        run, compare->samples.parts, LINE_TIMES, causes.known_ns, &line));
	return ht_step_change_note(&compare->samples, &causes, &line, table);
}

static enum ht_status compare_sides(struct compare *compare, ht_table *table)
{
	summarize(compare);
	if (!compare->run->policy->compares_counts)
		HT_TRY(set_headline(compare, table));
	HT_TRY(put_view(compare, table));
	return add_notes(compare, table);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct compare compare = { .run = run };
	size_t i_view = find_side_by_side(run);
	if (ht_run_is(run, "view", "memory")) {
		HT_TRY(ht_mem_diff_rows(run, parts, HELD, table));
		return say_sides(run, table);
	}
	if (i_view < HT_COUNT(side_by_side)) {
		HT_TRY(ht_view_diff_rows(
		        run, side_by_side[i_view].view, parts, side_by_side[i_view].k, table));
		return say_sides(run, table);
	}
	struct ht_line_pairs pairs = { 0 };
	if (ht_run_is(run, "by", "line"))
		HT_TRY(ht_line_pairs_make(run, parts, 0, &pairs));
	const struct ht_sample_tables tables = { .paths = ht_run_is(run, "by", "path") ? PATHS : 0,
		.pairs = pairs.n ? &pairs : NULL };
	enum ht_status status = ht_step_samples_init(run, parts, &tables, &compare.samples);
	if (status == HT_OK)
		status = compare_sides(&compare, table);
	if (status == HT_OK)
		status = ht_use_change_note(run, parts, USE, table);
	ht_step_samples_done(&compare.samples);
	return status;
}
