/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_rows_test.c - cells come out the same however the text is cut into pieces, and as a plain automaton sees them.
 */
#include "read/csv_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	ht_ctx *ctx;
	char path[64];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	if (!f || ht_ctx_new(&f->ctx) != HT_OK)
		return 1;
	snprintf(f->path, sizeof f->path, "/tmp/ht-csv-XXXXXX");
	close(mkstemp(f->path));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	unlink(f->path);
	ht_ctx_free(f->ctx);
	free(f);
	return 0;
}

static void write_text(struct fixture *f, const char *text, size_t n)
{
	FILE *file = fopen(f->path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n, file), n);
	fclose(file);
}

/* A row as "[cell|cell]", a cut one with a "~". */
struct shown {
	char *out;
	size_t n, cap;
};

static void show_cell(struct shown *s, const struct ht_csv_cell *cell, size_t i)
{
	if (s->n + cell->n + 4 >= s->cap)
		return;
	s->out[s->n++] = i ? '|' : '[';
	memcpy(s->out + s->n, cell->text, cell->n);
	s->n += cell->n;
}

/* Rows as "[cell|cell]" one after the other, cut rows with a "~". */
static void show(struct fixture *f, size_t piece_bytes, char *out, size_t cap)
{
	struct ht_source *source;
	struct ht_csv csv;
	bool more;
	assert_int_equal(ht_source_open(f->ctx, f->path, &source), HT_OK);
	ht_csv_init(&csv, f->ctx, source, f->path);
	csv.piece_bytes = piece_bytes;
	struct shown shown = { out, 0, cap };
	while (ht_csv_next(&csv, &more) == HT_OK && more) {
		for (size_t i = 0; i < csv.n_cells; i++)
			show_cell(&shown, &csv.cells[i], i);
		if (shown.n + 4 < cap)
			out[shown.n++] = csv.is_cut ? '~' : ']';
	}
	out[shown.n] = '\0';
	ht_csv_done(&csv);
	ht_source_close(source);
}

static const struct {
	const char *text, *rows;
} cases[] = {
	{ "", "" },
	{ "a", "[a~" },
	{ "a\n", "[a]" },
	{ "\xef\xbb\xbf"
	  "a,b\r\n1,2\r\n",
	        "[a|b][1|2]" },
	{ "a,,\n,,\n", "[a||][||]" },
	{ "\n\na\n\r\n  \nb\n", "[a][b]" },
	{ "t,x\n1736408883704643.212\t, 5 \n", "[t|x][1736408883704643.212|5]" },
	{ "\"a,b\",\"c\nd\",\"e\"\"f\"\n", "[a,b|c\nd|e\"f]" },
	{ "\"\"\"32,3,224\"\"\",x\n", "[32,3,224|x]" },
	{ "\"\"\"32\"\",\"\"3\"\"\",x\n", "[32\",\"3|x]" },
	{ "\"\",\"\"\"\"\n", "[|\"]" },
	{ "a\"b,c\n", "[a\"b|c]" },
	{ "\"a\" ,\"b\"junk,c\n", "[a|b|c]" },
	{ "a,\"b\nc,d\n", "[a|b\nc,d\n~" },
	{ "a,\"b\"\"\n", "[a|b\"\"\n~" },
	{ "a,b", "[a|b~" },
	{ "a,\"b\"", "[a|b~" },
};

static void cells_do_not_depend_on_pieces(void **state)
{
	struct fixture *f = *state;
	char rows[512];
	for (size_t i = 0; i < HT_COUNT(cases); i++) {
		size_t n = strlen(cases[i].text);
		write_text(f, cases[i].text, n);
		for (size_t piece = 1; piece <= n + 2; piece++) {
			show(f, piece, rows, sizeof rows);
			assert_string_equal(rows, cases[i].rows);
		}
	}
}

/* Any text of these characters: pieces of one byte see what one piece sees. */
static void random_texts_do_not_depend_on_pieces(void **state)
{
	static const char letters[] = "a,\"\n\r\t 1\"\",";
	struct fixture *f = *state;
	unsigned seed = 7;
	for (int round = 0; round < 600; round++) {
		char text[40], whole[256], pieces[256];
		size_t n = 0;
		for (; n < 1 + (size_t)round % (sizeof text - 1); n++) {
			seed = seed * 1103515245 + 12345;
			text[n] = letters[(seed >> 16) % (sizeof letters - 1)];
		}
		write_text(f, text, n);
		show(f, 1 << 20, whole, sizeof whole);
		show(f, 1 + (size_t)round % 5, pieces, sizeof pieces);
		assert_string_equal(pieces, whole);
	}
}

/* The same rows, many at once, those of fewer or more cells than columns made so. */
static void show_rows(struct fixture *f, size_t piece_bytes, size_t n_columns,
        ht_csv_index_fn make_index, char *out, size_t cap)
{
	struct ht_source *source;
	struct ht_csv csv;
	struct ht_csv_rows rows;
	struct shown shown = { out, 0, cap };
	assert_int_equal(ht_source_open(f->ctx, f->path, &source), HT_OK);
	ht_csv_init(&csv, f->ctx, source, f->path);
	csv.piece_bytes = piece_bytes;
	csv.make_index = make_index;
	ht_csv_rows_init(&rows, f->ctx, n_columns);
	while (ht_csv_next_rows(&csv, &rows) == HT_OK && rows.n)
		for (size_t row = 0; row < rows.n; row++) {
			for (size_t i = 0; i < n_columns; i++) {
				/* a cell may be asked for again */
				struct ht_csv_cell again = ht_csv_rows_cell(&rows, i, row);
				struct ht_csv_cell cell = ht_csv_rows_cell(&rows, i, row);
				assert_int_equal(again.n, cell.n);
				assert_memory_equal(again.text, cell.text, cell.n);
				show_cell(&shown, &cell, i);
			}
			if (shown.n + 4 < cap)
				out[shown.n++] = rows.is_short ? '-' : ']';
		}
	out[shown.n] = '\0';
	ht_csv_rows_done(&rows);
	ht_csv_done(&csv);
	ht_source_close(source);
}

static void show_as_rows(struct fixture *f, size_t n_columns, char *out, size_t cap)
{
	static const struct ht_csv_cell none = { "", 0 };
	struct ht_source *source;
	struct ht_csv csv;
	bool more;
	struct shown shown = { out, 0, cap };
	assert_int_equal(ht_source_open(f->ctx, f->path, &source), HT_OK);
	ht_csv_init(&csv, f->ctx, source, f->path);
	csv.piece_bytes = 1;
	while (ht_csv_next(&csv, &more) == HT_OK && more) {
		for (size_t i = 0; i < n_columns; i++)
			show_cell(&shown, i < csv.n_cells ? &csv.cells[i] : &none, i);
		if (shown.n + 4 < cap)
			out[shown.n++] = csv.n_cells < n_columns ? '-' : ']';
	}
	out[shown.n] = '\0';
	ht_csv_done(&csv);
	ht_source_close(source);
}

/* Texts of some blocks, with quotes where they should be and where they should not: many rows at once, by either index,
 * are the rows one by one. */
static void rows_at_once_are_the_rows(void **state)
{
	static const char *const parts[] = {
		"a,b,c\n", "1,2.5,\n", "\"\"\"4,5\"\"\",x,\"y\"\n", ",,\n", "only\n",
		"a,\"q\"\"q\",c\n", "a,b,c,d\n", " a ,b\t,c\r\n", "\"l\nm\",2,3\n", "a\"b,c,d\n",
		"\"a\" ,b,c\n", "\n", "\"\"\",x,\"\"\"\"\n",
		"a_text_that_is_longer_than_a_block_of_the_index_which_has_sixty_four_bytes,2,3\n"
	};
	struct fixture *f = *state;
	unsigned seed = 3;
	for (int round = 0; round < 300; round++) {
		char text[4096] = "", one[8192], many[8192];
		for (int i = 0; i < 1 + round % 40; i++) {
			seed = seed * 1103515245 + 12345;
			/* at first only rows that the index understands */
			size_t n = round < 150 ? 4 : HT_COUNT(parts);
			strcat(text, parts[(seed >> 16) % n]);
		}
		write_text(f, text, strlen(text));
		for (size_t n_columns = 1; n_columns <= 4; n_columns++) {
			show_as_rows(f, n_columns, one, sizeof one);
			show_rows(f, 1 << 20, n_columns, ht_csv_index_base, many, sizeof many);
			assert_string_equal(many, one);
			show_rows(f, 64 + (size_t)round, n_columns, ht_csv_index_best(), many,
			        sizeof many);
			assert_string_equal(many, one);
		}
	}
}

static void headers_are_found_by_name(void **state)
{
	struct fixture *f = *state;
	struct ht_source *source;
	struct ht_csv csv;
	bool more;
	write_text(f, " Step Id ,\"NAME\"\n", 17);
	assert_int_equal(ht_source_open(f->ctx, f->path, &source), HT_OK);
	ht_csv_init(&csv, f->ctx, source, f->path);
	assert_int_equal(ht_csv_next(&csv, &more), HT_OK);
	assert_int_equal(ht_csv_find(&csv, "step id"), 0);
	assert_int_equal(ht_csv_find(&csv, "Name"), 1);
	assert_int_equal(ht_csv_find(&csv, "Nam"), SIZE_MAX);
	ht_csv_done(&csv);
	ht_source_close(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cells_do_not_depend_on_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(
		        random_texts_do_not_depend_on_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_at_once_are_the_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(headers_are_found_by_name, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
