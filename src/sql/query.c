/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.c - ht_sql: a connection of its own for each query, so that contexts on different threads do not meet.
 *
 * Opening one and registering all tables costs a fraction of a millisecond; what is worth keeping between queries is
 * kept with the set (connection.c). Without SQLite both functions are there and say so.
 */
#include "base/options.h"

#include <string.h>

#if defined(HT_HAVE_SQLITE)

#include "sql/query.h"

#include "base/list.h"
#include "base/literal.h"
#include "registry/fill_origin.h"
#include "holotrace/own.h"

/* ---- parameters ---- */

static int bind_value(sqlite3_stmt *query, int at, const char *value)
{
	int64_t integer;
	double real;
	if (ht_parse_i64(value, &integer))
		return sqlite3_bind_int64(query, at, integer);
	if (ht_parse_f64(value, &real))
		return sqlite3_bind_double(query, at, real);
	return sqlite3_bind_text(query, at, value, -1, SQLITE_TRANSIENT);
}

static enum ht_status bind(ht_ctx *ctx, sqlite3_stmt *query, const struct ht_sql_options *options)
{
	for (int i = 1; i <= sqlite3_bind_parameter_count(query); i++) {
		const char *name = sqlite3_bind_parameter_name(query, i);
		const char *value = NULL;
		for (size_t k = 0; name && k < options->n_params; k++)
			if (!strcmp(options->params[k].name, name + 1))
				value = options->params[k].value;
		if (!value)
			return ht_fail(ctx, HT_USAGE, NULL, -1,
			        "give it a value, as in --set NAME=VALUE",
			        "parameter %s has no value", name ? name : "?");
		if (bind_value(query, i, value) != SQLITE_OK)
			return ht_fail_nomem(ctx);
	}
	return HT_OK;
}

/* ---- one query ---- */

static bool is_blank(const char *text)
{
	return !text[strspn(text, " \t\r\n;")];
}

/* The table is the caller's only when all is well. */
static enum ht_status tell_origin(struct ht_sql_session *s, const char *text,
        const struct ht_sql_options *options, ht_table *table)
{
	size_t n = options->n_params;
	struct ht_arg *params = ht_arena_alloc(&s->arena, (n + 1) * sizeof *params);
	enum ht_status status = params ? HT_OK : ht_fail_nomem(s->ctx);
	if (params) {
		params[0] = (struct ht_arg){ "query", text };
		if (n)
			memcpy(params + 1, options->params, n * sizeof *params);
		status = ht_question_tell_origin(s->ctx, "sql", params, n + 1,
		        s->set ? &s->set->roster : NULL, &s->arena, table);
	}
	if (status != HT_OK)
		ht_table_free(table);
	return status;
}

static enum ht_status run(struct ht_sql_guard *guard, const char *text,
        const struct ht_sql_options *options, ht_table **ret_table)
{
	struct ht_sql_session *s = guard->session;
	const char *rest = "";
	sqlite3_stmt *query = NULL;
	int code = sqlite3_prepare_v2(s->db, text, -1, &query, &rest);
	if (code != SQLITE_OK)
		return ht_sql_guard_fail(guard, code);
	if (!query)
		return ht_fail(s->ctx, HT_USAGE, NULL, -1, "as in: SELECT name FROM sql_tables",
		        "the query is empty");
	enum ht_status status = HT_OK;
	if (!is_blank(rest))
		status = ht_fail(s->ctx, HT_USAGE, NULL, -1, "give them one by one",
		        "the text has more than one statement");
	else if (!sqlite3_column_count(query) || !sqlite3_stmt_readonly(query))
		status = ht_fail(
		        s->ctx, HT_USAGE, NULL, -1, HT_SQL_READS, "the statement is no query");
	if (status == HT_OK)
		status = bind(s->ctx, query, options);
	if (status == HT_OK) {
		status = ht_sql_collect(s, query, options->max_rows, &code, ret_table);
		if (status != HT_OK && code != SQLITE_DONE && code != SQLITE_ROW)
			status = ht_sql_guard_fail(guard, code);
	}
	sqlite3_finalize(query);
	return status == HT_OK ? tell_origin(s, text, options, *ret_table) : status;
}

static enum ht_status run_connected(ht_ctx *ctx, ht_set *set, sqlite3 *db, const char *query,
        const struct ht_sql_options *options, bool any_is_text, ht_table **ret_table)
{
	struct ht_sql_session session, *holder = &session;
	struct ht_sql_guard guard;
	enum ht_status status = ht_sql_session_init(&session, ctx, set, db);
	session.query = query;
	session.base = options->base;
	session.any_is_text = any_is_text;
	int code = status == HT_OK ? ht_sql_register_tables(&session) : SQLITE_OK;
	if (code == SQLITE_OK)
		code = ht_sql_register_functions(db, &holder);
	if (code == SQLITE_OK)
		code = ht_sql_register_bounded(db);
	if (code == SQLITE_OK)
		code = sqlite3_exec(db, "PRAGMA temp_store=MEMORY", NULL, NULL, NULL);
#ifdef SQLITE_DBCONFIG_DQS_DML
	/* an argument whose name is misspelt would be a text, and the answer a silent zero */
	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
#endif
	if (code != SQLITE_OK)
		status = ht_fail_nomem(ctx);
	if (status == HT_OK) {
		ht_sql_guard_start(&guard, &session, options->timeout_ms);
		status = run(&guard, query, options, ret_table);
		ht_sql_guard_done(&guard);
	}
	/* texts of the traces are in its hands until it is closed */
	sqlite3_close(db);
	ht_sql_session_done(&session);
	return status;
}

enum ht_status ht_sql_query(ht_ctx *ctx, ht_set *set, const char *query,
        const struct ht_sql_options *options, bool any_is_text, ht_table **ret_table)
{
	sqlite3 *db = NULL;
	int code = sqlite3_open_v2(":memory:", &db,
	        SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, NULL);
	if (code != SQLITE_OK) {
		sqlite3_close(db);
		return ht_fail_nomem(ctx);
	}
	return run_connected(ctx, set, db, query, options, any_is_text, ret_table);
}

enum ht_status ht_sql(ht_ctx *ctx, ht_set *set, const char *query,
        const struct ht_sql_options *options, ht_table **ret_table)
{
	struct ht_sql_options taken;
	ht_error_clear(ctx);
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_sql_options, base, options, &taken));
	return ht_sql_query(ctx, set, query, &taken, false, ret_table);
}

#else

enum ht_status ht_sql(ht_ctx *ctx, ht_set *set, const char *query,
        const struct ht_sql_options *options, ht_table **ret_table)
{
	(void)set;
	(void)query;
	(void)options;
	(void)ret_table;
	ht_error_clear(ctx);
	return ht_fail(ctx, HT_USAGE, NULL, -1,
	        "install SQLite (Debian: libsqlite3-dev) and build again",
	        "this build has no SQL: it was made without SQLite");
}

#endif

/* Past the quoted text, name or comment that begins here; NULL when it does not end. */
static const char *skip_quoted(const char *at)
{
	char mark = *at == '[' ? ']' : *at;
	const char *end = strchr(at + 1, mark);
	/* a doubled mark stands for itself: as good as two texts */
	return end ? end + 1 : NULL;
}

static const char *skip_comment(const char *at)
{
	const char *end = *at == '-' ? strchr(at, '\n') : strstr(at + 2, "*/");
	return !end ? NULL : *at == '-' ? end + 1 : end + 2;
}

size_t ht_sql_statement(const char *text)
{
	const char *at = text;
	while (at && *at) {
		if (*at == ';')
			return (size_t)(at - text) + 1;
		bool is_comment = !strncmp(at, "--", 2) || !strncmp(at, "/*", 2);
		at = is_comment             ? skip_comment(at)
		     : strchr("'\"`[", *at) ? skip_quoted(at)
		                            : at + 1;
	}
	return 0;
}
