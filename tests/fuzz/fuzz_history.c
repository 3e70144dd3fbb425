/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_history.c - a history of runs that somebody else wrote: read, judged and added to.
 *
 * The first byte of the input, modulo three, says what the rest is:
 *     0   statements, one per line, over a good store of five runs; what SQLite refuses is left out
 *     1   edits of the bytes of that store, three each: where, two bytes, and the new byte
 *     2   a table of text to import into it
 * Every view answers or says why not. What is added to afterwards is either still a history, or was refused.
 */
#include "fuzz.h"

#if defined(HT_HAVE_SQLITE)

#include <sqlite3.h>

#define HISTORY_MAX_STEPS 200 /* of a thousand operations each, for all statements */

static const char history_runs[] = "label,time ms,step/loss\n"
                                   "a,10,1.5\nb,11,1.25\nc,10.5,\nd,20,0.5\ne,21,0.25\n";

static struct fuzz_text history_good;
static int history_n_steps;

static int history_stop(void *user)
{
	(void)user;
	return ++history_n_steps > HISTORY_MAX_STEPS;
}

static int history_allow(
        void *user, int action, const char *a, const char *b, const char *c, const char *d)
{
	(void)user, (void)a, (void)b, (void)c, (void)d;
	switch (action) {
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
	case SQLITE_PRAGMA:
	case SQLITE_CREATE_VTABLE:
	case SQLITE_RECURSIVE:
	case SQLITE_TRANSACTION: return SQLITE_DENY;
	default: return SQLITE_OK;
	}
}

/* The bytes of the good store, made once. */
static void history_prepare(void)
{
	const char *table = fuzz_file_at(1, "", 0, history_runs, sizeof history_runs - 1);
	const char *store = fuzz_file("", 0, NULL, 0);
	ht_ctx *ctx = fuzz_common_ctx();
	char bytes[4096];
	FUZZ_REQUIRE(ht_history_import(ctx, store, table) == HT_OK);
	int fd = open(store, O_RDONLY | O_CLOEXEC);
	FUZZ_REQUIRE(fd >= 0);
	for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;)
		fuzz_append(&history_good, bytes, (size_t)n);
	close(fd);
	FUZZ_REQUIRE(history_good.n > 4096);
}

static const char *history_store(const void *bytes, size_t n)
{
	return fuzz_file("", 0, bytes, n);
}

/* The good store after the statements. */
static const char *history_change(const uint8_t *data, size_t size)
{
	sqlite3 *db;
	sqlite3_int64 n = 0;
	unsigned char *copy = sqlite3_malloc64(history_good.n);
	FUZZ_REQUIRE(copy && sqlite3_open(":memory:", &db) == SQLITE_OK);
	memcpy(copy, history_good.bytes, history_good.n);
	FUZZ_REQUIRE(sqlite3_deserialize(db, "main", copy, (sqlite3_int64)history_good.n,
	                     (sqlite3_int64)history_good.n,
	                     SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) ==
	             SQLITE_OK);
	(void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 16);
	history_n_steps = 0;
	sqlite3_progress_handler(db, 1000, history_stop, NULL);
	(void)sqlite3_set_authorizer(db, history_allow, NULL);
	for (size_t at = 0; at < size;) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		size_t n_line = end ? (size_t)(end - data) - at : size - at;
		sqlite3_stmt *statement = NULL;
		if (sqlite3_prepare_v2(db, (const char *)data + at, (int)n_line, &statement,
		            NULL) == SQLITE_OK)
			while (statement && sqlite3_step(statement) == SQLITE_ROW)
				;
		sqlite3_finalize(statement);
		at += n_line + 1;
	}
	unsigned char *bytes = sqlite3_serialize(db, "main", &n, 0);
	const char *path = history_store(bytes, bytes ? (size_t)n : 0);
	sqlite3_free(bytes);
	sqlite3_close(db);
	return path;
}

static const char *history_edit(const uint8_t *data, size_t size)
{
	char *bytes = malloc(history_good.n);
	FUZZ_REQUIRE(bytes);
	memcpy(bytes, history_good.bytes, history_good.n);
	for (size_t i = 0; i + 3 <= size; i += 3)
		bytes[(size_t)(data[i] | data[i + 1] << 8) % history_good.n] = (char)data[i + 2];
	const char *path = history_store(bytes, history_good.n);
	free(bytes);
	return path;
}

static void history_look(const char *path, const char *view)
{
	ht_ctx *ctx = fuzz_common_ctx();
	const struct ht_history_options options = { .struct_size = sizeof options, .view = view };
	ht_table *table;
	if (ht_history(ctx, path, &options, &table) == HT_OK)
		ht_table_free(table);
	else
		FUZZ_REQUIRE(*ht_error(ctx)->message);
}

static void history_import(const char *path, const void *text, size_t n)
{
	ht_ctx *ctx = fuzz_common_ctx();
	const char *table = fuzz_file_at(1, "", 0, text, n);
	if (ht_history_import(ctx, path, table) != HT_OK)
		FUZZ_REQUIRE(*ht_error(ctx)->message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const views[] = { "changes", "series", "latest" };
	if (!history_good.n)
		history_prepare();
	if (!size)
		return 0;
	bool chosen = fuzz_is_chosen(data, size, FUZZ_ONE_IN);
	const char *path = data[0] % 3 == 0   ? history_change(data + 1, size - 1)
	                   : data[0] % 3 == 1 ? history_edit(data + 1, size - 1)
	                                      : history_store(history_good.bytes, history_good.n);
	if (data[0] % 3 == 2)
		history_import(path, data + 1, size - 1);
	else if (chosen)
		history_import(path, history_runs, sizeof history_runs - 1);
	for (size_t i = 0; i < HT_COUNT(views); i++)
		if (chosen || size % HT_COUNT(views) == i)
			history_look(path, views[i]);
	return 0;
}

#else

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)data;
	(void)size;
	return 0;
}

#endif
