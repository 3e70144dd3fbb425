/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_test.c - where, sort, top and columns: what they keep, in which order, and what they refuse.
 */
#include "table/table_test_help.h"

#include "base/literal.h"
#include "base/mem.h"

#include <stdio.h>

static const struct ht_column columns[] = {
	{ "name", HT_STR, HT_KEY, "name", NULL },
	{ "stream", HT_I64, HT_KEY, "stream", NULL },
	{ "id", HT_U64, HT_DETAIL, "id", NULL },
	{ "ts_ns", HT_TIME, HT_DETAIL, "start", NULL },
	{ "dur_ns", HT_DURATION, HT_MEASURE, "duration", NULL },
	{ "size_bytes", HT_BYTES, HT_MEASURE, "size", NULL },
	{ "share", HT_RATIO, HT_MEASURE, "share", NULL },
	{ "is_comm", HT_BOOL, HT_MEASURE, "communicates", NULL },
};

static const struct row {
	const char *name;
	int64_t stream;
	uint64_t id;
	int64_t ts_ns, dur_ns, size_bytes;
	double share;
	bool is_comm;
} rows[] = {
	{ "gemm", 7, UINT64_MAX, 1697123456123456789, 1500000, 65536, 0.125, false },
	{ "nccl_reduce", 20, 1, 1697123456123456790, 999, 0, 0.5, true },
	{ "nccl_gather", 20, UINT64_MAX - 1, 1697123456123456791, 2000000, 65535, 0.25, true },
	{ NULL, -1, 0, 0, -5, 1, -0.0, false },
	{ "Add <int>", 7, 9, 5, 0, 1 << 30, 0.0, false },
};

static ht_table *sample(ht_ctx *ctx)
{
	ht_table *t;
	assert_ok(ht_table_new(ctx, "t", columns, HT_COUNT(columns), &t));
	for (size_t i = 0; i < HT_COUNT(rows); i++) {
		const struct row *r = &rows[i];
		ht_table_row(t);
		ht_table_put_str(t, 0, r->name);
		ht_table_put_i64(t, 1, r->stream);
		ht_table_put_i64(t, 2, (int64_t)r->id);
		ht_table_put_i64(t, 3, r->ts_ns);
		ht_table_put_i64(t, 4, r->dur_ns);
		ht_table_put_i64(t, 5, r->size_bytes);
		ht_table_put_f64(t, 6, r->share);
		ht_table_put_i64(t, 7, r->is_comm);
	}
	assert_ok(ht_table_finish(ctx, t));
	return t;
}

/* Row numbers of the sample that remain, as digits: found by dur_ns, which is unique. */
static const char *kept(const ht_table *t)
{
	static char text[16];
	size_t column = ht_table_find_column(t, "dur_ns"), n = 0;
	for (size_t i = 0; i < ht_table_n_rows(t); i++)
		for (size_t k = 0; k < HT_COUNT(rows); k++)
			if (rows[k].dur_ns == ht_table_i64(t, i, column))
				text[n++] = (char)('0' + k);
	text[n] = '\0';
	return text;
}

static void check_view(ht_ctx *ctx, struct ht_view view, const char *want)
{
	ht_table *t = sample(ctx);
	ht_error_clear(ctx);
	if (ht_table_apply_view(ctx, t, &view) != HT_OK)
		fail_msg("%s: %s", view.where ? view.where : view.sort, ht_error(ctx)->message);
	if (strcmp(kept(t), want) != 0)
		fail_msg("%s keeps %s, not %s", view.where ? view.where : view.sort, kept(t), want);
	ht_table_free(t);
}

static const struct {
	const char *where, *want;
} where_cases[] = {
	{ "", "01234" },
	{ "  ", "01234" },
	{ "stream == 7", "04" },
	{ "stream = 7", "04" },
	{ "stream==7", "04" },
	{ "stream != 7", "123" },
	{ "stream < 0", "3" },
	{ "stream >= -1", "01234" },
	{ "stream <= 7.5", "034" },
	{ "stream > 6.5 and stream < 7.5", "04" },
	{ "stream == 7.5", "" },
	{ "stream != 7.5", "01234" },
	{ "id == 18446744073709551615", "0" },
	{ "id >= 18446744073709551614", "02" },
	{ "id < 18446744073709551614", "134" },
	{ "id >= -5", "01234" },
	{ "id > 99999999999999999999", "" },
	{ "ts_ns == 1697123456123456790", "1" },
	{ "ts_ns > 1697123456.123456790s", "2" },
	{ "dur_ns > 1ms", "02" },
	{ "dur > 1ms", "02" },
	{ "dur_ns > 1 ms and stream == 20", "2" },
	{ "dur_ns >= 1.5ms", "02" },
	{ "dur_ns < 1us", "134" },
	{ "dur_ns < 0.999\xc2\xb5s", "34" },
	{ "dur_ns == 2e6", "2" },
	{ "dur_ns == 20e-1ms", "2" },
	{ "dur_ns > 0.0015s", "2" },
	{ "size_bytes >= 64KiB", "04" },
	{ "size_bytes >= 64 KB", "024" },
	{ "size_bytes == 1 GiB", "4" },
	{ "size_bytes == 1B", "3" },
	{ "share > 12.5%", "12" },
	{ "share >= 12.5 %", "012" },
	{ "share >= 0.25", "12" },
	{ "share == 0", "34" },
	{ "share != 0", "012" },
	{ "share < 0", "" },
	{ "is_comm == true", "12" },
	{ "is_comm != yes", "034" },
	{ "is_comm == 0", "034" },
	{ "name ~ nccl", "12" },
	{ "name !~ nccl", "04" },
	{ "not name ~ nccl", "04" },
	{ "name ~ /^nccl_(reduce|scatter)$/", "1" },
	{ "name !~ /^nccl/", "04" },
	{ "name == gemm", "0" },
	{ "name == \"Add <int>\"", "4" },
	{ "name == 'Add <int>'", "4" },
	{ "'name' == gemm", "0" },
	{ "name ~ '<'", "4" },
	{ "name > gemm", "12" },
	{ "name <= gemm", "04" },
	{ "name is null", "3" },
	{ "name is not null", "0124" },
	{ "name IS NULL OR stream == 20", "123" },
	{ "name != gemm", "124" },
	{ "not (name == gemm)", "124" },
	{ "not not name == gemm", "0" },
	{ "name == gemm or name is null and stream == 7", "0" },
	{ "(name == gemm or name is null) and stream == -1", "3" },
	{ "not (name == gemm and stream == 8)", "01234" },
	{ "(((stream == 7)))", "04" },
};

static void test_where(void **state)
{
	for (size_t i = 0; i < HT_COUNT(where_cases); i++)
		check_view(*state, (struct ht_view){ .where = where_cases[i].where },
		        where_cases[i].want);
}

static void test_sort(void **state)
{
	static const struct {
		const char *sort, *want;
	} cases[] = {
		{ "", "01234" },
		{ "dur_ns", "34102" },
		{ "-dur_ns", "20143" },
		{ "+dur", "34102" },
		{ "name", "40213" },
		{ "-name", "12043" },
		{ "-stream", "12043" },
		{ "stream,-dur_ns", "30421" },
		{ " -stream , name ", "21403" },
		{ "id", "31420" },
		{ "-id", "02413" },
		{ "share", "34021" },
		{ "-share,stream", "12034" },
		{ "is_comm", "03412" },
		{ "ts_ns", "34012" },
	};
	for (size_t i = 0; i < HT_COUNT(cases); i++)
		check_view(*state, (struct ht_view){ .sort = cases[i].sort }, cases[i].want);
}

static void test_all_together_in_their_order(void **state)
{
	ht_ctx *ctx = *state;
	ht_table *t = sample(ctx);
	ht_table_set_bar(t, ht_table_find_column(t, "share"));
	struct ht_view view = { .columns = "share,*_ns,name,share",
		.where = "stream > 0",
		.sort = "-dur_ns",
		.top = 3 };
	assert_ok(ht_table_apply_view(ctx, t, &view));
	assert_int_equal(ht_table_n_columns(t), 4);
	assert_string_equal(ht_table_column(t, 0)->name, "share");
	assert_string_equal(ht_table_column(t, 1)->name, "ts_ns");
	assert_string_equal(ht_table_column(t, 2)->name, "dur_ns");
	assert_string_equal(ht_table_column(t, 3)->name, "name");
	assert_string_equal(kept(t), "201");
	assert_string_equal(ht_table_str(t, 0, 3), "nccl_gather");
	assert_int_equal(ht_table_n_hidden(t), 1);
	assert_int_equal(t->bar, 0);
	ht_table_free(t);
	t = sample(ctx);
	assert_ok(ht_table_apply_view(ctx, t, NULL));
	assert_ok(ht_table_apply_view(ctx, t, &(struct ht_view){ .columns = "dur", .top = 99 }));
	assert_string_equal(kept(t), "01234");
	assert_int_equal(ht_table_n_hidden(t), 0);
	ht_table_free(t);
}

static void test_refusals(void **state)
{
	ht_ctx *ctx = *state;
	static const struct {
		struct ht_view view;
		enum ht_status status;
		const char *message, *hint;
	} cases[] = {
		{ { .where = "dur_nz > 1" }, HT_USAGE,
		        "unknown column \"dur_nz\"; columns are name, stream",
		        "did you mean dur_ns?" },
		{ { .where = "zzzzzzzz > 1" }, HT_USAGE, "unknown column", NULL },
		{ { .sort = "-bytes" }, HT_USAGE, "unknown column", "did you mean size_bytes?" },
		{ { .columns = "name,x*" }, HT_USAGE, "unknown column \"x*\"", NULL },
		{ { .columns = " , " }, HT_USAGE, "empty list", NULL },
		{ { .where = "stream" }, HT_USAGE, "expected an operator", "as in" },
		{ { .where = "stream ==" }, HT_USAGE, "expected a value at the end", "as in" },
		{ { .where = "stream == 7 7" }, HT_USAGE, "expected and or or at character 13",
		        "as in" },
		{ { .where = "(stream == 7" }, HT_USAGE, "expected and, or, or )", "as in" },
		{ { .where = "stream == 7)" }, HT_USAGE, "before \")\"", "as in" },
		{ { .where = "name == \"x" }, HT_USAGE, "expected a closing quote", "as in" },
		{ { .where = "name ~ /x" }, HT_USAGE, "expected a closing /", "as in" },
		{ { .where = "name ~ /(/" }, HT_USAGE, "name ~ (", NULL },
		{ { .where = "name is 5" }, HT_USAGE, "expected null or not null", "as in" },
		{ { .where = "stream ~ 7" }, HT_USAGE, "~ searches text", NULL },
		{ { .where = "stream == abc" }, HT_USAGE, "not a number", NULL },
		{ { .where = "dur_ns > 5MiB" }, HT_USAGE, "unit does not fit", NULL },
		{ { .where = "stream > 5ms" }, HT_USAGE, "unit does not fit", NULL },
		{ { .where = "name ~ /(a{1,255}){1,255}/" }, HT_LIMIT, "written out", "shorter" },
		{ { .where = "name ~ /(a*)\\1/" }, HT_LIMIT, "written out", "shorter" },
	};
	for (size_t i = 0; i < HT_COUNT(cases); i++) {
		ht_table *t = sample(ctx);
		ht_error_clear(ctx);
		assert_int_equal(ht_table_apply_view(ctx, t, &cases[i].view), cases[i].status);
		const struct ht_error *error = ht_error(ctx);
		if (!strstr(error->message, cases[i].message))
			fail_msg("\"%s\" lacks \"%s\"", error->message, cases[i].message);
		if (!cases[i].hint != !error->hint ||
		        (error->hint && !strstr(error->hint, cases[i].hint)))
			fail_msg("case %zu: hint is %s", i, error->hint ? error->hint : "(none)");
		ht_table_free(t);
	}
}

static void check_limit(
        ht_ctx *ctx, const char *before, const char *unit, size_t n, const char *after)
{
	char *where = calloc(1, strlen(before) + n * strlen(unit) + strlen(after) + 1);
	assert_non_null(where);
	strcpy(where, before);
	char *end = where + strlen(where);
	for (size_t i = 0; i < n; i++)
		end = stpcpy(end, unit);
	strcpy(end, after);
	ht_table *t = sample(ctx);
	ht_error_clear(ctx);
	assert_int_equal(
	        ht_table_apply_view(ctx, t, &(struct ht_view){ .where = where }), HT_LIMIT);
	ht_table_free(t);
	free(where);
}

static void test_limits(void **state)
{
	check_limit(*state, "", "(", 65, "stream == 7");
	check_limit(*state, "", "not ", 1000, "stream == 7");
	check_limit(*state, "stream == 7", " or stream == 7", 1000, "");
	check_limit(*state, "name == ", "x", 70000, "");
	check_limit(*state, "name ~ /", "x", 2000, "/");
}

static void test_names_of_a_view(void **state)
{
	ht_ctx *ctx = *state;
	struct ht_arena arena;
	const char *const *names;
	size_t n;
	ht_arena_init(&arena, ctx->mem);
	struct ht_view view = { .columns = "name, args.x",
		.where = "dur_ns > 1ms and not (q is null or name ~ /x/)",
		.sort = "-sum_ns,name" };
	assert_ok(ht_view_columns(ctx, &view, &arena, &names, &n));
	const char *const want[] = { "name", "args.x", "dur_ns", "q", "sum_ns" };
	assert_int_equal(n, HT_COUNT(want));
	for (size_t i = 0; i < n; i++)
		assert_string_equal(names[i], want[i]);
	assert_ok(ht_view_columns(ctx, NULL, &arena, &names, &n));
	assert_int_equal(n, 0);
	view.where = "(";
	assert_int_equal(ht_view_columns(ctx, &view, &arena, &names, &n), HT_USAGE);
	ht_arena_done(&arena);
}

static void test_million_rows(void **state)
{
	ht_ctx *ctx = *state;
	ht_table *t;
	assert_ok(ht_table_new(ctx, "t", columns, 2, &t));
	uint64_t x = 1;
	for (int i = 0; i < 1000000; i++) {
		char name[32];
		x = x * 6364136223846793005u + 1442695040888963407u;
		snprintf(name, sizeof name, "k%d", (int)(x >> 33) % 1000);
		ht_table_row(t);
		ht_table_put_str(t, 0, i % 1000 ? name : NULL);
		ht_table_put_i64(t, 1, (int64_t)(x >> 20) - ((int64_t)1 << 43));
	}
	struct ht_view view = { .where = "name is null or stream > 0", .sort = "name,-stream" };
	assert_ok(ht_table_finish(ctx, t));
	assert_ok(ht_table_apply_view(ctx, t, &view));
	assert_in_range(ht_table_n_rows(t), 450000, 550000);
	for (size_t i = 1; i < ht_table_n_rows(t); i++) {
		bool null_before = ht_table_is_null(t, i - 1, 0),
		     null_now = ht_table_is_null(t, i, 0);
		int order = strcmp(ht_table_str(t, i - 1, 0), ht_table_str(t, i, 0));
		assert_true(null_now || !null_before);
		if (null_now != null_before)
			continue;
		assert_true(order <= 0);
		if (!order)
			assert_true(ht_table_i64(t, i - 1, 1) >= ht_table_i64(t, i, 1));
	}
	assert_true(ht_table_is_null(t, ht_table_n_rows(t) - 1, 0));
	ht_table_free(t);
}

static void test_each_allocation_may_fail(void **state)
{
	ht_ctx *ctx = *state;
	struct ht_view view = { .columns = "name,dur_ns",
		.where = "name ~ /^n/ or (stream == 7 and name ~ x)",
		.sort = "name,-id",
		.top = 2 };
	for (int n = 1; n < 1000; n++) {
		ht_table *t = sample(ctx);
		ht_error_clear(ctx);
		atomic_store(&ctx->mem->fail_in, n);
		enum ht_status status = ht_table_apply_view(ctx, t, &view);
		bool fired = atomic_load(&ctx->mem->fail_in) <= 0;
		atomic_store(&ctx->mem->fail_in, 0);
		if (status == HT_OK)
			assert_string_equal(kept(t), "21");
		else
			assert_int_equal(status, HT_NOMEM);
		ht_table_free(t);
		if (!fired) {
			assert_ok(status);
			return;
		}
	}
	fail_msg("never ran out of allocations");
}

static void test_literals(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		double value;
	} good[] = { { "0", 0 }, { "-1.5ms", -1.5e6 }, { "+2us", 2000 }, { ".5", 0.5 },
		{ "1e3", 1000 }, { "1E-2s", 1e7 }, { "12.5%", 0.125 },
		{ "3TiB", 3.0 * ((int64_t)1 << 40) } };
	static const char *const bad[] = { "", "-", ".", "ms", "1x", "1e", "1ms2", "1e99", "0x10",
		"1 2", "123456789012345678901234567890", "nan", "inf", "1..2", "--1" };
	struct ht_literal literal;
	for (size_t i = 0; i < HT_COUNT(good); i++) {
		assert_true(ht_literal_parse(good[i].text, &literal));
		assert_f64(ht_literal_f64(&literal), good[i].value);
	}
	for (size_t i = 0; i < HT_COUNT(bad); i++)
		if (ht_literal_parse(bad[i], &literal))
			fail_msg("\"%s\" is taken for a number", bad[i]);
	assert_true(ht_literal_parse("-1.5", &literal));
	assert_int_equal((int)ht_literal_floor(&literal), -2);
	assert_int_equal((int)ht_literal_ceil(&literal), -1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_ctx, teardown_ctx)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_where),
		TEST(test_sort),
		TEST(test_all_together_in_their_order),
		TEST(test_refusals),
		TEST(test_limits),
		TEST(test_names_of_a_view),
		TEST(test_million_rows),
		TEST(test_each_allocation_may_fail),
		TEST(test_literals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
