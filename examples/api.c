/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.c - the library from C: open traces, run an analysis, walk its table.
 *
 *     cc api.c $(pkg-config --cflags --libs holotrace) -o api && ./api train/train.json.gz
 *
 * Prints the five longest kernels, cell by cell and as CSV. Any other analysis works the same way:
 * ht_n_analyses() and ht_analysis_at() list them with their columns and parameters.
 */
#include <holotrace.h>

#include <inttypes.h>
#include <stdio.h>

static int fail(const ht_ctx *ctx)
{
	const struct ht_error *error = ht_error(ctx);
	fprintf(stderr, "api: %s%s%s\n", error->file ? error->file : "", error->file ? ": " : "",
	        error->message);
	return 1;
}

static bool write_to_stdout(void *user, const void *bytes, size_t n)
{
	(void)user;
	return fwrite(bytes, 1, n, stdout) == n;
}

/* Cells one by one; every column says its name and type. */
static void print_table(const ht_table *table)
{
	for (size_t row = 0; row < ht_table_n_rows(table); row++) {
		for (size_t column = 0; column < ht_table_n_columns(table); column++) {
			const struct ht_column *about = ht_table_column(table, column);
			printf("%s%s=", column > 0 ? " " : "", about->name);
			if (ht_table_is_null(table, row, column))
				printf("-");
			else if (about->type == HT_STR)
				printf("%s", ht_table_str(table, row, column));
			else if (about->type == HT_F64 || about->type == HT_RATIO)
				printf("%g", ht_table_f64(table, row, column));
			else
				printf("%" PRId64, ht_table_i64(table, row, column));
		}
		printf("\n");
	}
}

static int show(ht_ctx *ctx, ht_set *set)
{
	/* the five longest kernels: a view works on the table of any analysis */
	struct ht_view view = {
		.struct_size = sizeof(view),
		.columns = "rank,ts_ns,dur_ns,name",
		.where = "cat = kernel",
		.sort = "-dur_ns",
		.top = 5,
	};
	struct ht_sink sink = { .write = write_to_stdout };
	ht_table *table;
	if (ht_ask(ctx, &set, 1,
	            &(struct ht_query){ sizeof(struct ht_query), "events", NULL, 0, &view },
	            &table) != HT_OK)
		return fail(ctx);
	print_table(table);
	enum ht_status status = ht_render(ctx, table, "csv", NULL, &sink);
	ht_table_free(table);
	return status == HT_OK ? 0 : fail(ctx);
}

int main(int argc, char **argv)
{
	ht_ctx *ctx;
	ht_set *set;
	if (argc < 2) {
		fprintf(stderr, "usage: api TRACE...\n");
		return 2;
	}
	if (ht_ctx_new(&ctx) != HT_OK)
		return 1;
	const char *const *sources = (const char *const *)argv + 1;
	int code = 1;
	if (ht_open(ctx, sources, (size_t)argc - 1, NULL, &set) != HT_OK) {
		code = fail(ctx);
	} else {
		for (size_t i = 0; i < ht_set_n_ranks(set); i++)
			printf("rank %" PRId64 ": %" PRIu64 " events in %s\n", ht_set_rank(set, i),
			        ht_set_n_events(set, i), ht_set_path(set, i));
		code = show(ctx, set);
		ht_close(set);
	}
	ht_ctx_free(ctx);
	return code;
}
