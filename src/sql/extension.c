/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extension.c - the tables and functions of SQL for any program with SQLite in it.
 *
 *     sqlite> .load holotrace_sqlite
 *     sqlite> SELECT holotrace_open('traces/');
 *     sqlite> SELECT name, sum(dur_ns) FROM gpu GROUP BY name ORDER BY 2 DESC LIMIT 5;
 *
 * holotrace_open(source...) takes what the program takes as TRACE and answers the number of ranks; opening again
 * means the new traces from then on. holotrace_cache(folder) says where parsed traces are kept, before opening.
 * What a query may do is up to the program that loads this: limits and rights are its own.
 *
 * A session belongs to the traces that it was made for. Statements that were prepared before the traces changed
 * still use the old one, so sessions live until the connection is closed.
 */
#include "sql/sql.h"

#include <string.h>

const sqlite3_api_routines *sqlite3_api;

struct opened {
	struct opened *before;
	struct ht_sql_session session;
	ht_set *set;
};

/* What a connection has. */
struct extension {
	sqlite3 *db;
	ht_ctx *ctx;
	struct opened *last;
	struct ht_sql_session *session; /* of the traces in use */
	char *cache_dir;                /* sqlite3_malloc; NULL: none */
};

static void extension_free(void *user)
{
	struct extension *e = user;
	while (e->last) {
		struct opened *one = e->last;
		e->last = one->before;
		ht_sql_session_done(&one->session);
		ht_close(one->set);
		sqlite3_free(one);
	}
	ht_ctx_free(e->ctx);
	sqlite3_free(e->cache_dir);
	sqlite3_free(e);
}

/* Tables over a set from now on; the set is the session's then. */
static int use(struct extension *e, ht_set *set)
{
	struct opened *new = sqlite3_malloc(sizeof *new);
	if (!new) {
		ht_close(set);
		return SQLITE_NOMEM;
	}
	*new = (struct opened){ .before = e->last, .set = set };
	e->last = new;
	int code = ht_sql_session_init(&new->session, e->ctx, set, e->db) == HT_OK ? SQLITE_OK
	                                                                           : SQLITE_NOMEM;
	new->session.is_loaded = true;
	if (code == SQLITE_OK)
		code = ht_sql_register_tables(&new->session);
	if (code == SQLITE_OK)
		e->session = &new->session;
	return code;
}

static void fail(sqlite3_context *call, ht_ctx *ctx)
{
	const struct ht_error *error = ht_error(ctx);
	char *text = sqlite3_mprintf("%s%s%s%s%s", error->file ? error->file : "",
	        error->file ? ": " : "", error->message, error->hint ? ". " : "",
	        error->hint ? error->hint : "");
	sqlite3_result_error(call, text ? text : "out of memory", -1);
	sqlite3_free(text);
	/* the next error is another one */
	ht_error_clear(ctx);
}

static void open_traces(sqlite3_context *call, int n, sqlite3_value **values)
{
	struct extension *e = sqlite3_user_data(call);
	struct ht_open_options options = {
		.struct_size = sizeof options, .no_cache = !e->cache_dir, .cache_dir = e->cache_dir
	};
	ht_set *set;
	const char **sources = sqlite3_malloc64(((size_t)n + 1) * sizeof *sources);
	if (!sources) {
		sqlite3_result_error_nomem(call);
		return;
	}
	for (int i = 0; i < n; i++) {
		const char *text = (const char *)sqlite3_value_text(values[i]);
		sources[i] = text ? text : "";
	}
	enum ht_status status =
	        n ? ht_open(e->ctx, sources, (size_t)n, &options, &set)
	          : ht_fail(e->ctx, HT_USAGE, NULL, -1, "as in: holotrace_open('traces/')",
	                    "holotrace_open needs a source");
	sqlite3_free(sources);
	if (status != HT_OK) {
		fail(call, e->ctx);
		return;
	}
	int code = use(e, set);
	if (code == SQLITE_OK)
		sqlite3_result_int64(call, (sqlite3_int64)ht_set_n_ranks(set));
	else
		sqlite3_result_error_code(call, code);
}

static void set_cache(sqlite3_context *call, int n, sqlite3_value **values)
{
	struct extension *e = sqlite3_user_data(call);
	const char *text = (const char *)sqlite3_value_text(values[0]);
	(void)n;
	sqlite3_free(e->cache_dir);
	e->cache_dir = text ? sqlite3_mprintf("%s", text) : NULL;
	sqlite3_result_value(call, values[0]);
}

HT_API int sqlite3_holotracesqlite_init(
        sqlite3 *db, char **ret_error, const sqlite3_api_routines *api);

int sqlite3_holotracesqlite_init(sqlite3 *db, char **ret_error, const sqlite3_api_routines *api)
{
	/* the host may be older than what this was compiled for */
	enum { NEEDS = 3022000 };
	/* files are opened by whoever types, not by what a schema says */
	enum { FLAGS = SQLITE_UTF8 | SQLITE_DIRECTONLY };
	sqlite3_api = api;
	if (sqlite3_libversion_number() < NEEDS) {
		*ret_error = sqlite3_mprintf("holotrace needs SQLite 3.22 or later");
		return SQLITE_ERROR;
	}
	struct extension *e = sqlite3_malloc(sizeof *e);
	if (!e)
		return SQLITE_NOMEM;
	*e = (struct extension){ .db = db };
	if (ht_ctx_new(&e->ctx) != HT_OK) {
		sqlite3_free(e);
		return SQLITE_NOMEM;
	}
	/* from here on the connection frees it, also when this fails */
	int code = sqlite3_create_function_v2(
	        db, "holotrace_open", -1, FLAGS, e, open_traces, NULL, NULL, extension_free);
	if (code == SQLITE_OK)
		code = sqlite3_create_function(
		        db, "holotrace_cache", 1, FLAGS, e, set_cache, NULL, NULL);
	if (code == SQLITE_OK)
		code = use(e, NULL);
	if (code == SQLITE_OK)
		code = ht_sql_register_functions(db, &e->session);
	return code;
}
