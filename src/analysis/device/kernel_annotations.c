/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_annotations.c - which user annotation each piece of GPU work belongs to.
 *
 * source host (default): the annotations that are open on the host where the launch starts, so work belongs
 * where the program launched it, however late it ran: on the launching thread, and for an autograd thread
 * also on the thread that waits for the backward pass (inside.h). GPU work without a launch in the file
 * belongs to the annotations of its stream that it starts in. These are the sets that --annotation selects.
 * source gpu: annotation spans on the same stream that overlap the work, the shortest wins. The stack has all
 * of them, outermost first, the 8 outermost and 8 innermost of more than 16; profiler steps are a column of
 * their own. Reads kernels, copies, sets and annotations. O(n log n).
 * Example: "forward" around "attention" around a launch: annotation "attention", stack
 * "forward / attention".
 * Definition: HTA get_gpu_kernels_with_user_annotations.
 */
#include "analysis/analysis.h"
#include "base/sort.h"
#include "model/calls/annotate.h"
#include "model/policy.h"
#include "model/rows/work_names.h"
#include "base/checked.h"
#include "store/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status choose(struct ht_run *run);
static enum ht_status label_kernels(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define WORKS_COLUMNS(COLUMN)                                                                      \
	COLUMN(WORKS_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                      \
	COLUMN(WORKS_INDEX, "index", HT_I64, HT_KEY, "row of the event in the file", NULL)         \
	COLUMN(WORKS_ANNOTATION, "annotation", HT_STR, HT_KEY,                                     \
	        "innermost annotation, null when there is none", NULL)                             \
	COLUMN(WORKS_ANNOTATION_STACK, "annotation_stack", HT_STR, HT_KEY,                         \
	        "all annotations, outermost first, joined by /", NULL)                             \
	COLUMN(WORKS_NAME, "name", HT_STR, HT_KEY, "full name of the work", NULL)                  \
	COLUMN(WORKS_SHORT_NAME, "short_name", HT_STR, HT_DETAIL,                                  \
	        "name without arguments and templates", NULL)                                      \
	COLUMN(WORKS_KERNEL_TYPE, "kernel_type", HT_STR, HT_DETAIL,                                \
	        "compute, communication, memory or other; HTA's words with hta-compat", NULL)      \
	COLUMN(WORKS_STREAM, "stream", HT_I64, HT_KEY, "stream it ran on", NULL)                   \
	COLUMN(WORKS_STEP, "step", HT_I64, HT_DETAIL, "profiler step that launched it", NULL)      \
	COLUMN(WORKS_TS_NS, "ts_ns", HT_TIME, HT_DETAIL, "start, from the first event of the set", \
	        NULL)                                                                              \
	COLUMN(WORKS_COUNT, "count", HT_I64, HT_DETAIL, "GPU activities in the row: 1", NULL)      \
	COLUMN(WORKS_DUR_NS, "dur_ns", HT_DURATION, HT_MEASURE, "its duration", NULL)              \
	COLUMN(WORKS_SHARE, "share", HT_RATIO, HT_MEASURE, "of the summed GPU time of the rank",   \
	        NULL)                                                                              \
	COLUMN(WORKS_VIA, "via", HT_STR, HT_DETAIL,                                                \
	        "how the annotation was found: launch (around the launch), backward "              \
	        "(on the thread "                                                                  \
	        "that waits for the backward pass) or gpu (on the stream)",                        \
	        NULL)
HT_COLUMNS(of_works, WORKS_COLUMNS);

#define KEYS(COLUMN, OF)                                                                           \
	COLUMN(OF##_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                       \
	COLUMN(OF##_ANNOTATION, "annotation", HT_STR, HT_KEY,                                      \
	        "innermost annotation, null when there is none", NULL)
#define SUMS(COLUMN, OF)                                                                           \
	COLUMN(OF##_COUNT, "count", HT_I64, HT_MEASURE, "GPU activities in the row", NULL)         \
	COLUMN(OF##_DUR_NS, "dur_ns", HT_DURATION, HT_MEASURE, "sum of their durations", NULL)     \
	COLUMN(OF##_SHARE, "share", HT_RATIO, HT_MEASURE, "of the summed GPU time of the rank",    \
	        NULL)
enum { SUMS(HT_COLUMN_NUMBER, SUM) N_SUMS };

#define ANNOTATION_COLUMNS(COLUMN) KEYS(COLUMN, ANNOTATION) SUMS(COLUMN, ANNOTATION)
HT_COLUMNS(of_annotations, ANNOTATION_COLUMNS);
#define STACK_COLUMNS(COLUMN)                                                                      \
	KEYS(COLUMN, STACK)                                                                        \
	COLUMN(STACK_STACK, "annotation_stack", HT_STR, HT_KEY,                                    \
	        "all annotations, outermost first, joined by /", NULL)                             \
	SUMS(COLUMN, STACK)
HT_COLUMNS(of_stacks, STACK_COLUMNS);
#define NAME_COLUMNS(COLUMN)                                                                       \
	KEYS(COLUMN, NAME)                                                                         \
	COLUMN(NAME_NAME, "name", HT_STR, HT_KEY, "full name of the work", NULL)                   \
	SUMS(COLUMN, NAME)
HT_COLUMNS(of_names, NAME_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "annotation", of_annotations, HT_COUNT(of_annotations) },
	{ "stack", of_stacks, HT_COUNT(of_stacks) },
	{ "name", of_names, HT_COUNT(of_names) },
	{ "none", of_works, HT_COUNT(of_works) },
};

static const struct ht_param params[] = {
	{ "group-by", HT_STR, "annotation",
	        "sums per annotation, stack, or annotation and name; none: one row per piece of work",
	        "annotation|stack|name|none" },
	{ "source", HT_STR, "host", "annotations around the launch, or those drawn on the GPU",
	        "host|gpu" },
};

const struct ht_analysis ht_analysis_kernel_annotations = {
	.info = {
		.name = "kernel-annotations",
		.group = "gpu",
		.page_view = "annotations",
		.title = "Kernel annotations",
		.question = "Which user annotation does each kernel belong to?",
		.method = "GPU activity belongs to the annotations that are open where its launch starts: on that "
			  "thread, or on the one that waits for its backward pass; work without a launch "
			  "in the file to those of its stream that it starts in. Sums "
			  "by annotation, longest first; single pieces by rank and start.",
		.hta = "get_gpu_kernels_with_user_annotations",
		.schemas = schemas,
		.n_schemas = HT_COUNT(schemas),
		.chosen_by = "group-by",
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
	},
	.choose = choose,
	.per_rank = label_kernels,
	.finish = finish,
};

static enum ht_status choose(struct ht_run *run)
{
	if (run->policy->single_pieces && ht_run_is(run, "group-by", "annotation"))
		ht_run_set(run, "group-by", "none");
	return HT_OK;
}

struct labelled {
	const char *annotation, *stack, *name; /* NULL: none, or left out of the group */
	const char *short_name, *via;
	int64_t dur_ns;
	uint64_t count;
};

static enum ht_status annotate_by_gpu(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_work_list *work, struct ht_annotated *ret)
{
	uint32_t *rows = NULL;
	const char **texts = ht_arena_alloc(run->scratch, (work->n + 1) * sizeof *texts);
	if (!texts)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_annotate_by_gpu(run, frame, work, run->policy->collect_annotated != NULL, &rows));
	HT_TRY(ht_annotate_gpu_paths(run, frame, rows, work->n, texts));
	for (size_t i = 0; i < work->n; i++)
		ret[i] = (struct ht_annotated){ texts[i], rows[i],
			rows[i] == HT_NONE ? HT_AUTOGRAD_LINK_NONE : HT_AUTOGRAD_LINK_GPU };
	return HT_OK;
}

static enum ht_status annotate(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_work_list *work, struct ht_annotated *ret)
{
	if (run->policy->collect_annotated || ht_run_is(run, "source", "gpu"))
		return annotate_by_gpu(run, frame, work, ret);
	struct ht_autograd autograd;
	uint32_t *rows = ht_arena_room(run->scratch, (work->n + 1) * sizeof *rows);
	if (!rows)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < work->n; i++)
		rows[i] = work->items[i].row;
	HT_TRY(ht_autograd_make(run, frame->trace, &autograd));
	return ht_annotate_rows(run, frame->trace, &autograd, rows, work->n, false, ret);
}

static void put_text_key(ht_table *table, const struct labelled *l)
{
	ht_table_put_str(table, WORKS_ANNOTATION, l->annotation);
	ht_table_put_str(table, WORKS_ANNOTATION_STACK, l->stack);
	ht_table_put_str(table, WORKS_NAME, l->name);
}

static enum ht_work_type type_of(
        struct ht_run *run, const struct ht_trace *t, const struct ht_work *w)
{
	if (run->policy->type_by_name)
		return (enum ht_work_type)run->policy->type_by_name(ht_str(t, t->name[w->row]));
	return ht_work_type_of_class((enum ht_class)w->class_);
}

static void put_work(struct ht_run *run, ht_table *table, const struct ht_frame *frame,
        const struct ht_work *w, const struct labelled *l, int64_t total_ns)
{
	const struct ht_trace *t = frame->trace;
	ht_table_row(table);
	ht_table_put_i64(table, WORKS_RANK, frame->rank);
	ht_table_put_i64(table, WORKS_INDEX, w->row);
	put_text_key(table, l);
	ht_table_put_str(table, WORKS_SHORT_NAME, l->short_name);
	ht_table_put_str(table, WORKS_KERNEL_TYPE, ht_work_type_word(run, type_of(run, t, w)));
	if (w->stream == -1)
		ht_table_put_null(table, WORKS_STREAM);
	else
		ht_table_put_i64(table, WORKS_STREAM, w->stream);
	if (ht_step_of(t, w->row) == HT_NONE)
		ht_table_put_null(table, WORKS_STEP);
	else
		ht_table_put_i64(table, WORKS_STEP, t->steps[ht_step_of(t, w->row)].number);
	ht_table_put_i64(table, WORKS_TS_NS, w->start);
	ht_table_put_i64(table, WORKS_COUNT, 1);
	ht_table_put_i64(table, WORKS_DUR_NS, l->dur_ns);
	ht_table_put_f64(table, WORKS_SHARE, total_ns ? (double)l->dur_ns / (double)total_ns : NAN);
	ht_table_put_str(table, WORKS_VIA, l->via);
}

static void put_group(ht_table *table, const struct ht_frame *frame, const struct labelled *l,
        const char *by, int64_t total_ns)
{
	size_t at = ht_table_n_columns(table) - N_SUMS;
	ht_table_row(table);
	ht_table_put_i64(table, STACK_RANK, frame->rank);
	ht_table_put_str(table, STACK_ANNOTATION, l->annotation);
	if (strcmp(by, "annotation") != 0)
		ht_table_put_str(table, STACK_STACK, strcmp(by, "stack") ? l->name : l->stack);
	ht_table_put_i64(table, at + SUM_COUNT, (int64_t)l->count);
	ht_table_put_i64(table, at + SUM_DUR_NS, l->dur_ns);
	ht_table_put_f64(
	        table, at + SUM_SHARE, total_ns ? (double)l->dur_ns / (double)total_ns : NAN);
}

static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return a == b ? 0 : strcmp(a, b);
}

static int compare_key(const void *left, const void *right)
{
	const struct labelled *a = left, *b = right;
	int order = compare_text(a->annotation, b->annotation);
	if (!order)
		order = compare_text(a->stack, b->stack);
	return order ? order : compare_text(a->name, b->name);
}

static int compare_time(const void *left, const void *right)
{
	const struct labelled *a = left, *b = right;
	if (a->dur_ns != b->dur_ns)
		return a->dur_ns > b->dur_ns ? -1 : 1;
	return compare_key(left, right);
}

/* Neighbours of equal keys become one. */
static size_t join(struct labelled *list, size_t n)
{
	size_t n_groups = 0;
	for (size_t i = 0; i < n; i++) {
		if (n_groups && !compare_key(&list[n_groups - 1], &list[i])) {
			ht_sum(&list[n_groups - 1].dur_ns, list[i].dur_ns);
			list[n_groups - 1].count += list[i].count;
		} else {
			list[n_groups++] = list[i];
		}
	}
	return n_groups;
}

/* Equal keys become one; longest first. What runs one after the other mostly has the same. */
static size_t group(struct ht_run *run, struct labelled *list, size_t n, const char *by)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(by, "name") != 0)
			list[i].name = NULL;
		if (strcmp(by, "stack") != 0)
			list[i].stack = NULL;
	}
	n = join(list, n);
	ht_sort_items(run->ctx->mem, list, n, sizeof *list, compare_key);
	size_t n_groups = join(list, n);
	qsort(list, n_groups, sizeof *list, compare_time);
	return n_groups;
}

/* Short names, each made once; by string id, the last for work without a name. */
static enum ht_status shorten_names(struct ht_run *run, const struct ht_trace *t,
        const struct ht_work_list *work, struct labelled *list)
{
	const char **shorts =
	        ht_arena_alloc(run->scratch, (t->n_string_offsets + 1) * sizeof *shorts);
	if (!shorts)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < work->n; i++) {
		uint32_t id = t->name[work->items[i].row];
		const char **text = &shorts[id == HT_NO_STR ? t->n_string_offsets : id];
		if (!*text)
			*text = ht_name_shorten(run, ht_str(t, id));
		if (!*text)
			return ht_fail_nomem(run->ctx);
		list[i].short_name = *text;
	}
	return HT_OK;
}

static enum ht_status label(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_work_list *work, struct labelled *list)
{
	const struct ht_trace *t = frame->trace;
	struct ht_annotated *found = ht_arena_alloc(run->scratch, (work->n + 1) * sizeof *found);
	if (!found)
		return ht_fail_nomem(run->ctx);
	HT_TRY(annotate(run, frame, work, found));
	for (size_t i = 0; i < work->n; i++) {
		const struct ht_work *w = &work->items[i];
		list[i] = (struct labelled){ .name = ht_str(t, t->name[w->row]),
			.stack = found[i].stack,
			.via = ht_autograd_link_name((enum ht_autograd_link)found[i].link),
			.dur_ns = w->end - w->start,
			.count = 1 };
		if (found[i].row != HT_NONE)
			list[i].annotation = ht_str(t, t->name[found[i].row]);
	}
	return shorten_names(run, t, work, list);
}

static enum ht_status label_kernels(struct ht_run *run, struct ht_part *part)
{
	const char *by = ht_run_str(run, "group-by");
	ht_table *table = part->facts[0];
	struct ht_frame frame = { 0 };
	struct ht_work_list work = { 0 };
	HT_TRY(ht_frame_make(run, &frame));
	if (run->policy->collect_annotated) {
		HT_TRY(run->policy->collect_annotated(run, &frame, &work));
	} else {
		HT_TRY(ht_work_collect(run, &frame, &work));
		HT_TRY(ht_work_sort(run, &work));
	}
	struct labelled *list = ht_arena_room(run->scratch, (work.n + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(run->ctx);
	HT_TRY(label(run, &frame, &work, list));

	int64_t total = 0;
	for (size_t i = 0; i < work.n; i++)
		ht_sum(&total, list[i].dur_ns);
	if (!strcmp(by, "none")) {
		for (size_t i = 0; i < work.n; i++)
			put_work(run, table, &frame, &work.items[i], &list[i], total);
		return HT_OK;
	}
	size_t n = group(run, list, work.n, by);
	for (size_t i = 0; i < n; i++)
		put_group(table, &frame, &list[i], by, total);
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	HT_TRY(ht_frame_set_method(run, table, "share of summed GPU time"));
	bool is_single = ht_run_is(run, "group-by", "none");
	ht_table_set_bar(
	        table, is_single ? WORKS_SHARE : ht_table_n_columns(table) - N_SUMS + SUM_SHARE);
	HT_TRY(ht_parts_rows_or(run, parts, table, "no GPU activity in the selection"));
	return is_single ? HT_OK : ht_table_sort(run->ctx, table, "-dur_ns");
}
