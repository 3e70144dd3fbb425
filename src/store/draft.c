/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draft.c - see draft.h.
 */
#include "store/draft.h"

#include "base/mem.h"
#include "base/number.h"
#include "json/json_text.h"
#include "store/seal.h"
#include "store/side_table.h"
#include "store/trace.h"

#include <inttypes.h>
#include <stdio.h>

struct draft_column {
	uint32_t key;
	uint8_t type;        /* enum ht_arg_type */
	struct ht_vec cells; /* int64_t; rows behind the last one are empty */
};

/* A table has each of its columns in each of its rows: two files of one name, one wide and one long, make more empty cells than any memory
 * has. So many of them may be for each that is there, and so many anyway. */
#define EMPTY_PER_CELL 32
#define EMPTY_ANYWAY   ((uint64_t)4 << 20)

struct draft {
	uint32_t name;
	uint64_t n_rows;
	uint64_t n_cells, n_empty;  /* that were put, and that lie before these */
	struct ht_vec columns;      /* struct draft_column */
	struct ht_text_table names; /* of columns; the id is the place in the list */
};

static struct draft *draft_at(struct ht_builder *b, uint32_t table)
{
	return (struct draft *)b->drafts.data + table;
}

/* A text as the pool has it; bytes that are no UTF-8 become U+FFFD. */
static bool intern(struct ht_builder *b, const char *text, size_t n, struct ht_text *ret_text)
{
	size_t bad = 0, at = 0, n_copy = n;
	while (at < n && ht_utf8_length(text + at, n - at))
		at += ht_utf8_length(text + at, n - at);
	char *copy = at < n ? ht_mem_alloc(b->mem, n * 3) : NULL;
	if (copy)
		n_copy = ht_text_repair(text, n, copy, &bad);
	if (bad)
		ht_chunk_stat(&b->all, HT_STAT_invalid_utf8, -1, 1);
	const char *valid = copy ? copy : text;
	bool ok = (at >= n || copy) &&
	          ht_pool_add(&b->strings, valid, n_copy, ht_hash(valid, n_copy), ret_text);
	if (copy)
		ht_mem_free(b->mem, copy, n * 3);
	return ok;
}

uint32_t ht_draft_table(struct ht_builder *b, const char *name)
{
	struct draft draft = { 0 };
	struct ht_text text;
	if (!intern(b, name, strlen(name), &text))
		return UINT32_MAX;
	draft.name = text.id;
	for (uint32_t i = 0; i < b->drafts.n; i++)
		if (draft_at(b, i)->name == draft.name)
			return i;
	if (!HT_VEC_PUSH(b->mem, &b->drafts, struct draft, draft))
		return UINT32_MAX;
	return (uint32_t)b->drafts.n - 1;
}

uint32_t ht_draft_column(struct ht_builder *b, uint32_t table, const char *key, size_t n_key)
{
	struct draft_column column = { .type = HT_ARG_I64 };
	struct ht_text name;
	if (table == UINT32_MAX || !intern(b, key, n_key, &name))
		return UINT32_MAX;
	struct draft *draft = draft_at(b, table);
	const struct ht_text *known =
	        ht_text_table_find(&draft->names, name.bytes, name.n, name.hash);
	if (known)
		return known->id;
	column.key = name.id;
	name.id = (uint32_t)draft->columns.n;
	if (!ht_text_table_put(b->mem, &draft->names, &name) ||
	        !HT_VEC_PUSH(b->mem, &draft->columns, struct draft_column, column))
		return UINT32_MAX;
	return name.id;
}

void ht_draft_row(struct ht_builder *b, uint32_t table)
{
	draft_at(b, table)->n_rows++;
}

static int64_t bits_of(double value)
{
	int64_t bits;
	value += 0.0; /* -0.0 has the bits of an empty cell */
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

/* The text of a number that shares its column with texts. */
static bool to_text(struct ht_builder *b, uint8_t type, int64_t *cell)
{
	char text[40];
	double value;
	struct ht_text known;
	memcpy(&value, cell, sizeof value);
	int n = type == HT_ARG_F64 ? ht_double_print(text, value)
	                           : snprintf(text, sizeof text, "%" PRId64, *cell);
	if (!intern(b, text, (size_t)n, &known))
		return false;
	*cell = known.id;
	return true;
}

/* The cell as the column's type has it, or all cells of the column as the cell's. */
static bool unite(struct ht_builder *b, struct draft_column *column, uint8_t type, int64_t *cell)
{
	int64_t *cells = column->cells.data;
	if (type == HT_ARG_STR) {
		for (size_t i = 0; i < column->cells.n; i++)
			if (cells[i] != HT_NO_I64 && !to_text(b, column->type, &cells[i]))
				return false;
		column->type = type;
	} else if (column->type == HT_ARG_STR) {
		return to_text(b, type, cell);
	} else if (type == HT_ARG_F64) {
		for (size_t i = 0; i < column->cells.n; i++)
			if (cells[i] != HT_NO_I64)
				cells[i] = bits_of((double)cells[i]);
		column->type = type;
	} else {
		*cell = bits_of((double)*cell);
	}
	return true;
}

static uint64_t max_empty(const struct draft *draft)
{
	return EMPTY_ANYWAY + EMPTY_PER_CELL * draft->n_cells;
}

static bool put(struct ht_builder *b, uint32_t table, uint32_t i_column, uint8_t type, int64_t cell)
{
	struct draft *draft = draft_at(b, table);
	if (i_column >= draft->columns.n || !draft->n_rows)
		return false;
	struct draft_column *column = (struct draft_column *)draft->columns.data + i_column;
	if (column->type != type && cell != HT_NO_I64 && !unite(b, column, type, &cell))
		return false;
	size_t missing = draft->n_rows - column->cells.n;
	if (!missing) {
		((int64_t *)column->cells.data)[draft->n_rows - 1] = cell;
		return true;
	}
	draft->n_cells++;
	draft->n_empty += missing - 1;
	if (draft->n_empty > max_empty(draft))
		return true; /* ht_drafts_assemble says so */
	if (!ht_vec_reserve(b->mem, &column->cells, sizeof(int64_t), missing))
		return false;
	int64_t *cells = column->cells.data;
	while (column->cells.n + 1 < draft->n_rows)
		cells[column->cells.n++] = HT_NO_I64;
	cells[column->cells.n++] = cell;
	return true;
}

bool ht_draft_put_i64(struct ht_builder *b, uint32_t table, uint32_t column, int64_t value)
{
	return put(b, table, column, HT_ARG_I64, value);
}

bool ht_draft_put_f64(struct ht_builder *b, uint32_t table, uint32_t column, double value)
{
	return put(b, table, column, HT_ARG_F64, bits_of(value));
}

bool ht_draft_put_str(
        struct ht_builder *b, uint32_t table, uint32_t column, const char *text, size_t n)
{
	struct ht_text known;
	return intern(b, text, n, &known) && put(b, table, column, HT_ARG_STR, known.id);
}

/* ---- the end ---- */

static void take_column(const struct draft *draft, const struct draft_column *from, uint64_t first,
        int64_t *cells, struct ht_side_column *ret)
{
	*ret = (struct ht_side_column){
		.key = from->key, .type = from->type, .first_cell = first, .n = draft->n_rows
	};
	if (from->cells.n)
		memcpy(cells + first, from->cells.data, from->cells.n * sizeof *cells);
	for (size_t i = from->cells.n; i < draft->n_rows; i++)
		cells[first + i] = HT_NO_I64;
}

static enum ht_status check_size(struct ht_builder *b, const struct draft *draft)
{
	uint64_t n_all = draft->columns.n * draft->n_rows;
	if (draft->n_empty <= max_empty(draft) && n_all <= max_empty(draft) + draft->n_cells)
		return HT_OK;
	const struct ht_text *name = (const struct ht_text *)b->strings.texts.data + draft->name;
	return ht_fail(b->ctx, HT_LIMIT, b->path, -1,
	        "one of the files with this name may be of another run: move it away",
	        "table %.*s has %zu columns and %" PRIu64 " rows, and nearly all cells are empty",
	        (int)(name->n < 100 ? name->n : 100), name->bytes, draft->columns.n, draft->n_rows);
}

enum ht_status ht_drafts_assemble(struct ht_builder *b, struct ht_trace *t)
{
	ht_ctx *ctx = b->ctx;
	size_t n_columns = 0, n_cells = 0;
	for (uint32_t i = 0; i < b->drafts.n; i++) {
		HT_TRY(check_size(b, draft_at(b, i)));
		n_columns += draft_at(b, i)->columns.n;
		n_cells += draft_at(b, i)->columns.n * draft_at(b, i)->n_rows;
	}
	struct ht_side_table *table =
	        HT_SECTION_ALLOC(ctx, ht_more(t), tables, struct ht_side_table, b->drafts.n);
	struct ht_side_column *column =
	        HT_SECTION_ALLOC(ctx, ht_more(t), table_columns, struct ht_side_column, n_columns);
	int64_t *cells = HT_SECTION_ALLOC(ctx, ht_more(t), table_cells, int64_t, n_cells);
	if (!table || !column || !cells)
		return ht_fail_nomem(ctx);
	uint64_t first_cell = 0;
	uint32_t first_column = 0;
	for (uint32_t i = 0; i < b->drafts.n; i++) {
		const struct draft *draft = draft_at(b, i);
		*table++ = (struct ht_side_table){ .name = draft->name,
			.first_column = first_column,
			.n_columns = (uint32_t)draft->columns.n,
			.n_rows = draft->n_rows };
		for (size_t k = 0; k < draft->columns.n; k++, first_cell += draft->n_rows)
			take_column(draft, (const struct draft_column *)draft->columns.data + k,
			        first_cell, cells, column++);
		first_column += (uint32_t)draft->columns.n;
	}
	return HT_OK;
}

void ht_drafts_done(struct ht_builder *b)
{
	for (uint32_t i = 0; i < b->drafts.n; i++) {
		struct draft *draft = draft_at(b, i);
		struct draft_column *columns = draft->columns.data;
		for (size_t k = 0; k < draft->columns.n; k++)
			ht_vec_free(b->mem, &columns[k].cells, sizeof(int64_t));
		ht_vec_free(b->mem, &draft->columns, sizeof(struct draft_column));
		ht_mem_free(
		        b->mem, draft->names.slots, draft->names.cap * sizeof *draft->names.slots);
	}
	ht_vec_free(b->mem, &b->drafts, sizeof(struct draft));
}
