/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded.c - lines that flame graph programs read: a stack, a blank, a number.
 *
 *   train.py: main;aten::linear;aten::addmm 43000
 *
 * The first text column is the stack, its names joined by ";", the first measure in whole numbers its weight, in base
 * units. Rows without either, or without weight, are left out: a flame graph has no place for them.
 */
#include "table/escape.h"
#include "table/format.h"
#include "table/render.h"

#include <string.h>

static bool is_whole(enum ht_type type)
{
	return type == HT_I64 || type == HT_DURATION || type == HT_BYTES;
}

static void write_row(struct ht_out *out, const struct ht_cells *stack,
        const struct ht_cells *weight, size_t row, const ht_table *table)
{
	char buf[HT_FORMAT_BYTES];
	if (ht_cell_is_null(stack, row) || ht_cell_is_null(weight, row) || weight->i64[row] <= 0)
		return;
	for (const char *text = ht_table_pool_at(table, stack->str[row])->text; *text;) {
		size_t n = strcspn(text, "\r\n");
		ht_out_controls(out, text, n);
		text += n + strspn(text + n, "\r\n");
		/* a line is one stack */
		if (*text)
			ht_out_char(out, ' ');
	}
	ht_out_char(out, ' ');
	ht_out_bytes(out, buf, ht_format_exact(buf, weight, row));
	ht_out_char(out, '\n');
}

enum ht_status ht_render_folded(
        struct ht_out *out, const ht_table *table, const struct ht_render_options *options)
{
	const struct ht_cells *stack = NULL, *weight = NULL;
	(void)options;
	for (size_t c = ht_n_columns(table); c-- > 0;) {
		const struct ht_cells *cells = ht_cells_at(table, c);
		if (cells->meta.type == HT_STR)
			stack = cells;
		if (is_whole(cells->meta.type) && cells->meta.role != HT_KEY)
			weight = cells;
	}
	for (size_t row = 0; stack && weight && row < table->n_rows && !ht_out_failed(out); row++)
		write_row(out, stack, weight, row, table);
	return HT_OK;
}
