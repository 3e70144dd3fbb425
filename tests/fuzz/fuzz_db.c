/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_db.c - any bytes as a database of Ascend or of Nsight Systems, behind the line that all of them start with.
 *
 * SQLite has no checksums, so that a changed byte is mostly another value, type, page or schema, which is what the reader
 * must stand. Two readings give one store, and what was read can be asked. The cells of tables have a target of their own,
 * which makes the database: few changed bytes leave one that SQLite opens.
 */
#include "fuzz.h"

static bool has_text(const uint8_t *data, size_t size, const char *text)
{
	size_t n = strlen(text);
	for (size_t i = 0; i + n <= size; i++)
		if (!memcmp(data + i, text, n))
			return true;
	return false;
}

static enum ht_status db_open(ht_ctx *ctx, const char *path, const char *reader, ht_set **ret_set)
{
	struct ht_open_options options = {
		.struct_size = sizeof options, .no_cache = true, .reader = reader
	};
	enum ht_status status = ht_open(ctx, &path, 1, &options, ret_set);
	if (status != HT_OK)
		FUZZ_REQUIRE(ht_error(ctx)->message && *ht_error(ctx)->message);
	return status;
}

static void db_compare(const char *path, const char *reader)
{
	static const char *const verbs[] = { "events", "tables", "health", "kernels", "operators",
		"memory-events", "memory-curve", "steps", "distributed", "advice" };
	ht_ctx *one = fuzz_ctx(1), *two = fuzz_ctx(2);
	ht_set *first = NULL, *again = NULL;
	enum ht_status a = db_open(one, path, reader, &first);
	enum ht_status b = db_open(two, path, reader, &again);
	FUZZ_REQUIRE(a == b);
	if (a == HT_OK) {
		fuzz_require_equal(one, first, two, again);
		for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
			FUZZ_REQUIRE(fuzz_run(one, first, verbs[i], "csv", NULL) == HT_OK);
	}
	ht_close(first);
	ht_close(again);
	fuzz_ctx_done(one);
	fuzz_ctx_done(two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* without its first line it would be a text, which may name other files */
	static const char magic[16] = "SQLite format 3";
	const char *path = fuzz_file(magic, sizeof magic, data, size);
	/* the dictionary tells whose it is */
	const char *reader = has_text(data, size, "StringIds") ? "nsys" : "ascend-db";
	if (fuzz_is_chosen(data, size, FUZZ_ONE_IN))
		db_compare(path, reader);
	else
		(void)fuzz_read_once(path, reader);
	return 0;
}
