/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arg_cursor_test.c - args of rows in any order: what the file says, as integer, as number and as text; rows by kind.
 */
#include "store/args.h"
#include "store/set.h"
#include "store/columns.h"
#include "store/trace_refs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_ROWS = 2003, N_ASKED = 20000 };

/* How row i spells its arg: not at all, as integer, as number, as text, as text of an integer, as list. */
enum spelling { ABSENT, INTEGER, NUMBER, TEXT, DIGITS, LIST, N_SPELLINGS };

struct fixture {
	ht_ctx *ctx;
	ht_set *set;
	const struct ht_trace *trace;
	char path[64];
};

static enum spelling spelling_of(uint32_t row)
{
	/* long stretches without any, so that steps double */
	return row / 100 % 3 == 1 ? ABSENT : (enum spelling)(row * 7 / 3 % N_SPELLINGS);
}

static void write_arg(FILE *file, uint32_t row)
{
	switch (spelling_of(row)) {
	case ABSENT: fputs("\"other\":1", file); break;
	case INTEGER: fprintf(file, "\"x\":%u", row + 1); break;
	case NUMBER: fprintf(file, "\"x\":%u.5", row); break;
	case TEXT: fprintf(file, "\"x\":\"text %u\"", row % 50); break;
	case DIGITS: fprintf(file, "\"x\":\"%u\"", row + 1); break;
	default: fprintf(file, "\"x\":[%u,2]", row); break;
	}
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	snprintf(f->path, sizeof f->path, "/tmp/holotrace-args-%d.json", (int)getpid());
	FILE *file = fopen(f->path, "w");
	assert_non_null(file);
	fputs("{\"schemaVersion\":1,\"traceEvents\":[", file);
	for (uint32_t row = 0; row < N_ROWS; row++) {
		fprintf(file,
		        "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"x\",\"pid\":1,\"tid\":1,\"ts\":%u,"
		        "\"dur\":1,\"args\":{",
		        row ? "," : "", row % 5 ? "cpu_op" : "user_annotation", 2 * row);
		write_arg(file, row);
		fputs("}}", file);
	}
	fputs("]}", file);
	fclose(file);
	const char *source = f->path;
	assert_int_equal(ht_ctx_new(&f->ctx), HT_OK);
	assert_int_equal(ht_open(f->ctx, &source, 1, NULL, &f->set), HT_OK);
	assert_int_equal(ht_set_acquire(f->ctx, f->set, 0, &f->trace), HT_OK);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	ht_trace_release(f->trace);
	ht_close(f->set);
	ht_ctx_free(f->ctx);
	unlink(f->path);
	free(f);
	return 0;
}

static void check_row(struct ht_arg_cursor *i64, struct ht_arg_cursor *f64,
        struct ht_arg_cursor *str, uint32_t row)
{
	enum spelling spelling = spelling_of(row);
	bool whole = spelling == INTEGER || spelling == DIGITS;
	double number = spelling == INTEGER ? row + 1.0 : spelling == NUMBER ? row + 0.5 : -7;
	char text[32] = "";
	if (spelling == TEXT)
		snprintf(text, sizeof text, "text %u", row % 50);
	else if (spelling == DIGITS)
		snprintf(text, sizeof text, "%u", row + 1);
	else if (spelling == LIST)
		snprintf(text, sizeof text, "[%u,2]", row);
	assert_int_equal(ht_arg_cursor_i64(i64, row, -7), whole ? (int64_t)row + 1 : -7);
	assert_true(ht_arg_cursor_f64(f64, row, -7) == number);
	const char *found = ht_arg_cursor_str(str, row);
	assert_string_equal(found ? found : "", text);
}

/* Upwards, downwards, and here and there: the same cursors throughout. */
static void test_any_order(void **state)
{
	struct fixture *f = *state;
	struct ht_arg_cursor i64 = ht_arg_cursor(f->trace, "x"), f64 = i64, str = i64;
	uint64_t seed = 42;
	for (uint32_t row = 0; row < N_ROWS; row++)
		check_row(&i64, &f64, &str, row);
	for (uint32_t row = N_ROWS; row-- > 0;)
		check_row(&i64, &f64, &str, row);
	for (uint32_t row = 0; row < N_ROWS; row += 37)
		check_row(&i64, &f64, &str, row);
	for (int i = 0; i < N_ASKED; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		check_row(&i64, &f64, &str, (uint32_t)(seed >> 33) % N_ROWS);
	}
}

static void test_single_rows(void **state)
{
	struct fixture *f = *state;
	for (uint32_t row = 0; row < N_ROWS; row++) {
		struct ht_arg_cursor cursor = ht_arg_cursor(f->trace, "x");
		const char *one = ht_arg_str(f->trace, "x", row),
		           *other = ht_arg_cursor_str(&cursor, row);
		assert_ptr_equal(one, other);
		check_row(&cursor, &cursor, &cursor, row);
	}
	assert_int_equal(ht_arg_i64(f->trace, "no such key", 0, -3), -3);
	assert_null(ht_arg_str(f->trace, "no such key", 0));
}

static void test_kinds(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(ht_n_of_kind(f->trace, HT_KIND_ANNOTATION), (N_ROWS + 4) / 5);
	assert_int_equal(ht_n_of_kind(f->trace, HT_KIND_CPU_OP), N_ROWS - (N_ROWS + 4) / 5);
	assert_int_equal(ht_n_of_kind(f->trace, HT_KIND_OTHER), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_single_rows),
		cmocka_unit_test(test_kinds),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
