/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_lists.c - everything that the library hands out in lists, a line each: walk_lists TRACE. test_abi.py compiles it
 * against the headers of an older version, too, whose elements are shorter.
 */
#include <holotrace.h>

#include <stdio.h>

static void show(const struct ht_analysis_info *info)
{
	const struct ht_schema *schema;
	const struct ht_param *param;
	const struct ht_column *column;
	for (size_t i = 0; (param = ht_analysis_param(info, i)) != NULL; i++)
		printf("%s --%s\n", info->name, param->name);
	for (size_t i = 0; (schema = ht_analysis_schema(info, i)) != NULL; i++)
		for (size_t k = 0; (column = ht_schema_column(schema, k)) != NULL; k++)
			printf("%s %s %s\n", info->name, schema->name, column->name);
	for (size_t i = 0; (column = ht_analysis_further(info, i)) != NULL; i++)
		printf("%s ... %s\n", info->name, column->name);
}

int main(int argc, char **argv)
{
	struct ht_query query = { sizeof query, "summary", NULL, 0, NULL };
	const struct ht_note *note;
	const struct ht_note_value *value;
	ht_ctx *ctx;
	ht_set *set;
	ht_table *table;
	if (argc < 2 || ht_ctx_new(&ctx) || ht_open_path(ctx, argv[1], &set) ||
	        ht_ask(ctx, &set, 1, &query, &table))
		return 2;
	for (size_t i = 0; i < ht_n_analyses(); i++)
		show(ht_analysis_at(i));
	for (size_t i = 0; i < ht_table_n_columns(table); i++)
		printf("column %s\n", ht_table_column(table, i)->name);
	for (size_t i = 0; (note = ht_table_note_at(table, i)) != NULL; i++)
		for (size_t k = 0; (value = ht_note_value(note, k)) != NULL; k++)
			printf("%s %s\n", note->kind, value->name);
	ht_table_free(table);
	ht_close(set);
	ht_ctx_free(ctx);
	return 0;
}
