/*
 * fuzz_bundle.c - any bytes as a part of an analysis.
 *
 * The hash at the end is made right first, or nothing behind it would be reached. What is accepted must come out
 * of a second reading as it went into it. Numbers inside are taken as they are: who can make the hash right
 * can lie about them.
 */
#include "fuzz.h"

#include "base/hash.h"

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
		ht_bundle_free(bundle);
	}
	free(bytes);
	return 0;
}
