/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_rows.c - any rows of the tables that Ascend's and Nsight Systems' databases have: other types, other columns, none.
 *
 * The input is the text of the statements that make the database, one per line; what SQLite refuses is left out. So every input is a
 * database that opens, and what varies is what the reader finds in it (fuzz_db.c damages the file itself).
 */
#include "fuzz.h"

#if defined(HT_HAVE_SQLITE)

#include <sqlite3.h>

#define ROWS_MAX_STEPS 200 /* of a thousand operations each, for all statements */

static const char *const rows_verbs[] = { "events", "tables", "kernels", "operators", "steps",
	"memory-events", "distributed" };

static sqlite3 *rows_db;
static int rows_n_steps;

static int rows_stop(void *user)
{
	(void)user;
	return ++rows_n_steps > ROWS_MAX_STEPS;
}

/* Tables and their rows, and nothing that leaves the database or makes values without end. */
static int rows_allow(
        void *user, int action, const char *a, const char *b, const char *c, const char *d)
{
	(void)user, (void)a, (void)b, (void)c, (void)d;
	switch (action) {
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
	case SQLITE_PRAGMA:
	case SQLITE_FUNCTION:
	case SQLITE_CREATE_VTABLE:
	case SQLITE_RECURSIVE:
	case SQLITE_TRANSACTION: return SQLITE_DENY;
	default: return SQLITE_OK;
	}
}

static void rows_begin(void)
{
	FUZZ_REQUIRE(sqlite3_open(":memory:", &rows_db) == SQLITE_OK);
	FUZZ_REQUIRE(sqlite3_exec(rows_db, "PRAGMA page_size=512; PRAGMA journal_mode=OFF", NULL,
	                     NULL, NULL) == SQLITE_OK);
	(void)sqlite3_limit(rows_db, SQLITE_LIMIT_LENGTH, 1 << 16);
	sqlite3_progress_handler(rows_db, 1000, rows_stop, NULL);
	(void)sqlite3_set_authorizer(rows_db, rows_allow, NULL);
	rows_n_steps = 0;
}

static void rows_fill(const uint8_t *data, size_t size)
{
	for (size_t at = 0; at < size;) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		size_t n = end ? (size_t)(end - data) - at : size - at;
		sqlite3_stmt *statement = NULL;
		if (sqlite3_prepare_v2(rows_db, (const char *)data + at, (int)n, &statement,
		            NULL) == SQLITE_OK)
			while (statement && sqlite3_step(statement) == SQLITE_ROW)
				;
		sqlite3_finalize(statement);
		at += n + 1;
	}
}

static void rows_compare(const char *path)
{
	struct fuzz_text texts[2] = { { 0 } };
	enum ht_status opened[2];
	for (int i = 0; i < 2; i++) {
		ht_ctx *ctx = fuzz_ctx(i + 1);
		ht_set *set;
		opened[i] = fuzz_open(ctx, path, 0, NULL, &set);
		if (opened[i] == HT_OK) {
			fuzz_dump(ctx, set, &texts[i]);
			for (size_t k = 0; k < HT_COUNT(rows_verbs); k++)
				FUZZ_REQUIRE(
				        fuzz_run(ctx, set, rows_verbs[k], "csv", NULL) == HT_OK);
			ht_close(set);
		}
		fuzz_ctx_done(ctx);
	}
	FUZZ_REQUIRE(opened[0] == opened[1] && fuzz_same(&texts[0], &texts[1]));
	free(texts[0].bytes);
	free(texts[1].bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const readers[] = { "nsys", "ascend-db", NULL, NULL };
	sqlite3_int64 n = 0;
	rows_begin();
	rows_fill(data, size);
	/* asks for the number of pages by a PRAGMA, too: refused, it would answer nothing */
	(void)sqlite3_set_authorizer(rows_db, NULL, NULL);
	sqlite3_progress_handler(rows_db, 0, NULL, NULL);
	unsigned char *bytes = sqlite3_serialize(rows_db, "main", &n, 0);
	/* nothing was ever written to a database without tables */
	FUZZ_REQUIRE(bytes || n == 0);
	sqlite3_close(rows_db);
	const char *path = fuzz_file("", 0, bytes, (size_t)n);
	sqlite3_free(bytes);
	if (fuzz_is_chosen(data, size, FUZZ_ONE_IN))
		rows_compare(path);
	else
		(void)fuzz_read_once(path, readers[size % HT_COUNT(readers)]);
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
