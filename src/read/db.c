/* SPDX-License-Identifier: Apache-2.0 */
/*
 * db.c - see db.h.
 */
#include "base/mem.h"
#include "read/rows.h"

#if defined(HT_HAVE_SQLITE)

#include "read/db.h"

#include "store/draft.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- dictionaries ---- */

/* The place of a key; its word when it is there, else a free one. */
static size_t place_of(const struct ht_db_words *words, int64_t key)
{
	return HT_PROBE(at, words->cap, (uint64_t)key,
	        !words->list[at].is_used || words->list[at].key == key);
}

static bool grow(struct ht_mem *mem, struct ht_db_words *words)
{
	struct ht_db_words old = *words;
	words->cap = old.cap ? old.cap * 2 : 256;
	words->list = ht_mem_zalloc(mem, words->cap * sizeof *words->list);
	if (!words->list) {
		*words = old;
		return false;
	}
	for (size_t i = 0; i < old.cap; i++)
		if (old.list[i].is_used)
			words->list[place_of(words, old.list[i].key)] = old.list[i];
	ht_mem_free(mem, old.list, old.cap * sizeof *old.list);
	return true;
}

struct ht_db_word *ht_db_words_find(const struct ht_db_words *words, int64_t key)
{
	struct ht_db_word *word = words->cap ? &words->list[place_of(words, key)] : NULL;
	return word && word->is_used ? word : NULL;
}

struct ht_db_word *ht_db_words_add(struct ht_db *db, struct ht_db_words *words, int64_t key)
{
	if (words->n * 2 >= words->cap && !grow(db->builder->mem, words))
		return NULL;
	struct ht_db_word *word = &words->list[place_of(words, key)];
	words->n += !word->is_used;
	word->is_used = true;
	word->key = key;
	return word;
}

void ht_db_words_done(struct ht_db *db, struct ht_db_words *words)
{
	ht_mem_free(db->builder->mem, words->list, words->cap * sizeof *words->list);
	*words = (struct ht_db_words){ 0 };
}

enum ht_status ht_db_words_read(struct ht_db *db, const char *table, const char *id,
        const char *value, struct ht_db_words *words)
{
	const char *const columns[] = { id, value, NULL };
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	HT_TRY(ht_db_select(db, table, columns, NULL, &query));
	while (ht_db_next(db, query, &status)) {
		size_t n;
		if (sqlite3_column_type(query, 0) != SQLITE_INTEGER)
			continue;
		int64_t key = sqlite3_column_int64(query, 0);
		const char *text = ht_database_text(&db->file, query, 1, &n);
		/* the first of several counts */
		if (!text || ht_db_words_find(words, key))
			continue;
		struct ht_db_word *word = ht_db_words_add(db, words, key);
		char *copy = word ? ht_arena_strndup(&db->texts, text, n) : NULL;
		if (!copy) {
			status = ht_fail_nomem(db->ctx);
			break;
		}
		word->text = copy;
		word->n = n;
		word->str = HT_NO_STR;
	}
	sqlite3_finalize(query);
	return status;
}

/* ---- opening ---- */

static void start(struct ht_db *db)
{
	ht_arena_init(&db->texts, db->builder->mem);
	ht_rows_init(&db->rows, db->builder);
}

enum ht_status ht_db_open(struct ht_db *db, struct ht_builder *builder, const char *path)
{
	*db = (struct ht_db){ .ctx = builder->ctx, .builder = builder };
	HT_TRY(ht_database_open(&db->file, builder->ctx, path));
	start(db);
	return HT_OK;
}

enum ht_status ht_db_open_damaged(struct ht_db *db, struct ht_builder *builder, const char *path)
{
	*db = (struct ht_db){ .ctx = builder->ctx, .builder = builder, .is_tolerant = true };
	enum ht_status status = ht_database_open(&db->file, builder->ctx, path);
	if (status == HT_FORMAT) {
		ht_error_clear(builder->ctx);
		status = ht_database_open_cut(&db->file, builder->ctx, path);
	}
	HT_TRY(status);
	start(db);
	return HT_OK;
}

enum ht_status ht_db_warn(struct ht_db *db, const char *text, size_t n)
{
	struct ht_builder *b = db->builder;
	uint32_t table = ht_draft_table(b, "profiler_warnings");
	uint32_t column = table == UINT32_MAX ? table : ht_draft_column(b, table, "text", 4);
	if (column == UINT32_MAX)
		return ht_fail_nomem(db->ctx);
	ht_draft_row(b, table);
	return ht_draft_put_str(b, table, column, text, n) ? HT_OK : ht_fail_nomem(db->ctx);
}

/* The rest of the table in hand is damaged; it counts as far as it was read. */
static enum ht_status end_damaged(struct ht_db *db)
{
	struct ht_arena arena;
	enum ht_status status = HT_OK;
	db->n_damaged++;
	ht_error_clear(db->ctx);
	if (!db->table)
		return HT_OK;
	ht_arena_init(&arena, db->builder->mem);
	char *text = ht_arena_printf(&arena,
	        "Table %s is damaged: %" PRIu64 " of its rows were read, the rest is lost (%s).",
	        db->table, db->n_rows, sqlite3_errmsg(db->file.handle));
	status = text ? ht_db_warn(db, text, strlen(text)) : ht_fail_nomem(db->ctx);
	ht_chunk_stat(&db->builder->all, HT_STAT_truncated, -1, 1);
	ht_arena_done(&arena);
	return status;
}

enum ht_status ht_db_read_strings(struct ht_db *db, const char *table)
{
	return ht_db_words_read(db, table, "id", "value", &db->strings);
}

void ht_db_close(struct ht_db *db)
{
	ht_db_words_done(db, &db->strings);
	ht_arena_done(&db->texts);
	ht_rows_done(&db->rows);
	ht_database_close(&db->file);
}

/* ---- asking ---- */

/* Add a column of the result to a statement: the first that has a value of those that the table has. The last of them needs no test. */
static char *put_column(
        struct ht_db *db, struct ht_arena *arena, char *sql, const char *table, const char *names)
{
	const char *test = strstr(names, "||") ? "<> ''" : "IS NOT NULL", *open = "CASE";
	char *last = ht_arena_printf(arena, "NULL");
	for (size_t n; sql && last && *names; names += n + strspn(names + n, "|")) {
		n = strcspn(names, "|");
		const char *name = ht_arena_strndup(arena, names, n);
		if (!name || !ht_database_has_column(&db->file, table, name))
			continue;
		if (strcmp(last, "NULL") != 0) {
			sql = ht_arena_printf(
			        arena, "%s%s WHEN %s %s THEN %s", sql, open, last, test, last);
			open = "";
		}
		last = ht_arena_printf(arena, "t.\"%s\"", name);
	}
	if (!sql || !last)
		return NULL;
	return ht_arena_printf(arena, *open ? "%s%s" : "%s ELSE %s END", sql, last);
}

enum ht_status ht_db_select(struct ht_db *db, const char *table, const char *const *columns,
        const char *tail, sqlite3_stmt **ret_query)
{
	struct ht_arena arena;
	*ret_query = NULL;
	db->table = table;
	db->n_rows = 0;
	if (!ht_database_has_table(&db->file, table))
		return HT_OK;
	ht_arena_init(&arena, db->builder->mem);
	char *sql = ht_arena_printf(&arena, "SELECT ");
	for (; sql && *columns; columns++) {
		sql = put_column(db, &arena, sql, table, *columns);
		if (sql && columns[1])
			sql = ht_arena_printf(&arena, "%s,", sql);
	}
	if (sql)
		sql = ht_arena_printf(&arena, "%s FROM \"%s\" t %s", sql, table, tail ? tail : "");
	enum ht_status status = HT_OK;
	if (!sql)
		status = ht_fail_nomem(db->ctx);
	else if (sqlite3_prepare_v2(db->file.handle, sql, -1, ret_query, NULL) != SQLITE_OK)
		status = ht_database_fail(&db->file);
	ht_arena_done(&arena);
	/* its line of the schema is damaged */
	return status == HT_FORMAT && db->is_tolerant ? end_damaged(db) : status;
}

bool ht_db_next(struct ht_db *db, sqlite3_stmt *query, enum ht_status *status)
{
	bool more = false;
	if (query && *status == HT_OK)
		*status = ht_database_step(&db->file, query, &more);
	db->n_rows += more;
	if (*status == HT_FORMAT && db->is_tolerant && !more)
		*status = end_damaged(db);
	return more;
}

/* As id; shapes of Ascend are in quotes, as they are in its files. */
static uint32_t text_id(struct ht_db *db, const char *text, size_t n)
{
	if (db->has_quotes && n >= 2 && text[0] == '"' && text[n - 1] == '"') {
		text++;
		n -= 2;
	}
	return ht_rows_text(&db->rows, text, n);
}

uint32_t ht_db_text(struct ht_db *db, sqlite3_stmt *query, int column)
{
	size_t n;
	const char *text = ht_database_text(&db->file, query, column, &n);
	return text ? text_id(db, text, n) : HT_NO_STR;
}

static struct ht_db_word *word_at(const struct ht_db_words *words, sqlite3_stmt *query, int column)
{
	if (sqlite3_column_type(query, column) != SQLITE_INTEGER)
		return NULL;
	return ht_db_words_find(words, sqlite3_column_int64(query, column));
}

const char *ht_db_string(struct ht_db *db, sqlite3_stmt *query, int column)
{
	const struct ht_db_word *word = word_at(&db->strings, query, column);
	return word ? word->text : NULL;
}

uint32_t ht_db_word_id(
        struct ht_db *db, const struct ht_db_words *words, sqlite3_stmt *query, int column)
{
	struct ht_db_word *word = word_at(words, query, column);
	if (word && word->str == HT_NO_STR)
		word->str = text_id(db, word->text, word->n);
	return word ? word->str : HT_NO_STR;
}

uint32_t ht_db_string_id(struct ht_db *db, sqlite3_stmt *query, int column)
{
	return ht_db_word_id(db, &db->strings, query, column);
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
		case HT_ARG_STR:
			value = ht_db_word_id(db, args[i].words ? args[i].words : &db->strings,
			        query, args[i].column);
			if (value == HT_NO_STR)
				continue;
			break;
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
