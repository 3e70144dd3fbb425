/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_result.c - the rows of a query as a table of ours, with types, units and sentences.
 *
 * A column that comes straight from a table keeps its type and sentence. An expression has the type of its values;
 * what kind of number it is follows from its name: total_ns and sum(dur_ns) are durations, wait_share is a share.
 * Types are settled with the first row; a later value that does not fit widens the column: integers to doubles,
 * anything to text.
 */
#if defined(HT_HAVE_SQLITE)

#include "sql/query.h"

#include "base/number.h"
#include "registry/registry.h"
#include "sql/column_names.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a column is ---- */

static const struct ht_column *find_in(const struct ht_column *columns, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!sqlite3_stricmp(columns[i].name, name))
			return &columns[i];
	return NULL;
}

/* The column of a table, or, with NULL, of any table. */
static const struct ht_column *find_column(const char *table, const char *name)
{
	const struct ht_column *found = NULL;
	for (size_t i = 0; !found && ht_sql_fixed_table(i); i++) {
		const struct ht_sql_table *fixed = ht_sql_fixed_table(i);
		if (!table || !sqlite3_stricmp(fixed->name, table))
			found = find_in(fixed->columns, fixed->n_columns, name);
	}
	for (size_t i = 0; !found && i < ht_n_analyses(); i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		char own[HT_SQL_NAME_BYTES];
		ht_sql_analysis_name(info, own);
		if (!ht_sql_offers(info) || (table && sqlite3_stricmp(own, table) != 0))
			continue;
		for (size_t k = 0; !found && k < info->n_schemas; k++)
			found = find_in(info->schemas[k].columns, info->schemas[k].n_columns, name);
	}
	return found;
}

static bool is_identifier(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(text[i] == '_' || (text[i] >= '0' && text[i] <= '9' && i) ||
		            (text[i] >= 'a' && text[i] <= 'z') ||
		            (text[i] >= 'A' && text[i] <= 'Z')))
			return false;
	return n > 0;
}

static bool ends_in(const char *text, size_t n, const char *ending)
{
	size_t n_ending = strlen(ending);
	return n >= n_ending && !memcmp(text + n - n_ending, ending, n_ending);
}

/* What an integer of that name is. */
static enum ht_type type_by_name(const char *text, size_t n)
{
	char name[HT_SQL_NAME_BYTES];
	if (!is_identifier(text, n) || n >= sizeof name)
		return HT_I64;
	memcpy(name, text, n);
	name[n] = '\0';
	const struct ht_column *known = find_column(NULL, name);
	if (known && (known->type == HT_TIME || known->type == HT_DURATION ||
	                     known->type == HT_BYTES || known->type == HT_RATIO))
		return known->type;
	return ends_in(text, n, "_ns")                                               ? HT_DURATION
	       : ends_in(text, n, "_bytes") || (n == 5 && ends_in(text, n, "bytes")) ? HT_BYTES
	       : ends_in(text, n, "_share")                                          ? HT_RATIO
	                                                                             : HT_I64;
}

/* The same of an expression: a name, or a function that keeps what its argument is. */
static enum ht_type type_by_text(const char *text)
{
	static const char *const keeping[] = { "sum", "total", "avg", "stddev", "min", "max",
		"median", "percentile" };
	size_t n = strlen(text), n_name = strcspn(text, "(");
	if (n_name == n)
		return type_by_name(text, n);
	if (text[n - 1] != ')' || !is_identifier(text, n_name))
		return HT_I64;
	if (ends_in(text, n_name, "_ns") && strncmp(text, "human", 5) != 0)
		return HT_DURATION;
	const char *inner = text + n_name + 1;
	size_t n_inner = n - n_name - 2;
	for (size_t i = 0; i < n_inner; i++)
		if (inner[i] == '.') {
			inner += i + 1;
			n_inner -= i + 1;
			i = 0;
		}
	for (size_t i = 0; i < HT_COUNT(keeping); i++)
		if (strlen(keeping[i]) == n_name &&
		        !sqlite3_strnicmp(text, keeping[i], (int)n_name)) {
			/* the second argument of percentile is which one */
			size_t n_first = i == HT_COUNT(keeping) - 1 ? strcspn(inner, ",") : n_inner;
			enum ht_type type = type_by_name(inner, n_first);
			return type == HT_TIME && i < 4 ? HT_I64 : type;
		}
	return HT_I64;
}

/* The type that shows a number as this kind of integer, and as double. */
static enum ht_type real_of(enum ht_type type)
{
	return type == HT_DURATION || type == HT_DURATION_F64 ? HT_DURATION_F64
	       : type == HT_RATIO                             ? HT_RATIO
	                                                      : HT_F64;
}

static bool is_real(enum ht_type type)
{
	return type == HT_F64 || type == HT_DURATION_F64 || type == HT_RATIO;
}

/* The type for a value, given what the column has been. */
static enum ht_type type_for(enum ht_type type, int value_type)
{
	switch (value_type) {
	case SQLITE_NULL: return type;
	case SQLITE_INTEGER: return type;
	case SQLITE_FLOAT: return type == HT_STR ? HT_STR : real_of(type);
	case SQLITE_TEXT: return type == HT_U64 ? HT_U64 : HT_STR;
	default: return HT_STR;
	}
}

struct result_column {
	const char *name, *sentence, *unit;
	enum ht_type type;
	enum ht_role role;
	bool is_known; /* a value has settled the type, or the declaration */
};

static void describe(
        const struct ht_sql_session *s, sqlite3_stmt *query, int i, struct result_column *column)
{
	const struct ht_column *origin = NULL;
	const char *declared = sqlite3_column_decltype(query, i);
	column->is_known = ht_sql_type_of(declared, &column->type);
	if (s->any_is_text && ht_sql_type_is_any(declared)) {
		column->is_known = true;
		column->type = HT_STR;
	}
#ifdef HT_HAVE_SQLITE_ORIGINS
	const char *table = sqlite3_column_table_name(query, i);
	if (table)
		origin = find_column(table, sqlite3_column_origin_name(query, i));
#else
	if (column->is_known)
		origin = find_column(NULL, column->name);
#endif
	if (origin) {
		column->sentence = origin->sentence;
		column->unit = origin->unit;
		column->role = origin->role;
	}
	int value_type = sqlite3_column_type(query, i);
	if (column->is_known)
		return;
	enum ht_type guess = type_by_text(sqlite3_column_name(query, i));
	column->type = guess == HT_RATIO && value_type == SQLITE_INTEGER ? HT_I64 : guess;
	if (value_type != SQLITE_NULL) {
		column->is_known = true;
		column->type = type_for(column->type, value_type);
	}
}

/* ---- rows ---- */

struct result {
	struct ht_sql_session *session;
	sqlite3_stmt *query;
	struct result_column *columns;
	int n;
	ht_table *table;
};

static enum ht_status start(struct result *r)
{
	struct ht_sql_session *s = r->session;
	struct ht_names names = { .arena = &s->arena };
	enum ht_status status = HT_OK;
	for (int i = 0; i < r->n && status == HT_OK; i++) {
		struct result_column *column = &r->columns[i];
		const char *name = sqlite3_column_name(r->query, i);
		column->name = name && *name ? ht_names_add(&names, name, name)
		                             : ht_names_add(&names, "column", "column");
		if (!column->name) {
			status = ht_fail_nomem(s->ctx);
			break;
		}
		column->sentence = "expression of the query";
		column->role = HT_MEASURE;
		describe(s, r->query, i, column);
		struct ht_column shown = { column->name, column->type, column->role,
			column->sentence, column->unit };
		status = ht_table_add_column(r->table, &shown);
		if (status == HT_OK && column->type == HT_RATIO)
			ht_table_set_bar(r->table, (size_t)i);
	}
	ht_names_done(&names);
	return status;
}

/* Give columns the type that this row needs. */
static enum ht_status widen(struct result *r)
{
	for (int i = 0; i < r->n; i++) {
		struct result_column *column = &r->columns[i];
		int value_type = sqlite3_column_type(r->query, i);
		enum ht_type wanted = type_for(column->type, value_type);
		if (value_type == SQLITE_INTEGER && !column->is_known && column->type == HT_RATIO)
			wanted = HT_I64;
		column->is_known |= value_type != SQLITE_NULL;
		if (wanted == column->type)
			continue;
		if (!ht_table_widen(r->table, (size_t)i, wanted))
			return ht_fail_nomem(r->session->ctx);
		column->type = wanted;
	}
	return HT_OK;
}

static void put_text(struct result *r, int i)
{
	ht_table *table = r->table;
	const char *text = (const char *)sqlite3_column_text(r->query, i);
	size_t n = text ? (size_t)sqlite3_column_bytes(r->query, i) : 0;
	if (r->columns[i].type == HT_U64)
		ht_table_put_i64(table, (size_t)i, (int64_t)strtoull(text ? text : "", NULL, 10));
	else
		ht_table_put_strn(table, (size_t)i, text ? text : "", n);
}

static void put_row(struct result *r)
{
	ht_table_row(r->table);
	for (int i = 0; i < r->n; i++) {
		int value_type = sqlite3_column_type(r->query, i);
		if (value_type == SQLITE_NULL)
			ht_table_put_null(r->table, (size_t)i);
		else if (r->columns[i].type == HT_STR || value_type == SQLITE_TEXT)
			put_text(r, i);
		else if (is_real(r->columns[i].type))
			ht_table_put_f64(r->table, (size_t)i, sqlite3_column_double(r->query, i));
		else
			ht_table_put_i64(r->table, (size_t)i, sqlite3_column_int64(r->query, i));
	}
}

static enum ht_status fill(struct result *r, uint64_t max_rows, int *ret_code)
{
	struct ht_sql_session *s = r->session;
	int code = sqlite3_step(r->query);
	*ret_code = code;
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		return HT_USAGE;
	HT_TRY(start(r));
	for (; code == SQLITE_ROW; code = sqlite3_step(r->query)) {
		if (max_rows && s->n_rows == max_rows)
			return ht_table_add_note(r->table,
			        "only the first %llu rows: the limit on rows",
			        (unsigned long long)max_rows);
		HT_TRY(widen(r));
		put_row(r);
		s->n_rows++;
		/* a table that has failed takes no more rows, and the query might have no end */
		if (ht_table_n_rows(r->table) != s->n_rows)
			return ht_table_finish(s->ctx, r->table);
	}
	*ret_code = code;
	return code == SQLITE_DONE ? HT_OK : HT_USAGE;
}

enum ht_status ht_sql_collect(struct ht_sql_session *s, sqlite3_stmt *query, uint64_t max_rows,
        int *ret_code, ht_table **ret_table)
{
	struct result r = { .session = s, .query = query, .n = sqlite3_column_count(query) };
	*ret_code = SQLITE_DONE;
	r.columns = ht_arena_alloc(&s->arena, ((size_t)r.n + 1) * sizeof *r.columns);
	if (!r.columns)
		return ht_fail_nomem(s->ctx);
	HT_TRY(ht_table_new(s->ctx, "Query", NULL, 0, &r.table));
	enum ht_status status = fill(&r, max_rows, ret_code);
	const struct ht_roster *roster = s->set ? &s->set->roster : NULL;
	if (status == HT_OK && roster && roster->job_note)
		status = ht_table_add_note(r.table, "%s", roster->job_note);
	if (status == HT_OK && roster && roster->loss_note)
		status = ht_table_add_note(r.table, "%s", roster->loss_note);
	if (status == HT_OK)
		status = ht_table_finish(s->ctx, r.table);
	if (status != HT_OK) {
		ht_table_free(r.table);
		return status;
	}
	*ret_table = r.table;
	return HT_OK;
}

#endif
