/*
 * csv.h - tables as text, row by row: RFC 4180 as spreadsheets and exporters write it.
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
 */
#ifndef HT_READ_CSV_H
#define HT_READ_CSV_H

#include "base/io.h"

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
	struct ht_vec buf; /* text read, then padding */
	size_t at, end;    /* what is not used yet */
	int64_t buf_offset;
	struct ht_vec cell_vec; /* struct ht_csv_cell */
	bool at_end, started;
	size_t piece_bytes; /* read at once; tests vary it */
};

void ht_csv_init(struct ht_csv *csv, ht_ctx *ctx, struct ht_source *source, const char *path);
void ht_csv_done(struct ht_csv *csv);
/* The next row that is not empty; *ret_more is false behind the last one. */
enum ht_status ht_csv_next(struct ht_csv *csv, bool *ret_more) HT_MUST_USE;
/* Index of the cell with that text, case aside; SIZE_MAX when there is none. For headers. */
size_t ht_csv_find(const struct ht_csv *csv, const char *name);

#endif
