/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_table.h - tables of a trace that are no events: per-step sums, link matrices, statistics of the exporter.
 *
 * A table has a name, columns of one type each, and rows. Cells are 64 bits wide: an integer, the bits of a
 * double, or a string id; HT_NO_I64 is a cell without a value. Names of columns are found as people write them:
 * case does not matter.
 */
#ifndef HT_STORE_SIDE_TABLE_H
#define HT_STORE_SIDE_TABLE_H

#include "base/status.h"
#include "store/event.h"

struct ht_trace;

/* A table; its columns are a slice of table_columns. */
struct ht_side_table {
	uint32_t name; /* string id */
	uint32_t first_column, n_columns;
	uint32_t pad;
	uint64_t n_rows;
};

struct ht_side_column {
	uint32_t key; /* string id */
	uint8_t type; /* HT_ARG_I64, HT_ARG_F64 or HT_ARG_STR */
	uint8_t pad[3];
	uint64_t first_cell, n; /* slice of table_cells */
};

/* Of traces that were read from Perfetto's files: "producer", who wrote the file, where it says so. */
#define HT_PERFETTO_TABLE "perfetto_file"

/* NULL when the trace has no such table. */
const struct ht_side_table *ht_side_table_find(const struct ht_trace *trace, const char *name);
/* NULL when the table has no such column. */
const struct ht_side_column *ht_side_column_find(
        const struct ht_trace *trace, const struct ht_side_table *table, const char *name);

/* Cells of a row below table->n_rows; the column may be NULL. An integer is a double, too; texts that are
 * numbers are not. */
bool ht_side_i64(const struct ht_trace *trace, const struct ht_side_column *column, uint64_t row,
        int64_t *ret_value);
bool ht_side_f64(const struct ht_trace *trace, const struct ht_side_column *column, uint64_t row,
        double *ret_value);
/* NULL when the cell is empty or no text. */
const char *ht_side_str(
        const struct ht_trace *trace, const struct ht_side_column *column, uint64_t row);

#endif
