/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_types.c - which kinds of work the GPU was doing, and which at the same time.
 *
 * Per rank the intervals of each type are merged, then every moment of busy time is labelled with the
 * types active in it: "compute", "compute overlapping communication", ... The labels are
 * exclusive, so they add up to the busy time; they are summed over ranks.
 * Reads kernels, copies and sets; kernels that only synchronise or control are other. O(n log n).
 * Example: compute [0,4), communication [2,6) us: compute 2, compute overlapping communication 2,
 * communication 2, a third each.
 * Definition: HTA get_gpu_kernel_breakdown, first table, which cuts every moment to whole microseconds before
 * adding and has no OTHER.
 */
#include "analysis/analysis.h"
#include "model/device/gpu_work.h"
#include "model/finding/hint.h"
#include "model/policy.h"
#include "model/rows/work_names.h"
#include "base/checked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_TYPES  HT_WORK_N_TYPES
#define N_LABELS (1 << N_TYPES)

static enum ht_status add_up(struct ht_run *run, struct ht_part *part);
static bool are_labels(const struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace; null for all ranks together", \
	        NULL)                                                                              \
	COLUMN(COL_KERNEL_TYPE, "kernel_type", HT_STR, HT_KEY,                                     \
	        "the types of GPU activity active at the same time: compute, "                     \
	        "communication, memory, other",                                                    \
	        NULL)                                                                              \
	COLUMN(COL_SUM_NS, "sum_ns", HT_DURATION, HT_MEASURE,                                      \
	        "time in which exactly these types were active", NULL)                             \
	COLUMN(COL_SHARE, "share", HT_RATIO, HT_MEASURE,                                           \
	        "of the time in which any type was active", NULL)
HT_COLUMNS(columns, COLUMNS);

/* What a rank contributes. */
#define LABEL_COLUMNS(COLUMN)                                                                      \
	COLUMN(LABEL_MASK, "mask", HT_I64, HT_KEY, "which types run at once, a bit each", NULL)    \
	COLUMN(LABEL_SUM_NS, "sum_ns", HT_DURATION, HT_MEASURE, "for how long", NULL)
HT_COLUMNS(label_columns, LABEL_COLUMNS);

static const struct ht_param params[] = {
	{ "by", HT_STR, "all", "sum over ranks, or one group of rows per rank", "all|rank" },
	{ "include-memory", HT_BOOL, "true",
	        "count memcpy and memset as memory; =false leaves them out", NULL },
};

const struct ht_analysis ht_analysis_kernel_types = {
	.info = {
		.name = "kernel-types",
		.group = "gpu",
		.page_view = "kernel-types",
		.title = "Kernel types",
		.question = "What kinds of work fill the GPU's busy time, and what runs at the same time?",
		.method = "Every moment of busy time is labelled with the types active in it "
			  "(compute, communication, memory, other); labels exclude each other and "
			  "add up to the busy time of the devices. Longest first, then in the order of the types.",
		.hta = "get_gpu_kernel_breakdown",
		HT_ONE_SCHEMA(columns),
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
	},
	.facts = { { "labels", label_columns, HT_COUNT(label_columns) } },
	.per_rank = add_up,
	.is_sound = are_labels,
	.finish = finish,
};

struct label {
	int64_t sum_ns;
	unsigned mask;
	bool seen; /* there was such a moment, if only one that a policy cuts to 0 */
};

static const char *label_text(struct ht_run *run, unsigned mask)
{
	struct ht_arena *arena = run->scratch;
	const char *text = NULL;
	for (unsigned k = 0; k < N_TYPES; k++) {
		if (!(mask & 1u << k))
			continue;
		const char *name = ht_work_type_word(run, (enum ht_work_type)k);
		text = text ? ht_arena_printf(arena, "%s overlapping %s", text, name) : name;
	}
	return text;
}

static enum ht_status add_exact(
        struct ht_run *run, const struct ht_work_list *work, unsigned types, struct label *labels)
{
	struct ht_interval *merged[N_TYPES] = { NULL };
	size_t n[N_TYPES] = { 0 };
	int64_t length[N_LABELS];
	for (size_t k = 0; k < N_TYPES; k++) {
		merged[k] = ht_arena_room(run->scratch, (work->n + 1) * sizeof *merged[k]);
		if (!merged[k])
			return ht_fail_nomem(run->ctx);
	}
	for (size_t i = 0; i < work->n; i++) {
		const struct ht_work *w = &work->items[i];
		size_t k = ht_work_type_of_class((enum ht_class)w->class_);
		if (types & 1u << k)
			merged[k][n[k]++] = (struct ht_interval){ w->start, w->end };
	}
	for (size_t k = 0; k < N_TYPES; k++)
		n[k] = ht_interval_merge(run->ctx->mem, merged[k], n[k]);
	ht_interval_combinations((const struct ht_interval *const *)merged, n, N_TYPES, length);
	for (size_t mask = 1; mask < N_LABELS; mask++) {
		labels[mask].sum_ns += length[mask];
		labels[mask].seen |= length[mask] > 0;
	}
	return HT_OK;
}

static enum ht_status add_by_policy(
        struct ht_run *run, const struct ht_frame *frame, unsigned types, struct label *labels)
{
	int64_t sums_ns[N_LABELS] = { 0 };
	bool seen[N_LABELS] = { false };
	struct ht_work_list work = { 0 };
	HT_TRY(ht_work_collect(run, frame, &work));
	HT_TRY(ht_work_sort(run, &work));
	HT_TRY(run->policy->sum_types(run, &work, types, sums_ns, seen));
	for (size_t mask = 1; mask < N_LABELS; mask++) {
		labels[mask].sum_ns += sums_ns[mask];
		labels[mask].seen |= seen[mask];
	}
	return HT_OK;
}

/* Types on different devices are not active at the same time in any sense that matters. */
static enum ht_status add_devices(
        struct ht_run *run, const struct ht_frame *frame, unsigned types, struct label *labels)
{
	struct ht_devices devices = { 0 };
	HT_TRY(ht_devices_find(run, frame, &devices));
	for (size_t i = 0; i < devices.n; i++)
		HT_TRY(add_exact(run, &devices.list[i].work, types, labels));
	return HT_OK;
}

static int compare_label(const void *left, const void *right)
{
	const struct label *a = left, *b = right;
	if (a->sum_ns != b->sum_ns)
		return a->sum_ns > b->sum_ns ? -1 : 1;
	return (a->mask > b->mask) - (a->mask < b->mask);
}

static void reset(struct label *labels)
{
	for (unsigned mask = 0; mask < N_LABELS; mask++)
		labels[mask] = (struct label){ 0, mask, false };
}

static void put_labels(struct ht_run *run, ht_table *table, int64_t rank, struct label *labels)
{
	int64_t total = 0;
	for (size_t i = 0; i < N_LABELS; i++)
		ht_sum(&total, labels[i].sum_ns);
	qsort(labels, N_LABELS, sizeof *labels, compare_label);
	for (size_t i = 0; i < N_LABELS; i++) {
		if (!labels[i].seen)
			continue;
		ht_table_row(table);
		ht_table_put_known(table, COL_RANK, rank, HT_NO_I64);
		ht_table_put_str(table, COL_KERNEL_TYPE, label_text(run, labels[i].mask));
		ht_table_put_i64(table, COL_SUM_NS, labels[i].sum_ns);
		ht_table_put_f64(
		        table, COL_SHARE, total ? (double)labels[i].sum_ns / (double)total : NAN);
	}
}

static enum ht_status add_up(struct ht_run *run, struct ht_part *part)
{
	unsigned types = (1u << HT_WORK_COMPUTE) | (1u << HT_WORK_COMM);
	types |= ht_run_bool(run, "include-memory") ? 1u << HT_WORK_MEMORY : 0;
	types |= run->policy->only_known_types ? 0 : 1u << HT_WORK_OTHER;
	struct label labels[N_LABELS];
	struct ht_frame frame = { 0 };
	reset(labels);
	HT_TRY(ht_frame_make_gpu(run, &frame));
	if (run->policy->sum_types)
		HT_TRY(add_by_policy(run, &frame, types, labels));
	else
		HT_TRY(add_devices(run, &frame, types, labels));
	for (unsigned mask = 0; mask < N_LABELS; mask++) {
		if (!labels[mask].seen)
			continue;
		ht_table_row(part->facts[0]);
		ht_table_put_i64(part->facts[0], LABEL_MASK, mask);
		ht_table_put_i64(part->facts[0], LABEL_SUM_NS, labels[mask].sum_ns);
	}
	return HT_OK;
}

static const struct ht_hint hints[] = {
	{ "compute", "compute alone", "kernel-breakdown" },
	{ "communication", "exposed communication", "comm-overlap" },
	{ "memory", "memcpy and memset alone", "memory-bandwidth" },
};

static bool are_labels(const struct ht_part *part)
{
	return ht_facts_below(part->facts[0], LABEL_MASK, N_LABELS);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	bool by_rank = ht_run_is(run, "by", "rank");
	struct label labels[N_LABELS];
	reset(labels);
	HT_TRY(ht_frame_set_method(run, table, "share of busy time"));
	for (size_t i = 0; i < parts->n; i++) {
		const ht_table *facts = parts->list[i].facts[0];
		for (size_t row = 0; row < ht_table_n_rows(facts); row++) {
			struct label *label = &labels[ht_table_i64(facts, row, LABEL_MASK)];
			ht_sum(&label->sum_ns, ht_table_i64(facts, row, LABEL_SUM_NS));
			label->seen = true;
		}
		if (by_rank) {
			put_labels(run, table, parts->list[i].rank, labels);
			reset(labels);
		}
	}
	if (!by_rank)
		put_labels(run, table, HT_NO_I64, labels);
	if (!ht_table_n_rows(table))
		HT_TRY(ht_table_add_note(table, "no GPU activity in the selection"));
	ht_table_set_bar(table, COL_SHARE);
	return run->policy->no_hints ? HT_OK
	                             : ht_hint_largest(run->scratch, table, "sum_ns", "kernel_type",
	                                       "of.busy_time", hints, HT_COUNT(hints));
}
