/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - one question, its table cell by cell, as a view, as bytes and in every format: tables TRACE...
 */
#include "example.h"

/* An analysis with its parameters and columns, each asked for. */
static void show_analysis(const struct ht_analysis_info *info)
{
	const struct ht_param *param;
	const struct ht_schema *schema;
	const struct ht_column *column;
	printf("%s: %s\n", info->name, info->question);
	for (size_t i = 0; (param = ht_analysis_param(info, i)) != NULL; i++)
		printf("  --%s: %s\n", param->name, param->help);
	for (size_t i = 0; (schema = ht_analysis_schema(info, i)) != NULL; i++)
		for (size_t k = 0; (column = ht_schema_column(schema, k)) != NULL; k++)
			printf("  %s %s: %s\n", schema->name, column->name, column->sentence);
	for (size_t i = 0; (column = ht_analysis_further(info, i)) != NULL; i++)
		printf("  %s: %s\n", column->name, column->sentence);
}

/* Every analysis, and what all of them take. */
static void list_analyses(void)
{
	for (size_t i = 0; i < ht_n_analyses(); i++)
		show_analysis(ht_analysis_at(i));
	for (size_t i = 0; i < ht_n_common_params(); i++)
		printf("--%s: %s\n", ht_common_param(i)->name, ht_common_param(i)->help);
	if (ht_analysis_find("kernels") == NULL)
		exit(1);
}

/* Rows by the names of their columns. */
static void walk(const ht_table *table)
{
	struct ht_row row = ht_table_rows(table);
	while (ht_row_next(&row))
		if (!ht_row_is_null(&row, "name"))
			printf("%s: %" PRId64 " ns, %g\n", ht_row_str(&row, "name"),
			        ht_row_i64(&row, "dur_ns"), ht_row_f64(&row, "share"));
}

/* The same by numbers, whatever the columns are. */
static void walk_all(const ht_table *table)
{
	size_t n_null = 0, n_texts = 0;
	uint64_t sum = 0;
	for (size_t column = 0; column < ht_table_n_columns(table); column++) {
		const struct ht_column *about = ht_table_column(table, column);
		const char *unit = ht_column_unit(about);
		printf("%s (%s, %s, %s)\n", ht_table_column_label(table, column),
		        ht_type_name(about->type), ht_role_name(about->role),
		        unit ? unit : "no unit");
		for (size_t row = 0; row < ht_table_n_rows(table); row++) {
			n_null += ht_table_is_null(table, row, column);
			n_texts += *ht_table_str(table, row, column) != '\0';
			sum += ht_table_u64(table, row, column) +
			       (uint64_t)ht_table_i64(table, row, column) +
			       (ht_table_f64(table, row, column) > 0);
		}
	}
	printf("%zu null cells, %zu texts, sum %" PRIu64 "\n", n_null, n_texts, sum);
}

/* A column as an array, and the texts that its ids stand for. */
static void walk_column(const ht_table *table, const char *name)
{
	size_t column = ht_table_find_column(table, name);
	const uint32_t *ids = (const uint32_t *)ht_table_cells(table, column);
	const uint8_t *valid = ht_table_valid(table, column);
	for (size_t row = 0; ids != NULL && row < ht_table_n_rows(table); row++)
		if ((valid == NULL || valid[row]) && ids[row] < ht_table_n_texts(table))
			printf("%s\n", ht_table_text(table, ids[row]));
}

/* What stands around the rows. */
static void show_notes(const ht_table *table)
{
	printf("%s\n%s\n", ht_table_title(table), ht_table_method(table));
	for (size_t i = 0; i < ht_table_n_notes(table); i++) {
		const struct ht_note *note = ht_table_note_at(table, i);
		const struct ht_note_value *value;
		for (size_t k = 0; (value = ht_note_value(note, k)) != NULL; k++)
			printf("%s (%s)\n", value->name, ht_type_name(value->type));
		printf("%s [%s, next %s]\n", ht_table_note(table, i), note->kind,
		        note->next ? note->next : "nothing");
	}
	printf("%zu more rows, %s bars, the check %s\n", ht_table_n_hidden(table),
	        ht_table_bar(table) == SIZE_MAX ? "no" : "with",
	        ht_table_check_failed(table) ? "failed" : "did not fail");
}

/* All formats, each as its file would be. */
static void render(ht_ctx *ctx, const ht_table *table)
{
	for (size_t i = 0; i < ht_n_formats(); i++) {
		const struct ht_format *format = ht_format_at(i);
		struct bytes file = { NULL, 0 };
		struct ht_sink sink = { keep_bytes, &file };
		/* flame graphs are of stacks only */
		if (format != ht_format_find("folded"))
			need(ctx, ht_render(ctx, table, format->name, NULL, &sink));
		printf("%s, %s: %zu bytes\n", format->ending, format->type, file.n);
		free(file.data);
	}
}

/* A view of it, for another process, and as Arrow. */
static void send(ht_ctx *ctx, const ht_table *table)
{
	struct ht_view view = { .struct_size = sizeof(view), .sort = "-dur_ns", .top = 3 };
	struct bytes saved = { NULL, 0 };
	struct ht_sink sink = { keep_bytes, &saved };
	struct ArrowArrayStream stream;
	ht_table *shown, *loaded;
	need(ctx, ht_table_view(ctx, table, &view, &shown));
	need(ctx, ht_table_save(ctx, shown, &sink));
	ht_table_free(shown);
	need(ctx, ht_table_load(ctx, saved.data, saved.n, &loaded));
	free(saved.data);
	need(ctx, ht_table_arrow(ctx, loaded, &stream));
	stream.release(&stream);
	ht_table_free(loaded);
}

int main(int argc, char **argv)
{
	struct ht_view view = { .struct_size = sizeof(view), .where = "cat = kernel", .top = 5 };
	struct ht_query query = { sizeof(query), "events", NULL, 0, &view };
	ht_ctx *ctx;
	ht_set *set;
	ht_table *table;
	if (argc < 2 || ht_ctx_new(&ctx) != HT_OK)
		return 2;
	list_analyses();
	need(ctx, ht_open(ctx, (const char *const *)argv + 1, (size_t)argc - 1, NULL, &set));
	need(ctx, ht_ask(ctx, &set, 1, &query, &table));
	ht_close(set);
	walk(table);
	walk_all(table);
	walk_column(table, "name");
	show_notes(table);
	render(ctx, table);
	send(ctx, table);
	ht_table_free(table);
	ht_ctx_free(ctx);
	return 0;
}
