/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotation_origins.c - see annotation_origins.h.
 */
#include "model/groups/annotation_origins.h"

#include "base/checked.h"
#include "base/sort.h"
#include "model/calls/annotate.h"
#include "model/origin/find_origins.h"
#include "store/columns.h"

#include <string.h>

/* An activity, or all of one key. */
struct item {
	const char *annotation;
	uint32_t row; /* of one of them: its origin is that of all */
	struct ht_origin origin;
	int64_t n, ns, annotation_ns;
};

static int compare_text(const char *a, const char *b)
{
	if (a == b)
		return 0;
	return !a || !b ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static int by_key(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	const struct ht_origin *x = &a->origin, *y = &b->origin;
	int order = compare_text(a->annotation, b->annotation);
	order = order ? order : compare_text(x->op, y->op);
	order = order ? order : compare_text(x->module, y->module);
	order = order ? order : compare_text(x->source, y->source);
	order = order ? order : (int)x->method - (int)y->method;
	return order ? order : (x->confidence < y->confidence) - (x->confidence > y->confidence);
}

static int by_time(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	if (a->annotation_ns != b->annotation_ns)
		return a->annotation_ns > b->annotation_ns ? -1 : 1;
	int order = compare_text(a->annotation, b->annotation);
	if (order || a->ns == b->ns)
		return order ? order : by_key(left, right);
	return a->ns > b->ns ? -1 : 1;
}

/* Equal keys become one. */
static size_t join(struct ht_run *run, struct item *list, size_t n)
{
	size_t n_joined = 0;
	ht_sort_items(run->ctx->mem, list, n, sizeof *list, by_key);
	for (size_t i = 0; i < n; i++) {
		if (!n_joined || by_key(&list[n_joined - 1], &list[i])) {
			list[n_joined++] = list[i];
			continue;
		}
		list[n_joined - 1].n += list[i].n;
		ht_sum(&list[n_joined - 1].ns, list[i].ns);
	}
	for (size_t i = 0, end; i < n_joined; i = end) {
		int64_t ns = 0;
		for (end = i;
		        end < n_joined && !compare_text(list[end].annotation, list[i].annotation);
		        end++)
			ht_sum(&ns, list[end].ns);
		for (size_t k = i; k < end; k++)
			list[k].annotation_ns = ns;
	}
	ht_sort_items(run->ctx->mem, list, n_joined, sizeof *list, by_time);
	return n_joined;
}

/* The innermost annotation around each activity. */
static enum ht_status annotate(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_work_list *work, struct ht_annotated **ret)
{
	struct ht_autograd autograd;
	uint32_t *rows = ht_arena_room(run->scratch, (work->n + 1) * sizeof *rows);
	struct ht_annotated *found = ht_arena_alloc(run->scratch, (work->n + 1) * sizeof *found);
	if (!rows || !found)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < work->n; i++)
		rows[i] = work->items[i].row;
	HT_TRY(ht_autograd_make(run, frame->trace, &autograd));
	HT_TRY(ht_annotate_rows(run, frame->trace, &autograd, rows, work->n, false, found));
	*ret = found;
	return HT_OK;
}

static void put(struct ht_run *run, ht_table *table, const struct ht_origins *origins,
        const struct item *item)
{
	ht_table_row(table);
	ht_table_put_i64(table, HT_ANNOTATED_RANK, run->rank);
	ht_table_put_str(table, HT_ANNOTATED_NAME, item->annotation);
	ht_origin_put(table, HT_ANNOTATED_ORIGIN_OP, origins, item->row);
	ht_table_put_i64(table, HT_ANNOTATED_COUNT, item->n);
	ht_table_put_i64(table, HT_ANNOTATED_SUM_NS, item->ns);
}

enum ht_status ht_annotation_origins_put(struct ht_run *run, ht_table *table)
{
	const struct ht_trace *t = run->trace;
	struct ht_frame frame = { 0 };
	struct ht_work_list work;
	struct ht_origins origins;
	struct ht_annotated *annotated = NULL;
	size_t near = 0;
	HT_TRY(ht_frame_make_gpu(run, &frame));
	HT_TRY(ht_work_collect(run, &frame, &work));
	HT_TRY(ht_origins_make(run, true, &origins));
	HT_TRY(annotate(run, &frame, &work, &annotated));
	struct item *list = ht_arena_alloc(run->scratch, (work.n + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < work.n; i++) {
		const struct ht_work *w = &work.items[i];
		const struct ht_gpu *gpu = ht_gpu_of_row_near(t, w->row, &near);
		uint32_t row = annotated[i].row;
		list[i] = (struct item){ .annotation =
			                         row == HT_NONE ? NULL : ht_str(t, t->name[row]),
			.row = w->row,
			.n = 1,
			.ns = w->end - w->start };
		if (gpu)
			ht_origin_get(&origins, (size_t)(gpu - t->gpu), &list[i].origin);
	}
	size_t n = join(run, list, work.n);
	for (size_t i = 0; i < n; i++)
		put(run, table, &origins, &list[i]);
	return HT_OK;
}
