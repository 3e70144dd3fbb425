/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_rows.h - tables as text, row by row: RFC 4180 as spreadsheets and exporters write it.
 *
 *     struct ht_csv csv;
 *     ht_csv_init(&csv, ctx, source, path);
 *     while (HT_TRY(ht_csv_next(&csv, &more)), more)
 *             use(csv.cells[i].text, csv.cells[i].n) for i < csv.n_cells
 *     ht_csv_done(&csv);
 *
 * A byte order mark, \n or \r\n, quoted cells with commas, quotes and line ends in them, blanks and tabs around a
 * cell (times end in a tab): all of that is gone from the cells. A cell that is quoted twice ("""1,2""") loses
 * both. Text is read in pieces, so memory does not grow with the file.
 *
 * For large tables there are many rows at once, column by column, which is how they are turned into columns:
 *
 *     ht_csv_rows_init(&rows, ctx, n_columns);
 *     while (HT_TRY(ht_csv_next_rows(&csv, &rows)), rows.n)
 *             use(ht_csv_rows_cell(&rows, column, row)) for row < rows.n
 *     ht_csv_rows_done(&rows);
 */
#ifndef HT_READ_CSV_ROWS_H
#define HT_READ_CSV_ROWS_H

#include "base/io.h"
#include "read/csv_index.h"

/* So many bytes in front of the text of cells can be read, too, and more behind it. */
#define HT_CSV_FRONT 16
/* Longer rows are taken for damage. */
#define HT_CSV_MAX_ROW ((size_t)64 << 20)

struct ht_csv_cell {
	const char *text; /* followed by a byte that ends a number; lives until the next row */
	size_t n;
};

struct ht_csv {
	ht_ctx *ctx;
	struct ht_source *source;
	const char *path;
	const struct ht_csv_cell *cells;
	size_t n_cells;
	int64_t offset; /* of the row in the file */
	bool is_cut;    /* the file ended inside a quoted cell of this row, or without a line end */
	bool is_whole;  /* the row in hand is known to end in the text that is there */
	struct ht_vec buf;      /* HT_CSV_FRONT bytes, text read, then padding */
	size_t at, end;         /* what is not used yet */
	int64_t buf_offset;     /* in the file, of the first byte of buf */
	struct ht_vec cell_vec; /* struct ht_csv_cell */
	bool at_end, started;
	size_t piece_bytes; /* read at once; tests vary it */
	/* rows that are known to be whole, in the text from `indexed` on; of `at` when line is n_lines */
	struct ht_csv_index *index;
	ht_csv_index_fn make_index;
	size_t indexed, i_line;
};

/* Rows at once, at most. */
#define HT_CSV_ROWS 256

/* Some rows that all have the same number of cells, or more. */
struct ht_csv_rows {
	ht_ctx *ctx;
	size_t n_columns, n;
	/* the cell of column c of row r is between the stops r * n_columns + c - 1 and r * n_columns + c of the text */
	const char *text;
	const uint32_t *stops;
	int64_t offset; /* of the text in the file */
	bool is_tidy;   /* quotes and blanks around cells are gone */
	bool is_cut,
	        is_short; /* of a batch of one row: see struct ht_csv; it has fewer cells than columns */
	bool out_of_memory;
	struct ht_vec line; /* a row that had to be put together */
	struct ht_vec line_stops;
	struct ht_arena *arena, own_arena; /* cells whose quotes were doubled */
};

void ht_csv_init(struct ht_csv *csv, ht_ctx *ctx, struct ht_source *source, const char *path);
void ht_csv_done(struct ht_csv *csv);
/* The next row that is not empty; *ret_more is false behind the last one. */
enum ht_status ht_csv_next(struct ht_csv *csv, bool *ret_more) HT_MUST_USE;
/* The next rows, none behind the last one; cells live until the next rows are asked for. A row with fewer cells than
 * columns, whose others are empty, comes alone; of a row with more the others are left out. */
void ht_csv_rows_init(struct ht_csv_rows *rows, ht_ctx *ctx, size_t n_columns);
void ht_csv_rows_done(struct ht_csv_rows *rows);
enum ht_status ht_csv_next_rows(struct ht_csv *csv, struct ht_csv_rows *rows) HT_MUST_USE;
/* n of the rows from the first on. */
struct ht_csv_rows ht_csv_rows_slice(const struct ht_csv_rows *rows, size_t first, size_t n);
/* A cell between two stops without its quotes and blanks; when out of memory the rows say so. */
struct ht_csv_cell ht_csv_rows_tidy(struct ht_csv_rows *rows, const char *start, const char *end);

static inline int64_t ht_csv_rows_offset(const struct ht_csv_rows *rows, size_t row)
{
	return rows->offset + (uint32_t)((rows->stops + row * rows->n_columns)[-1] + 1);
}

static inline struct ht_csv_cell ht_csv_rows_cell(
        struct ht_csv_rows *rows, size_t column, size_t row)
{
	const uint32_t *stop = rows->stops + row * rows->n_columns + column;
	const char *start = rows->text + (uint32_t)(stop[-1] + 1), *end = rows->text + *stop;
	/* the last byte of an empty cell is not its own */
	const char *last = end - (end > start);
	if ((unsigned char)*start > '"' && (unsigned char)*last > ' ')
		return (struct ht_csv_cell){ start, (size_t)(end - start) };
	return ht_csv_rows_tidy(rows, start, end);
}

/* Index of the cell with that text, case aside; SIZE_MAX when there is none. For headers. */
size_t ht_csv_find(const struct ht_csv *csv, const char *name);

#endif
