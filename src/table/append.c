/* SPDX-License-Identifier: Apache-2.0 */
/*
 * append.c - the rows of one table after those of another; see table.h.
 *
 * Tables of ranks are made alone, so two of them can disagree about what a column holds: an argument that
 * one rank has as integer and another as text, or not at all. The result has the type that can show both:
 * integer and float give float, anything else gives text.
 */
#include "base/mem.h"
#include "table/format.h"
#include "table/storage.h"
#include "table/table.h"

#include <string.h>

void ht_table_keep_clock(ht_table *table, size_t column)
{
	if (column < ht_n_columns(table))
		ht_cells_at(table, column)->keeps_clock = true;
}

static enum ht_type common_type(enum ht_type a, enum ht_type b)
{
	if (a == b)
		return a;
	bool a_number = a == HT_I64 || a == HT_F64, b_number = b == HT_I64 || b == HT_F64;
	return a_number && b_number ? HT_F64 : HT_STR;
}

bool ht_table_widen(ht_table *table, size_t column, enum ht_type type)
{
	struct ht_cells *cells = ht_cells_at(table, column), old = *cells;
	size_t elem = ht_cell_bytes(type), n = table->n_rows;
	void *any = ht_mem_zalloc(table->mem, (old.cap ? old.cap : 1) * elem);
	if (!any)
		return false;
	cells->any = any;
	cells->cap = old.cap ? old.cap : 1;
	cells->meta.type = type;
	bool ok = true;
	for (size_t row = 0; row < n && ok; row++) {
		char text[HT_FORMAT_BYTES];
		if (ht_cell_is_null(&old, row))
			continue;
		if (ht_type_is_f64(type))
			cells->f64[row] = (double)old.i64[row];
		else
			ok = ht_table_pool_intern(
			        table, text, ht_format_exact(text, &old, row), &cells->str[row]);
	}
	ht_mem_free(table->mem, old.any, old.cap * ht_cell_bytes(old.meta.type));
	if (!old.cap)
		table->cap_rows = 0;
	return ok;
}

enum ht_status ht_table_add_null_column(ht_table *table, const struct ht_column *column)
{
	size_t n = table->n_rows;
	table->n_rows = 0;
	enum ht_status status = ht_table_add_column(table, column);
	table->n_rows = n;
	if (status != HT_OK || !n)
		return status;
	struct ht_cells *cells = ht_cells_at(table, ht_n_columns(table) - 1);
	cells->any = ht_mem_zalloc(table->mem, n * ht_cell_bytes(column->type));
	cells->valid = ht_mem_zalloc(table->mem, n);
	cells->cap = cells->any ? n : 0;
	cells->valid_cap = cells->valid ? n : 0;
	/* the other columns may have more room: all grow together from here */
	table->cap_rows = n;
	return cells->any && cells->valid ? HT_OK : HT_NOMEM;
}

/* By column of the source: the column of the table. */
static enum ht_status match_columns(ht_table *table, const ht_table *source, size_t *at)
{
	for (size_t c = 0; c < ht_n_columns(source); c++) {
		const struct ht_cells *from = ht_cells_at(source, c);
		at[c] = c < ht_n_columns(table) &&
		                        !strcmp(ht_cells_at(table, c)->meta.name, from->meta.name)
		                ? c
		                : ht_table_find_column(table, from->meta.name);
		if (at[c] == SIZE_MAX) {
			HT_TRY(ht_table_add_null_column(table, &from->meta));
			at[c] = ht_n_columns(table) - 1;
		}
		enum ht_type now = ht_cells_at(table, at[c])->meta.type;
		enum ht_type type = common_type(now, from->meta.type);
		if (type != now && !ht_table_widen(table, at[c], type))
			return HT_NOMEM;
	}
	return HT_OK;
}

static bool reserve_rows(ht_table *table, size_t n)
{
	for (size_t c = 0; c < ht_n_columns(table); c++) {
		struct ht_cells *cells = ht_cells_at(table, c);
		size_t elem = ht_cell_bytes(cells->meta.type);
		if (cells->cap < n) {
			size_t cap =
			        cells->cap + cells->cap / 2 > n ? cells->cap + cells->cap / 2 : n;
			void *any = ht_mem_realloc(
			        table->mem, cells->any, cells->cap * elem, cap * elem);
			if (!any)
				return false;
			cells->any = any;
			cells->cap = cap;
		}
		if (cells->valid && cells->valid_cap < cells->cap) {
			uint8_t *valid = ht_mem_realloc(
			        table->mem, cells->valid, cells->valid_cap, cells->cap);
			if (!valid)
				return false;
			cells->valid = valid;
			cells->valid_cap = cells->cap;
		}
	}
	return true;
}

/* Where the source has nulls, or lacks the column. */
static bool append_valid(
        ht_table *table, struct ht_cells *to, const uint8_t *valid, bool all, size_t n)
{
	size_t first = table->n_rows;
	if (!to->valid && (valid || !all)) {
		to->valid = ht_mem_alloc(table->mem, to->cap);
		if (!to->valid)
			return false;
		to->valid_cap = to->cap;
		memset(to->valid, 1, first);
	}
	if (to->valid && valid)
		memcpy(to->valid + first, valid, n);
	else if (to->valid)
		memset(to->valid + first, all, n);
	return true;
}

/* By id in the source: id in the table, UINT32_MAX while unknown. */
struct id_map {
	uint32_t *ids;
	size_t n;
};

static bool append_texts(ht_table *table, struct ht_cells *to, const ht_table *source,
        const struct ht_cells *from, struct id_map *map)
{
	size_t first = table->n_rows;
	for (size_t row = 0; row < source->n_rows; row++) {
		uint32_t id = from->str[row];
		if (map->ids[id] == UINT32_MAX) {
			const struct ht_table_pool_text *text = ht_table_pool_at(source, id);
			if (!ht_table_pool_intern(table, text->text, text->n, &map->ids[id]))
				return false;
		}
		to->str[first + row] = map->ids[id];
	}
	return true;
}

static bool append_as_text(
        ht_table *table, struct ht_cells *to, const ht_table *source, const struct ht_cells *from)
{
	for (size_t row = 0; row < source->n_rows; row++) {
		char text[HT_FORMAT_BYTES];
		uint32_t *cell = &to->str[table->n_rows + row];
		*cell = 0;
		if (!ht_cell_is_null(from, row) &&
		        !ht_table_pool_intern(table, text, ht_format_exact(text, from, row), cell))
			return false;
	}
	return true;
}

/* The times of a column that moves, moved; to may be where they are. */
static void move_times(
        const struct ht_cells *from, const struct ht_time_move *move, int64_t *to, size_t n)
{
	bool moves = move && (move->shift_ns || move->drift_ppt);
	if (from->meta.type != HT_TIME || !moves || from->keeps_clock)
		return;
	for (size_t row = 0; row < n; row++)
		if (!ht_cell_is_null(from, row))
			to[row] = ht_time_moved(move, from->i64[row]);
}

static bool append_cells(ht_table *table, struct ht_cells *to, const ht_table *source,
        const struct ht_cells *from, const struct ht_time_move *move, struct id_map *map)
{
	size_t first = table->n_rows, n = source->n_rows;
	if (to->meta.type == HT_STR && from->meta.type == HT_STR)
		return append_texts(table, to, source, from, map);
	if (to->meta.type == HT_STR)
		return append_as_text(table, to, source, from);
	if (to->meta.type == HT_F64 && from->meta.type == HT_I64) {
		for (size_t row = 0; row < n; row++)
			to->f64[first + row] = (double)from->i64[row];
		return true;
	}
	memcpy(to->u64 + first, from->u64, n * sizeof(uint64_t));
	to->keeps_clock = from->keeps_clock;
	move_times(from, move, to->i64 + first, n);
	return true;
}

static enum ht_status append_rows(ht_table *table, const ht_table *source,
        const struct ht_time_move *move, size_t *at, struct id_map *map)
{
	size_t n = source->n_rows;
	HT_TRY(match_columns(table, source, at));
	if (n > HT_TABLE_MAX_ROWS - table->n_rows)
		return HT_LIMIT;
	if (!reserve_rows(table, table->n_rows + n))
		return HT_NOMEM;
	memset(map->ids, 0xff, map->n * sizeof *map->ids);
	for (size_t c = 0; n && c < ht_n_columns(table); c++) {
		struct ht_cells *to = ht_cells_at(table, c);
		size_t i = 0;
		while (i < ht_n_columns(source) && at[i] != c)
			i++;
		const struct ht_cells *from =
		        i < ht_n_columns(source) ? ht_cells_at(source, i) : NULL;
		if (from && !append_cells(table, to, source, from, move, map))
			return HT_NOMEM;
		if (!from)
			memset((char *)to->any + table->n_rows * ht_cell_bytes(to->meta.type), 0,
			        n * ht_cell_bytes(to->meta.type));
		if (!append_valid(table, to, from ? from->valid : NULL, from != NULL, n))
			return HT_NOMEM;
	}
	table->n_rows += n;
	table->cap_rows = table->n_rows;
	table->cursor = ht_n_columns(table);
	return HT_OK;
}

static enum ht_status append_notes(ht_table *table, const ht_table *source)
{
	for (size_t i = 0; i < ht_table_n_notes(source); i++)
		HT_TRY(ht_table_put_note(table, ht_table_note_at(source, i)));
	return HT_OK;
}

enum ht_status ht_table_append(
        ht_table *table, const ht_table *source, const struct ht_time_move *move)
{
	struct id_map map = { .n = source->pool.texts.n };
	size_t n_at = ht_n_columns(source) + 1;
	if (!ht_table_end_row(table))
		return table->failed;
	map.ids = ht_mem_alloc(table->mem, map.n * sizeof *map.ids);
	size_t *at = ht_mem_alloc(table->mem, n_at * sizeof *at);
	enum ht_status status =
	        map.ids && at ? append_rows(table, source, move, at, &map) : HT_NOMEM;
	if (map.ids)
		ht_mem_free(table->mem, map.ids, map.n * sizeof *map.ids);
	if (at)
		ht_mem_free(table->mem, at, n_at * sizeof *at);
	if (status == HT_OK)
		status = append_notes(table, source);
	return status == HT_OK ? HT_OK : ht_table_fail(table, status);
}

/* ---- taking ---- */

/* Whether a table can have the columns of a source as they are: it has no cells or texts yet, and the same columns, or the
 * first of them. */
static bool can_lend(const ht_table *table, const ht_table *source)
{
	size_t n = ht_n_columns(table);
	bool can = table->failed == HT_OK && !table->n_rows && !table->lender &&
	           table->pool.texts.n == 1 && table->mem == source->mem && n &&
	           n <= ht_n_columns(source);
	for (size_t c = 0; can && c < n; c++) {
		const struct ht_column *to = &ht_cells_at(table, c)->meta;
		const struct ht_column *from = &ht_cells_at(source, c)->meta;
		can = to->type == from->type && !strcmp(to->name, from->name);
	}
	return can;
}

/* Texts stay where they are, so the table keeps who has them. */
static enum ht_status lend(ht_table *table, ht_table *source, const struct ht_time_move *move)
{
	for (size_t c = ht_n_columns(table); c < ht_n_columns(source); c++)
		HT_TRY(ht_table_add_column(table, &ht_cells_at(source, c)->meta));
	for (size_t c = 0; c < ht_n_columns(table); c++) {
		struct ht_cells *to = ht_cells_at(table, c), *from = ht_cells_at(source, c);
		struct ht_cells empty = *to;
		move_times(from, move, from->i64, source->n_rows);
		to->any = from->any;
		to->valid = from->valid;
		to->cap = from->cap;
		to->valid_cap = from->valid_cap;
		to->last_id = from->last_id;
		to->keeps_clock = from->keeps_clock;
		from->any = empty.any;
		from->valid = empty.valid;
		from->cap = empty.cap;
		from->valid_cap = empty.valid_cap;
	}
	struct ht_table_pool texts = table->pool;
	table->pool = source->pool;
	source->pool = texts;
	table->lender = ht_table_retain(source);
	table->n_rows = table->cap_rows = source->n_rows;
	table->cursor = ht_n_columns(table);
	source->n_rows = source->cap_rows = 0;
	return HT_OK;
}

void ht_table_drop_rows(ht_table *table)
{
	if (atomic_load(&table->n_refs) > 1)
		return;
	for (size_t c = 0; c < ht_n_columns(table); c++) {
		struct ht_cells *cells = ht_cells_at(table, c);
		ht_mem_free(table->mem, cells->any, cells->cap * ht_cell_bytes(cells->meta.type));
		ht_mem_free(table->mem, cells->valid, cells->valid_cap);
		cells->any = NULL;
		cells->valid = NULL;
		cells->cap = cells->valid_cap = 0;
	}
	table->n_rows = table->cap_rows = 0;
}

enum ht_status ht_table_take(ht_table *table, ht_table *source, const struct ht_time_move *move)
{
	bool is_shared = atomic_load(&source->n_refs) > 1;
	if (is_shared || !can_lend(table, source)) {
		enum ht_status status = ht_table_append(table, source, move);
		if (status == HT_OK)
			ht_table_drop_rows(source);
		return status;
	}
	HT_TRY(lend(table, source, move));
	enum ht_status status = append_notes(table, source);
	return status == HT_OK ? HT_OK : ht_table_fail(table, status);
}
