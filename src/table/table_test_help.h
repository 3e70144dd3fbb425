/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_test_help.h - what the tests of this folder share: a context, a table with
 * every type and every nasty value.
 */
#ifndef HT_TABLE_TEST_HELP_H
#define HT_TABLE_TEST_HELP_H

#include "base/sink_test_help.h"
#include "table/storage.h"
#include "table/table.h"

#define assert_ok(expr) assert_int_equal((expr), HT_OK)

#define assert_f64(got, want)                                                                      \
	do {                                                                                       \
		double got_ = (got), want_ = (want);                                               \
		if (got_ != want_)                                                                 \
			fail_msg("%s is %.17g, not %.17g", #got, got_, want_);                     \
	} while (0)

/* The table in a format; the caller frees data. */
static inline struct memory_sink render(ht_ctx *ctx, const ht_table *table, const char *format,
        const struct ht_render_options *options)
{
	struct memory_sink memory = { 0 };
	struct ht_sink sink = { memory_write, &memory };
	assert_ok(ht_render(ctx, table, format, options, &sink));
	return memory;
}

static inline int setup_ctx(void **state)
{
	ht_ctx *ctx;
	if (ht_ctx_new(&ctx) != HT_OK)
		return -1;
	*state = ctx;
	return 0;
}

/* Fails the test when it leaked. */
static inline int teardown_ctx(void **state)
{
	uint64_t now, peak;
	ht_ctx_memory(*state, &now, &peak);
	ht_ctx_free(*state);
	if (now)
		print_error("%llu bytes leaked\n", (unsigned long long)now);
	return now ? -1 : 0;
}

static const struct ht_column every_type[] = {
	{ "name", HT_STR, HT_KEY, "kernel's name", NULL },
	{ "count", HT_I64, HT_MEASURE, "number of launches", NULL },
	{ "id", HT_U64, HT_DETAIL, "correlation id", NULL },
	{ "rate", HT_F64, HT_MEASURE, "copy rate", "GB/s" },
	{ "is_comm", HT_BOOL, HT_MEASURE, "whether it communicates", NULL },
	{ "ts_ns", HT_TIME, HT_DETAIL, "first start", NULL },
	{ "dur_ns", HT_DURATION, HT_MEASURE, "time it ran", NULL },
	{ "mean_ns", HT_DURATION_F64, HT_MEASURE, "mean time it ran", NULL },
	{ "size_bytes", HT_BYTES, HT_MEASURE, "bytes moved", NULL },
	{ "share", HT_RATIO, HT_MEASURE, "of GPU busy time", NULL },
};

/* One row of every type; name NULL makes the row null throughout. */
static inline void put_row(ht_table *table, const char *name, int64_t n, double x)
{
	ht_table_row(table);
	if (!name) {
		ht_table_put_nulls_to_end(table, 0);
		return;
	}
	ht_table_put_str(table, 0, name);
	ht_table_put_i64(table, 1, n);
	ht_table_put_i64(table, 2, (int64_t)(UINT64_MAX - (uint64_t)n));
	ht_table_put_f64(table, 3, x);
	ht_table_put_i64(table, 4, n & 1);
	ht_table_put_i64(table, 5, 1700000000000000000 + n % 1000);
	ht_table_put_i64(table, 6, n);
	ht_table_put_f64(table, 7, x * 1000);
	ht_table_put_i64(table, 8, n);
	ht_table_put_f64(table, 9, x / 100);
}

static inline ht_table *every_type_table(ht_ctx *ctx)
{
	ht_table *table;
	assert_ok(ht_table_new(ctx, "Kernels", every_type, HT_COUNT(every_type), &table));
	assert_ok(ht_table_set_method(table, "share of GPU busy time"));
	put_row(table, "ncclDevKernel_AllReduce", 3070, 12.4);
	put_row(table, "a,\"b\"\n\x1b[31m|<script>&", -1234567, -0.1);
	put_row(table, NULL, 0, 0);
	put_row(table, "", 0, 0);
	put_row(table, "\xc3\xa9t\xc3\xa9 \xff\xe2\x80\xae", INT64_MAX, 1.0 / 3);
	assert_ok(ht_table_add_note(table, "%d of %s", 3, "<many>"));
	ht_table_set_bar(table, ht_table_find_column(table, "share"));
	assert_ok(ht_table_finish(ctx, table));
	return table;
}

#endif
