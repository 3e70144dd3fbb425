/* SPDX-License-Identifier: Apache-2.0 */
/*
 * append_test.c - tables after each other, as bytes and back, and as views.
 */
#include "table/table_bytes.h"
#include "table/table_test_help.h"

static ht_table *make(ht_ctx *ctx, const struct ht_column *columns, size_t n)
{
	ht_table *table;
	assert_ok(ht_table_new(ctx, "t", columns, n, &table));
	return table;
}

static void test_columns_are_matched_by_name(void **state)
{
	ht_ctx *ctx = *state;
	static const struct ht_column left[] = { { "a", HT_I64, HT_KEY, "a", NULL },
		{ "x", HT_I64, HT_KEY, "x", NULL }, { "y", HT_F64, HT_KEY, "y", NULL } };
	static const struct ht_column right[] = { { "x", HT_STR, HT_KEY, "x", NULL },
		{ "b", HT_STR, HT_KEY, "b", NULL }, { "y", HT_I64, HT_KEY, "y", NULL } };
	ht_table *one = make(ctx, left, 3), *two = make(ctx, right, 3);
	ht_table *both = make(ctx, left, 3);
	ht_table_row(one);
	ht_table_put_i64(one, 0, 1);
	ht_table_put_i64(one, 1, 12);
	ht_table_put_f64(one, 2, 0.5);
	assert_ok(ht_table_finish(ctx, one));
	ht_table_row(two);
	ht_table_put_str(two, 0, "twelve");
	ht_table_put_str(two, 1, "b");
	ht_table_put_i64(two, 2, 3);
	assert_ok(ht_table_finish(ctx, two));
	assert_ok(ht_table_append(both, one, NULL));
	assert_ok(ht_table_append(both, two, NULL));
	assert_ok(ht_table_append(both, one, NULL));
	assert_ok(ht_table_finish(ctx, both));
	struct memory_sink csv = render(ctx, both, "csv", NULL);
	assert_string_equal(csv.data, "a,x,y,b\n1,12,0.5,\n,twelve,3,b\n1,12,0.5,\n");
	free(csv.data);
	ht_table_free(one);
	ht_table_free(two);
	ht_table_free(both);
}

static void test_times_move_with_the_clock(void **state)
{
	ht_ctx *ctx = *state;
	static const struct ht_column columns[] = { { "t", HT_TIME, HT_KEY, "t", NULL },
		{ "own", HT_TIME, HT_KEY, "t", NULL }, { "d", HT_DURATION, HT_KEY, "d", NULL } };
	ht_table *one = make(ctx, columns, 3), *all = make(ctx, columns, 3);
	ht_table_keep_clock(one, 1);
	for (int i = 0; i < 2; i++) {
		ht_table_row(one);
		ht_table_put_known(one, 0, i, 1);
		ht_table_put_i64(one, 1, 5);
		ht_table_put_i64(one, 2, 7);
	}
	assert_ok(ht_table_finish(ctx, one));
	assert_ok(ht_table_append(all, one, &(struct ht_time_move){ .shift_ns = 100 }));
	assert_ok(ht_table_finish(ctx, all));
	struct memory_sink csv = render(ctx, all, "csv", NULL);
	assert_string_equal(csv.data, "t,own,d\n100,5,7\n,5,7\n");
	free(csv.data);
	ht_table_free(one);
	ht_table_free(all);
}

static const struct ht_column of_takers[] = { { "t", HT_TIME, HT_KEY, "t", NULL },
	{ "name", HT_STR, HT_KEY, "n", NULL }, { "x", HT_I64, HT_KEY, "x", NULL } };

static ht_table *make_taken(ht_ctx *ctx, int64_t t, const char *name)
{
	ht_table *table = make(ctx, of_takers, 3);
	for (int i = 0; i < 2; i++) {
		ht_table_row(table);
		ht_table_put_known(table, 0, t + i, 5);
		ht_table_put_str(table, 1, i ? "both" : name);
		ht_table_put_i64(table, 2, i);
	}
	assert_ok(ht_table_add_note(table, "of %s", name));
	assert_ok(ht_table_finish(ctx, table));
	return table;
}

/* Taken rows are those that would have been appended, and the sources may go; one that others have stays as it is. */
static void test_rows_are_taken(void **state)
{
	ht_ctx *ctx = *state;
	const struct ht_time_move move = { .shift_ns = 100 };
	ht_table *appended = make(ctx, of_takers, 2), *taken = make(ctx, of_takers, 2);
	for (int round = 0; round < 2; round++) {
		ht_table *each[] = { make_taken(ctx, 4, "one"), make_taken(ctx, 7, "two"),
			make_taken(ctx, 9, "shared") };
		ht_table *other = ht_table_retain(each[2]);
		for (size_t i = 0; i < HT_COUNT(each); i++) {
			assert_ok(ht_table_append(appended, each[i], &move));
			assert_ok(ht_table_take(taken, each[i], &move));
			assert_int_equal(ht_table_n_rows(each[i]), i == 2 ? 2 : 0);
			ht_table_free(each[i]);
		}
		ht_table_free(other);
	}
	ht_table_row(appended);
	ht_table_row(taken);
	ht_table_put_i64(appended, 0, 1);
	ht_table_put_i64(taken, 0, 1);
	ht_table_put_str(appended, 1, "last");
	ht_table_put_str(taken, 1, "last");
	ht_table_put_null(appended, 2);
	ht_table_put_null(taken, 2);
	assert_ok(ht_table_finish(ctx, appended));
	assert_ok(ht_table_finish(ctx, taken));
	struct memory_sink want = render(ctx, appended, "json", NULL);
	struct memory_sink got = render(ctx, taken, "json", NULL);
	assert_non_null(strstr(got.data, "shared"));
	assert_string_equal(got.data, want.data);
	free(want.data);
	free(got.data);
	ht_table_free(appended);
	ht_table_free(taken);
}

static void test_rows_can_follow_what_was_appended(void **state)
{
	ht_ctx *ctx = *state;
	static const struct ht_column columns[] = { { "s", HT_STR, HT_KEY, "s", NULL } };
	ht_table *one = make(ctx, columns, 1), *all = make(ctx, columns, 1);
	ht_table_row(one);
	ht_table_put_str(one, 0, "x");
	assert_ok(ht_table_finish(ctx, one));
	for (int i = 0; i < 100; i++) {
		assert_ok(ht_table_append(all, one, NULL));
		ht_table_row(all);
		ht_table_put_str(all, 0, "y");
	}
	assert_ok(ht_table_finish(ctx, all));
	assert_int_equal(ht_table_n_rows(all), 200);
	for (size_t row = 0; row < 200; row++)
		assert_string_equal(ht_table_str(all, row, 0), row % 2 ? "y" : "x");
	ht_table_free(one);
	ht_table_free(all);
}

static void test_a_table_survives_being_bytes(void **state)
{
	ht_ctx *ctx = *state;
	ht_table *table = every_type_table(ctx), *back;
	struct ht_bytes_out out = { .mem = ctx->mem };
	ht_table_pack(table, &out);
	assert_false(out.failed);
	struct ht_bytes_in in = { out.bytes.data, out.bytes.n, false };
	assert_ok(ht_table_unpack(ctx, &in, &back));
	assert_int_equal(in.n, 0);
	struct memory_sink before = render(ctx, table, "json", NULL);
	struct memory_sink after = render(ctx, back, "json", NULL);
	assert_string_equal(before.data, after.data);
	for (size_t n = 0; n < out.bytes.n; n++) {
		ht_table *none = NULL;
		struct ht_bytes_in cut = { out.bytes.data, n, false };
		assert_int_not_equal(ht_table_unpack(ctx, &cut, &none), HT_OK);
		ht_error_clear(ctx);
	}
	free(before.data);
	free(after.data);
	ht_table_free(back);
	ht_table_free(table);
	ht_vec_free(ctx->mem, &out.bytes, 1);
}

static void test_a_view_leaves_the_table_alone(void **state)
{
	ht_ctx *ctx = *state;
	static const struct ht_column columns[] = { { "n", HT_I64, HT_KEY, "n", NULL } };
	ht_table *table = make(ctx, columns, 1), *view;
	for (int i = 0; i < 10; i++) {
		ht_table_row(table);
		ht_table_put_i64(table, 0, i);
	}
	assert_ok(ht_table_finish(ctx, table));
	struct ht_view second = { .sort = "-n", .top = 3, .offset = 3 };
	assert_ok(ht_table_view(ctx, table, &second, &view));
	assert_int_equal(ht_table_n_rows(view), 3);
	assert_int_equal(ht_table_i64(view, 0, 0), 6);
	assert_int_equal(ht_table_i64(view, 2, 0), 4);
	assert_int_equal(ht_table_n_rows(table), 10);
	ht_table_free(view);
	struct ht_view beyond = { .offset = 99 };
	assert_ok(ht_table_view(ctx, table, &beyond, &view));
	assert_int_equal(ht_table_n_rows(view), 0);
	ht_table_free(view);
	ht_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_are_matched_by_name),
		cmocka_unit_test(test_times_move_with_the_clock),
		cmocka_unit_test(test_rows_are_taken),
		cmocka_unit_test(test_rows_can_follow_what_was_appended),
		cmocka_unit_test(test_a_table_survives_being_bytes),
		cmocka_unit_test(test_a_view_leaves_the_table_alone),
	};
	return cmocka_run_group_tests(tests, setup_ctx, teardown_ctx);
}
