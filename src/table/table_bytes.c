/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_bytes.c - see table_bytes.h.
 *
 *   title method bar flags | columns: name sentence unit type role clock | rows | texts | notes | cells
 *
 * Cells stand column by column as they are in memory, validity behind them where there is any; texts are
 * written once, and cells refer to them by number.
 */
#include "table/table_bytes.h"

#include "base/mem.h"
#include "table/storage.h"
#include "base/sealed_bytes.h"
#include "base/utf8.h"
#include "table/table.h"

#include <math.h>
#include <string.h>

static void pack_column(const struct ht_cells *cells, struct ht_bytes_out *out)
{
	ht_bytes_put_str(out, cells->meta.name);
	ht_bytes_put_str(out, cells->meta.sentence);
	ht_bytes_put_str(out, cells->meta.unit);
	ht_bytes_put_u64(out, cells->meta.type);
	ht_bytes_put_u64(out, cells->meta.role);
	ht_bytes_put_u64(out, cells->keeps_clock);
}

static void pack_note(const struct ht_note *note, struct ht_bytes_out *out)
{
	ht_bytes_put_u64(out, note->severity);
	ht_bytes_put_str(out, note->kind);
	ht_bytes_put_str(out, note->state);
	ht_bytes_put_str(out, note->text);
	ht_bytes_put_str(out, note->next);
	ht_bytes_put_u64(out, note->n_next_args);
	for (size_t i = 0; i < note->n_next_args; i++) {
		ht_bytes_put_str(out, note->next_args[i].name);
		ht_bytes_put_str(out, note->next_args[i].value);
	}
	ht_bytes_put_u64(out, note->n_values);
	for (size_t i = 0; i < note->n_values; i++) {
		const struct ht_note_value *value = &note->values[i];
		ht_bytes_put_str(out, value->name);
		ht_bytes_put_u64(out, value->type);
		ht_bytes_put_u64(out, (uint64_t)value->i64);
		ht_bytes_put_words(out, &value->f64, 1, sizeof value->f64);
		ht_bytes_put_str(out, value->str);
	}
}

enum { IS_PROSE = 1, HAS_OWN_WORDS = 2 };

void ht_table_pack(const ht_table *table, struct ht_bytes_out *out)
{
	ht_bytes_put_str(out, table->title);
	ht_bytes_put_str(out, table->method);
	ht_bytes_put_u64(out, table->bar);
	ht_bytes_put_u64(
	        out, (table->prose ? IS_PROSE : 0) | (table->own_words ? HAS_OWN_WORDS : 0));
	ht_bytes_put_u64(out, ht_n_columns(table));
	for (size_t c = 0; c < ht_n_columns(table); c++)
		pack_column(ht_cells_at(table, c), out);
	ht_bytes_put_u64(out, table->n_rows);
	ht_bytes_put_u64(out, table->pool.texts.n);
	for (uint32_t id = 0; id < table->pool.texts.n; id++)
		ht_bytes_put_strn(
		        out, ht_table_pool_at(table, id)->text, ht_table_pool_at(table, id)->n);
	ht_bytes_put_u64(out, ht_table_n_notes(table));
	for (size_t i = 0; i < ht_table_n_notes(table); i++)
		pack_note(ht_table_note_at(table, i), out);
	for (size_t c = 0; c < ht_n_columns(table); c++) {
		const struct ht_cells *cells = ht_cells_at(table, c);
		size_t elem = ht_cell_bytes(cells->meta.type);
		ht_bytes_put_u64(out, cells->valid != NULL);
		ht_bytes_put_words(out, cells->any, table->n_rows, elem);
		if (cells->valid)
			ht_bytes_put(out, cells->valid, table->n_rows);
	}
}

static enum ht_status unpack_columns(
        struct ht_bytes_in *in, struct ht_arena *scratch, ht_table *table)
{
	size_t n = ht_bytes_get_count(in, 6 * 8);
	for (size_t c = 0; c < n && !in->failed; c++) {
		struct ht_column column = { .name = ht_bytes_get_str(in, scratch),
			.sentence = ht_bytes_get_str(in, scratch),
			.unit = ht_bytes_get_str(in, scratch) };
		uint64_t type = ht_bytes_get_u64(in), role = ht_bytes_get_u64(in);
		bool keeps_clock = ht_bytes_get_u64(in);
		if (!column.name || type > HT_LAST_TYPE || role > HT_DETAIL) {
			in->failed = true;
			break;
		}
		column.type = (enum ht_type)type;
		column.role = (enum ht_role)role;
		HT_TRY(ht_table_add_column(table, &column));
		if (keeps_clock)
			ht_table_keep_clock(table, ht_n_columns(table) - 1);
	}
	return in->failed ? HT_FORMAT : HT_OK;
}

/* Texts keep their numbers: the pool is filled in order. */
static enum ht_status unpack_texts(struct ht_bytes_in *in, ht_table *table)
{
	size_t n = ht_bytes_get_count(in, 8);
	for (size_t id = 0; id < n && !in->failed; id++) {
		size_t n_bytes;
		uint32_t got = 0;
		const char *text = ht_bytes_get_strn(in, &n_bytes);
		if (!text || !ht_utf8_valid(text, n_bytes))
			return HT_FORMAT;
		if (!ht_table_pool_intern(table, text, n_bytes, &got))
			return HT_NOMEM;
		if (got != id)
			return HT_FORMAT;
	}
	return in->failed ? HT_FORMAT : HT_OK;
}

static bool unpack_args(struct ht_bytes_in *in, struct ht_arena *scratch, struct ht_note *note)
{
	size_t n = ht_bytes_get_count(in, 2 * 8);
	struct ht_arg *args = ht_arena_alloc(scratch, (n + 1) * sizeof *args);
	for (size_t i = 0; args && i < n && !in->failed; i++) {
		args[i].name = ht_bytes_get_str(in, scratch);
		args[i].value = ht_bytes_get_str(in, scratch);
		in->failed |= !args[i].name || !args[i].value;
	}
	note->next_args = args;
	note->n_next_args = n;
	return args != NULL;
}

static bool unpack_values(struct ht_bytes_in *in, struct ht_arena *scratch, struct ht_note *note)
{
	size_t n = ht_bytes_get_count(in, 5 * 8);
	struct ht_note_value *values = ht_arena_alloc(scratch, (n + 1) * sizeof *values);
	for (size_t i = 0; values && i < n && !in->failed; i++) {
		values[i].name = ht_bytes_get_str(in, scratch);
		uint64_t type = ht_bytes_get_u64(in);
		values[i].i64 = (int64_t)ht_bytes_get_u64(in);
		ht_bytes_get_words(in, &values[i].f64, 1, sizeof values[i].f64);
		values[i].str = ht_bytes_get_str(in, scratch);
		in->failed |= !values[i].name || type > HT_LAST_TYPE || isinf(values[i].f64);
		values[i].type = in->failed ? HT_I64 : (enum ht_type)type;
	}
	note->values = values;
	note->n_values = n;
	return values != NULL;
}

static enum ht_status unpack_notes(
        struct ht_bytes_in *in, struct ht_arena *scratch, ht_table *table)
{
	size_t n = ht_bytes_get_count(in, 7 * 8);
	for (size_t i = 0; i < n && !in->failed; i++) {
		uint64_t severity = ht_bytes_get_u64(in);
		struct ht_note note = { .kind = ht_bytes_get_str(in, scratch),
			.state = ht_bytes_get_str(in, scratch),
			.text = ht_bytes_get_str(in, scratch),
			.next = ht_bytes_get_str(in, scratch) };
		if (!note.kind || !note.text || severity > HT_NOTE_WARNING)
			return HT_FORMAT;
		note.severity = (enum ht_note_severity)severity;
		if (!unpack_args(in, scratch, &note) || !unpack_values(in, scratch, &note))
			return HT_NOMEM;
		if (!in->failed)
			HT_TRY(ht_table_put_note(table, &note));
	}
	return in->failed ? HT_FORMAT : HT_OK;
}

/* As puts leave them: texts that are there, numbers that are finite, nulls that hold 0. */
static bool cell_is_sound(const ht_table *table, const struct ht_cells *cells, size_t row)
{
	bool is_null = cells->valid && !cells->valid[row];
	if (cells->valid && cells->valid[row] > 1)
		return false;
	if (cells->meta.type == HT_STR)
		return cells->str[row] < table->pool.texts.n && (!is_null || !cells->str[row]);
	if (is_null)
		return !cells->u64[row];
	if (ht_type_is_f64(cells->meta.type))
		return isfinite(cells->f64[row]);
	return cells->meta.type != HT_BOOL || cells->u64[row] <= 1;
}

static bool cells_are_sound(const ht_table *table, const struct ht_cells *cells, size_t n)
{
	for (size_t row = 0; row < n; row++)
		if (!cell_is_sound(table, cells, row))
			return false;
	return true;
}

static enum ht_status unpack_cells(
        struct ht_bytes_in *in, ht_table *table, struct ht_cells *cells, size_t n)
{
	size_t elem = ht_cell_bytes(cells->meta.type);
	bool has_nulls = ht_bytes_get_u64(in);
	if (in->failed || n > in->n / elem)
		return HT_FORMAT;
	cells->any = ht_mem_alloc(table->mem, n * elem);
	cells->cap = cells->any ? n : 0;
	cells->valid = cells->any && has_nulls ? ht_mem_alloc(table->mem, n) : NULL;
	cells->valid_cap = cells->valid ? n : 0;
	if (!cells->any || (has_nulls && !cells->valid))
		return HT_NOMEM;
	ht_bytes_get_words(in, cells->any, n, elem);
	if (has_nulls)
		ht_bytes_get_words(in, cells->valid, n, 1);
	return !in->failed && cells_are_sound(table, cells, n) ? HT_OK : HT_FORMAT;
}

static enum ht_status unpack(struct ht_bytes_in *in, struct ht_arena *scratch, ht_table *table)
{
	const char *method = ht_bytes_get_str(in, scratch);
	uint64_t bar = ht_bytes_get_u64(in), flags = ht_bytes_get_u64(in);
	if (in->failed)
		return HT_FORMAT;
	table->prose = flags & IS_PROSE;
	table->own_words = flags & HAS_OWN_WORDS;
	HT_TRY(ht_table_set_method(table, method));
	HT_TRY(unpack_columns(in, scratch, table));
	uint64_t n = ht_bytes_get_u64(in);
	HT_TRY(unpack_texts(in, table));
	HT_TRY(unpack_notes(in, scratch, table));
	if (n > HT_TABLE_MAX_ROWS)
		return HT_FORMAT;
	for (size_t c = 0; n && c < ht_n_columns(table); c++)
		HT_TRY(unpack_cells(in, table, ht_cells_at(table, c), (size_t)n));
	for (size_t c = 0; !n && c < ht_n_columns(table); c++)
		(void)ht_bytes_get_u64(in);
	table->n_rows = table->cap_rows = (size_t)n;
	table->bar = bar < ht_n_columns(table) ? (size_t)bar : SIZE_MAX;
	return in->failed ? HT_FORMAT : HT_OK;
}

enum ht_status ht_table_unpack(ht_ctx *ctx, struct ht_bytes_in *in, ht_table **ret_table)
{
	struct ht_arena scratch;
	ht_table *table = NULL;
	ht_arena_init(&scratch, ctx->mem);
	const char *title = ht_bytes_get_str(in, &scratch);
	enum ht_status status = in->failed ? HT_FORMAT : ht_table_new(ctx, title, NULL, 0, &table);
	if (status == HT_OK)
		status = unpack(in, &scratch, table);
	if (status == HT_OK)
		status = ht_table_finish(ctx, table);
	ht_arena_done(&scratch);
	if (status != HT_OK) {
		ht_table_free(table);
		return status;
	}
	*ret_table = table;
	return HT_OK;
}

/* ---- a table of its own ---- */

static const struct ht_sealed_kind table_kind = { "holotrace table 1\n", "the table",
	"this is no table", "make it again with this version" };

enum ht_status ht_table_save(ht_ctx *ctx, const ht_table *table, const struct ht_sink *sink)
{
	struct ht_bytes_out out = { .mem = ctx->mem };
	ht_error_clear(ctx);
	ht_sealed_begin(&out, &table_kind);
	ht_table_pack(table, &out);
	return ht_sealed_write(ctx, &out, &table_kind, sink);
}

enum ht_status ht_table_load(ht_ctx *ctx, const void *bytes, size_t n, ht_table **ret_table)
{
	struct ht_bytes_in in = { .at = bytes, .n = n };
	struct ht_arena arena;
	ht_table *table = NULL;
	ht_error_clear(ctx);
	ht_arena_init(&arena, ctx->mem);
	enum ht_status status = ht_sealed_open(ctx, &in, &arena, &table_kind);
	if (status == HT_OK)
		status = ht_table_unpack(ctx, &in, &table);
	if (status == HT_FORMAT && !*ht_error(ctx)->message)
		status = ht_fail(ctx, HT_FORMAT, NULL, -1, table_kind.maker,
		        "the table does not hold what it should");
	ht_arena_done(&arena);
	if (status == HT_OK)
		*ret_table = table;
	return status;
}
