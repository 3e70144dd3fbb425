/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_breakdown.c - which kernels take the time, per rank and type, and how evenly over ranks.
 *
 * Per rank and type (compute, communication, memory, other) durations are grouped by full name:
 * count, sum, mean, deviation, min, max of single events. When a type has more than num-kernels names,
 * at most the num-kernels longest stay, and of those only the ones whose running sum is within the
 * duration-ratio quantile of all running sums (HTA's rule) or, with ratio-of time, the ones needed to
 * cover duration-ratio of the time; the rest is pooled as "others". `by all` pools the ranks and adds
 * the spread of their sums.
 * Sums are of events, so concurrent kernels count twice; see kernel-types for exclusive time.
 * Reads kernels, copies and sets. O(n log n).
 * Example: a 4, a 6, b 1 us on rank 0 and a 30 us on rank 1: by all gives a with count 3, sum 40,
 * min 4, max 30, ranks' sums 10 to 30, mean 20, imbalance 1.5.
 * Definition: HTA get_gpu_kernel_breakdown, second table.
 */
#include "analysis/analysis.h"
#include "model/finding/finding.h"
#include "model/finding/hint.h"
#include "model/device/gpu_work.h"
#include "model/policy.h"
#include "model/rows/work_names.h"
#include "model/rows/name_groups.h"
#include "base/checked.h"
#include "store/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status group_names(struct ht_run *run, struct ht_part *part);
static bool are_types(const struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define RANKS_COLUMNS(COLUMN)                                                                      \
	COLUMN(RANKS_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                      \
	COLUMN(RANKS_KERNEL_TYPE, "kernel_type", HT_STR, HT_KEY,                                   \
	        "compute, communication, memory or other; HTA's words with hta-compat", NULL)      \
	COLUMN(RANKS_NAME, "name", HT_STR, HT_KEY,                                                 \
	        "full name, or others for all names that were folded", NULL)                       \
	COLUMN(RANKS_COUNT, "count", HT_I64, HT_MEASURE, "events", NULL)                           \
	COLUMN(RANKS_SUM_NS, "sum_ns", HT_DURATION, HT_MEASURE, "sum of their durations", NULL)    \
	COLUMN(RANKS_SHARE, "share", HT_RATIO, HT_MEASURE, "of the summed GPU time of the rank",   \
	        NULL)                                                                              \
	COLUMN(RANKS_MEAN_NS, "mean_ns", HT_DURATION_F64, HT_MEASURE, "mean duration", NULL)       \
	COLUMN(RANKS_STD_NS, "std_ns", HT_DURATION_F64, HT_MEASURE,                                \
	        "standard deviation, null for one event", NULL)                                    \
	COLUMN(RANKS_MIN_NS, "min_ns", HT_DURATION, HT_MEASURE, "shortest event", NULL)            \
	COLUMN(RANKS_MAX_NS, "max_ns", HT_DURATION, HT_MEASURE, "longest event", NULL)             \
	COLUMN(RANKS_N_NAMES, "n_names", HT_I64, HT_DETAIL,                                        \
	        "names in this row: more than 1 for others", NULL)
HT_COLUMNS(of_ranks, RANKS_COLUMNS);

#define ALL_COLUMNS(COLUMN)                                                                        \
	COLUMN(ALL_KERNEL_TYPE, "kernel_type", HT_STR, HT_KEY,                                     \
	        "compute, communication, memory or other; HTA's words with hta-compat", NULL)      \
	COLUMN(ALL_NAME, "name", HT_STR, HT_KEY,                                                   \
	        "full name, or others for all names that were folded", NULL)                       \
	COLUMN(ALL_COUNT, "count", HT_I64, HT_MEASURE, "events", NULL)                             \
	COLUMN(ALL_SUM_NS, "sum_ns", HT_DURATION, HT_MEASURE, "sum of their durations", NULL)      \
	COLUMN(ALL_SHARE, "share", HT_RATIO, HT_MEASURE, "of the summed GPU time of all ranks",    \
	        NULL)                                                                              \
	COLUMN(ALL_MEAN_NS, "mean_ns", HT_DURATION_F64, HT_MEASURE, "mean duration", NULL)         \
	COLUMN(ALL_STD_NS, "std_ns", HT_DURATION_F64, HT_MEASURE,                                  \
	        "standard deviation, null for one event", NULL)                                    \
	COLUMN(ALL_MIN_NS, "min_ns", HT_DURATION, HT_MEASURE, "shortest event", NULL)              \
	COLUMN(ALL_MAX_NS, "max_ns", HT_DURATION, HT_MEASURE, "longest event", NULL)               \
	COLUMN(ALL_N_NAMES, "n_names", HT_I64, HT_DETAIL,                                          \
	        "names in this row: more than 1 for others", NULL)                                 \
	COLUMN(ALL_N_RANKS, "n_ranks", HT_I64, HT_DETAIL, "ranks that ran it", NULL)               \
	COLUMN(ALL_RANK_MIN_NS, "rank_min_ns", HT_DURATION, HT_MEASURE,                            \
	        "smallest sum of a rank, 0 if one did not run it", NULL)                           \
	COLUMN(ALL_RANK_MEAN_NS, "rank_mean_ns", HT_DURATION_F64, HT_DETAIL,                       \
	        "mean of the sums of all ranks", NULL)                                             \
	COLUMN(ALL_RANK_MAX_NS, "rank_max_ns", HT_DURATION, HT_MEASURE, "largest sum of a rank",   \
	        NULL)                                                                              \
	COLUMN(ALL_IMBALANCE, "imbalance", HT_F64, HT_MEASURE,                                     \
	        "rank_max_ns over rank_mean_ns; 1 is even", NULL)
HT_COLUMNS(of_all, ALL_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "rank", of_ranks, HT_COUNT(of_ranks) },
	{ "all", of_all, HT_COUNT(of_all) },
};

/* What a rank contributes: one row per type and name. */
#define GROUP_COLUMNS(COLUMN)                                                                      \
	COLUMN(GROUP_TYPE, "type", HT_I64, HT_KEY, "what kind of work", NULL)                      \
	COLUMN(GROUP_NAME, "name", HT_STR, HT_KEY, "full name", NULL)                              \
	COLUMN(GROUP_COUNT, "count", HT_I64, HT_MEASURE, "events", NULL)                           \
	COLUMN(GROUP_N_SAMPLES, "n_samples", HT_I64, HT_MEASURE,                                   \
	        "what mean and deviation are over", NULL)                                          \
	COLUMN(GROUP_SUM_NS, "sum_ns", HT_DURATION, HT_MEASURE, "sum of durations", NULL)          \
	COLUMN(GROUP_MIN_NS, "min_ns", HT_DURATION, HT_MEASURE, "shortest", NULL)                  \
	COLUMN(GROUP_MAX_NS, "max_ns", HT_DURATION, HT_MEASURE, "longest", NULL)                   \
	COLUMN(GROUP_SQUARES_HIGH, "squares_high", HT_I64, HT_MEASURE,                             \
	        "sum of squares, upper 64 bits", NULL)                                             \
	COLUMN(GROUP_SQUARES_LOW, "squares_low", HT_I64, HT_MEASURE, "and lower", NULL)            \
	COLUMN(GROUP_N_NAMES, "n_names", HT_I64, HT_MEASURE, "names in this row", NULL)            \
	COLUMN(GROUP_FOLDED, "folded", HT_BOOL, HT_MEASURE, "whether it stands for others", NULL)
HT_COLUMNS(group_columns, GROUP_COLUMNS);

static const struct ht_param params[] = {
	{ "by", HT_STR, "rank", "rows per rank, or all ranks pooled with their spread",
	        "rank|all" },
	{ "num-kernels", HT_I64, "10",
	        "names to show per type (and rank); 0: as many as duration-ratio asks for", NULL },
	{ "duration-ratio", HT_RATIO, "0.8", "how much the shown names cover when some are folded",
	        NULL },
	{ "ratio-of", HT_STR, "names",
	        "duration-ratio is a quantile over names as in HTA, or a share of time",
	        "names|time" },
	{ "include-memory", HT_BOOL, "true", "show memcpy and memset too; =false leaves them out",
	        NULL },
};

const struct ht_analysis ht_analysis_kernel_breakdown = {
	.info = {
		.name = "kernel-breakdown",
		.group = "gpu",
		.page_view = "kernel-types",
		.title = "Kernel breakdown",
		.question = "Which kernels take the time, and is it even over ranks?",
		.method = "Durations of GPU activity by type and full name. With more than num-kernels names at "
			  "most the num-kernels longest stay, duration-ratio may leave fewer, and the rest is "
			  "pooled as others. Largest sum first over all types and ranks, then rank, type and name; "
			  "others last.",
		.hta = "get_gpu_kernel_breakdown",
		.schemas = schemas,
		.n_schemas = HT_COUNT(schemas),
		.chosen_by = "by",
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
	},
	.facts = { { "groups", group_columns, HT_COUNT(group_columns) } },
	.per_rank = group_names,
	.is_sound = are_types,
	.finish = finish,
};

/* One row to be. */
struct kernel {
	struct ht_name_group group;
	int64_t rank; /* HT_NO_I64: all */
	uint64_t n_ranks;
	int64_t rank_min_ns, rank_max_ns;
	int64_t total_ns; /* what share is of */
	uint8_t type;     /* enum ht_work_type */
	const char *word; /* its name */
};

struct kernels {
	struct kernel *items;
	size_t n, cap;
};

struct options {
	struct ht_fold fold;
	bool by_all, memory;
};

static enum ht_status push(struct ht_run *run, struct kernels *kernels, struct kernel kernel)
{
	if (kernels->n == kernels->cap) {
		size_t cap = kernels->cap ? 2 * kernels->cap : 64;
		struct kernel *more = ht_arena_alloc(run->scratch, cap * sizeof *more);
		if (!more)
			return ht_fail_nomem(run->ctx);
		if (kernels->n)
			memcpy(more, kernels->items, kernels->n * sizeof *more);
		kernels->items = more;
		kernels->cap = cap;
	}
	kernels->items[kernels->n++] = kernel;
	return HT_OK;
}

static void put_group(ht_table *table, unsigned type, const struct ht_name_group *g)
{
	ht_table_row(table);
	ht_table_put_i64(table, GROUP_TYPE, type);
	ht_table_put_str(table, GROUP_NAME, g->name);
	ht_table_put_i64(table, GROUP_COUNT, (int64_t)g->count);
	ht_table_put_i64(table, GROUP_N_SAMPLES, (int64_t)g->n_samples);
	ht_table_put_i64(table, GROUP_SUM_NS, g->sum_ns);
	ht_table_put_i64(table, GROUP_MIN_NS, g->min_ns);
	ht_table_put_i64(table, GROUP_MAX_NS, g->max_ns);
	ht_table_put_i128(table, GROUP_SQUARES_HIGH, (__int128)g->squares);
	ht_table_put_i64(table, GROUP_N_NAMES, (int64_t)g->n_names);
	ht_table_put_i64(table, GROUP_FOLDED, g->folded);
}

static struct ht_name_group get_group(const ht_table *table, size_t row)
{
	return (struct ht_name_group){ .name = ht_table_str(table, row, GROUP_NAME),
		.count = (uint64_t)ht_table_i64(table, row, GROUP_COUNT),
		.n_samples = (uint64_t)ht_table_i64(table, row, GROUP_N_SAMPLES),
		.sum_ns = ht_table_i64(table, row, GROUP_SUM_NS),
		.min_ns = ht_table_i64(table, row, GROUP_MIN_NS),
		.max_ns = ht_table_i64(table, row, GROUP_MAX_NS),
		.squares = (unsigned __int128)ht_table_i128(table, row, GROUP_SQUARES_HIGH),
		.n_names = (uint64_t)ht_table_i64(table, row, GROUP_N_NAMES),
		.folded = ht_table_i64(table, row, GROUP_FOLDED) };
}

static enum ht_status add_type(struct ht_run *run, const struct ht_trace *t,
        const struct ht_work_list *work, unsigned type, const struct options *options,
        ht_table *table)
{
	struct ht_named_dur *durs = ht_arena_room(run->scratch, (work->n + 1) * sizeof *durs);
	if (!durs)
		return ht_fail_nomem(run->ctx);
	size_t n = 0;
	for (size_t i = 0; i < work->n; i++) {
		const struct ht_work *w = &work->items[i];
		if (ht_work_type_of_class((enum ht_class)w->class_) == type)
			durs[n++] = (struct ht_named_dur){ t->name[w->row], w->end - w->start };
	}
	struct ht_name_groups groups = { 0 };
	HT_TRY(ht_name_groups_make(run, t, durs, n, &groups));
	if (!options->by_all)
		ht_name_groups_fold(&groups, &options->fold);
	for (size_t i = 0; i < groups.n; i++)
		put_group(table, type, &groups.items[i]);
	return HT_OK;
}

static int compare_name(const void *left, const void *right)
{
	const struct kernel *a = left, *b = right;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	int names = strcmp(a->group.name, b->group.name);
	if (names)
		return names;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Equal names of the ranks become one; the order is by type and name. */
static void pool_ranks(struct kernels *kernels)
{
	qsort(kernels->items, kernels->n, sizeof *kernels->items, compare_name);
	size_t n = 0;
	for (size_t i = 0; i < kernels->n; i++) {
		struct kernel k = kernels->items[i], *last = n ? &kernels->items[n - 1] : NULL;
		if (!last || last->type != k.type || strcmp(last->group.name, k.group.name) != 0) {
			k.rank = HT_NO_I64;
			kernels->items[n++] = k;
			continue;
		}
		ht_name_group_pool(&last->group, &k.group);
		last->n_ranks++;
		last->rank_min_ns =
		        k.rank_min_ns < last->rank_min_ns ? k.rank_min_ns : last->rank_min_ns;
		last->rank_max_ns =
		        k.rank_max_ns > last->rank_max_ns ? k.rank_max_ns : last->rank_max_ns;
	}
	kernels->n = n;
}

static int compare_sum(const void *left, const void *right)
{
	const struct kernel *a = left, *b = right;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->group.folded != b->group.folded)
		return a->group.folded ? 1 : -1;
	if (a->group.sum_ns != b->group.sum_ns)
		return a->group.sum_ns > b->group.sum_ns ? -1 : 1;
	return strcmp(a->group.name, b->group.name);
}

/* Fold one type of the pooled ranks; its kernels are sorted by sum. The others have no spread. */
static enum ht_status fold_pooled(struct ht_run *run, struct kernel *items, size_t n,
        const struct ht_fold *fold, struct kernels *folded)
{
	struct ht_name_groups groups = {
		ht_arena_alloc(run->scratch, (n + 1) * sizeof *groups.items), n
	};
	if (!groups.items)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++)
		groups.items[i] = items[i].group;
	ht_name_groups_fold(&groups, fold);
	for (size_t i = 0, k = 0; i < groups.n; i++) {
		if (groups.items[i].folded) {
			HT_TRY(push(run, folded,
			        (struct kernel){ groups.items[i], HT_NO_I64, 0, 0, 0, 0,
			                items[0].type, items[0].word }));
			continue;
		}
		while (items[k].group.name != groups.items[i].name)
			k++;
		HT_TRY(push(run, folded, items[k]));
	}
	return HT_OK;
}

static void set_total(struct kernels *kernels, size_t first)
{
	int64_t total = 0;
	for (size_t k = first; k < kernels->n; k++)
		ht_sum(&total, kernels->items[k].group.sum_ns);
	for (size_t k = first; k < kernels->n; k++)
		kernels->items[k].total_ns = total;
}

static enum ht_status pool_and_fold(
        struct ht_run *run, const struct options *options, struct kernels *kernels)
{
	struct kernels folded = { 0 };
	pool_ranks(kernels);
	qsort(kernels->items, kernels->n, sizeof *kernels->items, compare_sum);
	for (size_t i = 0, n; i < kernels->n; i += n) {
		for (n = 1;
		        i + n < kernels->n && kernels->items[i + n].type == kernels->items[i].type;)
			n++;
		HT_TRY(fold_pooled(run, kernels->items + i, n, &options->fold, &folded));
	}
	set_total(&folded, 0);
	*kernels = folded;
	return HT_OK;
}

/* What costs most comes first, whatever its type or rank; what was folded has no name to look into. */
static int compare_cost(const void *left, const void *right)
{
	const struct kernel *a = left, *b = right;
	if (a->group.folded != b->group.folded)
		return a->group.folded ? 1 : -1;
	if (a->group.sum_ns != b->group.sum_ns)
		return a->group.sum_ns > b->group.sum_ns ? -1 : 1;
	return compare_sum(left, right);
}

/* Type by its word, name, rank. */
static int compare_words(const void *left, const void *right)
{
	const struct kernel *a = left, *b = right;
	int types = strcmp(a->word, b->word);
	return types ? types : compare_name(left, right);
}

/* A rank that did not run the kernel spent 0 on it. */
static void put_spread(struct ht_run *run, ht_table *table, const struct kernel *k)
{
	if (k->rank != HT_NO_I64)
		return;
	if (!k->n_ranks) {
		ht_table_put_nulls_to_end(table, ALL_N_RANKS);
		return;
	}
	size_t n_ranks = run->chosen[0].n;
	double mean = (double)k->group.sum_ns / (double)n_ranks;
	ht_table_put_i64(table, ALL_N_RANKS, (int64_t)k->n_ranks);
	ht_table_put_i64(table, ALL_RANK_MIN_NS, k->n_ranks < n_ranks ? 0 : k->rank_min_ns);
	ht_table_put_f64(table, ALL_RANK_MEAN_NS, mean);
	ht_table_put_i64(table, ALL_RANK_MAX_NS, k->rank_max_ns);
	ht_table_put_f64(table, ALL_IMBALANCE, mean > 0 ? (double)k->rank_max_ns / mean : NAN);
}

static void put_kernel(struct ht_run *run, ht_table *table, const struct kernel *k)
{
	const struct ht_name_group *g = &k->group;
	double std = ht_name_group_std(g);
	/* the rows of ranks have one column more, in front */
	size_t at = k->rank != HT_NO_I64 ? RANKS_KERNEL_TYPE : ALL_KERNEL_TYPE;
	ht_table_row(table);
	if (k->rank != HT_NO_I64)
		ht_table_put_i64(table, RANKS_RANK, k->rank);
	ht_table_put_str(table, at + ALL_KERNEL_TYPE, k->word);
	ht_table_put_str(table, at + ALL_NAME, g->name);
	ht_table_put_i64(table, at + ALL_COUNT, (int64_t)g->count);
	ht_table_put_i64(table, at + ALL_SUM_NS, g->sum_ns);
	ht_table_put_f64(
	        table, at + ALL_SHARE, k->total_ns ? (double)g->sum_ns / (double)k->total_ns : NAN);
	ht_table_put_f64(table, at + ALL_MEAN_NS, ht_name_group_mean(g));
	ht_table_put_f64(table, at + ALL_STD_NS, run->policy->zero_spread && isnan(std) ? 0 : std);
	ht_table_put_i64(table, at + ALL_MIN_NS, g->min_ns);
	ht_table_put_i64(table, at + ALL_MAX_NS, g->max_ns);
	ht_table_put_i64(table, at + ALL_N_NAMES, (int64_t)g->n_names);
	put_spread(run, table, k);
}

static struct options read_options(const struct ht_run *run)
{
	return (struct options){
		.fold = {
			.max_names = ht_run_i64(run, "num-kernels"),
			.ratio = ht_run_f64(run, "duration-ratio"),
			.ratio_of_names = run->policy->folds_sums || ht_run_is(run, "ratio-of", "names"),
			.stats_of_sums = run->policy->folds_sums,
		},
		.by_all = ht_run_is(run, "by", "all"),
		.memory = ht_run_bool(run, "include-memory"),
	};
}

static enum ht_status group_names(struct ht_run *run, struct ht_part *part)
{
	struct options options = read_options(run);
	struct ht_frame frame = { 0 };
	struct ht_work_list work = { 0 };
	HT_TRY(ht_frame_make_gpu(run, &frame));
	HT_TRY(ht_work_collect(run, &frame, &work));
	for (unsigned type = 0; type < HT_WORK_N_TYPES; type++) {
		if ((type == HT_WORK_OTHER && run->policy->only_known_types) ||
		        (type == HT_WORK_MEMORY && !options.memory))
			continue;
		HT_TRY(add_type(run, frame.trace, &work, type, &options, part->facts[0]));
	}
	return HT_OK;
}

static bool are_types(const struct ht_part *part)
{
	return ht_facts_below(part->facts[0], GROUP_TYPE, HT_WORK_N_TYPES);
}

static enum ht_status collect(
        struct ht_run *run, const struct ht_parts *parts, struct kernels *kernels)
{
	for (size_t i = 0; i < parts->n; i++) {
		const ht_table *facts = parts->list[i].facts[0];
		size_t first = kernels->n;
		for (size_t row = 0; row < ht_table_n_rows(facts); row++) {
			struct ht_name_group g = get_group(facts, row);
			uint64_t type = ht_table_u64(facts, row, GROUP_TYPE);
			HT_TRY(push(run, kernels,
			        (struct kernel){ g, parts->list[i].rank, 1, g.sum_ns, g.sum_ns, 0,
			                (uint8_t)type,
			                ht_work_type_word(run, (enum ht_work_type)type) }));
		}
		set_total(kernels, first);
	}
	return HT_OK;
}

/* Of the names of the most expensive rows the one that costs most over all ranks; waits on the device are no work. */
static enum ht_status add_hint(struct ht_run *run, bool by_all, ht_table *table)
{
	enum { LOOKED_AT = 16 };
	size_t at_name = by_all ? ALL_NAME : RANKS_NAME,
	       at_type = by_all ? ALL_KERNEL_TYPE : RANKS_KERNEL_TYPE;
	const char *name = NULL, *type = NULL;
	double all = ht_hint_total(table, "sum_ns"), most = HT_WORTH_A_HINT * all;
	for (size_t row = 0; row < ht_table_n_rows(table) && row < LOOKED_AT; row++) {
		const char *here = ht_table_str(table, row, at_name);
		if (!strcmp(here, "others") || !strcmp(ht_table_str(table, row, at_type), "other"))
			continue;
		double sum = ht_hint_total_of(table, "sum_ns", "name", here);
		if (sum > most) {
			name = here;
			type = ht_table_str(table, row, at_type);
			most = sum;
		}
	}
	if (!name)
		return HT_OK;
	const char *brief = ht_hint_name(run->scratch, name);
	if (!brief)
		return ht_fail_nomem(run->ctx);
	struct ht_finding f = ht_finding("top-kernel", HT_STATE_FOUND);
	ht_finding_subject(&f, "kernel", name);
	ht_finding_text(&f, "name", brief);
	ht_finding_share(&f, most / all, "of.gpu_time", HT_NO_I64);
	ht_finding_next(&f, !strcmp(type, "communication") ? "collectives"
	                    : !strcmp(type, "memory")      ? "memory-bandwidth"
	                                                   : "kernel-annotations");
	return ht_finding_note(run->scratch, &f, table);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct options options = read_options(run);
	struct kernels kernels = { 0 };
	HT_TRY(ht_frame_set_method(run, table, "share of summed GPU time"));
	HT_TRY(collect(run, parts, &kernels));
	if (options.by_all && kernels.n)
		HT_TRY(pool_and_fold(run, &options, &kernels));
	if (kernels.n && (!run->policy->by_name || !options.by_all))
		qsort(kernels.items, kernels.n, sizeof *kernels.items,
		        run->policy->by_name ? compare_words : compare_cost);
	for (size_t i = 0; i < kernels.n; i++)
		put_kernel(run, table, &kernels.items[i]);
	if (!kernels.n)
		HT_TRY(ht_table_add_note(table, "no GPU activity in the selection"));
	ht_table_set_bar(table, options.by_all ? ALL_SHARE : RANKS_SHARE);
	return run->policy->no_hints ? HT_OK : add_hint(run, options.by_all, table);
}
