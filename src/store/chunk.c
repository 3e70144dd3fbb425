/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.c - pieces of a trace that is being read; see chunk.h.
 */
#include "base/mem.h"
#include "store/chunk.h"
#include "store/columns.h"
#include "store/trace_meta.h"

#include <string.h>

void ht_chunk_init(struct ht_chunk *chunk, struct ht_mem *mem)
{
	*chunk = (struct ht_chunk){ .mem = mem };
}

/* The arrays with one element per row. */
struct row_array {
	void **array;
	size_t bytes;
};
enum { N_ROW_ARRAYS = 8 };

static void list_row_arrays(struct ht_chunk *c, struct row_array *ret)
{
	const struct row_array arrays[N_ROW_ARRAYS] = { { (void **)&c->ts_ns, 8 },
		{ (void **)&c->dur_ns, 8 }, { (void **)&c->name, 4 }, { (void **)&c->track, 4 },
		{ (void **)&c->shape, 4 }, { (void **)&c->cat, 2 }, { (void **)&c->ph, 1 },
		{ (void **)&c->flags, 1 } };
	memcpy(ret, arrays, sizeof arrays);
}

static void free_rows(struct ht_chunk *chunk)
{
	struct row_array arrays[N_ROW_ARRAYS];
	list_row_arrays(chunk, arrays);
	for (size_t i = 0; i < N_ROW_ARRAYS; i++) {
		ht_mem_free(chunk->mem, *arrays[i].array, (size_t)chunk->cap * arrays[i].bytes);
		*arrays[i].array = NULL;
	}
	chunk->n = chunk->cap = 0;
}

bool ht_chunk_resize(struct ht_chunk *chunk, uint32_t cap)
{
	struct row_array arrays[N_ROW_ARRAYS];
	list_row_arrays(chunk, arrays);
	for (size_t i = 0; i < N_ROW_ARRAYS; i++) {
		void *moved = ht_mem_realloc(chunk->mem, *arrays[i].array,
		        (size_t)chunk->cap * arrays[i].bytes, (size_t)cap * arrays[i].bytes);
		if (moved) {
			*arrays[i].array = moved;
			continue;
		}
		/* all arrays have one capacity: free those that have the new one, then the rest */
		while (i--) {
			ht_mem_free(chunk->mem, *arrays[i].array, (size_t)cap * arrays[i].bytes);
			*arrays[i].array = NULL;
		}
		free_rows(chunk);
		return false;
	}
	chunk->cap = cap;
	return true;
}

/* What to grow to for extra more than n: by half at least, so that growing is seldom. */
static uint64_t grown(uint32_t n, uint32_t cap, uint32_t extra)
{
	uint64_t half = (uint64_t)cap + cap / 2, least = (uint64_t)n + extra;
	return half > least ? half : least;
}

/* Room for extra more rows. */
static bool reserve_rows(struct ht_chunk *chunk, uint32_t extra)
{
	if (chunk->cap - chunk->n >= extra)
		return true;
	uint64_t cap = grown(chunk->n, chunk->cap, extra);
	return cap < HT_NONE && ht_chunk_resize(chunk, (uint32_t)cap);
}

bool ht_chunk_grow(struct ht_chunk *chunk, uint32_t n)
{
	return reserve_rows(chunk, n < 64 ? 64 : n);
}

static bool resize_column(struct ht_chunk *chunk, struct ht_chunk_column *column, uint32_t cap)
{
	uint32_t *rows =
	        ht_mem_realloc(chunk->mem, column->rows, (size_t)column->cap * 4, (size_t)cap * 4);
	if (!rows)
		return false;
	column->rows = rows;
	char *values = ht_mem_realloc(chunk->mem, column->values,
	        (size_t)column->cap * column->width, (size_t)cap * column->width);
	if (!values) {
		/* both arrays must have one capacity: give up the column, the chunk is lost anyway */
		ht_mem_free(chunk->mem, rows, (size_t)cap * 4);
		ht_mem_free(chunk->mem, column->values, (size_t)column->cap * column->width);
		*column = (struct ht_chunk_column){ 0 };
		return false;
	}
	column->values = values;
	column->cap = cap;
	return true;
}

/* Room for extra more entries. */
static bool reserve_column(struct ht_chunk *chunk, struct ht_chunk_column *column, uint32_t extra)
{
	if (column->cap - column->n >= extra)
		return true;
	uint64_t cap = grown(column->n, column->cap, extra);
	return cap < HT_NONE && resize_column(chunk, column, (uint32_t)cap);
}

static void column_done(struct ht_mem *mem, struct ht_chunk_column *column)
{
	ht_mem_free(mem, column->rows, (size_t)column->cap * 4);
	ht_mem_free(mem, column->values, (size_t)column->cap * column->width);
	*column = (struct ht_chunk_column){ 0 };
}

void ht_chunk_clear(struct ht_chunk *chunk)
{
	struct ht_chunk_column *columns = chunk->columns.data;
	for (size_t i = 0; i < chunk->columns.n; i++)
		columns[i].n = 0;
	chunk->n = 0;
	chunk->headers.n = 0;
	chunk->fractions = (struct ht_fractions){ .rows = chunk->fractions.rows };
	chunk->fractions.rows.n = 0;
	memset(chunk->stats, 0, sizeof chunk->stats);
}

void ht_chunk_done(struct ht_chunk *chunk)
{
	struct ht_chunk_column *columns = chunk->columns.data;
	for (size_t i = 0; i < chunk->columns.n; i++)
		column_done(chunk->mem, &columns[i]);
	free_rows(chunk);
	ht_vec_free(chunk->mem, &chunk->columns, sizeof(struct ht_chunk_column));
	ht_vec_free(chunk->mem, &chunk->headers, sizeof(struct ht_header));
	ht_vec_free(chunk->mem, &chunk->fractions.rows, sizeof(uint64_t));
	*chunk = (struct ht_chunk){ .mem = chunk->mem };
}

void ht_chunk_stat(struct ht_chunk *chunk, enum ht_stat_code code, int64_t offset, uint64_t n)
{
	struct ht_chunk_stat *stat = &chunk->stats[code];
	if (!stat->count)
		stat->first_offset = offset;
	stat->count += n;
}

static uint8_t first_width(uint8_t type)
{
	switch (type) {
	case HT_ARG_NULL: return 0;
	case HT_ARG_BOOL: return 1;
	case HT_ARG_U64:
	case HT_ARG_F64: return 8;
	default: return 4; /* string ids, and integers until one does not fit */
	}
}

/* An integer that needs 64 bits has come: widen all values. */
static bool widen(struct ht_chunk *chunk, struct ht_chunk_column *column)
{
	int64_t *wide = ht_mem_alloc(chunk->mem, (size_t)column->cap * 8);
	if (!wide)
		return false;
	for (uint32_t i = 0; i < column->n; i++)
		wide[i] = ((int32_t *)(void *)column->values)[i];
	ht_mem_free(chunk->mem, column->values, (size_t)column->cap * 4);
	column->values = (char *)wide;
	column->width = 8;
	return true;
}

struct ht_chunk_column *ht_chunk_column(struct ht_chunk *chunk, uint32_t i_column, uint8_t type)
{
	if (i_column >= chunk->columns.n) {
		size_t extra = i_column + 1 - chunk->columns.n;
		if (!ht_vec_reserve(
		            chunk->mem, &chunk->columns, sizeof(struct ht_chunk_column), extra))
			return NULL;
		memset((struct ht_chunk_column *)chunk->columns.data + chunk->columns.n, 0,
		        extra * sizeof(struct ht_chunk_column));
		chunk->columns.n += extra;
	}
	struct ht_chunk_column *column = (struct ht_chunk_column *)chunk->columns.data + i_column;
	if (!column->cap) {
		column->type = type;
		column->width = first_width(type);
		if (!resize_column(chunk, column, 16))
			return NULL;
	}
	return column;
}

bool ht_chunk_make_room(struct ht_chunk *chunk, struct ht_chunk_column *column, uint64_t value)
{
	if (column->n == column->cap && !reserve_column(chunk, column, 16))
		return false;
	return ht_chunk_column_fits(column, value) || widen(chunk, column);
}

/* ---- joining ---- */

/* Wide integers that would all fit the narrow ones they join: a chunk that is used again stays wide. */
static bool needs_width(const struct ht_chunk_column *column)
{
	const int64_t *values = (const int64_t *)(const void *)column->values;
	for (uint32_t i = 0; i < column->n; i++)
		if (values[i] != (int64_t)(int32_t)values[i])
			return true;
	return false;
}

/* Does the column of all have to be widened for those of a part? */
static bool must_widen(const struct ht_chunk_column *to, const struct ht_chunk_column *from)
{
	return from->width > to->width && needs_width(from);
}

bool ht_chunk_has_room(const struct ht_chunk *all, const struct ht_chunk *part)
{
	const struct ht_chunk_column *to = all->columns.data, *from = part->columns.data;
	bool room = all->cap - all->n >= part->n;
	for (size_t i = 0; room && i < part->columns.n; i++)
		if (from[i].n)
			room = i < all->columns.n && to[i].cap &&
			       to[i].cap - to[i].n >= from[i].n && !must_widen(&to[i], &from[i]);
	return room;
}

/* So much of a file tells what the rest is like; of a small one a part of it does. All threads wait while the arrays
 * grow, so the less there is to copy, the better. */
#define TELLING_BYTES ((uint64_t)8 << 20)
#define TELLING_PART  64

/* How many more than n are still to come, of which n_part are here: nothing is copied or cleared twice when there is
 * room for all of them at once. Of what little is read nothing can be said; then some more like these. */
static uint32_t to_come(const struct ht_portion *read, uint32_t n, uint32_t n_part)
{
	uint64_t some = 4 * (uint64_t)n_part, most = HT_NONE - 1 - n;
	if (read->whole &&
	        (read->done >= TELLING_BYTES || read->done >= read->whole / TELLING_PART)) {
		double rate = (double)read->whole / (double)read->done;
		double total = ((double)n + n_part) * rate * (1 + 1.0 / 32);
		some = total < (double)HT_NONE ? (uint64_t)total - n : most;
	}
	some = some > n_part ? some : n_part;
	return some < most ? (uint32_t)some : n_part;
}

bool ht_chunk_make_space(
        struct ht_chunk *all, const struct ht_chunk *part, const struct ht_portion *read)
{
	const struct ht_chunk_column *from = part->columns.data;
	if (all->cap - all->n < part->n && !reserve_rows(all, to_come(read, all->n, part->n)))
		return false;
	for (uint32_t i = 0; i < part->columns.n; i++) {
		if (!from[i].n)
			continue;
		struct ht_chunk_column *to = ht_chunk_column(all, i, from[i].type);
		/* nobody copies just now: those that will soon be full grow, too */
		bool full = to && to->cap - to->n < 4 * (uint64_t)from[i].n;
		if (!to || (full && !reserve_column(all, to, to_come(read, to->n, from[i].n))) ||
		        (must_widen(to, &from[i]) && !widen(all, to)))
			return false;
	}
	return true;
}

static void copy_values(struct ht_chunk_column *to, const struct ht_chunk_column *from)
{
	char *out = to->values + (size_t)from->base * to->width;
	if (to->width == from->width) {
		memcpy(out, from->values, (size_t)from->n * from->width);
	} else if (to->width == 8) {
		for (uint32_t i = 0; i < from->n; i++)
			((int64_t *)(void *)out)[i] =
			        ((const int32_t *)(const void *)from->values)[i];
	} else {
		for (uint32_t i = 0; i < from->n; i++)
			((int32_t *)(void *)out)[i] =
			        (int32_t)((const int64_t *)(const void *)from->values)[i];
	}
}

void ht_chunk_copy(struct ht_chunk *all, const struct ht_chunk *part)
{
	struct ht_chunk_column *columns = all->columns.data;
	const struct ht_chunk_column *from = part->columns.data;
	for (size_t k = 0; k < part->columns.n; k++) {
		if (!from[k].n)
			continue;
		uint32_t *rows = columns[k].rows + from[k].base;
		for (uint32_t i = 0; i < from[k].n; i++)
			rows[i] = part->base + from[k].rows[i];
		copy_values(&columns[k], &from[k]);
	}
	struct row_array to_rows[N_ROW_ARRAYS], from_rows[N_ROW_ARRAYS];
	list_row_arrays(all, to_rows);
	list_row_arrays((struct ht_chunk *)(uintptr_t)part, from_rows);
	for (size_t i = 0; part->n && i < N_ROW_ARRAYS; i++)
		memcpy((char *)*to_rows[i].array + (size_t)part->base * to_rows[i].bytes,
		        *from_rows[i].array, (size_t)part->n * to_rows[i].bytes);
}

static bool append_headers(struct ht_chunk *all, const struct ht_chunk *part)
{
	const struct ht_header *headers = part->headers.data;
	for (size_t i = 0; i < part->headers.n; i++)
		if (!HT_VEC_PUSH(all->mem, &all->headers, struct ht_header, headers[i]))
			return false;
	return true;
}

static bool append_fractions(struct ht_chunk *all, const struct ht_chunk *part)
{
	struct ht_fractions *to = &all->fractions;
	const struct ht_fractions *from = &part->fractions;
	const uint64_t *rows = from->rows.data;
	to->decimal |= from->decimal;
	to->saw |= from->saw;
	to->n += from->n;
	if (to->decimal)
		ht_vec_free(all->mem, &to->rows, sizeof(uint64_t));
	for (size_t i = 0; !to->decimal && i < from->rows.n; i++)
		if (!HT_VEC_PUSH(all->mem, &to->rows, uint64_t, rows[i] + ((uint64_t)all->n << 16)))
			return false;
	return true;
}

bool ht_chunk_assign(struct ht_chunk *all, struct ht_chunk *part)
{
	struct ht_chunk_column *to = all->columns.data, *from = part->columns.data;
	if (!append_headers(all, part) || !append_fractions(all, part))
		return false;
	for (size_t i = 0; i < part->columns.n; i++)
		if (from[i].n) {
			from[i].base = to[i].n;
			to[i].n += from[i].n;
		}
	for (int code = 0; code < HT_N_STATS; code++) {
		if (part->stats[code].count && !all->stats[code].count)
			all->stats[code].first_offset = part->stats[code].first_offset;
		all->stats[code].count += part->stats[code].count;
	}
	part->base = all->n;
	all->n += part->n;
	return true;
}
