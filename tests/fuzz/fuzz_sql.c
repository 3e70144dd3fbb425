/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_sql.c - any text as a query.
 *
 * Mistakes are HT_USAGE with a message, what takes too long or too much is HT_LIMIT; nothing may crash, leave memory
 * behind or write a file. ht_sql_statement never answers more bytes than there are.
 */
#include "fuzz.h"
#include "holotrace/own.h"

static const char sql_trace[] =
        "{\"schemaVersion\": 1, \"traceEvents\": [\n"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 9, \"tid\": 9, \"ts\": 1, \"dur\": 9,"
        " \"args\": {\"External id\": 3, \"f\": 0.5, \"Id\": \"x\", \"b\": true}},\n"
        "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 9, \"tid\": 9, \"ts\": 2,"
        " \"dur\": 1, \"args\": {\"correlation\": 7, \"External id\": 3}},\n"
        "{\"ph\": \"i\", \"name\": \"\", \"pid\": \"p\", \"tid\": \"t\", \"ts\": -1},\n"
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclKernel\", \"pid\": 0, \"tid\": 7, \"ts\": 5, \"dur\": 2,"
        " \"args\": {\"correlation\": 7, \"stream\": 7, \"device\": 0, \"Id\": 18446744073709551615}}]}\n";

static struct {
	ht_ctx *ctx;
	ht_set *set;
} sql;

static void sql_done(void)
{
	ht_close(sql.set);
	fuzz_ctx_done(sql.ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!sql.ctx) {
		sql.ctx = fuzz_ctx(1);
		const char *path = fuzz_file(sql_trace, sizeof sql_trace - 1, NULL, 0);
		FUZZ_REQUIRE(fuzz_open(sql.ctx, path, 0, NULL, &sql.set) == HT_OK);
		atexit(sql_done);
	}
	char *query = malloc(size + 1);
	FUZZ_REQUIRE(query);
	memcpy(query, data, size);
	query[size] = 0;
	FUZZ_REQUIRE(ht_sql_statement(query) <= strlen(query));
	struct ht_arg param = { "x", "7" };
	struct ht_sql_options options = { .struct_size = sizeof options,
		.timeout_ms = 500,
		.max_rows = 1000,
		.params = &param,
		.n_params = 1 };
	ht_table *table;
	enum ht_status status = ht_sql(sql.ctx, sql.set, query, &options, &table);
	FUZZ_REQUIRE(status == HT_OK || status == HT_USAGE || status == HT_LIMIT ||
	             status == HT_MISSING);
	if (status == HT_OK) {
		FUZZ_REQUIRE(ht_table_n_rows(table) <= 1000);
		struct fuzz_text text = { 0 };
		struct ht_sink sink = { fuzz_append, &text };
		FUZZ_REQUIRE(ht_render(sql.ctx, table, "csv", NULL, &sink) == HT_OK);
		free(text.bytes);
		ht_table_free(table);
	} else {
		FUZZ_REQUIRE(*ht_error(sql.ctx)->message);
	}
	free(query);
	return 0;
}
