/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database.c - see database.h.
 */
#include "base/mem.h"
#include "read/rows.h"

#if defined(HT_HAVE_SQLITE)

#include "read/database.h"

#include "base/door.h"
#include "base/io.h"
#include "read/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Between two looks at bounds and cancelling: some microseconds. */
#define STEPS_PER_LOOK 1000

/* Of the largest databases that were seen, queries take some ten steps a byte; a row of one number is some ten bytes. */
#define STEPS_PER_BYTE ((uint64_t)500)
#define STEPS_ANYWAY   ((uint64_t)20000000)
/* A cell is read once or twice, some texts of dictionaries besides. */
#define CELL_BYTES_PER_BYTE ((uint64_t)20)
#define CELL_BYTES_ANYWAY   ((uint64_t)64 << 20)
/* The longest names and call stacks are some hundred kilobytes. */
#define MAX_VALUE_BYTES (16 << 20)
#define MAX_SCHEMA_TEXT (1 << 20)
/* No statement of ours, and no table that is read, nests deeper. */
#define MAX_DEPTH 100

static int look(void *user)
{
	struct ht_database *file = user;
	ht_ctx *ctx = file->ctx;
	uint64_t limit = ctx->mem->limit;
	int64_t grown = sqlite3_memory_used() - file->sqlite_before;
	file->n_steps += STEPS_PER_LOOK;
	if (file->n_steps > file->max_steps)
		file->stopped = "its tables hold more rows than its bytes can";
	else if (file->n_cell_bytes > file->max_cell_bytes)
		file->stopped = "its values are longer than its bytes can hold";
	else if (limit && grown > 0 && atomic_load(&ctx->mem->now) + (uint64_t)grown > limit)
		file->stopped = "reading it needs more memory than the limit";
	return file->stopped || ht_ctx_is_cancelled(ctx);
}

static bool is_one_of(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; word && i < n; i++)
		if (!sqlite3_stricmp(word, list[i]))
			return true;
	return false;
}

/* Statements are ours, and they read tables of the file, or make and fill temporary ones. Whatever else would be done is brought in
 * by the schema of the file, and refused: calls of other functions, what a view or trigger reads that is not ours, changes of the
 * file, other databases. inner is the view or trigger. */
static int authorize(void *user, int action, const char *first, const char *second,
        const char *database, const char *inner)
{
	static const char *const functions[] = { "count", "sum", "abs", "round" };
	static const char *const pragmas[] = { "temp_store", "cell_size_check", "locking_mode",
		"writable_schema", "table_xinfo" };
	static const char *const views[] = { HT_DATABASE_VIEW };
	bool allowed = false;
	(void)user;
	if (inner && !is_one_of(inner, views, HT_COUNT(views)))
		return SQLITE_DENY;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_TRANSACTION:
	case SQLITE_CREATE_TEMP_TABLE:
	case SQLITE_CREATE_TEMP_INDEX:
	case SQLITE_CREATE_TEMP_VIEW: allowed = true; break;
	/* as SQLite asks when it declares pragma_table_xinfo; nobody writes to the file, which is open for reading */
	case SQLITE_UPDATE:
		allowed = database &&
		          (!strcmp(database, "temp") || (first && !strcmp(first, "sqlite_master")));
		break;
	case SQLITE_INSERT:
	case SQLITE_DELETE:
	case SQLITE_REINDEX: allowed = database && !strcmp(database, "temp"); break;
	case SQLITE_FUNCTION: allowed = is_one_of(second, functions, HT_COUNT(functions)); break;
	case SQLITE_PRAGMA: allowed = is_one_of(first, pragmas, HT_COUNT(pragmas)); break;
	default: break;
	}
	return allowed ? SQLITE_OK : SQLITE_DENY;
}

static void guard(struct ht_database *file, uint64_t file_bytes)
{
	static const int switches[][2] = { { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
#ifdef SQLITE_DBCONFIG_DEFENSIVE
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
#endif
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
#endif
		{ SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 } };
	sqlite3 *handle = file->handle;
	uint64_t capped = file_bytes < UINT64_MAX / 1024 ? file_bytes : UINT64_MAX / 1024;
	file->max_steps = STEPS_ANYWAY + capped * STEPS_PER_BYTE;
	file->max_cell_bytes = CELL_BYTES_ANYWAY + capped * CELL_BYTES_PER_BYTE;
	file->sqlite_before = sqlite3_memory_used();
	for (size_t i = 0; i < HT_COUNT(switches); i++)
		(void)sqlite3_db_config(handle, switches[i][0], switches[i][1], NULL);
	sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
	sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, MAX_SCHEMA_TEXT);
	sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 0);
	sqlite3_limit(handle, SQLITE_LIMIT_WORKER_THREADS, 0);
	sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, MAX_DEPTH);
	sqlite3_limit(handle, SQLITE_LIMIT_COMPOUND_SELECT, MAX_DEPTH);
#if SQLITE_VERSION_NUMBER >= 3030000
	/* no virtual table of the file can be anything */
	(void)sqlite3_drop_modules(handle, NULL);
#endif
	sqlite3_progress_handler(handle, STEPS_PER_LOOK, look, file);
	sqlite3_set_authorizer(handle, authorize, file);
}

enum ht_status ht_database_fail(struct ht_database *file)
{
	ht_ctx *ctx = file->ctx;
	int code = file->handle ? sqlite3_errcode(file->handle) : SQLITE_NOMEM;
	if (file->stopped)
		return ht_fail(ctx, HT_LIMIT, file->path, -1,
		        "export the database again; if it is whole, raise --memory-limit",
		        "unusable database: %s", file->stopped);
	if (code == SQLITE_INTERRUPT)
		return ht_progress(ctx, file->path, 0, 0);
	if (code == SQLITE_NOMEM)
		return ht_fail_nomem(ctx);
	if (code == SQLITE_TOOBIG)
		return ht_fail(ctx, HT_LIMIT, file->path, -1, "copy or export the file again",
		        "unusable database: a value is longer than %d bytes", MAX_VALUE_BYTES);
	return ht_fail(ctx, HT_FORMAT, file->path, -1, "copy or export the file again",
	        "unusable database: %s", sqlite3_errmsg(file->handle));
}

/* The write-ahead log beside the file when there is something in it; -1: none. */
static int open_wal(ht_ctx *ctx, const char *path)
{
	struct ht_arena arena;
	struct stat st;
	ht_arena_init(&arena, ctx->mem);
	char *name = ht_arena_printf(&arena, "%s-wal", path);
	int fd = name ? ht_door_open(ctx, name, O_NONBLOCK | O_NOCTTY) : -1;
	ht_arena_done(&arena);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* SQLite refuses a file that is shorter than its header says, and one with a single statement of the schema that it does not
 * understand, unless the schema may be written. It may not: the connection is read-only. What is gained is
 * that tables before the damage are read; a page that is not there is damage when it is needed. Neither runs anything: the schema
 * is trusted as little as that of a whole file, and views, triggers, virtual tables and functions meet the same refusals. */
static enum ht_status take_cut(struct ht_database *file)
{
#ifdef SQLITE_DBCONFIG_DEFENSIVE
	(void)sqlite3_db_config(file->handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
#endif
	return ht_database_run(file, "PRAGMA writable_schema=ON");
}

static enum ht_status connect_to(struct ht_database *file, int fd, int wal_fd)
{
	char name[HT_DESCRIPTOR_NAME_BYTES];
	const char *vfs = ht_descriptor_vfs();
	struct stat st;
	if (fstat(fd, &st) < 0)
		return ht_fail_errno(file->ctx, file->path, "cannot open", errno);
	if (!S_ISREG(st.st_mode))
		return ht_fail(file->ctx, HT_IO, file->path, -1, "save it to a file first",
		        "cannot read: not a regular file");
	if (!vfs)
		return ht_fail_nomem(file->ctx);
	ht_descriptor_name(fd, wal_fd, name);
	if (sqlite3_open_v2(name, &file->handle,
	            SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, vfs) != SQLITE_OK)
		return ht_database_fail(file);
	guard(file, (uint64_t)st.st_size);
	/* a log is then read without shared memory beside it */
	return ht_database_run(
	        file, wal_fd < 0 ? "PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON"
	                         : "PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON; "
	                           "PRAGMA locking_mode=EXCLUSIVE");
}

static enum ht_status open_file(
        struct ht_database *file, ht_ctx *ctx, const char *path, bool takes_cut)
{
	*file = (struct ht_database){ .ctx = ctx, .path = path };
	if (ht_io_should_fail(ctx))
		return ht_fail_errno(ctx, path, "cannot open", EIO);
	int fd = ht_door_open(ctx, path, O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return ht_fail_errno(ctx, path, "cannot open", errno);
	if (ht_is_packed(fd)) {
		int packed_fd = fd;
		enum ht_status status = ht_unpack(ctx, path, packed_fd, &fd);
		close(packed_fd);
		HT_TRY(status);
		file->is_unpacked = true;
	}
	int wal_fd = open_wal(ctx, path);
	enum ht_status status = connect_to(file, fd, wal_fd);
	if (status == HT_OK && takes_cut)
		status = take_cut(file);
	if (status == HT_OK) {
		/* the first look at the file tells whether it is one; the log is opened then as well */
		(void)ht_database_has_table(file, "");
		status =
		        sqlite3_errcode(file->handle) == SQLITE_OK ? HT_OK : ht_database_fail(file);
	}
	close(fd);
	if (wal_fd >= 0)
		close(wal_fd);
	if (status != HT_OK)
		ht_database_close(file);
	return status;
}

enum ht_status ht_database_open(struct ht_database *file, ht_ctx *ctx, const char *path)
{
	return open_file(file, ctx, path, false);
}

enum ht_status ht_database_open_cut(struct ht_database *file, ht_ctx *ctx, const char *path)
{
	return open_file(file, ctx, path, true);
}

void ht_database_close(struct ht_database *file)
{
	sqlite3_close(file->handle);
	file->handle = NULL;
	if (file->is_unpacked)
		ht_unpack_done();
	file->is_unpacked = false;
}

enum ht_status ht_database_run(struct ht_database *file, const char *sql)
{
	return sqlite3_exec(file->handle, sql, NULL, NULL, NULL) == SQLITE_OK
	               ? HT_OK
	               : ht_database_fail(file);
}

static bool has(struct ht_database *file, const char *sql, const char *a, const char *b)
{
	sqlite3_stmt *query;
	if (sqlite3_prepare_v2(file->handle, sql, -1, &query, NULL) != SQLITE_OK)
		return false;
	sqlite3_bind_text(query, 1, a, -1, SQLITE_STATIC);
	if (b)
		sqlite3_bind_text(query, 2, b, -1, SQLITE_STATIC);
	bool found = sqlite3_step(query) == SQLITE_ROW;
	sqlite3_finalize(query);
	return found;
}

bool ht_database_has_table(struct ht_database *file, const char *table)
{
	/* virtual tables have no page of their own; views that we made are asked */
	return has(file,
	        "SELECT 1 FROM (SELECT name FROM main.sqlite_master WHERE type='table' AND "
	        "rootpage>0 UNION ALL SELECT name FROM sqlite_temp_master) WHERE name=?",
	        table, NULL);
}

bool ht_database_has_column(struct ht_database *file, const char *table, const char *column)
{
	/* columns that are computed have another mark */
	return has(file, "SELECT 1 FROM pragma_table_xinfo(?) WHERE name=? AND hidden=0", table,
	        column);
}

enum ht_status ht_database_step(struct ht_database *file, sqlite3_stmt *query, bool *ret_more)
{
	int code = sqlite3_step(query);
	*ret_more = code == SQLITE_ROW;
	/* few steps a row of long values */
	if (code == SQLITE_ROW && file->n_cell_bytes > file->max_cell_bytes && look(file))
		return ht_database_fail(file);
	return code == SQLITE_ROW || code == SQLITE_DONE ? HT_OK : ht_database_fail(file);
}

const char *ht_database_text(
        struct ht_database *file, sqlite3_stmt *query, int column, size_t *ret_n)
{
	*ret_n = 0;
	if (file->n_cell_bytes > file->max_cell_bytes)
		return NULL;
	const char *text = (const char *)sqlite3_column_text(query, column);
	if (text)
		*ret_n = (size_t)sqlite3_column_bytes(query, column);
	file->n_cell_bytes += *ret_n;
	return text;
}

#endif
