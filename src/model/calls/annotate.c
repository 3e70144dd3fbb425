/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate.c - see annotate.h. By the host: annotate_host.c.
 *
 * By GPU: annotations are taken shortest first and each takes the work that nobody has taken yet. Work
 * of a track is sorted by start and carries a tree of largest ends, so that the next untaken piece that
 * ends after an annotation's start is found in log n even when work overlaps on a stream:
 *
 *   ends of untaken work      tree           leftmost leaf with end > a.ts, and its start < a.end
 *   4  9  7  –                  9
 *                             9   7
 *                            4 9 7 –
 */
#include "model/calls/annotate.h"

#include "base/sort.h"
#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

bool ht_annotation_is_step(const struct ht_trace *t, uint32_t row)
{
	return !strncmp(ht_str(t, t->name[row]), "ProfilerStep", strlen("ProfilerStep"));
}

struct piece {
	int64_t start, end;
	uint32_t track;
	uint32_t i; /* of the work, or row of the annotation */
};

static int compare_work(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->i > b->i) - (a->i < b->i);
}

static int compare_annotation(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	int64_t dur_a = a->end - a->start, dur_b = b->end - b->start;
	if (dur_a != dur_b)
		return dur_a < dur_b ? -1 : 1;
	return (a->i < b->i) - (a->i > b->i);
}

static void tree_build(int64_t *tree, size_t size, const struct piece *work, size_t n)
{
	for (size_t k = 0; k < size; k++)
		tree[size + k] = k < n ? work[k].end : INT64_MIN;
	for (size_t k = size - 1; k; k--)
		tree[k] = tree[2 * k] > tree[2 * k + 1] ? tree[2 * k] : tree[2 * k + 1];
}

/* The first piece that ends after t, size when there is none. */
static size_t tree_first_after(const int64_t *tree, size_t size, int64_t t)
{
	if (tree[1] <= t)
		return size;
	size_t k = 1;
	while (k < size)
		k = tree[2 * k] > t ? 2 * k : 2 * k + 1;
	return k - size;
}

static void tree_take(int64_t *tree, size_t size, size_t i)
{
	size_t k = size + i;
	tree[k] = INT64_MIN;
	for (k /= 2; k; k /= 2)
		tree[k] = tree[2 * k] > tree[2 * k + 1] ? tree[2 * k] : tree[2 * k + 1];
}

static void annotate_track(int64_t *tree, const struct piece *work, size_t n,
        const struct piece *annotations, size_t n_annotations, uint32_t *rows)
{
	size_t size = 1;
	while (size < n)
		size *= 2;
	tree_build(tree, size, work, n);
	for (size_t a = 0; a < n_annotations; a++) {
		for (;;) {
			size_t i = tree_first_after(tree, size, annotations[a].start);
			if (i >= n || work[i].start >= annotations[a].end)
				break;
			rows[work[i].i] = annotations[a].i;
			tree_take(tree, size, i);
		}
	}
}

static enum ht_status collect_annotations(struct ht_run *run, const struct ht_frame *frame,
        bool with_steps, struct piece **ret_list, size_t *ret_n)
{
	const struct ht_trace *t = frame->trace;
	size_t n = 0;
	for (size_t k = 0; k < frame->n_rows; k++)
		n += t->kind[frame->rows[k]] == HT_KIND_GPU_ANNOTATION;
	struct piece *list = ht_arena_alloc(run->scratch, (n + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(run->ctx);
	n = 0;
	for (size_t k = 0; k < frame->n_rows; k++) {
		uint32_t row = frame->rows[k];
		if (t->kind[row] == HT_KIND_GPU_ANNOTATION &&
		        (with_steps || !ht_annotation_is_step(t, row)))
			list[n++] = (struct piece){ t->ts_ns[row], ht_end_ns(t, row), t->track[row],
				row };
	}
	qsort(list, n, sizeof *list, compare_annotation);
	*ret_list = list;
	*ret_n = n;
	return HT_OK;
}

enum ht_status ht_annotate_by_gpu(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_work_list *work, bool with_steps, uint32_t **ret_rows)
{
	const struct ht_trace *t = frame->trace;
	struct piece *annotations = NULL;
	size_t n_annotations = 0;
	HT_TRY(collect_annotations(run, frame, with_steps, &annotations, &n_annotations));
	struct piece *pieces = ht_arena_alloc(run->scratch, (work->n + 1) * sizeof *pieces);
	int64_t *tree = ht_arena_alloc(run->scratch, (4 * work->n + 2) * sizeof *tree);
	uint32_t *rows = ht_arena_alloc(run->scratch, (work->n + 1) * sizeof *rows);
	if (!pieces || !tree || !rows)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < work->n; i++) {
		const struct ht_work *w = &work->items[i];
		rows[i] = HT_NONE;
		pieces[i] = (struct piece){ w->start, w->end, t->track[w->row], (uint32_t)i };
	}
	ht_sort_items(run->ctx->mem, pieces, work->n, sizeof *pieces, compare_work);
	for (size_t i = 0, a = 0, n; i < work->n; i += n) {
		uint32_t track = pieces[i].track;
		for (n = 1; i + n < work->n && pieces[i + n].track == track;)
			n++;
		while (a < n_annotations && annotations[a].track < track)
			a++;
		size_t first = a;
		while (a < n_annotations && annotations[a].track == track)
			a++;
		annotate_track(tree, pieces + i, n, annotations + first, a - first, rows);
	}
	*ret_rows = rows;
	return HT_OK;
}

static int compare_nesting(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return (a->i > b->i) - (a->i < b->i);
}

/* Texts are in run->scratch, what goes in own. */
static enum ht_status find_gpu_paths(struct ht_run *run, const struct ht_frame *frame,
        struct ht_arena *own, const uint32_t *gpu_rows, size_t n_rows, const char **ret_texts)
{
	const struct ht_trace *t = frame->trace;
	struct piece *list = NULL;
	size_t n = 0, depth = 0;
	HT_TRY(collect_annotations(run, frame, false, &list, &n));
	const char **texts = ht_arena_alloc(own, (t->n_kind + 1) * sizeof *texts);
	uint8_t *wanted = ht_arena_alloc(own, t->n_kind + 1);
	struct piece *open = ht_arena_alloc(own, (n + 1) * sizeof *open);
	struct ht_chain *chains = ht_arena_alloc(own, (n + 1) * sizeof *chains);
	if (!texts || !wanted || !open || !chains)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n_rows; i++)
		if (gpu_rows[i] != HT_NONE)
			wanted[gpu_rows[i]] = true;
	qsort(list, n, sizeof *list, compare_nesting);
	/* chains[depth] is that of open[depth - 1]; a frame may have a row twice */
	for (size_t i = 0; i < n; i++) {
		uint32_t row = list[i].i;
		if (i && row == list[i - 1].i)
			continue;
		while (depth && (open[depth - 1].track != list[i].track ||
		                        open[depth - 1].end < list[i].end))
			depth--;
		chains[depth + 1] = ht_chain_push(&chains[depth], row);
		open[depth++] = list[i];
		if (wanted[row] &&
		        !(texts[row] = ht_chain_text(run->scratch, t, &chains[depth], " / ")))
			return ht_fail_nomem(run->ctx);
	}
	for (size_t i = 0; i < n_rows; i++) {
		uint32_t row = gpu_rows[i];
		ret_texts[i] = row == HT_NONE ? NULL : texts[row];
		if (row != HT_NONE && !texts[row])
			ret_texts[i] = ht_str(t, t->name[row]);
	}
	return HT_OK;
}

enum ht_status ht_annotate_gpu_paths(struct ht_run *run, const struct ht_frame *frame,
        const uint32_t *gpu_rows, size_t n_rows, const char **ret_texts)
{
	struct ht_arena own;
	ht_arena_init_like(&own, run->scratch);
	enum ht_status status = find_gpu_paths(run, frame, &own, gpu_rows, n_rows, ret_texts);
	ht_arena_done(&own);
	return status;
}
