/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_zstd.c - any bytes behind a zstd magic number: frames, damage, skippable parts. Most inputs are only unpacked.
 */
#include "fuzz.h"

static void zstd_unpack(const char *path)
{
	ht_ctx *ctx = fuzz_common_ctx();
	struct ht_vec text;
	if (ht_read_all(ctx, path, FUZZ_MAX_TEXT, &text) == HT_OK)
		ht_vec_free(ctx->mem, &text, 1);
	else
		FUZZ_REQUIRE(*ht_error(ctx)->message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned char magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
	const char *path = fuzz_file(magic, sizeof magic, data, size);
	if (fuzz_is_chosen(data, size, FUZZ_ONE_IN))
		fuzz_compare_trace(path, size);
	else
		zstd_unpack(path);
	return 0;
}
