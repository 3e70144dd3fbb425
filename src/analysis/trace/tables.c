/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - the tables that came with the traces and are no events.
 *
 * Exporters write some of their results as tables: sums per step, statistics of operators, links between ranks. They are
 * kept beside the events (store/side_table.h) under the name of their file, with its columns and numbers.
 *
 * Views: "list", the tables of each rank; "cells", every value of one table or of all, a row each, empty cells left
 * out. Of all steps, whatever is chosen. O(cells).
 *
 * Example: step_trace_time.csv with the columns Step and Computing and one row is one row of the list, and two of
 * the cells.
 */
#include "analysis/analysis.h"
#include "store/side_table.h"
#include "store/trace.h"

#include <string.h>

static enum ht_status list_tables(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define LIST_COLUMNS(COLUMN)                                                                       \
	COLUMN(LIST_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                       \
	COLUMN(LIST_TABLE, "table", HT_STR, HT_KEY,                                                \
	        "name of the table: its file without the ending", NULL)                            \
	COLUMN(LIST_ROWS, "rows", HT_I64, HT_MEASURE, "rows of it", NULL)                          \
	COLUMN(LIST_COLUMNS, "columns", HT_I64, HT_MEASURE, "columns of it", NULL)                 \
	COLUMN(LIST_NAMES, "names", HT_STR, HT_DETAIL, "names of the columns", NULL)
HT_COLUMNS(list_columns, LIST_COLUMNS);

#define CELL_COLUMNS(COLUMN)                                                                       \
	COLUMN(CELL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                       \
	COLUMN(CELL_TABLE, "table", HT_STR, HT_KEY, "name of the table", NULL)                     \
	COLUMN(CELL_ROW, "row", HT_I64, HT_KEY, "row of the table, from 0", NULL)                  \
	COLUMN(CELL_COLUMN, "column", HT_STR, HT_KEY, "name of the column", NULL)                  \
	COLUMN(CELL_INTEGER, "integer", HT_I64, HT_MEASURE,                                        \
	        "value, when the column holds whole numbers", NULL)                                \
	COLUMN(CELL_NUMBER, "number", HT_F64, HT_MEASURE, "value, when it is another number",      \
	        NULL)                                                                              \
	COLUMN(CELL_TEXT, "text", HT_STR, HT_MEASURE, "value, when it is a text", NULL)
HT_COLUMNS(cell_columns, CELL_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "list", list_columns, HT_COUNT(list_columns) },
	{ "cells", cell_columns, HT_COUNT(cell_columns) },
};

static const struct ht_param params[] = {
	{ "view", HT_STR, "list", "which tables there are, or their values", "list|cells" },
	{ "table", HT_STR, NULL, "only the table of this name", NULL },
};

const struct ht_analysis ht_analysis_tables = {
	.info = { .name = "tables",
	        .group = "engine",
	        .title = "Tables beside the events",
	        .question = "Which tables came with the traces, and what do they say?",
	        .method = "Tables of the exporter that are no events, as they are in its files.",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1 },
	.per_rank = list_tables,
	.finish = finish,
};

/* Names of the columns, with commas between; NULL when out of memory. */
static const char *names_of(struct ht_run *run, const struct ht_side_table *table)
{
	const struct ht_side_column *columns =
	        run->trace->more->table_columns + table->first_column;
	size_t n_bytes = 1;
	for (uint32_t i = 0; i < table->n_columns; i++)
		n_bytes += strlen(ht_str(run->trace, columns[i].key)) + strlen(", ");
	char *names = ht_arena_alloc(run->scratch, n_bytes), *at = names;
	for (uint32_t i = 0; names && i < table->n_columns; i++) {
		const char *name = ht_str(run->trace, columns[i].key);
		at = stpcpy(stpcpy(at, i ? ", " : ""), name);
	}
	return names;
}

static enum ht_status put_table(
        struct ht_run *run, const struct ht_side_table *table, ht_table *out)
{
	const char *names = names_of(run, table);
	if (!names)
		return ht_fail_nomem(run->ctx);
	ht_table_row(out);
	ht_table_put_i64(out, LIST_RANK, run->rank);
	ht_table_put_str(out, LIST_TABLE, ht_str(run->trace, table->name));
	ht_table_put_i64(out, LIST_ROWS, (int64_t)table->n_rows);
	ht_table_put_i64(out, LIST_COLUMNS, (int64_t)table->n_columns);
	ht_table_put_str(out, LIST_NAMES, names);
	return HT_OK;
}

static void put_cells(struct ht_run *run, const struct ht_side_table *table, ht_table *out)
{
	const struct ht_trace *t = run->trace;
	for (uint64_t row = 0; row < table->n_rows; row++)
		for (uint32_t i = 0; i < table->n_columns; i++) {
			const struct ht_side_column *column =
			        &t->more->table_columns[table->first_column + i];
			const char *text = ht_side_str(t, column, row);
			int64_t integer = HT_NO_I64;
			double number = 0;
			bool is_integer = ht_side_i64(t, column, row, &integer);
			bool is_number = !is_integer && ht_side_f64(t, column, row, &number);
			if (!text && !is_integer && !is_number)
				continue;
			ht_table_row(out);
			ht_table_put_i64(out, CELL_RANK, run->rank);
			ht_table_put_str(out, CELL_TABLE, ht_str(t, table->name));
			ht_table_put_i64(out, CELL_ROW, (int64_t)row);
			ht_table_put_str(out, CELL_COLUMN, ht_str(t, column->key));
			ht_table_put_known(out, CELL_INTEGER, integer, HT_NO_I64);
			if (is_number)
				ht_table_put_f64(out, CELL_NUMBER, number);
			else
				ht_table_put_null(out, CELL_NUMBER);
			ht_table_put_str(out, CELL_TEXT, text);
		}
}

static enum ht_status list_tables(struct ht_run *run, struct ht_part *part)
{
	const struct ht_trace *t = run->trace;
	const char *only = ht_run_str(run, "table");
	for (size_t i = 0; i < t->more->n_tables; i++) {
		if (only && *only && strcmp(ht_str(t, t->more->tables[i].name), only) != 0)
			continue;
		if (ht_run_is(run, "view", "cells"))
			put_cells(run, &t->more->tables[i], part->facts[0]);
		else
			HT_TRY(put_table(run, &t->more->tables[i], part->facts[0]));
	}
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	return ht_parts_rows_or(run, parts, table,
	        ht_run_str(run, "table") ? "no trace has such a table"
	                                 : "no tables: the traces are events only");
}
