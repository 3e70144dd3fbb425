/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result_table.h - where the rows of a table that is made on demand come from: a maker, or an analysis.
 */
#ifndef HT_SQL_RESULT_TABLE_H
#define HT_SQL_RESULT_TABLE_H

#include "sql/sql.h"

struct ht_result_source {
	struct ht_sql_session *session;
	const char *name;
	/* a small table: its columns and who fills it */
	const struct ht_sql_table *table;
	enum ht_status (*fill)(struct ht_sql_session *s, ht_table *table);
	/* or an analysis, and the view that it shows when none is named */
	const struct ht_analysis_info *info;
	const char *default_view; /* NULL: the analysis's own */
};

/* A table of the connection; an SQLite code. */
int ht_sql_register_result(
        struct ht_sql_session *s, const char *name, struct ht_result_source source);
/* The table for these arguments: "by=all, num-kernels=5". The caller frees it. */
enum ht_status ht_result_make(struct ht_sql_session *s, const struct ht_result_source *source,
        const char *arguments, ht_table **ret_table) HT_MUST_USE;
/* Whether the text of the query asks for the i-th view of an analysis. */
bool ht_result_shows(
        const struct ht_sql_session *s, const struct ht_result_source *source, size_t i_view);

#endif
