/* SPDX-License-Identifier: Apache-2.0 */
/*
 * questions.c - several questions at once, SQL, a history of runs, and traces written back: questions TRACE FOLDER
 */
#include "example.h"

static bool hear(void *user, size_t i, enum ht_status status, ht_table *table)
{
	const struct ht_query *queries = (const struct ht_query *)user;
	printf("%s: %s, %zu rows\n", queries[i].name, ht_status_name(status),
	        table != NULL ? ht_table_n_rows(table) : 0);
	ht_table_free(table);
	return true; /* false: no more */
}

/* What will be asked is known before the traces are read, and several questions look at each rank once. */
static ht_set *ask(ht_ctx *ctx, const char *path)
{
	struct ht_arg last = { "step", "last" };
	struct ht_query queries[] = { { sizeof(queries[0]), "summary", NULL, 0, NULL },
		{ sizeof(queries[0]), "kernels", &last, 1, NULL } };
	ht_set *set;
	need(ctx, ht_open_for(ctx, &path, 1, NULL, &queries[0], &set));
	need(ctx, ht_ask_all(ctx, set, queries, 2, hear, queries));
	return set;
}

/* The columns of the traces as tables of SQL, and as files of a folder. */
static void query(ht_ctx *ctx, ht_set *set, const char *folder)
{
	struct ht_sql_options options = { .struct_size = sizeof(options), .max_rows = 10 };
	struct ht_export_options parts = { .struct_size = sizeof(parts), .tables = "steps,ranks" };
	ht_table *table;
	char path[4096];
	need(ctx,
	        ht_sql(ctx, set, "SELECT name, count(*) FROM gpu GROUP BY name", &options, &table));
	printf("%zu names\n", ht_table_n_rows(table));
	ht_table_free(table);
	snprintf(path, sizeof(path), "%s/tables", folder);
	need(ctx, ht_export(ctx, set, path, &parts));
}

/* The numbers of this run and of others, and what changed. */
static void remember(ht_ctx *ctx, ht_set *set, const char *folder)
{
	struct ht_history_options options = { .struct_size = sizeof(options), .view = "latest" };
	ht_writer *writer;
	ht_table *table;
	char store[4096], file[4096];
	static const char csv[] = "run,tokens_per_s\nv1,1200\nv2,1180\n";
	snprintf(store, sizeof(store), "%s/runs.db", folder);
	snprintf(file, sizeof(file), "%s/others.csv", folder);
	need(ctx, ht_writer_open(ctx, file, &writer));
	need(ctx, ht_writer_write(writer, csv, sizeof(csv) - 1));
	need(ctx, ht_writer_commit(writer));
	need(ctx, ht_history_import(ctx, store, file));
	need(ctx, ht_history_add(ctx, store, set, "v3", NULL));
	need(ctx, ht_history(ctx, store, &options, &table));
	printf("%zu numbers\n", ht_table_n_rows(table));
	ht_table_free(table);
}

/* Traces as files again, and a file that is given up. */
static void write_back(ht_ctx *ctx, ht_set *set, const char *folder, const char *et)
{
	struct ht_convert_options options = { .struct_size = sizeof(options), .steps = "4" };
	struct ht_et_convert_options how = { .struct_size = sizeof(how), .to = "json" };
	ht_writer *writer;
	char path[4096];
	snprintf(path, sizeof(path), "%s/step4.json.gz", folder);
	need(ctx, ht_convert(ctx, set, path, &options));
	snprintf(path, sizeof(path), "%s/nodes.json", folder);
	if (et != NULL)
		need(ctx, ht_et_convert(ctx, et, NULL, path, &how));
	snprintf(path, sizeof(path), "%s/never.txt", folder);
	need(ctx, ht_writer_open(ctx, path, &writer));
	ht_writer_abort(writer);
}

int main(int argc, char **argv)
{
	ht_ctx *ctx;
	if (argc < 3 || ht_ctx_new(&ctx) != HT_OK)
		return 2;
	ht_set *set = ask(ctx, argv[1]);
	query(ctx, set, argv[2]);
	remember(ctx, set, argv[2]);
	write_back(ctx, set, argv[2], argc > 3 ? argv[3] : NULL);
	ht_close(set);
	ht_ctx_free(ctx);
	return 0;
}
