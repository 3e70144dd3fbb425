/* SPDX-License-Identifier: Apache-2.0 */
/*
 * db.h - a database of another profiler while it is read: queries over what it has, rows into the builder.
 *
 * Columns are asked for by name and what a table lacks is null, so that older and newer schemas are read alike. No table
 * needs an index: dictionaries are read once, all else is one pass.
 */
#ifndef HT_READ_DB_H
#define HT_READ_DB_H

#include "read/database.h"
#include "read/rows.h"

/* Ids and what they stand for, read once: no table of the file needs an index. */
struct ht_db_word {
	int64_t key;
	const char *text;
	size_t n;
	uint32_t str; /* in the trace; HT_NO_STR until it is used */
	bool is_used;
};
struct ht_db_words {
	struct ht_db_word *list;
	size_t n, cap;
};

struct ht_db {
	ht_ctx *ctx;
	struct ht_builder *builder;
	struct ht_database file;
	struct ht_rows rows;
	struct ht_arena texts;      /* of the words */
	struct ht_db_words strings; /* the dictionary of the file */
	bool has_quotes;            /* texts of it may be in quotes that are not theirs */
	/* of ht_db_open_damaged: what the last ht_db_select asked, and how many of its rows there were */
	bool is_tolerant;
	const char *table; /* the caller's, NULL: none yet */
	uint64_t n_rows;
	size_t n_damaged; /* tables that were not read to their end */
};

/* HT_FORMAT when it is no database that can be read. */
enum ht_status ht_db_open(
        struct ht_db *db, struct ht_builder *builder, const char *path) HT_MUST_USE;
/* The same, but a table that is damaged ends there: ht_db_next warns with the number of its rows that were read, and the file may be
 * shorter than it says. */
enum ht_status ht_db_open_damaged(
        struct ht_db *db, struct ht_builder *builder, const char *path) HT_MUST_USE;
/* A sentence about the recording, for health. */
enum ht_status ht_db_warn(struct ht_db *db, const char *text, size_t n) HT_MUST_USE;
/* Read the columns "id" and "value" of the table that is the dictionary of the file. */
enum ht_status ht_db_read_strings(struct ht_db *db, const char *table) HT_MUST_USE;
void ht_db_close(struct ht_db *db);

/* The columns of a table by name, as the columns of the result; what the table does not have is null. The list ends with
 * NULL; "a|b" is the first of these columns that is not null, "a||b" that is not an empty text either. *ret_query is NULL when there is no such table; else the caller ends it with sqlite3_finalize. tail ends the
 * statement ("ORDER BY id"), or NULL; the table is t in it. */
enum ht_status ht_db_select(struct ht_db *db, const char *table, const char *const *columns,
        const char *tail, sqlite3_stmt **ret_query) HT_MUST_USE;
/* The next row, for loops over all rows of what ht_db_select gave: false behind the last one, without a query, and when
 * *status is or becomes an error. */
bool ht_db_next(struct ht_db *db, sqlite3_stmt *query, enum ht_status *status);

/* Read two columns of a table into a dictionary that the caller ends; without such a table it stays empty. */
enum ht_status ht_db_words_read(struct ht_db *db, const char *table, const char *id,
        const char *value, struct ht_db_words *words) HT_MUST_USE;
void ht_db_words_done(struct ht_db *db, struct ht_db_words *words);
/* NULL: not there; the word of a key that is new, or was there; NULL when out of memory. */
struct ht_db_word *ht_db_words_find(const struct ht_db_words *words, int64_t key);
struct ht_db_word *ht_db_words_add(struct ht_db *db, struct ht_db_words *words, int64_t key);

/* Cells of the row. */
static inline bool ht_db_is_null(sqlite3_stmt *query, int column)
{
	return sqlite3_column_type(query, column) == SQLITE_NULL;
}
/* A cell that is null is 0 for SQLite: the second call is rarely needed, and there are millions of cells. */
static inline int64_t ht_db_i64(sqlite3_stmt *query, int column, int64_t fallback)
{
	int64_t value = sqlite3_column_int64(query, column);
	return !value && fallback && ht_db_is_null(query, column) ? fallback : value;
}
/* Text of a cell as id, HT_NO_STR when it is null. */
uint32_t ht_db_text(struct ht_db *db, sqlite3_stmt *query, int column);
/* What the number in a cell stands for in the dictionary of the file, or in another; NULL and HT_NO_STR: nothing. */
const char *ht_db_string(struct ht_db *db, sqlite3_stmt *query, int column);
uint32_t ht_db_string_id(struct ht_db *db, sqlite3_stmt *query, int column);
uint32_t ht_db_word_id(
        struct ht_db *db, const struct ht_db_words *words, sqlite3_stmt *query, int column);

/* Args of the event in hand from cells that are not null. */
struct ht_db_arg {
	int column;
	const char *key;
	enum ht_arg_type type; /* of the arg: HT_ARG_I64, HT_ARG_F64 or HT_ARG_STR */
	uint32_t of;           /* its column; see ht_db_args_make */
	/* of HT_ARG_STR: what the number in the cell is looked up in; NULL: that of the file */
	const struct ht_db_words *words;
};
void ht_db_args_make(struct ht_db *db, struct ht_db_arg *args, size_t n);
void ht_db_args_put(struct ht_db *db, sqlite3_stmt *query, const struct ht_db_arg *args, size_t n);

#endif
