/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_tables.c - any bytes as one of the files that are no lists of events: tables, communication, memory timelines.
 *
 * The first byte chooses the reader. One piece must give the store that small pieces give, and what was read can be
 * listed.
 */
#include "fuzz.h"

static enum ht_status tables_open(
        ht_ctx *ctx, const char *path, const char *reader, size_t chunk_bytes, ht_set **ret_set)
{
	const struct ht_open_own own = { .chunk_bytes = chunk_bytes };
	struct ht_open_options options = {
		.struct_size = sizeof options, .no_cache = true, .reader = reader, .own = &own
	};
	enum ht_status status = ht_open(ctx, &path, 1, &options, ret_set);
	if (status != HT_OK)
		FUZZ_REQUIRE(ht_error(ctx)->message && *ht_error(ctx)->message);
	return status;
}

static void tables_compare(const char *path, const char *reader, size_t size)
{
	ht_ctx *one = fuzz_ctx(1), *two = fuzz_ctx(2);
	ht_set *whole = NULL, *cut = NULL;
	enum ht_status a = tables_open(one, path, reader, 0, &whole);
	enum ht_status b = tables_open(two, path, reader, 1 + size % 61, &cut);
	FUZZ_REQUIRE(a == b);
	if (a == HT_OK) {
		fuzz_require_equal(one, whole, two, cut);
		FUZZ_REQUIRE(fuzz_run(one, whole, "events", "csv", NULL) == HT_OK);
		FUZZ_REQUIRE(fuzz_run(one, whole, "tables", "json", NULL) == HT_OK);
		FUZZ_REQUIRE(fuzz_run(one, whole, "health", "json", NULL) == HT_OK);
		FUZZ_REQUIRE(fuzz_run(one, whole, "memory-timeline", "csv", NULL) == HT_OK);
		FUZZ_REQUIRE(fuzz_run(one, whole, "kernels", "csv", NULL) == HT_OK);
	}
	ht_close(whole);
	ht_close(cut);
	fuzz_ctx_done(one);
	fuzz_ctx_done(two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const readers[] = { "ascend-kernels", "ascend-memory-record",
		"ascend-module-memory", "ascend-operator-memory", "ascend-table",
		"ascend-communication", "ascend-matrix", "ascend-about", "memory-timeline" };
	/* a text without commas in its first line may be a list of files, anywhere in the system */
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	if (!size ||
	        !memchr(data, data[size - 1] == '}' ? '{' : ',', end ? (size_t)(end - data) : size))
		return 0;
	const char *reader = readers[data[0] % (sizeof readers / sizeof *readers)];
	const char *path = fuzz_file("", 0, data + 1, size - 1);
	if (fuzz_is_chosen(data, size, FUZZ_ONE_IN))
		tables_compare(path, reader, size);
	else
		(void)fuzz_read_once(path, reader);
	return 0;
}
