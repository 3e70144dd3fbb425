/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotation_breakdown.c - how long each user annotation took, on the GPU or on the host.
 *
 * Per rank the annotations are grouped by full name: count, sum, mean, deviation, min, max of single
 * occurrences. With more than num-kernels names at most the num-kernels longest stay (duration-ratio may
 * leave fewer, as in kernel-breakdown) and those that match allowlist; the rest is pooled as "others".
 * source gpu reads gpu_user_annotation: from the first to the last kernel that was launched inside, per
 * stream. source cpu reads user_annotation: the host's own time. Nested annotations and several streams
 * or threads each count, so sums can exceed the wall time. O(n log n).
 * View origins has the GPU activity of each annotation by operator, module and line instead, kernels of graph launches too: by the
 * innermost annotation around the launch, so that an activity counts once (annotation_origins.h).
 * Example: "forward" 3 and 5 us on two streams: count 2, sum 8, mean 4.
 * Definition: HTA get_gpu_user_annotation_breakdown.
 */
#include "analysis/analysis.h"
#include "base/pattern.h"
#include "model/groups/annotation_origins.h"
#include "model/policy.h"
#include "model/rows/frame.h"
#include "model/rows/name_groups.h"
#include "store/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status check_allowlist(struct ht_run *run);
static enum ht_status break_down(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \
	COLUMN(COL_NAME, "name", HT_STR, HT_KEY,                                                   \
	        "annotation, or others for all names that were folded", NULL)                      \
	COLUMN(COL_COUNT, "count", HT_I64, HT_MEASURE, "occurrences", NULL)                        \
	COLUMN(COL_SUM_NS, "sum_ns", HT_DURATION, HT_MEASURE, "sum of their durations", NULL)      \
	COLUMN(COL_MEAN_NS, "mean_ns", HT_DURATION_F64, HT_MEASURE, "mean duration", NULL)         \
	COLUMN(COL_STD_NS, "std_ns", HT_DURATION_F64, HT_MEASURE,                                  \
	        "standard deviation, null for one", NULL)                                          \
	COLUMN(COL_MIN_NS, "min_ns", HT_DURATION, HT_MEASURE, "shortest occurrence", NULL)         \
	COLUMN(COL_MAX_NS, "max_ns", HT_DURATION, HT_MEASURE, "longest occurrence", NULL)          \
	COLUMN(COL_N_NAMES, "n_names", HT_I64, HT_DETAIL,                                          \
	        "names in this row: more than 1 for others", NULL)
HT_COLUMNS(columns, COLUMNS);
static const struct ht_column origin_columns[] = HT_COLUMN_ENTRIES(HT_ANNOTATION_ORIGIN_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "annotations", columns, HT_COUNT(columns) },
	{ "origins", origin_columns, HT_COUNT(origin_columns) },
};

static const struct ht_param params[] = {
	{ "view", HT_STR, "annotations",
	        "durations of annotations, or their GPU activity by operator, module and line",
	        "annotations|origins" },
	{ "source", HT_STR, "gpu", "annotations on the GPU or on the host", "gpu|cpu" },
	{ "num-kernels", HT_I64, "1000",
	        "names to show per rank; 0: as many as duration-ratio asks for", NULL },
	{ "duration-ratio", HT_RATIO, "0.8", "how much the shown names cover when some are folded",
	        NULL },
	{ "ratio-of", HT_STR, "names",
	        "duration-ratio is a quantile over names as in HTA, or a share of time",
	        "names|time" },
	{ "allowlist", HT_STR, NULL, "names that match this regular expression are never folded",
	        NULL },
};

const struct ht_analysis ht_analysis_annotation_breakdown = {
	.info = {
		.name = "annotation-breakdown",
		.group = "gpu",
		.page_view = "annotations",
		.title = "Annotation breakdown",
		.question = "How long did each user annotation take, on the GPU or on the host?",
		.method = "Durations of user annotations by name. On the GPU an annotation lasts from the "
			  "first to the last kernel launched inside it, per stream. By rank, sum "
			  "descending, name; others last. Origins: GPU activity by the innermost "
			  "annotation around its launch, each activity once.",
		.hta = "get_gpu_user_annotation_breakdown",
		.schemas = schemas,
		.n_schemas = HT_COUNT(schemas),
		.chosen_by = "view",
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
	},
	.choose = check_allowlist,
	.per_rank = break_down,
	.finish = finish,
};

static int compare_name(const void *left, const void *right)
{
	const struct ht_name_group *a = left, *b = right;
	return strcmp(a->name, b->name);
}

static void put_groups(
        struct ht_run *run, ht_table *table, int64_t rank, const struct ht_name_groups *groups)
{
	for (size_t i = 0; i < groups->n; i++) {
		const struct ht_name_group *g = &groups->items[i];
		double std = ht_name_group_std(g);
		ht_table_row(table);
		ht_table_put_i64(table, COL_RANK, rank);
		ht_table_put_str(table, COL_NAME, g->name);
		ht_table_put_i64(table, COL_COUNT, (int64_t)g->count);
		ht_table_put_i64(table, COL_SUM_NS, g->sum_ns);
		ht_table_put_f64(table, COL_MEAN_NS, ht_name_group_mean(g));
		ht_table_put_f64(
		        table, COL_STD_NS, run->policy->zero_spread && isnan(std) ? 0 : std);
		ht_table_put_i64(table, COL_MIN_NS, g->min_ns);
		ht_table_put_i64(table, COL_MAX_NS, g->max_ns);
		ht_table_put_i64(table, COL_N_NAMES, (int64_t)g->n_names);
	}
}

static enum ht_status put_rank(
        struct ht_run *run, ht_table *table, enum ht_kind kind, const struct ht_fold *fold)
{
	struct ht_frame frame = { 0 };
	HT_TRY(ht_frame_make(run, &frame));
	const struct ht_trace *t = frame.trace;
	size_t n = 0;
	for (size_t k = 0; k < frame.n_rows; k++)
		n += t->kind[frame.rows[k]] == kind;
	struct ht_named_dur *durs = ht_arena_alloc(run->scratch, (n + 1) * sizeof *durs);
	if (!durs)
		return ht_fail_nomem(run->ctx);
	n = 0;
	for (size_t k = 0; k < frame.n_rows; k++) {
		uint32_t row = frame.rows[k];
		if (t->kind[row] == kind)
			durs[n++] = (struct ht_named_dur){ t->name[row], t->dur_ns[row] };
	}
	struct ht_name_groups groups = { 0 };
	HT_TRY(ht_name_groups_make(run, t, durs, n, &groups));
	ht_name_groups_fold(&groups, fold);
	if (run->policy->by_name)
		qsort(groups.items, groups.n, sizeof *groups.items, compare_name);
	put_groups(run, table, frame.rank, &groups);
	return HT_OK;
}

static enum ht_status compile_allowlist(struct ht_run *run, const char *allow, regex_t *ret_keep)
{
	char why[HT_PATTERN_WHY];
	enum ht_status status = ht_pattern_compile(allow, ret_keep, why);
	if (status == HT_OK)
		return HT_OK;
	return ht_fail(run->ctx, status, NULL, -1,
	        "give an extended regular expression such as 'forward|backward'",
	        "allowlist '%s' is not a regular expression: %s", allow, why);
}

static enum ht_status check_allowlist(struct ht_run *run)
{
	const char *allow = ht_run_str(run, "allowlist");
	regex_t keep;
	if (!allow)
		return HT_OK;
	HT_TRY(compile_allowlist(run, allow, &keep));
	regfree(&keep);
	return HT_OK;
}

static enum ht_status break_down(struct ht_run *run, struct ht_part *part)
{
	struct ht_fold fold = {
		.max_names = ht_run_i64(run, "num-kernels"),
		.ratio = ht_run_f64(run, "duration-ratio"),
		.ratio_of_names = run->policy->folds_sums || ht_run_is(run, "ratio-of", "names"),
		.stats_of_sums = run->policy->folds_sums,
	};
	enum ht_kind kind =
	        ht_run_is(run, "source", "gpu") ? HT_KIND_GPU_ANNOTATION : HT_KIND_ANNOTATION;
	const char *allow = ht_run_str(run, "allowlist");
	if (ht_run_is(run, "view", "origins"))
		return ht_annotation_origins_put(run, part->facts[0]);
	if (!allow)
		return put_rank(run, part->facts[0], kind, &fold);
	regex_t keep;
	HT_TRY(compile_allowlist(run, allow, &keep));
	fold.keep = &keep;
	enum ht_status status = put_rank(run, part->facts[0], kind, &fold);
	regfree(&keep);
	return status;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	bool gpu = ht_run_is(run, "source", "gpu");
	if (ht_run_is(run, "view", "origins")) {
		HT_TRY(ht_frame_set_method(run, table, "summed GPU time"));
		return ht_parts_rows_or(run, parts, table, "no GPU activity in the selection");
	}
	HT_TRY(ht_frame_set_method(run, table, gpu ? "time on the GPU" : "time on the host"));
	return ht_parts_rows_or(run, parts, table,
	        gpu ? "no GPU annotations in the selection; try --source cpu"
	            : "no host annotations in the selection");
}
