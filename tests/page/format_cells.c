/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format_cells.c - values and names as the terminal writes them, for the comparison with the page.
 *
 * Reads lines "TYPE ROLE UNIT VALUE" (numbers), "name WIDTH TEXT", "names UNIT WIDTH TEXT TEXT ..." (those of one list, of a column of
 * that unit), or "student DEGREES"; writes one text per line, or those of a list with tabs between. A unit of - is none.
 */
#include "model/numbers/sampling.h"
#include "table/brief.h"
#include "table/format.h"
#include "table/shorten.h"
#include "table/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_number(char *line)
{
	char *type = strtok(line, "\t"), *role = strtok(NULL, "\t"), *unit = strtok(NULL, "\t");
	char *value = strtok(NULL, "\t"), text[HT_FORMAT_BYTES];
	static const char *const names[] = { "int64", "uint64", "float64", "time", "duration",
		"duration_float", "bytes", "ratio" };
	static const enum ht_type types[] = { HT_I64, HT_U64, HT_F64, HT_TIME, HT_DURATION,
		HT_DURATION_F64, HT_BYTES, HT_RATIO };
	struct ht_cells cells = { .meta = { .name = "x",
		                          .role = strcmp(role, "key") == 0 ? HT_KEY : HT_MEASURE,
		                          .unit = strcmp(unit, "-") == 0 ? NULL : unit } };
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(type, names[i]) == 0)
			cells.meta.type = types[i];
	union {
		double f64;
		int64_t i64;
		uint64_t u64;
	} cell;
	if (cells.meta.type == HT_F64 || cells.meta.type == HT_RATIO ||
	        cells.meta.type == HT_DURATION_F64) {
		cell.f64 = strtod(value, NULL);
		cells.f64 = &cell.f64;
	} else if (cells.meta.type == HT_U64) {
		cell.u64 = strtoull(value, NULL, 10);
		cells.u64 = &cell.u64;
	} else {
		cell.i64 = strtoll(value, NULL, 10);
		cells.i64 = &cell.i64;
	}
	ht_format_human(text, &cells, 0);
	puts(text);
}

static void write_name(char *line)
{
	strtok(line, "\t");
	size_t width = strtoul(strtok(NULL, "\t"), NULL, 10);
	char *name = strtok(NULL, "\t"), *shown = malloc(strlen(name) + 4);
	printf("%.*s\n", (int)ht_shorten(name, strlen(name), width, shown), shown);
	free(shown);
}

static void need(enum ht_status status)
{
	if (status != HT_OK)
		exit(1);
}

static void write_names(char *line)
{
	struct ht_column column = { .name = "name", .type = HT_STR };
	ht_ctx *ctx;
	ht_table *table;
	struct ht_arena arena;
	struct ht_brief *briefs;
	strtok(line, "\t");
	column.unit = strtok(NULL, "\t");
	if (strcmp(column.unit, "-") == 0)
		column.unit = NULL;
	size_t width = strtoul(strtok(NULL, "\t"), NULL, 10);
	need(ht_ctx_new(&ctx));
	need(ht_table_new(ctx, "", &column, 1, &table));
	for (char *name = strtok(NULL, "\t"); name; name = strtok(NULL, "\t")) {
		ht_table_row(table);
		ht_table_put_str(table, 0, name);
	}
	need(ht_table_finish(ctx, table));
	ht_arena_init(&arena, ctx->mem);
	need(ht_brief_make(ctx, table, 0, width, &arena, &briefs));
	for (size_t row = 0; row < ht_table_n_rows(table); row++) {
		const struct ht_brief *brief = &briefs[ht_cells_at(table, 0)->str[row]];
		printf("%s%.*s", row ? "\t" : "", (int)brief->n, brief->text);
	}
	puts("");
	ht_arena_done(&arena);
	ht_table_free(table);
	ht_ctx_free(ctx);
}

int main(void)
{
	char *line = NULL;
	size_t room = 0;
	while (getline(&line, &room, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "names\t", 6) == 0)
			write_names(line);
		else if (strncmp(line, "name\t", 5) == 0)
			write_name(line);
		else if (strncmp(line, "student\t", 8) == 0)
			printf("%.15g\n", ht_student_quantile(0.025, atof(line + 8)));
		else
			write_number(line);
	}
	free(line);
	return 0;
}
