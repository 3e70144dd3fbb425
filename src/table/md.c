/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md.c - a Markdown table with humanised numbers, for reports and comments.
 *
 * Pipes, markup and control characters in names are escaped; numbers are aligned right.
 */
#include "table/escape.h"
#include "table/format.h"
#include "table/render.h"

static bool is_number(const struct ht_cells *cells)
{
	return cells->meta.type != HT_STR && cells->meta.type != HT_BOOL;
}

static void write_title(struct ht_out *out, const ht_table *table)
{
	ht_out_str(out, "**");
	ht_out_md(out, table->title);
	ht_out_str(out, "**");
	if (table->method[0]) {
		ht_out_str(out, " · ");
		ht_out_md(out, table->method);
	}
	ht_out_str(out, "\n\n");
}

static void write_header(struct ht_out *out, const ht_table *table)
{
	for (size_t c = 0; c < ht_n_columns(table); c++) {
		ht_out_str(out, "| ");
		ht_out_md(out, ht_cells_at(table, c)->label);
		ht_out_char(out, ' ');
	}
	ht_out_str(out, "|\n");
	for (size_t c = 0; c < ht_n_columns(table); c++)
		ht_out_str(out, is_number(ht_cells_at(table, c)) ? "| ---: " : "| --- ");
	ht_out_str(out, "|\n");
}

static void write_row(struct ht_out *out, const ht_table *table, size_t row)
{
	for (size_t c = 0; c < ht_n_columns(table); c++) {
		const struct ht_cells *cells = ht_cells_at(table, c);
		char buf[HT_FORMAT_BYTES];
		ht_out_str(out, "| ");
		if (cells->meta.type == HT_STR && !ht_cell_is_null(cells, row)) {
			ht_out_md(out, ht_table_pool_at(table, cells->str[row])->text);
		} else {
			ht_format_human(buf, cells, row);
			ht_out_md(out, buf);
		}
		ht_out_char(out, ' ');
	}
	ht_out_str(out, "|\n");
}

enum ht_status ht_render_md(
        struct ht_out *out, const ht_table *table, const struct ht_render_options *options)
{
	char buf[HT_FORMAT_BYTES];
	if (!options->no_title && table->title[0])
		write_title(out, table);
	if (ht_n_columns(table))
		write_header(out, table);
	for (size_t row = 0; row < table->n_rows && !ht_out_failed(out); row++)
		write_row(out, table, row);
	if (table->n_hidden) {
		ht_out_str(out, "\n… ");
		ht_out_bytes(out, buf, ht_format_count(buf, table->n_hidden));
		ht_out_str(out, table->n_hidden == 1 ? " more row\n" : " more rows\n");
	}
	for (size_t i = 0; i < table->notes.n; i++) {
		ht_out_char(out, '\n');
		ht_out_md(out, ht_table_note(table, i));
		ht_out_char(out, '\n');
	}
	return HT_OK;
}
