/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h - one query from its text to a table: query.c runs it, query_guard.c watches, query_result.c collects.
 */
#ifndef HT_SQL_QUERY_H
#define HT_SQL_QUERY_H

#include "sql/sql.h"

#define HT_SQL_READS "a query only reads: SELECT, WITH, VALUES, EXPLAIN"

/* What watches a query: deadline, memory, cancelling. */
struct ht_sql_guard {
	struct ht_sql_session *session;
	uint64_t timeout_ms;   /* 0: none */
	int64_t deadline_ns;   /* the same on the clock */
	int64_t sqlite_before; /* bytes that SQLite used when the query began */
	int64_t told_ns;       /* when the caller was asked last */
	enum ht_status
	        stopped; /* why the query was stopped: HT_LIMIT time, HT_NOMEM memory, HT_CANCELLED */
	/* the caller's own */
	ht_progress_fn progress;
	void *progress_user;
};

/* ht_sql without clearing the error first; values of columns that have several types may all be texts. */
enum ht_status ht_sql_query(ht_ctx *ctx, ht_set *set, const char *query,
        const struct ht_sql_options *options, bool any_is_text, ht_table **ret_table) HT_MUST_USE;

/* Watch a connection, and the context's progress, until done. */
void ht_sql_guard_start(struct ht_sql_guard *g, struct ht_sql_session *s, uint64_t timeout_ms);
void ht_sql_guard_done(struct ht_sql_guard *g);
/* The error of a statement that failed, in words with a hint. */
enum ht_status ht_sql_guard_fail(struct ht_sql_guard *g, int code) HT_MUST_USE;

/* The rows of a statement, at most max_rows (0: all), as a table. HT_USAGE when SQLite says no: ret_code has why. */
enum ht_status ht_sql_collect(struct ht_sql_session *s, sqlite3_stmt *query, uint64_t max_rows,
        int *ret_code, ht_table **ret_table) HT_MUST_USE;

/* Functions of SQLite whose work no limit would end, in a form that is bounded. */
int ht_sql_register_bounded(sqlite3 *db);

/* What to do about a message of SQLite on a query (NULL: unknown), in the room or for ever; NULL: nothing is known. */
#define HT_SQL_HINT_BYTES 256
const char *ht_sql_hint(const char *query, const char *message, char *room, size_t n_room);

#endif
