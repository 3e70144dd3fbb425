/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database.h - a SQLite file that somebody else wrote, as readers of such files see it.
 *
 *     struct ht_database file;
 *     HT_TRY(ht_database_open(&file, ctx, path));
 *     if (ht_database_has_column(&file, "STRING_IDS", "value")) ... sqlite3_prepare_v2(file.handle, ...)
 *     while (... ht_database_step(&file, query, &more) ...)
 *     ht_database_close(&file);
 *
 * The file is read through a descriptor that came through the door (base/door.h): nothing is written, locked or made beside
 * it, and no other file is opened; a compressed one is unpacked first (unpack.h). What its schema defines beyond plain tables is never evaluated: views, triggers,
 * virtual tables and generated columns are as good as not there for ht_database_has_table and _has_column, so ask these
 * before naming a table, and name those of the file with "main.".
 *
 * A database can claim more than its bytes hold: pages that many others point to, values that overlap. Each connection
 * has bounds in proportion to the size of its file: steps of SQLite's machine, bytes of cells; and a longest value, the
 * memory limit of the context and its cancelling. Beyond them a call is HT_LIMIT.
 *
 * What has no place here: how a table becomes events. Joins need keys of their own (copy into a temporary table with a
 * primary key, or a dictionary in memory), as the file need not have any.
 */
#ifndef HT_READ_DATABASE_H
#define HT_READ_DATABASE_H

#include "base/status.h"

#include <sqlite3.h>

struct ht_database {
	ht_ctx *ctx;
	const char *path; /* the caller's */
	sqlite3 *handle;
	uint64_t n_steps, max_steps;           /* of SQLite's machine */
	uint64_t n_cell_bytes, max_cell_bytes; /* that were asked for */
	int64_t sqlite_before;                 /* bytes that SQLite used when it was opened */
	const char *stopped;                   /* which bound was reached; NULL: none */
	bool is_unpacked;                      /* the file is a compressed one */
};

/* HT_FORMAT when it is no database that can be read, HT_IO when the file cannot. The caller closes it. */
enum ht_status ht_database_open(
        struct ht_database *file, ht_ctx *ctx, const char *path) HT_MUST_USE;
/* The same of a file that may be shorter than it says: a step that needs a page that is not there is HT_FORMAT. */
enum ht_status ht_database_open_cut(
        struct ht_database *file, ht_ctx *ctx, const char *path) HT_MUST_USE;
void ht_database_close(struct ht_database *file);

/* The only view, a temporary one of ours, that may be asked. */
#define HT_DATABASE_VIEW "ht_task"

/* A table of plain rows, of the file or a temporary one of ours. */
bool ht_database_has_table(struct ht_database *file, const char *table);
/* A column of it that is stored as it was written. */
bool ht_database_has_column(struct ht_database *file, const char *table, const char *column);

/* The next row; *ret_more is false behind the last one. */
enum ht_status ht_database_step(
        struct ht_database *file, sqlite3_stmt *query, bool *ret_more) HT_MUST_USE;
/* A statement of our own. */
enum ht_status ht_database_run(struct ht_database *file, const char *sql) HT_MUST_USE;
/* The error that the connection has, in words. */
enum ht_status ht_database_fail(struct ht_database *file) HT_MUST_USE;

/* The text of a cell with its length, counted; NULL for null, and beyond the bound, which the next step tells. */
const char *ht_database_text(
        struct ht_database *file, sqlite3_stmt *query, int column, size_t *ret_n);

/* The name of the file system that reads descriptors, and of a file in it: database_vfs.c. NULL when out of memory. */
const char *ht_descriptor_vfs(void);
/* Takes the descriptors: of the database, and of its write-ahead log or -1. */
#define HT_DESCRIPTOR_NAME_BYTES 96
void ht_descriptor_name(int fd, int wal_fd, char name[HT_DESCRIPTOR_NAME_BYTES]);

#endif
