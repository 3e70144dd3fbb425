/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend.h - what the readers of Ascend's tables share: the names of columns, and cells as values.
 *
 * Files are written by torch_npu's profiler into ASCEND_PROFILER_OUTPUT; docs/formats/ascend.md lists their
 * columns over the years. Columns are found by name, case and order aside; those that nobody asks for are kept under
 * the name that they have.
 */
#ifndef HT_READ_ASCEND_H
#define HT_READ_ASCEND_H

#include "read/csv_rows.h"
#include "read/reader.h"
#include "read/rows.h"

/* PyTorch's number for devices of a backend of its own, as in "Device Type" of memory events. */
#define HT_ASCEND_DEVICE_TYPE 20

/* Does the first line of the file have all of these columns? The list ends with NULL. */
bool ht_ascend_header_has(const struct ht_head *head, const char *const *columns);

/* A cell without a value: empty, or N/A. */
static inline bool ht_ascend_is_missing(const struct ht_csv_cell *cell)
{
	return !cell->n || (cell->n == 3 && (cell->text[0] | 32) == 'n' && cell->text[1] == '/' &&
	                           (cell->text[2] | 32) == 'a');
}

/* A whole cell as a time in microseconds, in ns; as a number of units of `unit` bytes, in bytes, rounded; as a whole
 * number. False when it is none. */
bool ht_ascend_time(const struct ht_csv_cell *cell, int64_t *ret_ns);
bool ht_ascend_bytes(const struct ht_csv_cell *cell, int64_t unit, int64_t *ret_bytes);
bool ht_ascend_i64(const struct ht_csv_cell *cell, int64_t *ret_value);
/* "NPU:3" is device 3 of type HT_ASCEND_DEVICE_TYPE, "CPU" device 0 of type 0; a number is that device. */
void ht_ascend_device(const struct ht_csv_cell *cell, int64_t *ret_type, int64_t *ret_id);

/* One column of a table that becomes args of events. */
struct ht_ascend_column {
	const char *key; /* of the arg; in the plan's arena */
	size_t n_key;
	bool is_used;                /* somebody else reads it */
	bool is_text;                /* N/A is a text here */
	uint32_t of[HT_N_ARG_TYPES]; /* arg column by type, UINT32_MAX: not yet made */
	/* the last text, which is often the next one, too */
	const char *last;
	size_t n_last;
	uint32_t last_id;
};

struct ht_ascend_plan {
	struct ht_ascend_column *columns; /* one per column of the header */
	size_t n;
	struct ht_arena arena;
};

/* From the header row that csv stands at. */
enum ht_status ht_ascend_plan_make(
        const struct ht_csv *header, struct ht_ascend_plan *ret_plan) HT_MUST_USE;
void ht_ascend_plan_done(struct ht_ascend_plan *plan);
/* Index of the first of these columns (NULL ends the list), which the caller reads; SIZE_MAX: none. */
size_t ht_ascend_take(
        struct ht_ascend_plan *plan, const struct ht_csv *header, const char *const *names);
/* The number that a cell is, as ht_number_parse has it. */
struct ht_number ht_ascend_number(const struct ht_csv_cell *cell);
/* Put the cells of the row that nobody took into the event in hand. */
void ht_ascend_put_rest(
        struct ht_ascend_plan *plan, const struct ht_csv *row, struct ht_rows *rows);

/* Cells as args in packed columns (store/arg_table.h): for tables all of whose rows are new events. A column is of texts
 * or of numbers, as its first cell is; what is a text in a column of numbers has a column of its own. */
struct ht_ascend_cells;
/* NULL when out of memory, or with more columns than are packed; which says *ret_status. Columns that somebody took are
 * left out; extra is a list of further columns of numbers, NULL at its end; name is the cell that is a row's name. */
struct ht_ascend_cells *ht_ascend_cells_make(struct ht_ascend_plan *plan, struct ht_rows *rows,
        const char *const *extra, size_t name, enum ht_status *ret_status);
void ht_ascend_cells_done(struct ht_ascend_cells *cells);
/* Of a batch of rows all cells that nobody took, and the names; then the cells of a column that are whole numbers, as the i-th extra
 * column and as values, of which the others are none; then the rows are stored as spans. */
void ht_ascend_cells_put(
        struct ht_ascend_cells *cells, struct ht_csv_rows *batch, uint32_t *ret_names);
void ht_ascend_cells_extra(struct ht_ascend_cells *cells, size_t i, struct ht_csv_rows *batch,
        size_t column, int64_t none, int64_t *ret_values);
enum ht_status ht_ascend_cells_end(struct ht_ascend_cells *cells, const struct ht_csv_rows *batch,
        const struct ht_spans *spans) HT_MUST_USE;

/* The whole of a table, row by row: begin with the header, then put for every row that has as many cells; others are
 * counted. When many is there and true after begin, rows come many at once and put is not called. */
struct ht_ascend_table {
	enum ht_status (*begin)(void *user, const struct ht_csv *header);
	enum ht_status (*put)(void *user, const struct ht_csv *row);
	void *user;
	enum ht_status (*put_rows)(void *user, struct ht_csv_rows *batch);
	const bool *many;
};
enum ht_status ht_ascend_read_table(struct ht_builder *builder, const struct ht_reading *reading,
        const struct ht_ascend_table *table) HT_MUST_USE;
/* Count a row that cannot be used. */
void ht_ascend_lose_row(struct ht_builder *builder, bool is_cut, int64_t offset);

#endif
