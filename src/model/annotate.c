/*
 * annotate.c - see annotate.h.
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
#include "model/annotate.h"

#include <stdlib.h>
#include <string.h>

static bool is_step(const struct ht_trace *t, uint32_t row)
{
	return !strncmp(ht_str(t, t->name[row]), "ProfilerStep", strlen("ProfilerStep"));
}

/* The nearest host annotation around a row that is not a step. */
static uint32_t host_outer(const struct ht_trace *t, uint32_t row)
{
	do
		row = ht_ancestor(t, row, HT_KIND_ANNOTATION);
	while (row != HT_NONE && is_step(t, row));
	return row;
}

enum ht_status ht_annotate_by_launch(struct ht_run *run, const struct ht_trace *trace,
        const struct ht_work_list *work, uint32_t **ret_rows)
{
	uint32_t *rows = ht_arena_alloc(run->scratch, (work->n + 1) * sizeof *rows);
	if (!rows)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < work->n; i++) {
		uint32_t launch = work->items[i].launch;
		rows[i] = launch == HT_NONE ? HT_NONE : host_outer(trace, launch);
	}
	*ret_rows = rows;
	return HT_OK;
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
		if (t->kind[row] == HT_KIND_GPU_ANNOTATION && (with_steps || !is_step(t, row)))
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
	qsort(pieces, work->n, sizeof *pieces, compare_work);
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

enum ht_status ht_annotation_paths_init(
        struct ht_run *run, const struct ht_frame *frame, struct ht_annotation_paths *ret_paths)
{
	size_t n_rows = ht_n_events(frame->trace), n = 0, depth = 0;
	struct ht_annotation_paths paths = { .trace = frame->trace };
	struct piece *list = NULL;
	HT_TRY(collect_annotations(run, frame, false, &list, &n));
	paths.text = ht_arena_alloc(run->scratch, (n_rows + 1) * sizeof *paths.text);
	paths.gpu_outer = ht_arena_alloc(run->scratch, (n_rows + 1) * sizeof *paths.gpu_outer);
	struct piece *open = ht_arena_alloc(run->scratch, (n + 1) * sizeof *open);
	if (!paths.text || !paths.gpu_outer || !open)
		return ht_fail_nomem(run->ctx);
	memset(paths.gpu_outer, 0xff, n_rows * sizeof *paths.gpu_outer);
	qsort(list, n, sizeof *list, compare_nesting);
	for (size_t i = 0; i < n; i++) {
		while (depth && (open[depth - 1].track != list[i].track ||
		                        open[depth - 1].end < list[i].end))
			depth--;
		if (depth)
			paths.gpu_outer[list[i].i] = open[depth - 1].i;
		open[depth++] = list[i];
	}
	*ret_paths = paths;
	return HT_OK;
}

static uint32_t outer(const struct ht_annotation_paths *paths, uint32_t row)
{
	return paths->trace->kind[row] == HT_KIND_GPU_ANNOTATION ? paths->gpu_outer[row]
	                                                         : host_outer(paths->trace, row);
}

const char *ht_annotation_path(struct ht_run *run, struct ht_annotation_paths *paths, uint32_t row)
{
	if (paths->text[row])
		return paths->text[row];
	/* without recursion: annotations may nest as deep as the file likes */
	size_t depth = 0;
	for (uint32_t up = row; up != HT_NONE && !paths->text[up]; up = outer(paths, up))
		depth++;
	uint32_t *chain = ht_arena_alloc(run->scratch, depth * sizeof *chain);
	if (!chain)
		return NULL;
	uint32_t up = row;
	for (size_t k = depth; k--; up = outer(paths, up))
		chain[k] = up;
	const char *path = up == HT_NONE ? NULL : paths->text[up];
	for (size_t k = 0; k < depth; k++) {
		const char *name = ht_str(paths->trace, paths->trace->name[chain[k]]);
		path = path ? ht_arena_printf(run->scratch, "%s / %s", path, name) : name;
		if (!path)
			return NULL;
		paths->text[chain[k]] = path;
	}
	return path;
}
