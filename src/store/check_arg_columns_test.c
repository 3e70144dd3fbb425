/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_arg_columns_test.c - packed columns of a store whose numbers were changed: refused, or read from end to end.
 */
#include "store/args.h"
#include "store/check.h"
#include "store/set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	ht_ctx *ctx;
	char dir[64], path[96];
	ht_set *set;
	struct ht_trace *trace;
};

/* Kernels as a table: some have a ratio, so that two lists of rows part. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	assert_non_null(f);
	assert_int_equal(ht_ctx_new(&f->ctx), HT_OK);
	ht_ctx_set_jobs(f->ctx, 1);
	snprintf(f->dir, sizeof f->dir, "/tmp/holotrace-args-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof f->path, "%s/kernel_details.csv", f->dir);
	FILE *file = fopen(f->path, "w");
	assert_non_null(file);
	fprintf(file,
	        "Step Id,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Block Dim,mac_ratio\n");
	for (int i = 0; i < 900; i++)
		fprintf(file, "5,16,MatMul_%d,MatMulV2,AI_CORE,%d.5,10.5,%d,%s\n", i % 7,
		        1000 + i * 20, i % 32, i % 3 && i % 11 ? "0.25" : "N/A");
	assert_int_equal(fclose(file), 0);
	const char *path = f->path;
	assert_int_equal(ht_open(f->ctx, &path, 1, NULL, &f->set), HT_OK);
	f->trace = (struct ht_trace *)(uintptr_t)f->set->kept[0].trace;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	ht_close(f->set);
	ht_ctx_free(f->ctx);
	unlink(f->path);
	rmdir(f->dir);
	free(f);
	return 0;
}

static bool is_sound(struct fixture *f)
{
	bool sound;
	assert_int_equal(
	        ht_sections_check(f->ctx, &ht_trace_sections, f->trace, NULL, NULL, &sound), HT_OK);
	return sound;
}

/* Rows of every column ascend and exist, and texts do. */
static void walk(const struct ht_trace *t)
{
	for (size_t c = 0; c < t->n_arg_columns; c++) {
		const struct ht_arg_column *column = &t->arg_columns[c];
		for (uint64_t i = 0; i < column->n; i++) {
			uint32_t row = ht_arg_row(t, column, i);
			assert_true(
			        row < ht_n_events(t) && (!i || ht_arg_row(t, column, i - 1) < row));
			assert_int_equal(ht_arg_position(t, column, row), i);
			if (column->type == HT_ARG_STR)
				assert_non_null(ht_str(t, (uint32_t)ht_arg_i64_at(t, column, i)));
		}
	}
}

/* Every word of blocks and of their bits, changed to numbers that lead elsewhere. Returns how many were refused. */
static size_t change(struct fixture *f, const void *bytes, size_t n_bytes)
{
	static const uint32_t values[] = { 0, 1, 7, 0x80, 0xff0000, 0x7fffffff, 0xffffffff };
	uint32_t *words = (uint32_t *)(uintptr_t)bytes;
	size_t n_refused = 0;
	for (size_t at = 0; at < n_bytes / sizeof *words; at++)
		for (size_t i = 0; i < HT_COUNT(values); i++) {
			uint32_t before = words[at];
			words[at] = values[i];
			if (is_sound(f))
				walk(f->trace);
			else
				n_refused++;
			words[at] = before;
		}
	return n_refused;
}

static void rows_of_packed_columns_are_checked(void **state)
{
	struct fixture *f = *state;
	const struct ht_trace *t = f->trace;
	assert_true(is_sound(f));
	walk(t);
	assert_true(t->n_row_blocks >= 7 && t->n_row_words > 1);
	assert_true(change(f, t->row_blocks, t->n_row_blocks * sizeof *t->row_blocks) > 100);
	assert_true(change(f, t->row_words, (t->n_row_words - 1) * sizeof *t->row_words) > 100);
	assert_true(is_sound(f));
}

static void values_of_packed_columns_are_checked(void **state)
{
	struct fixture *f = *state;
	const struct ht_trace *t = f->trace;
	assert_true(change(f, t->arg_blocks, t->n_arg_blocks * sizeof *t->arg_blocks) > 100);
	assert_true(is_sound(f));
}

static void slices_of_columns_are_checked(void **state)
{
	struct fixture *f = *state;
	const struct ht_trace *t = f->trace;
	assert_true(change(f, t->arg_columns, t->n_arg_columns * sizeof *t->arg_columns) > 100);
	assert_true(is_sound(f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		        rows_of_packed_columns_are_checked, setup, teardown),
		cmocka_unit_test_setup_teardown(
		        values_of_packed_columns_are_checked, setup, teardown),
		cmocka_unit_test_setup_teardown(slices_of_columns_are_checked, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
