/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_test.c - cells go in and come out; nulls, text, limits, faults.
 */
#include "base/mem.h"
#include "table/table_test_help.h"

#include <math.h>
#include <stdio.h>

static void test_every_type_reads_back(void **state)
{
	ht_table *t = every_type_table(*state);
	assert_string_equal(ht_table_title(t), "Kernels");
	assert_string_equal(ht_table_method(t), "share of GPU busy time");
	assert_int_equal(ht_table_n_rows(t), 5);
	assert_int_equal(ht_table_n_columns(t), HT_COUNT(every_type));
	assert_string_equal(ht_table_column(t, 3)->unit, "GB/s");
	assert_null(ht_table_column(t, 10));
	assert_string_equal(ht_table_str(t, 0, 0), "ncclDevKernel_AllReduce");
	assert_int_equal(ht_table_i64(t, 0, 1), 3070);
	assert_true((uint64_t)ht_table_i64(t, 0, 2) == UINT64_MAX - 3070);
	assert_f64(ht_table_f64(t, 0, 3), 12.4);
	assert_int_equal(ht_table_i64(t, 1, 4), 1);
	assert_int_equal(ht_table_i64(t, 4, 6), INT64_MAX);
	assert_int_equal(ht_table_n_notes(t), 1);
	assert_string_equal(ht_table_note(t, 0), "3 of <many>");
	assert_null(ht_table_note(t, 1));
	ht_table_free(t);
}

static void test_wrong_type_and_range_read_as_nothing(void **state)
{
	ht_table *t = every_type_table(*state);
	assert_int_equal(ht_table_i64(t, 0, 0), 0);
	assert_int_equal(ht_table_i64(t, 0, 3), 0);
	assert_f64(ht_table_f64(t, 0, 1), 0);
	assert_string_equal(ht_table_str(t, 0, 1), "");
	assert_string_equal(ht_table_str(t, 5, 0), "");
	assert_true(ht_table_is_null(t, 5, 0));
	assert_true(ht_table_is_null(t, 0, 10));
	ht_table_free(t);
}

static void test_null_is_not_empty(void **state)
{
	ht_table *t = every_type_table(*state);
	for (size_t c = 0; c < HT_COUNT(every_type); c++) {
		assert_false(ht_table_is_null(t, 1, c));
		assert_true(ht_table_is_null(t, 2, c));
		assert_false(ht_table_is_null(t, 3, c));
	}
	assert_string_equal(ht_table_str(t, 2, 0), "");
	ht_table_free(t);
}

static void test_what_is_not_finite_is_null(void **state)
{
	static const struct ht_column columns[] = { { "x", HT_F64, HT_MEASURE, "x", NULL } };
	const double values[] = { NAN, INFINITY, -INFINITY, 1e300 };
	ht_table *t;
	assert_ok(ht_table_new(*state, "t", columns, 1, &t));
	for (size_t i = 0; i < HT_COUNT(values); i++) {
		ht_table_row(t);
		ht_table_put_f64(t, 0, values[i]);
	}
	assert_ok(ht_table_finish(*state, t));
	for (size_t i = 0; i < HT_COUNT(values); i++)
		assert_int_equal(ht_table_is_null(t, i, 0), i < 3);
	ht_table_free(t);
}

/* Every put into a column of every type: either it is a value of the type, or the table fails and says why. */
static void test_a_put_fits_its_column_or_fails(void **state)
{
	enum put { I64, KNOWN, F64, STR, N_PUTS };
	static const bool fits[][N_PUTS] = { [HT_I64] = { 1, 1, 0, 0 },
		[HT_U64] = { 1, 1, 0, 0 },
		[HT_F64] = { 0, 0, 1, 0 },
		[HT_STR] = { 0, 0, 0, 1 },
		[HT_BOOL] = { 1, 1, 0, 0 },
		[HT_TIME] = { 1, 1, 0, 0 },
		[HT_DURATION] = { 1, 1, 0, 0 },
		[HT_DURATION_F64] = { 0, 0, 1, 0 },
		[HT_BYTES] = { 1, 1, 0, 0 },
		[HT_RATIO] = { 0, 0, 1, 0 },
		[HT_EVENT] = { 1, 1, 0, 0 } };
	assert_int_equal(HT_COUNT(fits), HT_LAST_TYPE + 1);
	for (size_t type = 0; type <= HT_LAST_TYPE; type++)
		for (size_t put = 0; put < N_PUTS; put++) {
			const struct ht_column column = { "c", (enum ht_type)type, HT_KEY, "c",
				NULL };
			ht_table *t;
			assert_ok(ht_table_new(*state, "t", &column, 1, &t));
			ht_table_row(t);
			if (put == I64)
				ht_table_put_i64(t, 0, 17);
			else if (put == KNOWN)
				ht_table_put_known(t, 0, -1, -1);
			else if (put == F64)
				ht_table_put_f64(t, 0, NAN);
			else
				ht_table_put_str(t, 0, NULL);
			enum ht_status status = ht_table_finish(*state, t);
			assert_int_equal(status, fits[type][put] ? HT_OK : HT_INTERNAL);
			if (status != HT_OK)
				assert_non_null(
				        strstr(ht_error(*state)->message, "column c is of"));
			else if (put == I64)
				assert_int_equal(ht_table_i64(t, 0, 0), type == HT_BOOL ? 1 : 17);
			else
				assert_true(ht_table_is_null(t, 0, 0));
			ht_error_clear(*state);
			ht_table_free(t);
		}
}

/* What a row can be made of wrongly, by the columns that are put. */
static void test_a_row_has_each_cell_once_and_in_order(void **state)
{
	static const struct ht_column columns[] = { { "a", HT_I64, HT_KEY, "a", NULL },
		{ "b", HT_I64, HT_KEY, "b", NULL }, { "c", HT_I64, HT_KEY, "c", NULL } };
	static const struct {
		int puts[6]; /* -1: a row begins; 9: the end */
		const char *message;
	} rows[] = {
		{ { -1, 0, 1, 2, 9 }, NULL },
		{ { 0, 9 }, "column a (0) was put where none (3) is expected" },
		{ { -1, 0, 2, 9 }, "column c (2) was put where b (1) is expected" },
		{ { -1, 0, 0, 9 }, "column a (0) was put where b (1) is expected" },
		{ { -1, 1, 9 }, "column b (1) was put where a (0) is expected" },
		{ { -1, 0, 1, 2, 3, 9 }, "column none (3) was put where none (3) is expected" },
		{ { -1, 0, 1, 9 }, "a row ends where column c (2) is expected" },
		{ { -1, 0, 1, -1, 9 }, "a row ends where column c (2) is expected" },
		{ { -1, 9 }, "a row ends where column a (0) is expected" },
	};
	for (size_t i = 0; i < HT_COUNT(rows); i++) {
		ht_table *t;
		assert_ok(ht_table_new(*state, "Kernels", columns, 3, &t));
		for (const int *put = rows[i].puts; *put != 9; put++)
			if (*put < 0)
				ht_table_row(t);
			else
				ht_table_put_i64(t, (size_t)*put, 1);
		assert_int_equal(ht_table_finish(*state, t), rows[i].message ? HT_INTERNAL : HT_OK);
		if (rows[i].message) {
			assert_non_null(strstr(ht_error(*state)->message, "table 'Kernels': "));
			assert_non_null(strstr(ht_error(*state)->message, rows[i].message));
		}
		ht_error_clear(*state);
		ht_table_free(t);
	}
}

/* The first fault stays, whatever follows it, and nothing that follows is kept. */
static void test_a_fault_sticks(void **state)
{
	ht_table *t;
	assert_ok(ht_table_new(*state, "t", every_type, HT_COUNT(every_type), &t));
	put_row(t, "one", 1, 1);
	ht_table_row(t);
	ht_table_put_i64(t, 0, 1);
	put_row(t, "two", 2, 2);
	assert_int_equal(ht_table_append(t, t, NULL), HT_INTERNAL);
	assert_int_equal(ht_table_n_rows(t), 1);
	assert_int_equal(ht_table_finish(*state, t), HT_INTERNAL);
	assert_non_null(strstr(ht_error(*state)->message, "column name is of type string"));
	ht_error_clear(*state);
	ht_table_free(t);
}

static void test_text_is_made_valid_and_stored_once(void **state)
{
	static const struct ht_column column = { "name", HT_STR, HT_KEY, "name", NULL };
	ht_table *t;
	assert_ok(ht_table_new(*state, "t\xff", &column, 1, &t));
	const char *const texts[] = { "abc", "\xc3\xa9", "bad\xff", "bad\xff", "\xed\xa0\x80",
		"abc" };
	for (size_t i = 0; i < HT_COUNT(texts); i++) {
		ht_table_row(t);
		ht_table_put_str(t, 0, texts[i]);
	}
	ht_table_row(t);
	ht_table_put_strn(t, 0, "a\0b", 3);
	assert_ok(ht_table_finish(*state, t));
	assert_string_equal(ht_table_title(t), "t\xef\xbf\xbd");
	assert_string_equal(ht_table_str(t, 1, 0), "\xc3\xa9");
	assert_string_equal(ht_table_str(t, 2, 0), "bad\xef\xbf\xbd");
	assert_ptr_equal(ht_table_str(t, 2, 0), ht_table_str(t, 3, 0));
	assert_ptr_equal(ht_table_str(t, 0, 0), ht_table_str(t, 5, 0));
	assert_string_equal(ht_table_str(t, 4, 0), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	assert_string_equal(ht_table_str(t, 6, 0), "a\xef\xbf\xbd"
	                                           "b");
	ht_table_free(t);
}

static void test_million_rows(void **state)
{
	static const struct ht_column columns[] = { { "i", HT_I64, HT_KEY, "i", NULL },
		{ "x", HT_F64, HT_MEASURE, "x", NULL }, { "name", HT_STR, HT_KEY, "name", NULL } };
	ht_table *t;
	assert_ok(ht_table_new(*state, "t", columns, 3, &t));
	for (int64_t i = 0; i < 1000000; i++) {
		char name[32];
		ht_table_row(t);
		ht_table_put_i64(t, 0, i);
		ht_table_put_f64(t, 1, i == 700000 ? NAN : (double)i / 2);
		int n = snprintf(name, sizeof name, "kernel_%d", (int)(i % 5000));
		ht_table_put_strn(t, 2, name, (size_t)n);
	}
	assert_ok(ht_table_finish(*state, t));
	assert_int_equal(ht_table_n_rows(t), 1000000);
	assert_int_equal(t->pool.texts.n, 5001);
	for (size_t i = 0; i < 1000000; i += 99991) {
		assert_int_equal(ht_table_i64(t, i, 0), i);
		assert_f64(ht_table_f64(t, i, 1), (double)i / 2);
	}
	assert_true(ht_table_is_null(t, 700000, 1));
	assert_false(ht_table_is_null(t, 699999, 1));
	assert_false(ht_table_is_null(t, 999999, 1));
	assert_string_equal(ht_table_str(t, 999999, 2), "kernel_4999");
	ht_table_free(t);
}

static void test_outlives_its_context(void **state)
{
	ht_ctx *ctx;
	assert_ok(ht_ctx_new(&ctx));
	ht_table *t = every_type_table(ctx);
	ht_ctx_free(ctx);
	ht_table *again = ht_table_retain(t);
	ht_table_free(t);
	assert_string_equal(ht_table_str(again, 0, 0), "ncclDevKernel_AllReduce");
	ht_table_free(again);
	(void)state;
}

/* What is drawn as a bar is a column that is there and has shares. */
static void test_a_bar_is_a_column_of_shares(void **state)
{
	static const struct ht_column columns[] = { { "ns", HT_DURATION, HT_KEY, "ns", NULL },
		{ "share", HT_RATIO, HT_MEASURE, "share", NULL } };
	static const char *const messages[] = { "column ns (0) is drawn", NULL,
		"column none (2) is drawn" };
	for (size_t i = 0; i < HT_COUNT(messages); i++) {
		ht_table *t;
		assert_ok(ht_table_new(*state, "Steps", columns, 2, &t));
		ht_table_set_bar(t, i);
		assert_int_equal(ht_table_finish(*state, t), messages[i] ? HT_INTERNAL : HT_OK);
		if (messages[i])
			assert_non_null(strstr(ht_error(*state)->message, messages[i]));
		else
			assert_int_equal(ht_table_bar(t), i);
		ht_error_clear(*state);
		ht_table_free(t);
	}
}

static void test_columns_only_before_rows(void **state)
{
	static const struct ht_column late = { "late", HT_I64, HT_DETAIL, "late", NULL };
	ht_table *t;
	assert_ok(ht_table_new(*state, "t", every_type, 2, &t));
	assert_ok(ht_table_add_column(t, &late));
	assert_int_equal(ht_table_find_column(t, "late"), 2);
	assert_true(ht_table_find_column(t, "none") == SIZE_MAX);
	ht_table_row(t);
	assert_int_equal(ht_table_add_column(t, &late), HT_USAGE);
	assert_int_equal(ht_table_finish(*state, t), HT_USAGE);
	assert_non_null(strstr(ht_error(*state)->message, "has rows"));
	ht_table_free(t);
}

static enum ht_status build(ht_ctx *ctx)
{
	ht_table *t;
	HT_TRY(ht_table_new(ctx, "t", every_type, HT_COUNT(every_type), &t));
	enum ht_status status = ht_table_add_note(t, "note %d", 1);
	char name[32];
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "kernel \xff %d", i);
		put_row(t, i % 7 ? name : NULL, i, i);
	}
	if (status == HT_OK)
		status = ht_table_finish(ctx, t);
	ht_table_free(t);
	return status;
}

static void test_each_allocation_may_fail(void **state)
{
	ht_ctx *ctx = *state;
	for (int n = 1; n < 1000; n++) {
		ht_error_clear(ctx);
		atomic_store(&ctx->mem->fail_in, n);
		enum ht_status status = build(ctx);
		bool fired = atomic_load(&ctx->mem->fail_in) <= 0;
		atomic_store(&ctx->mem->fail_in, 0);
		if (!fired) {
			assert_ok(status);
			assert_in_range(n, 20, 999);
			return;
		}
		/* Giving back unused memory may fail silently; nothing else may. */
		if (status != HT_OK) {
			assert_int_equal(status, HT_NOMEM);
			assert_string_equal(ht_error(ctx)->message, "out of memory");
		}
		uint64_t now, peak;
		ht_ctx_memory(ctx, &now, &peak);
		assert_int_equal(now, 0);
	}
	fail_msg("never ran out of allocations");
}

static void test_memory_limit(void **state)
{
	ht_ctx *ctx = *state;
	ht_ctx_set_memory_limit(ctx, 3000);
	assert_int_equal(build(ctx), HT_LIMIT);
	assert_non_null(strstr(ht_error(ctx)->message, "3000"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_ctx, teardown_ctx)

/* The unit goes, unless another column is called so then, before or after it. */
static void test_labels_tell_columns_apart(void **state)
{
	static const struct ht_column columns[] = { { "cause", HT_STR, HT_KEY, "", NULL },
		{ "cause_ns", HT_DURATION, HT_MEASURE, "", NULL },
		{ "late_ns", HT_DURATION, HT_MEASURE, "", NULL },
		{ "late", HT_BOOL, HT_MEASURE, "", NULL },
		{ "control_ns", HT_DURATION, HT_MEASURE, "", NULL },
		{ "size_bytes", HT_BYTES, HT_MEASURE, "", NULL } };
	static const char *const labels[] = { "cause", "cause_ns", "late_ns", "late", "baseline",
		"size" };
	ht_table *t;
	assert_ok(ht_table_new(*state, "t", columns, HT_COUNT(columns), &t));
	for (size_t i = 0; i < HT_COUNT(columns); i++)
		assert_string_equal(ht_table_column_label(t, i), labels[i]);
	assert_null(ht_table_column_label(t, HT_COUNT(columns)));
	ht_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_type_reads_back),
		TEST(test_wrong_type_and_range_read_as_nothing),
		TEST(test_null_is_not_empty),
		TEST(test_what_is_not_finite_is_null),
		TEST(test_a_put_fits_its_column_or_fails),
		TEST(test_a_row_has_each_cell_once_and_in_order),
		TEST(test_a_fault_sticks),
		TEST(test_text_is_made_valid_and_stored_once),
		TEST(test_million_rows),
		TEST(test_outlives_its_context),
		TEST(test_a_bar_is_a_column_of_shares),
		TEST(test_columns_only_before_rows),
		TEST(test_labels_tell_columns_apart),
		TEST(test_each_allocation_may_fail),
		TEST(test_memory_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
