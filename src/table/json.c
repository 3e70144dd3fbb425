/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - one JSON object with schema and values, for programs; docs/envelope.schema.json describes it.
 *
 *   {"schema":"holotrace/1","version":"0.1.0","verb":"kernels","parameters":{…},"selection":{…},"inputs":[…],
 *    "title":"…","method":"…",
 *    "columns":[{"name":"dur_ns","label":"dur","type":"duration","unit":"ns","role":"measure","sentence":"…"}],
 *    "rows":[[3070]],
 *    "notes":[],"findings":[],"n_hidden":0,"truncated":false,"check_failed":false,"next":[]}
 *
 * A finding is a note as data: {"severity":"info","kind":"idle","state":"found","sentence":"…","values":{"share":0.82},
 * "next":{"verb":"idle-breakdown","args":{"by":"device"}}}; of plain sentences kind is "note". notes are their lines.
 *
 * Base units unrounded; integers keep all 64 bits, so a reader that makes doubles of them loses some. For the page,
 * which is such a reader, those that it would round are texts, it begins with the title, as paths are not for
 * everybody who can see the page, and the end is
 *
 *    "notes":[],"hidden":0,"bar":"busy_share","check_failed":false}
 */
#include "table/escape.h"
#include "table/format.h"
#include "table/json.h"
#include "table/note.h"

void ht_out_member(struct ht_out *out, const char *key, const char *text)
{
	ht_out_char(out, '"');
	ht_out_str(out, key);
	ht_out_str(out, "\":");
	ht_out_json(out, text);
}

void ht_json_columns(struct ht_out *out, const ht_table *table)
{
	ht_out_str(out, "\"columns\":[");
	for (size_t c = 0; c < ht_n_columns(table); c++) {
		const struct ht_column *column = &ht_cells_at(table, c)->meta;
		ht_out_str(out, c ? ",\n {" : "\n {");
		ht_out_member(out, "name", column->name);
		ht_out_char(out, ',');
		ht_out_member(out, "label", ht_cells_at(table, c)->label);
		ht_out_char(out, ',');
		ht_out_member(out, "type", ht_type_name(column->type));
		ht_out_char(out, ',');
		ht_out_member(out, "unit", ht_column_unit(column));
		ht_out_char(out, ',');
		ht_out_member(out, "role", ht_role_name(column->role));
		ht_out_char(out, ',');
		ht_out_member(out, "sentence", column->sentence);
		ht_out_char(out, '}');
	}
	ht_out_char(out, ']');
}

/* A whole number that a double may not hold. */
static bool is_beyond_doubles(const struct ht_cells *cells, size_t row)
{
	const int64_t max = (int64_t)1 << 53;
	switch (cells->meta.type) {
	case HT_U64: return cells->u64[row] >= (uint64_t)max;
	case HT_I64:
	case HT_TIME:
	case HT_DURATION:
	case HT_BYTES: return cells->i64[row] >= max || cells->i64[row] <= -max;
	default: return false;
	}
}

/* Numbers as they are; an event is text. */
static void put_exact(struct ht_out *out, const struct ht_cells *cells, size_t row)
{
	char buf[HT_FORMAT_BYTES];
	bool quoted =
	        cells->meta.type == HT_EVENT || (out->for_page && is_beyond_doubles(cells, row));
	if (quoted)
		ht_out_char(out, '"');
	ht_out_bytes(out, buf, ht_format_exact(buf, cells, row));
	if (quoted)
		ht_out_char(out, '"');
}

void ht_json_cell(struct ht_out *out, const ht_table *table, size_t column, size_t row)
{
	const struct ht_cells *cells = ht_cells_at(table, column);
	if (ht_cell_is_null(cells, row))
		ht_out_str(out, "null");
	else if (cells->meta.type == HT_STR)
		ht_out_json(out, ht_table_pool_at(table, cells->str[row])->text);
	else
		put_exact(out, cells, row);
}

static void write_row(struct ht_out *out, const ht_table *table, size_t row)
{
	ht_out_str(out, row ? ",\n [" : "\n [");
	for (size_t c = 0; c < ht_n_columns(table); c++) {
		if (c)
			ht_out_char(out, ',');
		ht_json_cell(out, table, c, row);
	}
	ht_out_char(out, ']');
}

static void write_note_value(struct ht_out *out, const struct ht_note_value *value)
{
	char buf[HT_FORMAT_BYTES];
	if (ht_note_value_is_absent(value))
		ht_out_str(out, "null");
	else if (value->type == HT_STR)
		ht_out_json(out, value->str);
	else if (value->type == HT_BOOL)
		ht_out_str(out, value->i64 ? "true" : "false");
	else if (ht_type_is_f64(value->type))
		ht_out_bytes(out, buf, ht_format_f64(buf, value->f64));
	else
		ht_out_bytes(out, buf, ht_format_i64(buf, value->i64));
}

static void write_next(struct ht_out *out, const struct ht_note *note)
{
	ht_out_str(out, ",\"next\":");
	if (!note->next) {
		ht_out_str(out, "null");
		return;
	}
	ht_out_char(out, '{');
	ht_out_member(out, "verb", note->next);
	ht_out_str(out, ",\"args\":{");
	for (size_t i = 0; i < note->n_next_args; i++) {
		ht_out_str(out, i ? "," : "");
		ht_out_member(out, note->next_args[i].name, note->next_args[i].value);
	}
	ht_out_str(out, "}}");
}

static void write_note(struct ht_out *out, const struct ht_note *note)
{
	ht_out_char(out, '{');
	ht_out_member(out, "severity", note->severity == HT_NOTE_WARNING ? "warning" : "info");
	ht_out_char(out, ',');
	ht_out_member(out, "kind", note->kind);
	ht_out_char(out, ',');
	ht_out_member(out, "state", note->state);
	ht_out_char(out, ',');
	ht_out_member(out, "sentence", note->text);
	ht_out_str(out, ",\"values\":{");
	for (size_t i = 0; i < note->n_values; i++) {
		ht_out_str(out, i ? ",\"" : "\"");
		ht_out_str(out, note->values[i].name);
		ht_out_str(out, "\":");
		write_note_value(out, &note->values[i]);
	}
	ht_out_char(out, '}');
	write_next(out, note);
	ht_out_char(out, '}');
}

void ht_json_notes(struct ht_out *out, const ht_table *table)
{
	ht_out_str(out, "\"notes\":[");
	for (size_t i = 0; i < table->notes.n; i++) {
		ht_out_str(out, i ? ",\n " : "\n ");
		ht_out_json(out, ht_table_note(table, i));
	}
	ht_out_str(out, "],\n\"findings\":[");
	for (size_t i = 0; i < table->notes.n; i++) {
		ht_out_str(out, i ? ",\n " : "\n ");
		write_note(out, ht_table_note_at(table, i));
	}
	ht_out_char(out, ']');
}

/* What the page needs besides. */
static void write_page_rest(struct ht_out *out, const ht_table *table)
{
	char buf[HT_FORMAT_BYTES];
	size_t bar = ht_table_bar(table);
	ht_out_str(out, "\"hidden\":");
	ht_out_bytes(out, buf, ht_format_u64(buf, table->n_hidden));
	ht_out_str(out, ",\n");
	ht_out_member(
	        out, "bar", bar < ht_n_columns(table) ? ht_cells_at(table, bar)->meta.name : NULL);
	ht_out_str(out, ht_table_check_failed(table) ? ",\n\"check_failed\":true"
	                                             : ",\n\"check_failed\":false");
}

enum ht_status ht_render_json(
        struct ht_out *out, const ht_table *table, const struct ht_render_options *options)
{
	(void)options;
	ht_out_char(out, '{');
	if (!out->for_page)
		ht_json_envelope(out, table);
	ht_out_member(out, "title", table->title);
	ht_out_str(out, ",\n");
	ht_out_member(out, "method", table->method);
	ht_out_str(out, ",\n");
	ht_json_columns(out, table);
	ht_out_str(out, ",\n\"rows\":[");
	for (size_t row = 0; row < table->n_rows && !ht_out_failed(out); row++)
		write_row(out, table, row);
	ht_out_str(out, "],\n");
	ht_json_notes(out, table);
	ht_out_str(out, ",\n");
	if (out->for_page)
		write_page_rest(out, table);
	else
		ht_json_rest(out, table);
	ht_out_str(out, "}\n");
	return HT_OK;
}
