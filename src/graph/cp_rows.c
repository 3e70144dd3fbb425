/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_rows.c - see cp_rows.h.
 */
#include "graph/cp_rows.h"

#include "base/mem.h"
#include "base/sort.h"
#include "store/columns.h"

#include <stdlib.h>

uint32_t ht_cp_rows_work(const struct ht_cp_rows *rows, uint32_t row)
{
	const struct ht_trace *t = rows->m->trace;
	const struct ht_gpu *gpu = ht_gpu_of_row(t, row);
	return gpu ? rows->m->work_of_gpu[gpu - t->gpu] : HT_NONE;
}

/* All rows that a window may have. */
static void list_rows(struct ht_cp_rows *rows)
{
	const struct ht_trace *t = rows->m->trace;
	size_t i_gpu = 0;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		while (i_gpu < t->n_gpu && t->gpu[i_gpu].row < row)
			i_gpu++;
		bool gpu = i_gpu < t->n_gpu && t->gpu[i_gpu].row == row;
		bool counts = gpu ? rows->m->work_of_gpu[i_gpu] != HT_NONE
		                  : ht_cp_kind_is_host(t->kind[row]) && t->dur_ns[row] > 0;
		if (counts && ht_is_span(t, row))
			rows->by_start[rows->n++] = row;
	}
}

static bool sort_rows(struct ht_cp_rows *rows)
{
	struct ht_mem *mem = rows->run->ctx->mem;
	size_t n_bytes = (rows->n + 1) * sizeof(uint64_t);
	uint64_t *keys = ht_mem_alloc(mem, n_bytes);
	if (!keys)
		return false;
	for (size_t i = 0; i < rows->n; i++)
		keys[i] = ht_sort_key_i64(rows->m->trace->ts_ns[rows->by_start[i]]);
	bool ok = ht_sort_keys(mem, keys, rows->by_start, rows->n);
	ht_mem_free(mem, keys, n_bytes);
	return ok;
}

enum ht_status ht_cp_rows_init(
        struct ht_run *run, const struct ht_cp_model *m, struct ht_cp_rows *ret_rows)
{
	struct ht_cp_rows *rows = ret_rows;
	*rows = (struct ht_cp_rows){ .run = run, .m = m, .last_start_ns = INT64_MIN };
	size_t n = m->trace->n_kind + 1;
	rows->by_start = ht_arena_alloc(run->scratch, n * sizeof *rows->by_start);
	rows->path_ns = ht_arena_alloc(run->scratch, n * sizeof *rows->path_ns);
	if (!rows->by_start || !rows->path_ns)
		return ht_fail_nomem(run->ctx);
	list_rows(rows);
	return sort_rows(rows) ? HT_OK : ht_fail_nomem(run->ctx);
}

void ht_cp_rows_done(struct ht_cp_rows *rows)
{
	ht_vec_free(rows->run->ctx->mem, &rows->open, sizeof(uint32_t));
	ht_vec_free(rows->run->ctx->mem, &rows->found, sizeof(uint32_t));
}

static bool push(struct ht_cp_rows *rows, struct ht_vec *list, uint32_t row)
{
	return HT_VEC_PUSH(rows->run->ctx->mem, list, uint32_t, row);
}

/* Rows that have begun by the end of the window and are not over when it begins. */
static bool open_rows(struct ht_cp_rows *rows, const struct ht_cp_window *w)
{
	const struct ht_trace *t = rows->m->trace;
	int64_t until = w->end_ns > w->host_end_ns ? w->end_ns : w->host_end_ns;
	uint32_t *open = rows->open.data;
	size_t n = 0;
	/* windows follow each other; where one does not, all is looked at again */
	if (w->start_ns < rows->last_start_ns)
		rows->open.n = rows->n_begun = 0;
	rows->last_start_ns = w->start_ns;
	for (size_t i = 0; i < rows->open.n; i++)
		if (ht_end_ns(t, open[i]) > w->start_ns)
			open[n++] = open[i];
	rows->open.n = n;
	for (; rows->n_begun < rows->n; rows->n_begun++) {
		uint32_t row = rows->by_start[rows->n_begun];
		if (t->ts_ns[row] > until)
			break;
		if (ht_end_ns(t, row) > w->start_ns && !push(rows, &rows->open, row))
			return false;
	}
	return true;
}

/* Those of the window on the path; what the window before had is forgotten. */
static void sum_path(struct ht_cp_rows *rows, const struct ht_cp_piece *pieces, size_t n)
{
	const uint32_t *found = rows->found.data;
	for (size_t i = 0; i < rows->found.n; i++)
		rows->path_ns[found[i]] = 0;
	rows->found.n = 0;
	for (size_t i = 0; i < n; i++)
		if (pieces[i].row != HT_NONE && pieces[i].type == HT_CP_OPERATOR)
			rows->path_ns[pieces[i].row] += pieces[i].end_ns - pieces[i].start_ns;
}

/* Rows on the path run in the window, but for what is waited for behind the end of its host part. */
static bool find_rows(struct ht_cp_rows *rows, const struct ht_cp_window *w,
        const struct ht_cp_piece *pieces, size_t n)
{
	const struct ht_trace *t = rows->m->trace;
	const uint32_t *open = rows->open.data;
	for (size_t i = 0; i < rows->open.n; i++) {
		int64_t until = ht_gpu_of_row(t, open[i]) ? w->end_ns : w->host_end_ns;
		if (t->ts_ns[open[i]] <= until && !push(rows, &rows->found, open[i]))
			return false;
	}
	for (size_t i = 0; i < n; i++)
		if (pieces[i].row != HT_NONE && rows->path_ns[pieces[i].row] > 0 &&
		        !push(rows, &rows->found, pieces[i].row))
			return false;
	return true;
}

static int by_number(const void *left, const void *right)
{
	return ht_order_i64(*(const uint32_t *)left, *(const uint32_t *)right);
}

enum ht_status ht_cp_rows_find(struct ht_cp_rows *rows, const struct ht_cp_window *window,
        const struct ht_cp_piece *pieces, size_t n_pieces)
{
	sum_path(rows, pieces, n_pieces);
	if (!open_rows(rows, window) || !find_rows(rows, window, pieces, n_pieces))
		return ht_fail_nomem(rows->run->ctx);
	uint32_t *found = rows->found.data;
	size_t n = 0;
	if (rows->found.n)
		qsort(found, rows->found.n, sizeof *found, by_number);
	for (size_t i = 0; i < rows->found.n; i++)
		if (!n || found[n - 1] != found[i])
			found[n++] = found[i];
	rows->found.n = n;
	return HT_OK;
}
