/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.c - the public read side of a table; see holotrace.h.
 */
#include "table/storage.h"

#include <string.h>

const char *ht_table_title(const ht_table *table)
{
	return table->title;
}

const char *ht_table_method(const ht_table *table)
{
	return table->method;
}

size_t ht_table_n_rows(const ht_table *table)
{
	return table->n_rows;
}

size_t ht_table_n_hidden(const ht_table *table)
{
	return table->n_hidden;
}

size_t ht_table_n_columns(const ht_table *table)
{
	return ht_n_columns(table);
}

const struct ht_column *ht_table_column(const ht_table *table, size_t column)
{
	return column < ht_n_columns(table) ? &ht_cells_at(table, column)->meta : NULL;
}

const char *ht_table_column_label(const ht_table *table, size_t column)
{
	return column < ht_n_columns(table) ? ht_cells_at(table, column)->label : NULL;
}

size_t ht_table_find_column(const ht_table *table, const char *name)
{
	for (size_t c = 0; c < ht_n_columns(table); c++)
		if (!strcmp(ht_cells_at(table, c)->meta.name, name))
			return c;
	return SIZE_MAX;
}

/* The cells when (row, column) lies inside the table, else NULL. */
static const struct ht_cells *cells_in(const ht_table *table, size_t row, size_t column)
{
	if (row >= table->n_rows || column >= ht_n_columns(table))
		return NULL;
	return ht_cells_at(table, column);
}

bool ht_table_is_null(const ht_table *table, size_t row, size_t column)
{
	const struct ht_cells *cells = cells_in(table, row, column);
	return !cells || ht_cell_is_null(cells, row);
}

int64_t ht_table_i64(const ht_table *table, size_t row, size_t column)
{
	const struct ht_cells *cells = cells_in(table, row, column);
	if (!cells || cells->meta.type == HT_STR || ht_type_is_f64(cells->meta.type))
		return 0;
	return cells->i64[row];
}

uint64_t ht_table_u64(const ht_table *table, size_t row, size_t column)
{
	return (uint64_t)ht_table_i64(table, row, column);
}

double ht_table_f64(const ht_table *table, size_t row, size_t column)
{
	const struct ht_cells *cells = cells_in(table, row, column);
	return cells && ht_type_is_f64(cells->meta.type) ? cells->f64[row] : 0.0;
}

const char *ht_table_str(const ht_table *table, size_t row, size_t column)
{
	const struct ht_cells *cells = cells_in(table, row, column);
	if (!cells || cells->meta.type != HT_STR)
		return "";
	return ht_table_pool_at(table, cells->str[row])->text;
}

size_t ht_table_bar(const ht_table *table)
{
	return table->bar < ht_n_columns(table) ? table->bar : SIZE_MAX;
}

const void *ht_table_cells(const ht_table *table, size_t column)
{
	return column < ht_n_columns(table) ? ht_cells_at(table, column)->any : NULL;
}

const uint8_t *ht_table_valid(const ht_table *table, size_t column)
{
	return column < ht_n_columns(table) ? ht_cells_at(table, column)->valid : NULL;
}

size_t ht_table_n_texts(const ht_table *table)
{
	return table->pool.texts.n;
}

const char *ht_table_text(const ht_table *table, uint32_t id)
{
	return id < table->pool.texts.n ? ht_table_pool_at(table, id)->text : "";
}
