/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_index_test.c - rows by id, for ids that lie close, far apart, repeat, are negative, and are absent.
 */
#include "store/row_index.h"
#include "store/set.h"
#include "store/trace_refs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 1000 };

/* One operator per id, in this order; every fifth is an annotation, which is not asked for. */
static void write_trace(const char *path, const int64_t *ids)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs("{\"schemaVersion\":1,\"traceEvents\":[", file);
	for (int i = 0; i < N; i++)
		fprintf(file,
		        "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"x\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1,"
		        "\"args\":{\"id\":%" PRId64 "}}",
		        i ? "," : "", i % 5 ? "cpu_op" : "user_annotation", i, ids[i]);
	fputs("]}", file);
	fclose(file);
}

static void check_value(struct ht_row_index *index, const int64_t *ids, int64_t value)
{
	size_t n, n_all, k = 0;
	const uint32_t *all = ht_row_index_find(index, value, N, &n_all);
	for (uint32_t row = 0; row < N; row++)
		if (ids[row] == value && row % 5) {
			assert_true(k < n_all);
			assert_int_equal(all[k++], row);
		}
	assert_int_equal(k, n_all);
	ht_row_index_find(index, value, 1, &n);
	assert_int_equal(n, n_all != 0);
}

/* Without an index the same rows are found. */
static void check_scan(
        ht_ctx *ctx, const struct ht_trace *trace, struct ht_row_index *index, int64_t value)
{
	struct ht_arena arena;
	size_t n, n_scanned;
	const uint32_t *rows = ht_row_index_find(index, value, SIZE_MAX, &n), *scanned = NULL;
	ht_arena_init(&arena, ctx->mem);
	struct ht_row_bounds bounds;
	assert_int_equal(ht_row_bounds_make(ctx, trace, "id", &arena, &bounds), HT_OK);
	assert_int_equal(ht_row_bounds_scan(ctx, trace, "id", &bounds, HT_KIND_BIT(HT_KIND_CPU_OP),
	                         value, &arena, &scanned, &n_scanned),
	        HT_OK);
	assert_int_equal(n_scanned, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(scanned[i], rows[i]);
	ht_arena_done(&arena);
}

static void check_with(const int64_t *ids, bool dense, int n_jobs, uint32_t range_rows)
{
	char path[64];
	const char *source = path;
	ht_ctx *ctx;
	ht_set *set;
	const struct ht_trace *trace;
	struct ht_arena arena;
	struct ht_row_index index;
	snprintf(path, sizeof path, "/tmp/holotrace-row-index-%d.json", (int)getpid());
	write_trace(path, ids);
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	assert_int_equal(ht_open(ctx, &source, 1, NULL, &set), HT_OK);
	assert_int_equal(ht_set_acquire(ctx, set, 0, &trace), HT_OK);
	ht_arena_init(&arena, ctx->mem);
	ht_ctx_set_jobs(ctx, n_jobs);
	ctx->range_rows = range_rows;
	assert_int_equal(
	        ht_row_index_make(ctx, trace, "id", HT_KIND_BIT(HT_KIND_CPU_OP), &arena, &index),
	        HT_OK);
	assert_int_equal(index.n, N - N / 5);
	assert_int_equal(index.first != NULL, dense);
	const uint32_t *rows;
	size_t at = 0, n, n_all = 0;
	for (int64_t last = INT64_MIN; ht_row_index_next(&index, &at, &rows, &n); n_all += n) {
		assert_true(!n_all || ids[rows[0]] > last);
		last = ids[rows[0]];
		for (size_t i = 1; i < n; i++)
			assert_true(ids[rows[i]] == last && rows[i] > rows[i - 1]);
	}
	assert_int_equal(n_all, index.n);
	/* a value from each place on: what begins before the next place */
	n_all = 0;
	for (size_t place = 0, n_places = ht_row_index_places(&index); place < n_places;
	        place += 7) {
		size_t end = place + 7 < n_places ? place + 7 : n_places;
		at = ht_row_index_from(&index, place);
		while (at < end && ht_row_index_next(&index, &at, &rows, &n))
			n_all += index.keys || at <= end ? n : 0;
	}
	assert_int_equal(n_all, index.n);
	for (int i = 0; i < N; i++)
		for (int64_t near = -2; near <= 2; near++)
			check_value(&index, ids, ids[i] + near);
	check_value(&index, ids, INT64_MIN);
	check_value(&index, ids, INT64_MAX);
	for (int i = 0; i < N; i++)
		for (int64_t near = -1; near <= 1; near++)
			check_scan(ctx, trace, &index, ids[i] + near);
	check_scan(ctx, trace, &index, INT64_MIN);
	check_scan(ctx, trace, &index, INT64_C(1) << 32);
	ht_arena_done(&arena);
	ht_trace_release(trace);
	ht_close(set);
	ht_ctx_free(ctx);
	unlink(path);
}

static void check(const int64_t *ids, bool dense)
{
	check_with(ids, dense, 1, 0);
	check_with(ids, dense, 1, 10);
	check_with(ids, dense, 3, 1);
	check_with(ids, dense, 4, 300);
}

static void finds_rows(void **state)
{
	static int64_t ids[N];
	(void)state;
	for (int i = 0; i < N; i++)
		ids[i] = i + 1;
	check(ids, true);
	for (int i = 0; i < N; i++)
		ids[i] = (i * 37) % N / 2 - 50; /* in disorder, twice each, around 0 */
	check(ids, true);
	for (int i = 0; i < N; i++)
		ids[i] = 7;
	check(ids, true);
	for (int i = 0; i < N; i++)
		ids[i] = (i * 37) % N / 3 * INT64_C(1000000007);
	check(ids, false);
	ids[1] = INT64_MIN + 5;
	ids[2] = INT64_MAX - 5;
	check(ids, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(finds_rows) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
