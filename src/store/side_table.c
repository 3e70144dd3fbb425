/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_table.c - see side_table.h.
 */
#include "store/side_table.h"

#include "store/trace.h"

#include <string.h>
#include <strings.h>

const struct ht_side_table *ht_side_table_find(const struct ht_trace *t, const char *name)
{
	for (size_t i = 0; i < t->more->n_tables; i++)
		if (!strcmp(ht_str(t, t->more->tables[i].name), name))
			return &t->more->tables[i];
	return NULL;
}

const struct ht_side_column *ht_side_column_find(
        const struct ht_trace *t, const struct ht_side_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->n_columns; i++) {
		const struct ht_side_column *column =
		        &t->more->table_columns[table->first_column + i];
		if (!strcasecmp(ht_str(t, column->key), name))
			return column;
	}
	return NULL;
}

static int64_t cell_of(const struct ht_trace *t, const struct ht_side_column *column, uint64_t row)
{
	return column && row < column->n ? t->more->table_cells[column->first_cell + row]
	                                 : HT_NO_I64;
}

bool ht_side_i64(const struct ht_trace *t, const struct ht_side_column *column, uint64_t row,
        int64_t *ret_value)
{
	int64_t cell = cell_of(t, column, row);
	if (cell == HT_NO_I64 || column->type != HT_ARG_I64)
		return false;
	*ret_value = cell;
	return true;
}

bool ht_side_f64(const struct ht_trace *t, const struct ht_side_column *column, uint64_t row,
        double *ret_value)
{
	int64_t cell = cell_of(t, column, row);
	if (cell == HT_NO_I64 || column->type == HT_ARG_STR)
		return false;
	*ret_value = (double)cell;
	if (column->type == HT_ARG_F64)
		memcpy(ret_value, &cell, sizeof cell);
	return true;
}

const char *ht_side_str(const struct ht_trace *t, const struct ht_side_column *column, uint64_t row)
{
	int64_t cell = cell_of(t, column, row);
	return cell == HT_NO_I64 || column->type != HT_ARG_STR ? NULL : ht_str(t, (uint32_t)cell);
}
