/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_bundle.c - any bytes as a part of an analysis: refused, or one whose table can be made.
 *
 * Parts of two ranks, by every analysis, are made once: a file of them would be refused as soon as an analysis has another column.
 * The first byte of the input says what the rest is:
 *     below 240   edits of one of these parts, which the first byte chooses: five bytes each, offset and new byte
 *     else        the whole part
 * The hash at the end is made right first, or nothing behind it would be reached. What is accepted must come out
 * of a second reading as it went into it, and answers with a table or an error: who can make the hash right can lie
 * about the numbers inside. Chance in the bytes finds few such lies, so cells of what was accepted are changed as
 * well, and it is written and read again.
 */
#include "fuzz.h"
#include "tiny_trace.h"

#include "base/hash.h"
#include "registry/bundle.h"
#include "table/storage.h"

#define BUNDLE_MAX   256
#define BUNDLE_WHOLE 240 /* first byte of inputs that are whole */

static ht_ctx *bundle_ctx;
static struct fuzz_text bundle_good[BUNDLE_MAX];
static size_t bundle_n;

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

/* By every analysis that answers for these ranks. */
static void bundle_make_all(ht_set *set)
{
	ht_set *const sets[] = { set, set };
	ht_bundle *bundle;
	for (size_t i = 0; i < ht_n_analyses() && bundle_n < BUNDLE_MAX; i++) {
		const struct ht_query query = { sizeof query, ht_analysis_at(i)->name, NULL, 0,
			NULL };
		size_t n_sets = ht_analysis_at(i)->n_sets;
		if (!n_sets || n_sets > 2 ||
		        ht_bundle_make(bundle_ctx, sets, n_sets, &query, &bundle) != HT_OK)
			continue;
		bundle_write(bundle, &bundle_good[bundle_n++]);
		ht_bundle_free(bundle);
	}
}

static void bundle_prepare(void)
{
	char other[sizeof fuzz_tiny_trace];
	memcpy(other, fuzz_tiny_trace, sizeof other);
	char *rank = strstr(other, "\"rank\": 2");
	FUZZ_REQUIRE(rank && ht_ctx_new(&bundle_ctx) == HT_OK);
	rank[strlen("\"rank\": ")] = '3';
	const char *const paths[] = { fuzz_file_at(0, "", 0, fuzz_tiny_trace,
		                              sizeof fuzz_tiny_trace - 1),
		fuzz_file_at(1, "", 0, other, sizeof other - 1) };
	const struct ht_open_options options = { .struct_size = sizeof options, .no_cache = true };
	ht_set *set;
	FUZZ_REQUIRE(ht_open(bundle_ctx, paths, 2, &options, &set) == HT_OK);
	bundle_make_all(set);
	ht_close(set);
	/* most analyses: without them nothing would be tried */
	FUZZ_REQUIRE(bundle_n > ht_n_analyses() / 2);
}

/* The part that an input stands for, which the caller frees; it has room for a hash. */
static uint8_t *bundle_of(const uint8_t *data, size_t size, size_t *ret_n)
{
	bool is_whole = !size || data[0] >= BUNDLE_WHOLE;
	const struct fuzz_text *good = is_whole ? NULL : &bundle_good[data[0] % bundle_n];
	size_t n = good ? good->n : size ? size - 1 : 0;
	uint8_t *bytes = malloc(n + 1);
	FUZZ_REQUIRE(bytes);
	if (n)
		memcpy(bytes, good ? (const uint8_t *)good->bytes : data + 1, n);
	for (size_t at = 1; good && at + FUZZ_EDIT_BYTES <= size; at += FUZZ_EDIT_BYTES)
		fuzz_edit(bytes, n, data + at);
	*ret_n = n;
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ht_bundle *bundle;
	if (!bundle_ctx)
		bundle_prepare();
	ht_ctx_set_memory_limit(bundle_ctx, (uint64_t)256 << 20);
	/* of the input: parts have the name of a folder in them, which is another one in every run */
	uint64_t seed = ht_hash(data, size);
	uint8_t *bytes = bundle_of(data, size, &size);
	if (size > 8) {
		uint64_t hash = ht_hash(bytes, size - 8);
		for (int i = 0; i < 8; i++)
			bytes[size - 8 + (size_t)i] = (uint8_t)(hash >> 8 * i);
	}
	if (ht_bundle_read(bundle_ctx, bytes, size, &bundle) == HT_OK) {
		bundle_check(bundle);
		bundle_finish(bundle);
		bundle_finish_lies(bundle, seed);
		ht_bundle_free(bundle);
	}
	free(bytes);
	return 0;
}
