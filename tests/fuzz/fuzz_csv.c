/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_csv.c - any bytes as a table of text: cells are the same however they are asked for and however the text is cut.
 *
 * Row by row from pieces of any size, and many rows at once, from an index that is made with and without SIMD. The first byte is
 * the size of the pieces, the second the number of columns. What is packed unpacks to a thousand times its size: pieces of it are
 * larger, as each costs a call, and most of it is left to the targets of what unpacks.
 */
#include "fuzz.h"

#include "base/io.h"
#include "read/csv_rows.h"

/* What was seen of a table: of each row its cells, each with its length. */
static void csv_note(struct fuzz_text *seen, const struct ht_csv_cell *cell)
{
	fuzz_append(seen, &cell->n, sizeof cell->n);
	fuzz_append(seen, cell->text, cell->n);
}

static size_t csv_piece_bytes(const struct ht_source *source, size_t piece_bytes)
{
	return ht_source_info(source)->compression == HT_PLAIN ? piece_bytes : piece_bytes * 256;
}

static void csv_by_row(
        const char *path, size_t piece_bytes, size_t n_columns, struct fuzz_text *ret_seen)
{
	static const struct ht_csv_cell none = { "", 0 };
	ht_ctx *ctx = fuzz_common_ctx();
	struct ht_source *source;
	struct ht_csv csv;
	bool more;
	FUZZ_REQUIRE(ht_source_open(ctx, path, &source) == HT_OK);
	ht_csv_init(&csv, ctx, source, path);
	csv.piece_bytes = csv_piece_bytes(source, piece_bytes);
	while (ht_csv_next(&csv, &more) == HT_OK && more)
		for (size_t i = 0; i < n_columns; i++)
			csv_note(ret_seen, i < csv.n_cells ? &csv.cells[i] : &none);
	ht_csv_done(&csv);
	ht_source_close(source);
}

static void csv_by_rows(const char *path, size_t piece_bytes, size_t n_columns,
        ht_csv_index_fn make_index, struct fuzz_text *ret_seen)
{
	ht_ctx *ctx = fuzz_common_ctx();
	struct ht_source *source;
	struct ht_csv_rows rows;
	struct ht_csv csv;
	FUZZ_REQUIRE(ht_source_open(ctx, path, &source) == HT_OK);
	ht_csv_init(&csv, ctx, source, path);
	csv.piece_bytes = csv_piece_bytes(source, piece_bytes);
	csv.make_index = make_index;
	ht_csv_rows_init(&rows, ctx, n_columns);
	while (ht_csv_next_rows(&csv, &rows) == HT_OK && rows.n)
		for (size_t row = 0; row < rows.n; row++)
			for (size_t i = 0; i < n_columns; i++) {
				struct ht_csv_cell cell = ht_csv_rows_cell(&rows, i, row);
				csv_note(ret_seen, &cell);
			}
	ht_csv_rows_done(&rows);
	ht_csv_done(&csv);
	ht_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	bool is_chosen = fuzz_is_chosen(data, size, FUZZ_ONE_IN);
	if (!is_chosen && ht_compression_of(data + 2, size - 2) != HT_PLAIN)
		return 0;
	struct fuzz_text seen[4] = { { 0 } };
	size_t piece_bytes = (size_t)data[0] + 1, n_columns = data[1] % 8u + 1;
	const char *path = fuzz_file("", 0, data + 2, size - 2);
	csv_by_row(path, piece_bytes, n_columns, &seen[0]);
	csv_by_rows(path, piece_bytes, n_columns, ht_csv_index_best(), &seen[1]);
	FUZZ_REQUIRE(fuzz_same(&seen[0], &seen[1]));
	if (is_chosen) {
		csv_by_row(path, (size_t)1 << 16, n_columns, &seen[2]);
		csv_by_rows(path, (size_t)1 << 16, n_columns, ht_csv_index_base, &seen[3]);
		FUZZ_REQUIRE(fuzz_same(&seen[0], &seen[2]));
		FUZZ_REQUIRE(fuzz_same(&seen[0], &seen[3]));
	}
	for (size_t i = 0; i < 4; i++)
		free(seen[i].bytes);
	return 0;
}
