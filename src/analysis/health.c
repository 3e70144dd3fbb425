/*
 * health.c - what reading repaired, lost or found odd, and what that weakens.
 *
 * One row per rank and counter that is not zero, worst first. Counters are named in import_stats.def;
 * they are made while reading and sealing, so this costs nothing. A clean trace gives an empty table.
 */
#include "analysis/analysis.h"

static enum ht_status run(struct ht_run *r, ht_table *table);

static const struct ht_column columns[] = {
	{ "rank", HT_I64, HT_KEY, "rank of the trace", NULL },
	{ "check", HT_STR, HT_KEY, "name of the counter", NULL },
	{ "severity", HT_STR, HT_MEASURE, "info, notice or data loss", NULL },
	{ "count", HT_I64, HT_MEASURE, "how often it was met", NULL },
	{ "first_offset", HT_I64, HT_DETAIL,
	        "byte offset of the first one in the decompressed file; absent when not tied to a place",
	        NULL },
	{ "sentence", HT_STR, HT_MEASURE, "what was met and what was done about it", NULL },
	{ "weakens", HT_STR, HT_MEASURE, "which results to read with care", NULL },
};

const struct ht_analysis ht_analysis_health = {
	.info = {
		.name = "health",
		.group = "engine",
		.title = "Health of the traces",
		.question = "What could not be read, what was repaired, and which results does that weaken?",
		.method = "Counters raised while reading, and checks of each trace against itself.",
		.columns = columns,
		.n_columns = HT_COUNT(columns),
		.n_sets = 1,
	},
	.run = run,
};

static const char *severity_name(enum ht_severity severity)
{
	static const char *const names[] = { "info", "notice", "data loss", "severe" };
	return names[severity];
}

static void append(struct ht_run *r, ht_table *table, size_t i, const struct ht_stat *stat)
{
	const struct ht_stat_info *info = ht_stat_info((enum ht_stat_code)stat->code);
	ht_table_row(table);
	ht_table_put_i64(table, r->ranks[i]);
	ht_table_put_str(table, info->name);
	ht_table_put_str(table, severity_name(info->severity));
	ht_table_put_i64(table, (int64_t)stat->count);
	if (stat->first_offset >= 0)
		ht_table_put_i64(table, stat->first_offset);
	else
		ht_table_put_null(table);
	ht_table_put_str(table, info->sentence);
	ht_table_put_str(table, info->weakens);
}

static enum ht_status run(struct ht_run *r, ht_table *table)
{
	for (size_t i = 0; i < r->n; i++)
		for (int severity = HT_SEVERE; severity >= HT_INFO; severity--)
			for (size_t k = 0; k < r->traces[i]->n_stats; k++) {
				const struct ht_stat *stat = &r->traces[i]->stats[k];
				if ((int)ht_stat_info((enum ht_stat_code)stat->code)->severity ==
				        severity)
					append(r, table, i, stat);
			}
	for (size_t i = 0; i < r->set->n_notes; i++)
		HT_TRY(ht_table_add_note(table, "%s", r->set->notes[i]));
	if (!ht_table_n_rows(table))
		HT_TRY(ht_table_add_note(table, "nothing was repaired, lost or found odd"));
	return HT_OK;
}
