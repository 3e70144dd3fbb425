/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.c - comma-separated values as in RFC 4180, for programs.
 *
 * A header row of column names; base units unrounded, so 64-bit integers and doubles read back equal.
 * Null is an empty field, the empty string is "". Lines end in a single newline, as files here do.
 *
 * Texts are as in the trace but for control characters, which show as in escape.h: a file is also looked at
 * in terminals. Tabs and line breaks stay, quoted. With safe_csv a text that a spreadsheet would take for a
 * formula gets an apostrophe in front, which spreadsheets do not show; programs see it.
 */
#include "table/escape.h"
#include "table/format.h"
#include "table/render.h"

#include <string.h>

static bool needs_quotes(const char *text, size_t n)
{
	bool special = !n || text[0] == ' ' || text[n - 1] == ' ';
	for (size_t i = 0; i < n; i++)
		special |= text[i] == ',' || text[i] == '"' || text[i] == '\r' || text[i] == '\n';
	return special;
}

static void write_plain(struct ht_out *out, const char *text, size_t n)
{
	if (ht_has_controls(text, n))
		ht_out_controls(out, text, n);
	else
		ht_out_bytes(out, text, n);
}

/* Would a spreadsheet compute this instead of showing it? Blanks before the sign do not stop all of them,
 * and some take the wide forms of the signs. */
static bool is_formula(const char *text, size_t n)
{
	static const char *const signs[] = { "=", "+", "-", "@", "\t", "\r", "\n", "\uff1d",
		"\uff0b", "\uff0d", "\uff20" };
	size_t start = 0;
	while (start < n && text[start] == ' ')
		start++;
	for (size_t i = 0; i < HT_COUNT(signs); i++) {
		size_t n_sign = strlen(signs[i]);
		if (n - start >= n_sign && !memcmp(text + start, signs[i], n_sign))
			return true;
	}
	return false;
}

static void write_field(struct ht_out *out, const char *text, size_t n, bool safe)
{
	bool formula = safe && is_formula(text, n);
	if (!formula && !needs_quotes(text, n)) {
		write_plain(out, text, n);
		return;
	}
	ht_out_str(out, formula ? "\"'" : "\"");
	for (const char *end = text + n, *quote; text < end; text = quote) {
		quote = memchr(text, '"', (size_t)(end - text));
		quote = quote ? quote + 1 : end;
		write_plain(out, text, (size_t)(quote - text));
		if (quote[-1] == '"')
			ht_out_char(out, '"');
	}
	ht_out_char(out, '"');
}

static void write_cell(
        struct ht_out *out, const ht_table *table, size_t row, size_t column, bool safe)
{
	const struct ht_cells *cells = ht_cells_at(table, column);
	if (ht_cell_is_null(cells, row))
		return;
	if (cells->meta.type == HT_STR) {
		const struct ht_table_pool_text *text = ht_table_pool_at(table, cells->str[row]);
		write_field(out, text->text, text->n, safe);
		return;
	}
	char buf[HT_FORMAT_BYTES];
	ht_out_bytes(out, buf, ht_format_exact(buf, cells, row));
}

enum ht_status ht_render_csv(
        struct ht_out *out, const ht_table *table, const struct ht_render_options *options)
{
	for (size_t c = 0; c < ht_n_columns(table); c++) {
		const char *name = ht_cells_at(table, c)->meta.name;
		if (c)
			ht_out_char(out, ',');
		write_field(out, name, strlen(name), false);
	}
	ht_out_char(out, '\n');
	for (size_t row = 0; row < table->n_rows && !ht_out_failed(out); row++) {
		for (size_t c = 0; c < ht_n_columns(table); c++) {
			if (c)
				ht_out_char(out, ',');
			write_cell(out, table, row, c, options->safe_csv);
		}
		ht_out_char(out, '\n');
	}
	return HT_OK;
}
