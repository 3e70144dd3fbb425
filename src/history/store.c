/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - see history.h: the file, and adding to it.
 *
 *     runs    id, label, source, added (seconds since 1970)
 *     series  id, metric, path, unit, higher_is_better
 *     points  series, run, value, n, mean, std, min, q1, median, q3, max
 *
 * Here it is written, by the user's own hand; load_series.c reads it, whoever wrote it. What is added to may have come from somebody else
 * all the same: a store that has more than these tables, as triggers, which would run with every row, is refused.
 */
#include "history/history.h"

#include "base/mem.h"
#include "base/options.h"

#if defined(HT_HAVE_SQLITE)

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUSY_MS        10000
#define MAX_TEXT_BYTES (16 << 20)

#define TABLE_RUNS                                                                                 \
	"CREATE TABLE runs(id INTEGER PRIMARY KEY, label TEXT NOT NULL, source TEXT, added INTEGER)"
#define TABLE_SERIES                                                                                       \
	"CREATE TABLE series(id INTEGER PRIMARY KEY, metric TEXT NOT NULL, path TEXT NOT NULL, unit TEXT," \
	" higher_is_better INTEGER NOT NULL, UNIQUE(path, metric))"
#define TABLE_POINTS                                                                                        \
	"CREATE TABLE points(series INTEGER NOT NULL, run INTEGER NOT NULL, value REAL, n REAL, mean REAL," \
	" std REAL, min REAL, q1 REAL, median REAL, q3 REAL, max REAL, PRIMARY KEY(series, run)) WITHOUT ROWID"

static const char schema[] = TABLE_RUNS ";" TABLE_SERIES ";" TABLE_POINTS ";"
                                        "PRAGMA application_id=1215261800; PRAGMA user_version=1;";
/* What else there is; SQLite keeps the statements as they were. */
static const char others[] =
        "SELECT count(*) FROM sqlite_master WHERE sql IS NOT NULL AND sql NOT IN ('" TABLE_RUNS
        "', '" TABLE_SERIES "', '" TABLE_POINTS "')";

struct ht_history_store {
	ht_ctx *ctx;
	const char *path;
	sqlite3 *db;
};

static enum ht_status fail(struct ht_history_store *s)
{
	int code = sqlite3_errcode(s->db) & 0xff;
	if (code == SQLITE_NOMEM)
		return ht_fail_nomem(s->ctx);
	bool format = code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR;
	return ht_fail(s->ctx, format ? HT_FORMAT : HT_IO, s->path, -1,
	        format ? "the store is a file that holotrace history --add made" : NULL, "%s",
	        sqlite3_errmsg(s->db));
}

static enum ht_status run_sql(struct ht_history_store *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? HT_OK : fail(s);
}

static enum ht_status ask_number(struct ht_history_store *s, const char *sql, int64_t *ret)
{
	sqlite3_stmt *statement;
	if (sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL) != SQLITE_OK)
		return fail(s);
	bool has = sqlite3_step(statement) == SQLITE_ROW;
	*ret = has ? sqlite3_column_int64(statement, 0) : 0;
	return sqlite3_finalize(statement) == SQLITE_OK ? HT_OK : fail(s);
}

static enum ht_status check_kind(struct ht_history_store *s)
{
	int64_t id, version, n_tables;
	HT_TRY(ask_number(s, "PRAGMA application_id", &id));
	HT_TRY(ask_number(s, "PRAGMA user_version", &version));
	HT_TRY(ask_number(s, "SELECT count(*) FROM sqlite_master", &n_tables));
	if (!n_tables)
		return run_sql(s, schema);
	if (id != HT_HISTORY_APPLICATION_ID)
		return ht_fail(s->ctx, HT_FORMAT, s->path, -1,
		        "the store is a file that holotrace history --add made",
		        "the database is no history of runs");
	if (version != HT_HISTORY_VERSION)
		return ht_fail(s->ctx, HT_FORMAT, s->path, -1,
		        "use the version that wrote it, or a newer one",
		        "the history has version %" PRId64 ", not %d", version, HT_HISTORY_VERSION);
	HT_TRY(ask_number(s, others, &n_tables));
	if (n_tables)
		return ht_fail(s->ctx, HT_FORMAT, s->path, -1,
		        "begin another store; runs of this one are read all the same",
		        "the history has tables, views or triggers that are not of one");
	return HT_OK;
}

enum ht_status ht_history_open(ht_ctx *ctx, const char *path, struct ht_history_store **ret_store)
{
	struct ht_history_store *s = ht_mem_zalloc(ctx->mem, sizeof *s);
	if (!s)
		return ht_fail_nomem(ctx);
	*s = (struct ht_history_store){ .ctx = ctx, .path = path };
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
	enum ht_status status =
	        sqlite3_open_v2(path, &s->db, flags, NULL) == SQLITE_OK ? HT_OK : fail(s);
	if (status == HT_OK) {
		(void)sqlite3_busy_timeout(s->db, BUSY_MS);
		(void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		(void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		(void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
		(void)sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, MAX_TEXT_BYTES);
		status = run_sql(s, "BEGIN IMMEDIATE");
	}
	if (status == HT_OK)
		status = check_kind(s);
	if (status != HT_OK) {
		ht_history_close(s);
		return status;
	}
	*ret_store = s;
	return HT_OK;
}

void ht_history_close(struct ht_history_store *s)
{
	if (!s)
		return;
	/* a transaction that was not committed goes with it */
	sqlite3_close(s->db);
	ht_mem_free(s->ctx->mem, s, sizeof *s);
}

/* ---- writing ---- */

static void bind_number(sqlite3_stmt *statement, int at, double value)
{
	if (isfinite(value))
		(void)sqlite3_bind_double(statement, at, value);
	else
		(void)sqlite3_bind_null(statement, at);
}

static bool finish_row(sqlite3_stmt *statement)
{
	bool done = sqlite3_step(statement) == SQLITE_DONE;
	return sqlite3_reset(statement) == SQLITE_OK && done;
}

struct statements {
	sqlite3_stmt *series, *point;
};

static bool put_measure(const struct statements *to, int64_t run, const struct ht_measure *m)
{
	const double numbers[] = { m->value, m->n, m->mean, m->std, m->min, m->q1, m->median, m->q3,
		m->max };
	(void)sqlite3_bind_text(to->series, 1, m->metric, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(to->series, 2, m->path, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(to->series, 3, m->unit, -1, SQLITE_STATIC);
	(void)sqlite3_bind_int(to->series, 4, m->higher_is_better);
	(void)sqlite3_bind_int64(to->point, 1, run);
	(void)sqlite3_bind_text(to->point, 2, m->path, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(to->point, 3, m->metric, -1, SQLITE_STATIC);
	for (size_t i = 0; i < HT_COUNT(numbers); i++)
		bind_number(to->point, 4 + (int)i, numbers[i]);
	return finish_row(to->series) && finish_row(to->point);
}

static enum ht_status put_run(
        struct ht_history_store *s, const char *label, const char *source, int64_t *ret_run)
{
	sqlite3_stmt *statement;
	if (sqlite3_prepare_v2(s->db, "INSERT INTO runs(label, source, added) VALUES(?1, ?2, ?3)",
	            -1, &statement, NULL) != SQLITE_OK)
		return fail(s);
	(void)sqlite3_bind_text(statement, 1, label, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(statement, 2, source, -1, SQLITE_STATIC);
	(void)sqlite3_bind_int64(statement, 3, (int64_t)time(NULL));
	bool done = sqlite3_step(statement) == SQLITE_DONE;
	*ret_run = sqlite3_last_insert_rowid(s->db);
	return sqlite3_finalize(statement) == SQLITE_OK && done ? HT_OK : fail(s);
}

static enum ht_status put_measures(
        struct ht_history_store *s, int64_t run, const struct ht_measure *measures, size_t n)
{
	static const char series[] = "INSERT INTO series(metric, path, unit, higher_is_better) "
	                             "VALUES(?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
	static const char point[] =
	        "INSERT OR REPLACE INTO points SELECT id, ?1, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 "
	        "FROM series WHERE path = ?2 AND metric = ?3";
	struct statements to = { NULL, NULL };
	bool fine = sqlite3_prepare_v2(s->db, series, -1, &to.series, NULL) == SQLITE_OK &&
	            sqlite3_prepare_v2(s->db, point, -1, &to.point, NULL) == SQLITE_OK;
	for (size_t i = 0; i < n && fine; i++)
		fine = put_measure(&to, run, &measures[i]);
	enum ht_status status = fine ? HT_OK : fail(s);
	sqlite3_finalize(to.series);
	sqlite3_finalize(to.point);
	return status;
}

enum ht_status ht_history_put(struct ht_history_store *s, const char *label, const char *source,
        const struct ht_measure *measures, size_t n)
{
	int64_t run = 0;
	HT_TRY(put_run(s, label, source, &run));
	return put_measures(s, run, measures, n);
}

enum ht_status ht_history_commit(struct ht_history_store *s)
{
	return run_sql(s, "COMMIT");
}

#else

enum ht_status ht_history_open(ht_ctx *ctx, const char *path, struct ht_history_store **ret_store)
{
	(void)ret_store;
	return ht_fail(ctx, HT_USAGE, path, -1,
	        "install SQLite (Debian: libsqlite3-dev) and build again",
	        "this build has no history of runs: it was made without SQLite");
}

void ht_history_close(struct ht_history_store *s)
{
	(void)s;
}

enum ht_status ht_history_put(struct ht_history_store *s, const char *label, const char *source,
        const struct ht_measure *measures, size_t n)
{
	(void)s, (void)label, (void)source, (void)measures, (void)n;
	return HT_INTERNAL;
}

enum ht_status ht_history_commit(struct ht_history_store *s)
{
	(void)s;
	return HT_INTERNAL;
}

#endif
