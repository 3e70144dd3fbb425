/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_bytes.c - see part_bytes.h.
 */
#include "registry/part_bytes.h"

#include "table/table_bytes.h"

#include <string.h>

void ht_part_pack(const struct ht_part *part, struct ht_facts_range range, struct ht_bytes_out *out)
{
	for (size_t k = range.first; k < range.end; k++) {
		ht_bytes_put_u64(out, part->facts[k] != NULL);
		if (part->facts[k])
			ht_table_pack(part->facts[k], out);
	}
}

static bool begins_with(const ht_table *table, const struct ht_schema *schema)
{
	for (size_t c = 0; c < schema->n_columns; c++) {
		const struct ht_column *column = ht_table_column(table, c);
		if (!column || strcmp(column->name, schema->columns[c].name) != 0 ||
		        column->type != schema->columns[c].type)
			return false;
	}
	return true;
}

/* The columns that the analysis declares for a table of its parts; for the first, where it declares none, those of one of
 * its views. */
static bool has_columns(const struct ht_analysis *analysis, size_t k, const ht_table *table)
{
	const struct ht_analysis_info *info = &analysis->info;
	if (analysis->facts[k].columns)
		return begins_with(table, &analysis->facts[k]);
	for (size_t i = 0; i < info->n_schemas; i++)
		if (begins_with(table, &info->schemas[i]))
			return true;
	return false;
}

/* None beyond what reading lets through, with which finishing can reckon. */
static bool has_sound_times(const ht_table *table)
{
	const int64_t most = HT_MAX_TIME_NS + HT_MAX_DURATION_NS;
	for (size_t c = 0; c < ht_table_n_columns(table); c++) {
		bool is_time = ht_table_column(table, c)->type == HT_TIME;
		for (size_t row = 0; is_time && row < ht_table_n_rows(table); row++) {
			int64_t ns = ht_table_i64(table, row, c);
			if (ns < -most || ns > most)
				return false;
		}
	}
	return true;
}

/* A row about a rank is about the one that the part is of: finishing looks for it among the parts. */
static bool has_own_rank(const ht_table *table, int64_t rank)
{
	for (size_t c = 0; c < ht_table_n_columns(table); c++) {
		const struct ht_column *column = ht_table_column(table, c);
		bool is_rank = column->type == HT_I64 && !strcmp(column->name, "rank");
		for (size_t row = 0; is_rank && row < ht_table_n_rows(table); row++)
			if (!ht_table_is_null(table, row, c) && ht_table_i64(table, row, c) != rank)
				return false;
	}
	return true;
}

/* The tables that the analysis declares, and no others. */
static bool has_tables(
        const struct ht_analysis *analysis, struct ht_facts_range range, const struct ht_part *part)
{
	for (size_t k = range.first; k < range.end; k++) {
		const ht_table *table = part->facts[k];
		bool declared = analysis->facts[k].columns || !k;
		if (declared != (table != NULL))
			return false;
		if (table && (!has_columns(analysis, k, table) || !has_sound_times(table) ||
		                     !has_own_rank(table, part->rank)))
			return false;
	}
	return true;
}

enum ht_status ht_part_unpack(ht_ctx *ctx, struct ht_bytes_in *in, struct ht_facts_range range,
        const struct ht_analysis *analysis, struct ht_part *part)
{
	for (size_t k = range.first; k < range.end; k++)
		if (ht_bytes_get_u64(in))
			HT_TRY(ht_table_unpack(ctx, in, &part->facts[k]));
	return !in->failed && has_tables(analysis, range, part) ? HT_OK : HT_FORMAT;
}
