/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - building a table cell by cell, and reading it back; see table.h and storage.h.
 *
 * Columns grow together, by half, in place where the system can remap; a put is two comparisons (is it the next
 * column, does the type fit), a store and a test of whether the column has nulls at all. What fails sticks until
 * ht_table_finish, so that an analysis with ten puts a row needs one check.
 */
#include "base/mem.h"
#include "table/storage.h"
#include "table/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *ht_type_name(enum ht_type type)
{
	static const char *const names[] = { "int64", "uint64", "float64", "string", "bool", "time",
		"duration", "duration_float", "bytes", "ratio", "event" };
	return (size_t)type < HT_COUNT(names) ? names[type] : "unknown";
}

const char *ht_role_name(enum ht_role role)
{
	static const char *const names[] = { "key", "measure", "detail" };
	return (size_t)role < HT_COUNT(names) ? names[role] : "unknown";
}

const char *ht_column_unit(const struct ht_column *column)
{
	if (column->unit)
		return column->unit;
	switch (column->type) {
	case HT_TIME:
	case HT_DURATION:
	case HT_DURATION_F64: return "ns";
	case HT_BYTES: return "bytes";
	case HT_RATIO: return "ratio";
	default: return NULL;
	}
}

static enum ht_status fail_as_bug(ht_ctx *ctx, const ht_table *table)
{
	return ht_fail(ctx, HT_INTERNAL, NULL, -1,
	        "this is a fault of the program: please report it with the command", "%s",
	        table->fault);
}

/* The first failure stays; its text is set here while the context is known to live. */
enum ht_status ht_table_fail(ht_table *table, enum ht_status status)
{
	if (table->failed != HT_OK)
		return table->failed;
	table->failed = status;
	table->cursor = SIZE_MAX;
	/* the row in hand may be half made, and analyses look at what they have so far */
	if (table->n_rows)
		table->n_rows--;
	if (table->building && status == HT_NOMEM)
		table->failed = ht_fail_nomem(table->building);
	else if (table->building && status == HT_LIMIT)
		ht_fail(table->building, status, NULL, -1, "filter more, or take fewer ranks",
		        "table limit of %zu rows reached", HT_TABLE_MAX_ROWS);
	else if (table->building && status == HT_USAGE)
		ht_fail(table->building, status, NULL, -1, NULL,
		        "column added to a table that has rows");
	else if (table->building && status == HT_INTERNAL)
		fail_as_bug(table->building, table);
	return table->failed;
}

enum ht_status ht_table_new(ht_ctx *ctx, const char *title, const struct ht_column *columns,
        size_t n_columns, ht_table **ret_table)
{
	ht_table *table = ht_mem_zalloc(ctx->mem, sizeof *table);
	if (!table)
		return ht_fail_nomem(ctx);
	atomic_store(&table->n_refs, 1);
	table->mem = ht_mem_retain(ctx->mem);
	table->building = ctx;
	table->bar = SIZE_MAX;
	table->method = "";
	ht_arena_init_small(&table->arena, table->mem);
	enum ht_status status = HT_OK;
	if (!title)
		title = "";
	table->title = ht_table_copy_text(table, title, strlen(title));
	if (!table->title || !ht_table_pool_init(table))
		status = ht_table_fail(table, HT_NOMEM);
	for (size_t i = 0; i < n_columns && status == HT_OK; i++)
		status = ht_table_add_column(table, &columns[i]);
	if (status != HT_OK) {
		ht_table_free(table);
		return status;
	}
	*ret_table = table;
	return HT_OK;
}

ht_table *ht_table_retain(ht_table *table)
{
	atomic_fetch_add(&table->n_refs, 1);
	return table;
}

void ht_table_free(ht_table *table)
{
	if (!table || atomic_fetch_sub(&table->n_refs, 1) != 1)
		return;
	struct ht_mem *mem = table->mem;
	for (size_t c = 0; c < ht_n_columns(table); c++) {
		struct ht_cells *cells = ht_cells_at(table, c);
		ht_mem_free(mem, cells->any, cells->cap * ht_cell_bytes(cells->meta.type));
		ht_mem_free(mem, cells->valid, cells->valid_cap);
	}
	ht_table_pool_done(table);
	ht_table_free(table->lender);
	ht_vec_free(mem, &table->columns, sizeof(struct ht_cells));
	ht_vec_free(mem, &table->notes, sizeof(struct ht_note));
	ht_arena_done(&table->arena);
	ht_mem_free(mem, table, sizeof *table);
	ht_mem_release(mem);
}

/* NULL stays NULL; false when out of memory. */
static bool copy_text(ht_table *table, const char *text, const char **ret_copy)
{
	*ret_copy = text ? ht_table_copy_text(table, text, strlen(text)) : NULL;
	return !text || *ret_copy;
}

/* The name less "_ns" or "_bytes" where the type says as much. Columns of the two sides of a comparison have names that programs
 * know, and headings in the words of texts. */
static const char *make_label(ht_table *table, const struct ht_column *column, bool with_unit)
{
	static const char *const sides[][2] = { { "control_", "baseline" },
		{ "test_", "this_run" } };
	bool is_bare = with_unit || column->unit || column->type == HT_RATIO;
	const char *unit = is_bare ? NULL : ht_column_unit(column);
	size_t n = strlen(column->name), n_unit = unit ? strlen(unit) : 0;
	if (n_unit && n > n_unit + 1 && column->name[n - n_unit - 1] == '_' &&
	        !strcmp(column->name + n - n_unit, unit))
		n -= n_unit + 1;
	for (size_t i = 0; i < HT_COUNT(sides); i++) {
		size_t n_side = strlen(sides[i][0]) - 1;
		if (n >= n_side && !strncmp(column->name, sides[i][0], n_side + 1))
			return ht_arena_printf(&table->arena, "%s%.*s", sides[i][1],
			        (int)(n - n_side), column->name + n_side);
	}
	return ht_table_copy_text(table, column->name, n);
}

/* Tables of analyses have fewer columns; those with one for each key of a trace may have thousands. */
#define MAX_COMPARED 256

/* The label of a column that is added: where another has it, the one of them that lost its unit has it again. */
static const char *add_label(ht_table *table, const struct ht_column *column)
{
	const char *label = make_label(table, column, false);
	for (size_t c = 0; label && c < ht_n_columns(table) && c < MAX_COMPARED; c++) {
		struct ht_cells *other = ht_cells_at(table, c);
		if (strcmp(other->label, label) != 0)
			continue;
		const char *whole = make_label(table, &other->meta, true);
		if (whole && !strcmp(whole, label))
			return make_label(table, column, true);
		other->label = whole ? whole : other->label;
	}
	return label;
}

enum ht_status ht_table_add_column(ht_table *table, const struct ht_column *column)
{
	if (table->n_rows)
		return ht_table_fail(table, HT_USAGE);
	struct ht_cells cells = { .meta = *column, .label = add_label(table, column) };
	const char *sentence = column->sentence ? column->sentence : "";
	if (!cells.label || !copy_text(table, column->name, &cells.meta.name) ||
	        !copy_text(table, sentence, &cells.meta.sentence) ||
	        !copy_text(table, column->unit, &cells.meta.unit) ||
	        !HT_VEC_PUSH(table->mem, &table->columns, struct ht_cells, cells))
		return ht_table_fail(table, HT_NOMEM);
	table->cap_rows = 0;
	table->cursor = ht_n_columns(table);
	return HT_OK;
}

enum ht_status ht_table_set_method(ht_table *table, const char *method)
{
	const char *copy;
	if (!copy_text(table, method ? method : "", &copy))
		return ht_table_fail(table, HT_NOMEM);
	table->method = copy;
	return HT_OK;
}

void ht_table_set_check_failed(ht_table *table)
{
	table->check_failed = true;
}

bool ht_table_check_failed(const ht_table *table)
{
	return table->check_failed;
}

void ht_table_set_prose(ht_table *table)
{
	table->prose = table->own_words = true;
}

void ht_table_set_own_words(ht_table *table)
{
	table->own_words = true;
}

static bool grow_rows(ht_table *table)
{
	size_t cap = table->cap_rows + table->cap_rows / 2 + 64;
	if (table->n_rows >= HT_TABLE_MAX_ROWS) {
		ht_table_fail(table, HT_LIMIT);
		return false;
	}
	for (size_t c = 0; c < ht_n_columns(table); c++) {
		struct ht_cells *cells = ht_cells_at(table, c);
		size_t elem = ht_cell_bytes(cells->meta.type);
		void *any = ht_mem_realloc(table->mem, cells->any, cells->cap * elem, cap * elem);
		if (any) {
			cells->any = any;
			cells->cap = cap;
		}
		uint8_t *valid = NULL;
		if (any && cells->valid)
			valid = ht_mem_realloc(table->mem, cells->valid, cells->valid_cap, cap);
		if (valid) {
			cells->valid = valid;
			cells->valid_cap = cap;
		}
		if (!any || (cells->valid && !valid)) {
			ht_table_fail(table, HT_NOMEM);
			return false;
		}
	}
	table->cap_rows = cap;
	return true;
}

/* Zero an element. Large arrays come zeroed, and a page that is only read takes no memory: columns that nobody
 * asked for, null from top to bottom, stay unwritten. */
static void clear(void *array, size_t cap, size_t row, size_t elem)
{
	static const char zero[8];
	char *at = (char *)array + row * elem;
	if (cap * elem < HT_MEM_MAP_BYTES || memcmp(at, zero, elem) != 0)
		memset(at, 0, elem);
}

static void set_null(ht_table *table, struct ht_cells *cells, size_t row)
{
	if (!cells->valid) {
		cells->valid = ht_mem_alloc(table->mem, cells->cap);
		if (!cells->valid) {
			ht_table_fail(table, HT_NOMEM);
			return;
		}
		cells->valid_cap = cells->cap;
		memset(cells->valid, 1, row);
	}
	clear(cells->valid, cells->valid_cap, row, 1);
	clear(cells->any, cells->cap, row, ht_cell_bytes(cells->meta.type));
}

/* A row that is not what its columns are is a fault of who made it, never of a trace; the text stays until finish. */
static void fail_row(ht_table *table, const char *format, ...)
{
	char text[320];
	va_list ap;
	if (table->failed != HT_OK)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	table->fault = ht_table_copy_text(table, text, strlen(text));
	ht_table_fail(table, table->fault ? HT_INTERNAL : HT_NOMEM);
}

static const char *column_name(const ht_table *table, size_t column)
{
	return column < ht_n_columns(table) ? ht_cells_at(table, column)->meta.name : "none";
}

/* Out of line, so that a put that is in its place has little to look at. */
static __attribute__((noinline, cold)) void fail_place(ht_table *table, size_t column)
{
	fail_row(table, "table '%s': column %s (%zu) was put where %s (%zu) is expected",
	        table->title, column_name(table, column), column, column_name(table, table->cursor),
	        table->cursor);
}

static __attribute__((noinline, cold)) void fail_type(
        ht_table *table, size_t column, const char *given)
{
	const struct ht_column *meta = &ht_cells_at(table, column)->meta;
	fail_row(table, "table '%s': column %s is of type %s and was given %s", table->title,
	        meta->name, ht_type_name(meta->type), given);
}

void ht_table_fail_cell(ht_table *table, size_t column, const char *what)
{
	fail_row(table, "table '%s': column %s (%zu) %s", table->title, column_name(table, column),
	        column, what);
}

void ht_table_set_bar(ht_table *table, size_t column)
{
	table->bar = column;
	if (column >= ht_n_columns(table) || ht_cells_at(table, column)->meta.type != HT_RATIO)
		ht_table_fail_cell(table, column, "is drawn as shares and has none");
}

/* The types of a column that a put fits, as bits. */
#define TYPE(type) (1u << (type))
enum {
	ANY = TYPE(HT_LAST_TYPE + 1) - 1,
	FLOATS = TYPE(HT_F64) | TYPE(HT_DURATION_F64) | TYPE(HT_RATIO),
	TEXTS = TYPE(HT_STR),
	INTEGERS = ANY & ~(FLOATS | TEXTS),
};

/* The cell that this put fills, which has to be the next one; NULL when the table has failed. A table that failed has no
 * next cell, so one comparison tells both. */
static inline struct ht_cells *next_cell(
        ht_table *table, size_t column, unsigned fits, const char *given)
{
	if (table->cursor != column || column >= ht_n_columns(table)) {
		fail_place(table, column);
		return NULL;
	}
	struct ht_cells *cells = ht_cells_at(table, column);
	if (!(fits & TYPE(cells->meta.type))) {
		fail_type(table, column, given);
		return NULL;
	}
	table->cursor = column + 1;
	return cells;
}

static inline void set_valid(struct ht_cells *cells, size_t row)
{
	if (cells->valid)
		cells->valid[row] = 1;
}

void ht_table_put_null(ht_table *table, size_t column)
{
	struct ht_cells *cells = next_cell(table, column, ANY, "null");
	if (cells)
		set_null(table, cells, table->n_rows - 1);
}

void ht_table_put_nulls(ht_table *table, size_t first, size_t end)
{
	for (size_t c = first; c < end; c++)
		ht_table_put_null(table, c);
}

void ht_table_put_nulls_to_end(ht_table *table, size_t first)
{
	ht_table_put_nulls(table, first, ht_n_columns(table));
}

bool ht_table_end_row(ht_table *table)
{
	if (table->failed == HT_OK && table->cursor != ht_n_columns(table))
		fail_row(table, "table '%s': a row ends where column %s (%zu) is expected",
		        table->title, column_name(table, table->cursor), table->cursor);
	return table->failed == HT_OK;
}

void ht_table_row(ht_table *table)
{
	if (!ht_table_end_row(table) || (table->n_rows == table->cap_rows && !grow_rows(table)))
		return;
	table->n_rows++;
	table->cursor = 0;
}

static inline void set_i64(struct ht_cells *cells, size_t row, int64_t value)
{
	cells->i64[row] = cells->meta.type == HT_BOOL ? value != 0 : value;
	set_valid(cells, row);
}

void ht_table_put_i64(ht_table *table, size_t column, int64_t value)
{
	struct ht_cells *cells = next_cell(table, column, INTEGERS, "an integer");
	if (cells)
		set_i64(cells, table->n_rows - 1, value);
}

void ht_table_put_known(ht_table *table, size_t column, int64_t value, int64_t unknown)
{
	struct ht_cells *cells = next_cell(table, column, INTEGERS, "an integer");
	if (cells && value != unknown)
		set_i64(cells, table->n_rows - 1, value);
	else if (cells)
		set_null(table, cells, table->n_rows - 1);
}

void ht_table_put_f64(ht_table *table, size_t column, double value)
{
	struct ht_cells *cells = next_cell(table, column, FLOATS, "a float");
	if (!cells)
		return;
	size_t row = table->n_rows - 1;
	if (!isfinite(value)) {
		set_null(table, cells, row);
		return;
	}
	cells->f64[row] = value;
	set_valid(cells, row);
}

void ht_table_put_strn(ht_table *table, size_t column, const char *text, size_t n)
{
	struct ht_cells *cells = next_cell(table, column, TEXTS, "text");
	if (!cells)
		return;
	size_t row = table->n_rows - 1;
	if (!text) {
		set_null(table, cells, row);
		return;
	}
	const struct ht_table_pool_text *last = ht_table_pool_at(table, cells->last_id);
	if ((last->n != n || memcmp(last->text, text, n)) &&
	        !ht_table_pool_intern(table, text, n, &cells->last_id)) {
		ht_table_fail(table, HT_NOMEM);
		return;
	}
	cells->str[row] = cells->last_id;
	set_valid(cells, row);
}

void ht_table_put_str(ht_table *table, size_t column, const char *text)
{
	ht_table_put_strn(table, column, text, text ? strlen(text) : 0);
}

void ht_table_put_cell(
        ht_table *table, size_t column, const ht_table *source, size_t row, size_t from)
{
	const struct ht_column *meta = ht_table_column(source, from);
	if (!meta || ht_table_is_null(source, row, from))
		ht_table_put_null(table, column);
	else if (meta->type == HT_STR)
		ht_table_put_str(table, column, ht_table_str(source, row, from));
	else if (ht_type_is_f64(meta->type))
		ht_table_put_f64(table, column, ht_table_f64(source, row, from));
	else
		ht_table_put_i64(table, column, ht_table_i64(source, row, from));
}

/* Give back the unused tail of each column; a refusal just keeps it. */
static void trim(ht_table *table)
{
	size_t n = table->n_rows;
	for (size_t c = 0; n && c < ht_n_columns(table); c++) {
		struct ht_cells *cells = ht_cells_at(table, c);
		size_t elem = ht_cell_bytes(cells->meta.type);
		void *any = ht_mem_realloc(table->mem, cells->any, cells->cap * elem, n * elem);
		if (any) {
			cells->any = any;
			cells->cap = n;
		}
		uint8_t *valid = NULL;
		if (cells->valid)
			valid = ht_mem_realloc(table->mem, cells->valid, cells->valid_cap, n);
		if (valid) {
			cells->valid = valid;
			cells->valid_cap = n;
		}
	}
	table->cap_rows = n;
}

enum ht_status ht_table_finish(ht_ctx *ctx, ht_table *table)
{
	ht_table_end_row(table);
	table->building = NULL;
	if (table->failed == HT_NOMEM)
		return ht_fail_nomem(ctx);
	if (table->failed == HT_INTERNAL)
		return fail_as_bug(ctx, table);
	if (table->failed != HT_OK)
		return ht_fail(ctx, table->failed, NULL, -1, NULL, "the table is incomplete");
	trim(table);
	return HT_OK;
}

enum ht_status ht_table_keep_rows(
        ht_ctx *ctx, ht_table *table, const uint32_t *rows, size_t n, bool ascending)
{
	/* Ascending rows move towards the front only, so each column is its own destination. */
	size_t bytes = ascending ? 0 : n * sizeof(int64_t);
	void *spare = bytes ? ht_mem_alloc(ctx->mem, bytes) : NULL;
	if (bytes && !spare)
		return ht_fail_nomem(ctx);
	for (size_t c = 0; c < ht_n_columns(table); c++) {
		struct ht_cells *cells = ht_cells_at(table, c);
		size_t elem = ht_cell_bytes(cells->meta.type);
		uint32_t *str = spare ? spare : cells->str;
		uint64_t *num = spare ? spare : cells->u64;
		uint8_t *valid = spare ? spare : cells->valid;
		for (size_t i = 0; elem == 4 && i < n; i++)
			str[i] = cells->str[rows[i]];
		for (size_t i = 0; elem == 8 && i < n; i++)
			num[i] = cells->u64[rows[i]];
		if (spare)
			memcpy(cells->any, spare, n * elem);
		for (size_t i = 0; cells->valid && i < n; i++)
			valid[i] = cells->valid[rows[i]];
		if (spare && cells->valid)
			memcpy(cells->valid, spare, n);
	}
	ht_mem_free(ctx->mem, spare, bytes);
	table->n_rows = n;
	trim(table);
	return HT_OK;
}
