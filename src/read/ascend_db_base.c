/*
 * ascend_db_base.c - opening and asking a database; see ascend_db.h.
 */
#include "read/rows.h"

#if defined(HT_HAVE_SQLITE)

#include "read/ascend_db.h"

#include <stdio.h>
#include <sys/stat.h>

/* A query that works for so many steps of the database's machine without giving a row is cancelled when the user
 * wants that. */
#define STEPS_PER_LOOK 100000

static enum ht_status fail_db(struct ht_db *db)
{
	if (sqlite3_errcode(db->handle) == SQLITE_NOMEM)
		return ht_fail_nomem(db->ctx);
	return ht_fail(db->ctx, HT_FORMAT, db->path, -1, "copy or export the file again",
	        "unusable database: %s", sqlite3_errmsg(db->handle));
}

/* The path as a URI, in which a few characters mean something. */
static char *uri_of(struct ht_arena *arena, const char *path)
{
	struct stat st;
	char *wal = ht_arena_printf(arena, "%s-wal", path);
	char *escaped = ht_arena_alloc(arena, strlen(path) * 3 + 1);
	if (!wal || !escaped)
		return NULL;
	char *out = escaped;
	for (const char *p = path; *p; p++) {
		static const char hex[] = "0123456789abcdef";
		bool plain = *p != '?' && *p != '#' && *p != '%';
		*out++ = plain ? *p : '%';
		if (!plain) {
			*out++ = hex[(unsigned char)*p >> 4];
			*out++ = hex[*p & 15];
		}
	}
	*out = '\0';
	/* without a journal nothing is written, not even a lock file */
	bool is_still = stat(wal, &st) < 0 || !st.st_size;
	return ht_arena_printf(arena, "file:%s%s?mode=ro%s", path[0] == '/' ? "//" : "", escaped,
	        is_still ? "&immutable=1" : "");
}

static int look(void *user)
{
	return atomic_load(&((ht_ctx *)user)->cancelled);
}

enum ht_status ht_db_open(struct ht_db *db, struct ht_builder *builder, const char *path)
{
	struct ht_arena arena;
	*db = (struct ht_db){ .ctx = builder->ctx, .builder = builder, .path = path };
	ht_arena_init(&arena, builder->mem);
	char *uri = uri_of(&arena, path);
	int code = uri ? sqlite3_open_v2(uri, &db->handle,
	                         SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL)
	               : SQLITE_NOMEM;
	ht_arena_done(&arena);
	enum ht_status status = HT_OK;
	if (code != SQLITE_OK)
		status = uri ? fail_db(db) : ht_fail_nomem(builder->ctx);
	ht_rows_init(&db->rows, builder);
	if (status == HT_OK) {
		sqlite3_progress_handler(db->handle, STEPS_PER_LOOK, look, builder->ctx);
		status = ht_db_run(db, "PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY");
	}
	if (status != HT_OK) {
		ht_db_close(db);
		return status;
	}
	db->has_strings = ht_db_has_table(db, "STRING_IDS");
	return HT_OK;
}

void ht_db_close(struct ht_db *db)
{
	ht_rows_done(&db->rows);
	sqlite3_close(db->handle);
}

enum ht_status ht_db_run(struct ht_db *db, const char *sql)
{
	return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? HT_OK : fail_db(db);
}

static bool has(struct ht_db *db, const char *sql, const char *a, const char *b)
{
	sqlite3_stmt *query;
	if (sqlite3_prepare_v2(db->handle, sql, -1, &query, NULL) != SQLITE_OK)
		return false;
	sqlite3_bind_text(query, 1, a, -1, SQLITE_STATIC);
	if (b)
		sqlite3_bind_text(query, 2, b, -1, SQLITE_STATIC);
	bool found = sqlite3_step(query) == SQLITE_ROW;
	sqlite3_finalize(query);
	return found;
}

bool ht_db_has_table(struct ht_db *db, const char *table)
{
	/* views of the file are not asked, those that we made are */
	return has(db,
	        "SELECT 1 FROM (SELECT name FROM sqlite_master WHERE type='table' UNION ALL "
	        "SELECT name FROM sqlite_temp_master) WHERE name=?",
	        table, NULL);
}

enum ht_status ht_db_select(struct ht_db *db, const char *table, const char *const *columns,
        const char *order, sqlite3_stmt **ret_query)
{
	struct ht_arena arena;
	*ret_query = NULL;
	if (!ht_db_has_table(db, table))
		return HT_OK;
	ht_arena_init(&arena, db->builder->mem);
	char *sql = ht_arena_printf(&arena, "SELECT ");
	for (; sql && *columns; columns++) {
		bool is_text = (*columns)[0] == '~';
		const char *name = *columns + is_text, *comma = columns[1] ? "," : "";
		bool known =
		        has(db, "SELECT 1 FROM pragma_table_info(?) WHERE name=?", table, name);
		if (!known || (is_text && !db->has_strings))
			sql = ht_arena_printf(&arena, "%sNULL%s", sql, comma);
		else if (is_text)
			sql = ht_arena_printf(&arena,
			        "%s(SELECT s.value FROM STRING_IDS s WHERE s.id=t.\"%s\")%s", sql,
			        name, comma);
		else
			sql = ht_arena_printf(&arena, "%st.\"%s\"%s", sql, name, comma);
	}
	if (sql)
		sql = ht_arena_printf(&arena, "%s FROM \"%s\" t%s%s", sql, table,
		        order ? " ORDER BY " : "", order ? order : "");
	enum ht_status status = HT_OK;
	if (!sql)
		status = ht_fail_nomem(db->ctx);
	else if (sqlite3_prepare_v2(db->handle, sql, -1, ret_query, NULL) != SQLITE_OK)
		status = fail_db(db);
	ht_arena_done(&arena);
	return status;
}

enum ht_status ht_db_step(struct ht_db *db, sqlite3_stmt *query, bool *ret_more)
{
	int code = sqlite3_step(query);
	*ret_more = code == SQLITE_ROW;
	if (code == SQLITE_ROW || code == SQLITE_DONE)
		return HT_OK;
	return code == SQLITE_INTERRUPT ? ht_progress(db->ctx, db->path, 0, 0) : fail_db(db);
}

bool ht_db_next(struct ht_db *db, sqlite3_stmt *query, enum ht_status *status)
{
	bool more = false;
	if (query && *status == HT_OK)
		*status = ht_db_step(db, query, &more);
	return more;
}

uint32_t ht_db_text(struct ht_db *db, sqlite3_stmt *query, int column)
{
	const char *text = (const char *)sqlite3_column_text(query, column);
	if (!text)
		return HT_NO_STR;
	size_t n = (size_t)sqlite3_column_bytes(query, column);
	/* shapes are in quotes, as they are in files */
	if (n >= 2 && text[0] == '"' && text[n - 1] == '"') {
		text++;
		n -= 2;
	}
	return ht_rows_text(&db->rows, text, n);
}

void ht_db_args_make(struct ht_db *db, struct ht_db_arg *args, size_t n)
{
	for (size_t i = 0; i < n; i++)
		args[i].of =
		        ht_rows_column(&db->rows, args[i].key, strlen(args[i].key), args[i].type);
}

void ht_db_args_put(struct ht_db *db, sqlite3_stmt *query, const struct ht_db_arg *args, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value;
		double real;
		if (ht_db_is_null(query, args[i].column))
			continue;
		switch (args[i].type) {
		case HT_ARG_STR: value = ht_db_text(db, query, args[i].column); break;
		case HT_ARG_F64:
			real = sqlite3_column_double(query, args[i].column);
			memcpy(&value, &real, sizeof value);
			break;
		default: value = (uint64_t)sqlite3_column_int64(query, args[i].column);
		}
		ht_row_put(&db->rows, args[i].of, value);
	}
}

#endif
