/*
 * annotation_breakdown.c - how long each user annotation took, on the GPU or on the host.
 *
 * Per rank the annotations are grouped by full name: count, sum, mean, deviation, min, max of single
 * occurrences. With more than num-kernels names at most the num-kernels longest stay (duration-ratio may
 * leave fewer, as in kernel-breakdown) and those that match allowlist; the rest is pooled as "others".
 * source gpu reads gpu_user_annotation: from the first to the last kernel that was launched inside, per
 * stream. source cpu reads user_annotation: the host's own time. Nested annotations and several streams
 * or threads each count, so sums can exceed the wall time. O(n log n).
 * Example: "forward" 3 and 5 us on two streams: count 2, sum 8, mean 4.
 * Definition: HTA get_gpu_user_annotation_breakdown.
 */
#include "analysis/analysis.h"
#include "model/frame.h"
#include "model/name_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status run_annotations(struct ht_run *run, ht_table *table);

static const struct ht_column columns[] = {
	{ "rank", HT_I64, HT_KEY, "rank of the trace", NULL },
	{ "name", HT_STR, HT_KEY, "annotation, or others for all names that were folded", NULL },
	{ "count", HT_I64, HT_MEASURE, "occurrences", NULL },
	{ "sum_ns", HT_DURATION, HT_MEASURE, "sum of their durations", NULL },
	{ "mean_ns", HT_DURATION_F64, HT_MEASURE, "mean duration", NULL },
	{ "std_ns", HT_DURATION_F64, HT_MEASURE, "standard deviation, null for one", NULL },
	{ "min_ns", HT_DURATION, HT_MEASURE, "shortest occurrence", NULL },
	{ "max_ns", HT_DURATION, HT_MEASURE, "longest occurrence", NULL },
	{ "n_names", HT_I64, HT_DETAIL, "names in this row: more than 1 for others", NULL },
};

static const struct ht_param params[] = {
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
		.title = "Annotation breakdown",
		.question = "How long did each user annotation take, on the GPU or on the host?",
		.method = "Durations of user annotations by name. On the GPU an annotation lasts from the "
			  "first to the last kernel launched inside it, per stream. By rank, sum "
			  "descending, name; others last.",
		.hta = "get_gpu_user_annotation_breakdown",
		.columns = columns,
		.n_columns = HT_COUNT(columns),
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
	},
	.run = run_annotations,
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
		ht_table_put_i64(table, rank);
		ht_table_put_str(table, g->name);
		ht_table_put_i64(table, (int64_t)g->count);
		ht_table_put_i64(table, g->sum_ns);
		ht_table_put_f64(table, g->mean_ns);
		ht_table_put_f64(table, run->hta_compat && isnan(std) ? 0 : std);
		ht_table_put_i64(table, g->min_ns);
		ht_table_put_i64(table, g->max_ns);
		ht_table_put_i64(table, (int64_t)g->n_names);
	}
}

static enum ht_status put_rank(struct ht_run *run, ht_table *table, size_t i, enum ht_kind kind,
        const struct ht_fold *fold)
{
	struct ht_frame frame = { 0 };
	HT_TRY(ht_frame_make(run, i, &frame));
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
	if (run->hta_compat)
		qsort(groups.items, groups.n, sizeof *groups.items, compare_name);
	put_groups(run, table, frame.rank, &groups);
	return HT_OK;
}

static enum ht_status put_ranks(struct ht_run *run, ht_table *table, const struct ht_fold *fold)
{
	bool gpu = !strcmp(ht_run_str(run, "source"), "gpu");
	HT_TRY(ht_frame_set_method(run, table, gpu ? "time on the GPU" : "time on the host"));
	for (size_t i = 0; i < run->n; i++)
		HT_TRY(put_rank(
		        run, table, i, gpu ? HT_KIND_GPU_ANNOTATION : HT_KIND_ANNOTATION, fold));
	if (!ht_table_n_rows(table))
		HT_TRY(ht_table_add_note(table, "no %s annotations in the selection%s",
		        gpu ? "GPU" : "host", gpu ? "; try --source cpu" : ""));
	return ht_table_finish(run->ctx, table);
}

static enum ht_status run_annotations(struct ht_run *run, ht_table *table)
{
	struct ht_fold fold = {
		.max_names = ht_run_i64(run, "num-kernels"),
		.ratio = ht_run_f64(run, "duration-ratio"),
		.ratio_of_names = run->hta_compat || !strcmp(ht_run_str(run, "ratio-of"), "names"),
		.stats_of_sums = run->hta_compat,
	};
	const char *allow = ht_run_str(run, "allowlist");
	if (!allow)
		return put_ranks(run, table, &fold);
	regex_t keep;
	int bad = regcomp(&keep, allow, REG_EXTENDED | REG_NOSUB);
	if (bad) {
		char why[128];
		regerror(bad, &keep, why, sizeof why);
		return ht_fail(run->ctx, HT_USAGE, NULL, -1,
		        "give an extended regular expression such as 'forward|backward'",
		        "allowlist '%s' is not a regular expression: %s", allow, why);
	}
	fold.keep = &keep;
	enum ht_status status = put_ranks(run, table, &fold);
	regfree(&keep);
	return status;
}
