/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_layout.c - see layout.h.
 */
#include "table/text_layout.h"
#include "table/brief.h"
#include "table/escape.h"
#include "table/format.h"
#include "base/utf8.h"

#include <string.h>

/* Terminals below this many cells. */
#define NARROW 90

static size_t max_of(size_t a, size_t b)
{
	return a > b ? a : b;
}

void ht_layout_split(
        const char *text, size_t n, size_t *ret_int, size_t *ret_frac, size_t *ret_unit)
{
	const char *space = memchr(text, ' ', n);
	size_t n_number = space ? (size_t)(space - text) : n;
	const char *point = memchr(text, '.', n_number);
	size_t n_int = point ? (size_t)(point - text) : n_number;
	*ret_int = ht_utf8_width(text, n_int);
	*ret_frac = n_number - n_int;
	*ret_unit = ht_utf8_width(text + n_number, n - n_number);
}

static void measure_numbers(const ht_table *table, struct ht_layout_column *col)
{
	const struct ht_cells *cells = ht_cells_at(table, col->column);
	for (size_t row = 0; row < table->n_rows; row++) {
		char buf[HT_FORMAT_BYTES];
		size_t n = ht_format_human(buf, cells, row), n_int, n_frac, n_unit;
		ht_layout_split(buf, n, &n_int, &n_frac, &n_unit);
		col->n_int = max_of(col->n_int, n_int);
		col->n_frac = max_of(col->n_frac, n_frac);
		col->n_unit = max_of(col->n_unit, n_unit);
	}
	col->width = max_of(col->width, col->n_int + col->n_frac + col->n_unit);
}

static void measure_bools(const ht_table *table, struct ht_layout_column *col)
{
	const struct ht_cells *cells = ht_cells_at(table, col->column);
	for (size_t row = 0; row < table->n_rows; row++) {
		char buf[HT_FORMAT_BYTES];
		size_t n = ht_format_human(buf, cells, row);
		col->width = max_of(col->width, ht_utf8_width(buf, n));
	}
}

/* seen has a byte per pooled string, so that a name of a million rows is measured once. */
static void measure_texts(const ht_table *table, struct ht_layout_column *col, uint8_t *seen)
{
	const struct ht_cells *cells = ht_cells_at(table, col->column);
	memset(seen, 0, table->pool.texts.n);
	for (size_t row = 0; row < table->n_rows; row++) {
		uint32_t id = cells->str[row];
		if (seen[id])
			continue;
		seen[id] = 1;
		const struct ht_table_pool_text *text = ht_table_pool_at(table, id);
		col->width = max_of(col->width, ht_show_name_width(text->text, text->n));
	}
	if (cells->valid)
		col->width = max_of(col->width, 1);
}

/* Blanks are free up to so many, and up to so many times the text that they align. */
#define FREE_BLANKS ((size_t)1 << 20)
#define FAIR_BLANKS 16

/* Texts as they are take no more room than is fair. */
static void limit_padding(const ht_table *table, struct ht_layout_column *col)
{
	const struct ht_cells *cells = ht_cells_at(table, col->column);
	size_t n_text = 0;
	for (size_t row = 0; row < table->n_rows; row++)
		n_text += ht_table_pool_at(table, cells->str[row])->n;
	if (col->width <= (FREE_BLANKS + FAIR_BLANKS * n_text) / (table->n_rows + 1))
		return;
	size_t label = ht_clean_width(cells->label, strlen(cells->label));
	col->width = max_of(label, max_of(HT_LAYOUT_FAIR_TEXT, 2 * n_text / table->n_rows));
	col->overflows = true;
}

static bool is_empty(const ht_table *table, const struct ht_cells *cells)
{
	return table->n_rows && cells->valid && !memchr(cells->valid, 1, table->n_rows);
}

static void measure(const ht_table *table, struct ht_layout_column *col, uint8_t *seen)
{
	const struct ht_cells *cells = ht_cells_at(table, col->column);
	col->may_shrink = cells->meta.type == HT_STR;
	col->is_text = cells->meta.type == HT_STR || cells->meta.type == HT_BOOL;
	col->width = ht_clean_width(cells->label, strlen(cells->label));
	if (cells->meta.type == HT_STR)
		measure_texts(table, col, seen);
	else if (cells->meta.type == HT_BOOL)
		measure_bools(table, col);
	else
		measure_numbers(table, col);
	col->whole = col->width;
}

/* With text columns as narrow as they may become, or as they are. */
static size_t total_width(const struct ht_layout *layout, bool narrowed)
{
	size_t total = 0;
	for (size_t i = 0; i < layout->n_columns; i++) {
		const struct ht_layout_column *col = &layout->columns[i];
		bool narrow = narrowed && col->may_shrink && col->width > layout->min_text;
		if (col->shown)
			total += (narrow ? layout->min_text : col->width) +
			         (total ? HT_LAYOUT_GAP : 0);
	}
	return total;
}

/* Leaves out columns of the role from the right while the rest is too wide: with names as they are, what nobody
 * asked for. */
static void drop(const ht_table *table, struct ht_layout *layout, size_t width, enum ht_role role,
        bool narrowed)
{
	for (size_t i = layout->n_columns; i-- > 1 && total_width(layout, narrowed) > width;) {
		struct ht_layout_column *col = &layout->columns[i];
		const struct ht_cells *cells = ht_cells_at(table, col->column);
		if (!col->shown || cells->meta.role != role || (!narrowed && cells->is_asked_for))
			continue;
		col->shown = false;
		layout->n_left_out++;
	}
}

/* Narrows the widest text column to the next one's width, and so on, while it does not fit. */
static void shrink(struct ht_layout *layout, size_t width)
{
	for (;;) {
		size_t total = total_width(layout, false), second = layout->min_text;
		struct ht_layout_column *widest = NULL;
		for (size_t i = 0; i < layout->n_columns; i++) {
			struct ht_layout_column *col = &layout->columns[i];
			if (!col->shown || !col->may_shrink)
				continue;
			if (!widest || col->width > widest->width) {
				if (widest)
					second = max_of(second, widest->width);
				widest = col;
			} else {
				second = max_of(second, col->width);
			}
		}
		if (total <= width || !widest || widest->width <= layout->min_text)
			return;
		size_t want = widest->width > total - width ? widest->width - (total - width) : 0;
		/* At a tie take one cell, so that equals shrink together. */
		size_t floor = second < widest->width ? second : widest->width - 1;
		widest->width = max_of(want, floor);
	}
}

enum ht_status ht_layout_make(ht_ctx *ctx, const ht_table *table, size_t width,
        struct ht_arena *arena, struct ht_layout *ret_layout)
{
	struct ht_layout layout = { .n_columns = ht_n_columns(table),
		.min_text = width < NARROW ? HT_LAYOUT_MIN_TEXT : HT_LAYOUT_FAIR_TEXT };
	layout.columns = ht_arena_alloc(arena, (layout.n_columns + 1) * sizeof *layout.columns);
	uint8_t *seen = ht_arena_alloc(arena, table->pool.texts.n);
	if (!layout.columns || !seen)
		return ht_fail_nomem(ctx);
	for (size_t c = 0; c < layout.n_columns; c++) {
		layout.columns[c] = (struct ht_layout_column){ .column = c, .shown = true };
		measure(table, &layout.columns[c], seen);
		/* the first column stays: a row must show something */
		if (c && is_empty(table, ht_cells_at(table, c))) {
			layout.columns[c].shown = false;
			layout.columns[c].is_empty = true;
			layout.n_empty++;
		}
	}
	drop(table, &layout, width, HT_DETAIL, false);
	drop(table, &layout, width, HT_DETAIL, true);
	drop(table, &layout, width, HT_MEASURE, true);
	shrink(&layout, width);
	for (size_t c = 0; width == SIZE_MAX && c < layout.n_columns; c++)
		if (layout.columns[c].may_shrink && table->n_rows)
			limit_padding(table, &layout.columns[c]);
	layout.width = total_width(&layout, false);
	*ret_layout = layout;
	return HT_OK;
}
