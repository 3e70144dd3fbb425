/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html.c - one <table> element, for notebooks, pages and reports; it brings no style of its own.
 *
 *   <td class="ht-num" data-value="3070">3.07 µs</td>
 *
 * Each value carries its exact form in data-value, each header its sentence as a tooltip. Everything
 * from the trace is escaped, in text and attributes alike. Long names are shortened, and whole on hover.
 */
#include "table/escape.h"
#include "table/format.h"
#include "table/render.h"
#include "table/shorten.h"

#define NAME_WIDTH 96

static void write_attribute(struct ht_out *out, const char *name, const char *value)
{
	ht_out_char(out, ' ');
	ht_out_str(out, name);
	ht_out_str(out, "=\"");
	ht_out_html(out, value);
	ht_out_char(out, '"');
}

static void write_caption(struct ht_out *out, const ht_table *table)
{
	ht_out_str(out, "<caption>");
	ht_out_html(out, table->title);
	if (table->method[0]) {
		ht_out_str(out, " <span class=\"ht-method\">· ");
		ht_out_html(out, table->method);
		ht_out_str(out, "</span>");
	}
	ht_out_str(out, "</caption>\n");
}

static const char *cell_class(const struct ht_cells *cells)
{
	return cells->meta.type == HT_STR || cells->meta.type == HT_BOOL ? "ht-text" : "ht-num";
}

static void write_header(struct ht_out *out, const ht_table *table)
{
	ht_out_str(out, "<thead><tr>");
	for (size_t c = 0; c < ht_n_columns(table); c++) {
		const struct ht_cells *cells = ht_cells_at(table, c);
		const char *unit = ht_column_unit(&cells->meta);
		ht_out_str(out, "<th scope=\"col\"");
		write_attribute(out, "class", cell_class(cells));
		write_attribute(out, "data-name", cells->meta.name);
		write_attribute(out, "data-type", ht_type_name(cells->meta.type));
		if (unit)
			write_attribute(out, "data-unit", unit);
		write_attribute(out, "data-role", ht_role_name(cells->meta.role));
		write_attribute(out, "title", cells->meta.sentence);
		ht_out_char(out, '>');
		ht_out_html(out, cells->label);
		ht_out_str(out, "</th>");
	}
	ht_out_str(out, "</tr></thead>\n");
}

/* False when out of memory. */
static bool write_text_cell(struct ht_out *out, struct ht_vec *scratch, const char *unit,
        const struct ht_table_pool_text *text)
{
	scratch->n = 0;
	if (!ht_vec_reserve(out->ctx->mem, scratch, 1, text->n + 5))
		return false;
	char *shown = scratch->data;
	size_t n = ht_shorten_cell(unit, text->text, text->n, NAME_WIDTH, shown);
	shown[n] = '\0';
	ht_out_str(out, "<td class=\"ht-text\"");
	write_attribute(out, "data-value", text->text);
	if (n != text->n)
		write_attribute(out, "title", text->text);
	ht_out_char(out, '>');
	ht_out_html(out, shown);
	ht_out_str(out, "</td>");
	return true;
}

static void write_number_cell(struct ht_out *out, const struct ht_cells *cells, size_t row)
{
	char buf[HT_FORMAT_BYTES];
	ht_out_str(out, "<td");
	write_attribute(out, "class", cell_class(cells));
	ht_format_exact(buf, cells, row);
	write_attribute(out, "data-value", buf);
	ht_out_char(out, '>');
	ht_format_human(buf, cells, row);
	ht_out_html(out, buf);
	ht_out_str(out, "</td>");
}

static bool write_rows(struct ht_out *out, const ht_table *table, struct ht_vec *scratch)
{
	for (size_t row = 0; row < table->n_rows && !ht_out_failed(out); row++) {
		ht_out_str(out, "<tr>");
		for (size_t c = 0; c < ht_n_columns(table); c++) {
			const struct ht_cells *cells = ht_cells_at(table, c);
			if (ht_cell_is_null(cells, row))
				ht_out_str(out, "<td class=\"ht-null\">–</td>");
			else if (cells->meta.type != HT_STR)
				write_number_cell(out, cells, row);
			else if (!write_text_cell(out, scratch, cells->meta.unit,
			                 ht_table_pool_at(table, cells->str[row])))
				return false;
		}
		ht_out_str(out, "</tr>\n");
	}
	return true;
}

static void begin_foot(struct ht_out *out, const ht_table *table, const char *class_name)
{
	char buf[HT_FORMAT_BYTES];
	ht_out_str(out, "<tr><td colspan=\"");
	ht_out_bytes(out, buf, ht_format_u64(buf, ht_n_columns(table)));
	ht_out_str(out, "\" class=\"");
	ht_out_str(out, class_name);
	ht_out_str(out, "\">");
}

static void write_foot(struct ht_out *out, const ht_table *table)
{
	char buf[HT_FORMAT_BYTES];
	if (!table->n_hidden && !table->notes.n)
		return;
	ht_out_str(out, "<tfoot>\n");
	if (table->n_hidden) {
		begin_foot(out, table, "ht-more");
		ht_out_str(out, "… ");
		ht_out_bytes(out, buf, ht_format_count(buf, table->n_hidden));
		ht_out_str(out, table->n_hidden == 1 ? " more row" : " more rows");
		ht_out_str(out, "</td></tr>\n");
	}
	for (size_t i = 0; i < table->notes.n; i++) {
		begin_foot(out, table, "ht-note");
		ht_out_html(out, ht_table_note(table, i));
		ht_out_str(out, "</td></tr>\n");
	}
	ht_out_str(out, "</tfoot>\n");
}

enum ht_status ht_render_html(
        struct ht_out *out, const ht_table *table, const struct ht_render_options *options)
{
	struct ht_vec scratch = { 0 };
	ht_out_str(out, "<table class=\"ht-table\">\n");
	if (!options->no_title)
		write_caption(out, table);
	write_header(out, table);
	ht_out_str(out, "<tbody>\n");
	bool ok = write_rows(out, table, &scratch);
	ht_out_str(out, "</tbody>\n");
	write_foot(out, table);
	ht_out_str(out, "</table>\n");
	ht_vec_free(out->ctx->mem, &scratch, 1);
	return ok ? HT_OK : ht_fail_nomem(out->ctx);
}
