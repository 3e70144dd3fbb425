/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_where.c - any text as a view: filter, sort order, columns.
 *
 * The input's lines are where, sort and columns. Bad ones are HT_USAGE with a message; none may crash,
 * and a filter alone never adds rows.
 */
#include "fuzz.h"

static const char where_trace[] =
        "{\"schemaVersion\": 1, \"traceEvents\": [\n"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 9, \"tid\": 9, \"ts\": 1.5, \"dur\": 2,"
        " \"args\": {\"External id\": 3, \"f\": 0.5, \"s\": \"x\", \"b\": true}},\n"
        "{\"ph\": \"i\", \"name\": \"\", \"pid\": \"p\", \"tid\": \"t\", \"ts\": -1},\n"
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclKernel\", \"pid\": 0, \"tid\": 7, \"ts\": 5, \"dur\": 2,"
        " \"args\": {\"correlation\": 7, \"stream\": 7, \"device\": 0, \"Comms Id\": 18446744073709551615}}]}\n";

static struct {
	ht_ctx *ctx;
	ht_set *set;
} where;

/* The next line as a string of its own, NULL when there is none or it is empty. */
static char *where_line(const uint8_t **data, size_t *size)
{
	const uint8_t *end = *size ? memchr(*data, '\n', *size) : NULL;
	size_t n = end ? (size_t)(end - *data) : *size;
	char *line = NULL;
	if (n) {
		line = malloc(n + 1);
		FUZZ_REQUIRE(line);
		memcpy(line, *data, n);
		line[n] = 0;
	}
	size_t used = end ? n + 1 : n;
	*data += used;
	*size -= used;
	return line;
}

static void where_done(void)
{
	ht_close(where.set);
	ht_ctx_free(where.ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!where.ctx) {
		where.ctx = fuzz_ctx(1);
		const char *path = fuzz_file(where_trace, sizeof where_trace - 1, NULL, 0);
		FUZZ_REQUIRE(fuzz_open(where.ctx, path, 0, NULL, &where.set) == HT_OK);
		atexit(where_done);
	}
	char *filter = where_line(&data, &size), *sort = where_line(&data, &size);
	char *columns = where_line(&data, &size);
	struct ht_view view = { .where = filter, .sort = sort, .columns = columns };
	const char *names[] = { "events", "health" };
	for (size_t i = 0; i < 2; i++) {
		enum ht_status status = fuzz_run(where.ctx, where.set, names[i], "csv", &view);
		FUZZ_REQUIRE(status == HT_OK || status == HT_USAGE || status == HT_LIMIT);
		if (status != HT_OK)
			FUZZ_REQUIRE(*ht_error(where.ctx)->message);
	}
	ht_table *table;
	struct ht_view only = { .where = filter };
	if (ht_ask(where.ctx, &where.set, 1,
	            &(struct ht_query){ sizeof(struct ht_query), "events", NULL, 0, &only },
	            &table) == HT_OK) {
		FUZZ_REQUIRE(ht_table_n_rows(table) <= 3);
		ht_table_free(table);
	}
	free(filter);
	free(sort);
	free(columns);
	return 0;
}
