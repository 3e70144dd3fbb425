/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ndjson.c - the same as json.c line by line, for programs that read while we write.
 *
 *   {"type":"begin","schema":"holotrace/1",…,"title":"…","method":"…","columns":[…]}
 *   {"type":"row","row":{"name":"gemm","dur_ns":3070}}
 *   {"type":"end","notes":[],"findings":[],"n_hidden":0,…}
 *
 * Each line is a whole object, and the last one tells that nothing was cut. Pieces are those of json.c, whose line
 * breaks between elements become spaces: in a JSON text a line break never stands inside a value.
 */
#include "table/escape.h"
#include "table/json.h"

/* What the pieces are written to: a sink that has no line breaks. */
struct line {
	struct ht_out *out;
};

static bool write_flat(void *user, const void *bytes, size_t n)
{
	struct line *line = user;
	const char *text = bytes;
	for (size_t i = 0; i < n; i++)
		ht_out_char(line->out, text[i] == '\n' ? ' ' : text[i]);
	return !ht_out_failed(line->out);
}

static enum ht_status write_begin(struct ht_out *out, const ht_table *table)
{
	ht_out_str(out, "{\"type\":\"begin\",");
	ht_json_envelope(out, table);
	ht_out_member(out, "title", table->title);
	ht_out_char(out, ',');
	ht_out_member(out, "method", table->method);
	ht_out_char(out, ',');
	ht_json_columns(out, table);
	ht_out_char(out, '}');
	return ht_out_finish(out);
}

static enum ht_status write_end(struct ht_out *out, const ht_table *table)
{
	ht_out_str(out, "{\"type\":\"end\",");
	ht_json_notes(out, table);
	ht_out_char(out, ',');
	ht_json_rest(out, table);
	ht_out_char(out, '}');
	return ht_out_finish(out);
}

static void write_row(struct ht_out *out, const ht_table *table, size_t row)
{
	ht_out_str(out, "{\"type\":\"row\",\"row\":{");
	for (size_t c = 0; c < ht_n_columns(table); c++) {
		ht_out_str(out, c ? "," : "");
		ht_out_json(out, ht_cells_at(table, c)->meta.name);
		ht_out_char(out, ':');
		ht_json_cell(out, table, c, row);
	}
	ht_out_str(out, "}}\n");
}

enum ht_status ht_render_ndjson(
        struct ht_out *out, const ht_table *table, const struct ht_render_options *options)
{
	(void)options;
	struct line line = { out };
	const struct ht_sink sink = { write_flat, &line };
	struct ht_out flat;
	ht_out_init(&flat, out->ctx, &sink);
	HT_TRY(write_begin(&flat, table));
	ht_out_char(out, '\n');
	for (size_t row = 0; row < table->n_rows && !ht_out_failed(out); row++)
		write_row(out, table, row);
	ht_out_init(&flat, out->ctx, &sink);
	HT_TRY(write_end(&flat, table));
	ht_out_char(out, '\n');
	return HT_OK;
}
