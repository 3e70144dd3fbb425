/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_guard.c - what a query may do, how long and with how much memory, and what is said when it may not.
 *
 * Queries read. SQLite asks before it compiles anything else (the authorizer), so writing, ATTACH, pragmas that
 * change something and loading code end there. While a query runs, SQLite and the analyses inside it look at the
 * clock, at memory and at the caller's progress function every now and then.
 *
 * The memory limit is that of the context: its own allocations, and what SQLite has taken since the query began.
 * SQLite counts for the whole process, so queries on other threads count as well.
 */
#if defined(HT_HAVE_SQLITE)

#include "base/mem.h"
#include "sql/query.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* So many steps of SQLite's machine between two looks: some microseconds, and as many of the longest values as fit into
 * that. The caller is asked no more often than these. */
#define STEPS_PER_LOOK    1000
#define PROGRESS_EVERY_NS 50000000

/* A value is no longer than this, and what a function does with one ends soon: between two steps nobody looks. With a
 * limit of memory it is a part of that, within bounds. */
#define MAX_VALUE_BYTES  (16 << 20)
#define MIN_VALUE_BYTES  (1 << 20)
#define VALUES_OF_MEMORY 64
/* LIKE and GLOB compare a pattern at every place of a text. */
#define MAX_PATTERN_BYTES 4096

/* To some milliseconds where that is cheaper: it is looked at often. */
static int64_t now_ns(void)
{
	struct timespec now;
#ifdef CLOCK_MONOTONIC_COARSE
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#else
	clock_gettime(CLOCK_MONOTONIC, &now);
#endif
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- what is allowed ---- */

static bool is_listed(const char *const *list, size_t n, const char *word)
{
	for (size_t i = 0; word && i < n; i++)
		if (!sqlite3_stricmp(list[i], word))
			return true;
	return false;
}

static int authorize(void *user, int action, const char *first, const char *second,
        const char *database, const char *trigger)
{
	/* they say what there is, and change nothing */
	static const char *const pragmas[] = { "table_info", "table_xinfo", "table_list",
		"function_list", "module_list", "pragma_list", "collation_list",
		"compile_options" };
	/* of programs that have linked them in */
	static const char *const files[] = { "load_extension", "readfile", "writefile", "edit",
		"fts3_tokenizer" };
	(void)user;
	(void)database;
	(void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE: return SQLITE_OK;
	case SQLITE_FUNCTION:
		return is_listed(files, HT_COUNT(files), second) ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_UPDATE:
		/* this is how SQLite takes the columns of a virtual table; as a statement it is refused anyway */
		return first && !strcmp(first, "sqlite_master") ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_PRAGMA:
		return is_listed(pragmas, HT_COUNT(pragmas), first) ? SQLITE_OK : SQLITE_DENY;
	default: return SQLITE_DENY;
	}
}

/* ---- while it runs ---- */

/* True when the query shall go on. */
static bool look(struct ht_sql_guard *g, const char *what, uint64_t done, uint64_t total)
{
	ht_ctx *ctx = g->session->ctx;
	int64_t now = now_ns();
	uint64_t limit = ctx->mem->limit, in_sqlite = 0;
	int64_t grown = sqlite3_memory_used() - g->sqlite_before;
	if (grown > 0)
		in_sqlite = (uint64_t)grown;
	if (g->deadline_ns && now >= g->deadline_ns)
		g->stopped = HT_LIMIT;
	else if (limit && atomic_load(&ctx->mem->now) + in_sqlite > limit)
		g->stopped = HT_NOMEM;
	if (g->stopped != HT_OK)
		return false;
	if (!g->progress || (g->told_ns && now - g->told_ns < PROGRESS_EVERY_NS && done < total))
		return true;
	g->told_ns = now;
	if (!g->progress(g->progress_user, what, done, total))
		g->stopped = HT_CANCELLED;
	return g->stopped == HT_OK;
}

static int on_steps(void *user)
{
	struct ht_sql_guard *g = user;
	return !look(g, "query", g->session->n_rows, 0);
}

static bool on_progress(void *user, const char *what, uint64_t done, uint64_t total)
{
	return look(user, what, done, total);
}

static int longest_value(uint64_t memory_limit)
{
	uint64_t part = memory_limit / VALUES_OF_MEMORY;
	if (!memory_limit || part > MAX_VALUE_BYTES)
		return MAX_VALUE_BYTES;
	return part > MIN_VALUE_BYTES ? (int)part : MIN_VALUE_BYTES;
}

void ht_sql_guard_start(struct ht_sql_guard *g, struct ht_sql_session *s, uint64_t timeout_ms)
{
	ht_ctx *ctx = s->ctx;
	*g = (struct ht_sql_guard){ .session = s,
		.sqlite_before = sqlite3_memory_used(),
		.timeout_ms = timeout_ms,
		.progress = ctx->progress,
		.progress_user = ctx->progress_user };
	if (timeout_ms && timeout_ms < INT64_MAX / 2000000)
		g->deadline_ns = now_ns() + (int64_t)timeout_ms * 1000000;
	ht_ctx_set_progress(ctx, on_progress, g);
	sqlite3_progress_handler(s->db, STEPS_PER_LOOK, on_steps, g);
	sqlite3_set_authorizer(s->db, authorize, g);
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, longest_value(ctx->mem->limit));
	sqlite3_limit(s->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MAX_PATTERN_BYTES);
}

void ht_sql_guard_done(struct ht_sql_guard *g)
{
	ht_ctx_set_progress(g->session->ctx, g->progress, g->progress_user);
}

/* ---- what went wrong ---- */

static enum ht_status fail_stopped(struct ht_sql_guard *g)
{
	ht_ctx *ctx = g->session->ctx;
	/* what the analysis inside said of being stopped is not the reason */
	ht_error_clear(ctx);
	if (g->stopped == HT_LIMIT)
		return ht_fail(ctx, HT_LIMIT, NULL, -1, "ask for less, or allow more time",
		        "the query took longer than %llu ms", (unsigned long long)g->timeout_ms);
	if (g->stopped == HT_NOMEM)
		return ht_fail(ctx, HT_LIMIT, NULL, -1, "ask for less, or allow more memory",
		        "the query needs more memory than the limit of %llu bytes",
		        (unsigned long long)ctx->mem->limit);
	return ht_fail(ctx, HT_CANCELLED, NULL, -1, NULL, "cancelled");
}

enum ht_status ht_sql_guard_fail(struct ht_sql_guard *g, int code)
{
	struct ht_sql_session *s = g->session;
	const char *message = sqlite3_errmsg(s->db);
	char room[HT_SQL_HINT_BYTES];
	if (g->stopped != HT_OK)
		return fail_stopped(g);
	if (s->failed != HT_OK && s->ctx->error.status != HT_OK)
		return s->failed;
	if (code == SQLITE_NOMEM)
		return ht_fail_nomem(s->ctx);
	if (code == SQLITE_TOOBIG)
		return ht_fail(s->ctx, HT_LIMIT, NULL, -1, NULL,
		        "a value or the query itself is too long");
	return ht_fail(s->ctx, HT_USAGE, NULL, -1,
	        ht_sql_hint(s->query, message, room, sizeof room), "%s", message);
}

#endif
