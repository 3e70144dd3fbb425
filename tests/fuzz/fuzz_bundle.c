/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_bundle.c - any bytes as a part of an analysis: refused, or one whose table can be made.
 *
 * The hash at the end is made right first, or nothing behind it would be reached. What is accepted must come out
 * of a second reading as it went into it, and answers with a table or an error: who can make the hash right can lie
 * about the numbers inside. Chance in the bytes finds few such lies, so cells of what was accepted are changed as
 * well, and it is written and read again.
 */
#include "fuzz.h"
#include "store/columns.h"

#include "base/hash.h"
#include "registry/bundle.h"
#include "table/storage.h"

static ht_ctx *bundle_ctx;

static void bundle_write(const ht_bundle *bundle, struct fuzz_text *text)
{
	struct ht_sink sink = { fuzz_append, text };
	FUZZ_REQUIRE(ht_bundle_write(bundle_ctx, bundle, &sink) == HT_OK);
}

static void bundle_check(ht_bundle *bundle)
{
	struct fuzz_text once = { 0 }, twice = { 0 };
	ht_bundle *again;
	bundle_write(bundle, &once);
	FUZZ_REQUIRE(ht_bundle_read(bundle_ctx, once.bytes, once.n, &again) == HT_OK);
	bundle_write(again, &twice);
	FUZZ_REQUIRE(once.n == twice.n && !memcmp(once.bytes, twice.bytes, once.n));
	ht_bundle_free(again);
	free(once.bytes);
	free(twice.bytes);
}

static void bundle_finish(const ht_bundle *bundle)
{
	ht_table *table;
	if (ht_bundle_table(bundle_ctx, bundle, &table) == HT_OK)
		ht_table_free(table);
	else
		FUZZ_REQUIRE(*ht_error(bundle_ctx)->message);
}

/* A number at the edge of something in some cells of a column: many, few, or hardly any, as one lie among true cells goes
 * further than many. */
static void bundle_lie_in(struct ht_cells *cells, size_t n_rows, uint64_t *seed, uint64_t one_in)
{
	static const int64_t odd[] = { -1, 0, 1, 2, 5, 6, 7, 255, 65536, INT32_MAX, UINT32_MAX,
		(int64_t)1 << 32, (int64_t)1 << 62, INT64_MAX, INT64_MIN };
	for (size_t row = 0; row < n_rows && cells->meta.type != HT_STR; row++) {
		*seed = ht_hash_u64(*seed + 1);
		if (*seed % one_in == 0)
			cells->i64[row] = odd[*seed / one_in % HT_COUNT(odd)];
	}
}

static void bundle_lie(const struct ht_parts *parts, uint64_t *seed, uint64_t one_in)
{
	for (size_t i = 0; i < parts->n * HT_PART_TABLES; i++) {
		const ht_table *table = parts->list[i / HT_PART_TABLES].facts[i % HT_PART_TABLES];
		for (size_t c = 0; table && c < ht_n_columns(table); c++)
			bundle_lie_in(ht_cells_at(table, c), table->n_rows, seed, one_in);
	}
}

/* Change cells, write it, and read that. */
static void bundle_finish_lies(ht_bundle *bundle, uint64_t seed)
{
	struct fuzz_text text = { 0 };
	ht_bundle *again;
	const uint64_t one_in = (uint64_t)8 << seed % 4 * 2;
	bundle_lie(&bundle->parts, &seed, one_in);
	bundle_lie(&bundle->calls, &seed, one_in);
	bundle_write(bundle, &text);
	if (ht_bundle_read(bundle_ctx, text.bytes, text.n, &again) == HT_OK) {
		bundle_finish(again);
		ht_bundle_free(again);
	}
	free(text.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ht_bundle *bundle;
	uint8_t *bytes = malloc(size + 1);
	if (!bundle_ctx)
		FUZZ_REQUIRE(ht_ctx_new(&bundle_ctx) == HT_OK);
	ht_ctx_set_memory_limit(bundle_ctx, (uint64_t)256 << 20);
	FUZZ_REQUIRE(bytes);
	if (size)
		memcpy(bytes, data, size);
	if (size > 8) {
		uint64_t hash = ht_hash(bytes, size - 8);
		for (int i = 0; i < 8; i++)
			bytes[size - 8 + (size_t)i] = (uint8_t)(hash >> 8 * i);
	}
	if (ht_bundle_read(bundle_ctx, bytes, size, &bundle) == HT_OK) {
		bundle_check(bundle);
		bundle_finish(bundle);
		bundle_finish_lies(bundle, ht_hash(bytes, size));
		ht_bundle_free(bundle);
	}
	free(bytes);
	return 0;
}
