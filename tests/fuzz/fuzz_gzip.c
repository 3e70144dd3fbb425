/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_gzip.c - any bytes behind a gzip header: inflate, damage, several members; by one thread and, of some inputs, by many,
 * with the same outcome.
 */
#include "fuzz.h"

#include "base/io.h"
#include "base/io_deflate.h"

struct fuzz_inflated {
	enum ht_status status;
	struct fuzz_text text;
	struct ht_damage damage;
	uint64_t pos, file_pos;
};

/* Chunks of 0 bytes: by the decoder alone. Else help comes, or not, before each read. */
static void fuzz_inflate(
        const char *path, size_t chunk_bytes, size_t help, struct fuzz_inflated *ret_inflated)
{
	static char part[300000];
	ht_ctx *ctx = fuzz_ctx(1);
	struct ht_source *source;
	struct ht_source_limits limits = HT_SOURCE_LIMITS;
	limits.max_bytes = FUZZ_MAX_TEXT;
	limits.ahead_bytes = chunk_bytes;
	*ret_inflated = (struct fuzz_inflated){ 0 };
	FUZZ_REQUIRE(ht_source_open(ctx, path, &source) == HT_OK);
	ht_source_set_limits(source, &limits);
	if (chunk_bytes)
		(void)ht_source_start_ahead(ctx, source, 4);
	for (size_t n = 1; n && ret_inflated->status == HT_OK; help /= 2) {
		for (size_t i = 0; i < 3 && help % 2 && ht_source_wants_help(source, i); i++)
			ht_source_help(ctx, source);
		ret_inflated->status = ht_source_read(ctx, source, part, sizeof part, &n);
		if (ret_inflated->status == HT_OK)
			fuzz_append(&ret_inflated->text, part, n);
	}
	ret_inflated->damage = *ht_source_damage(source);
	ret_inflated->pos = ht_source_pos(source);
	if (ret_inflated->status == HT_OK)
		ret_inflated->file_pos = ht_source_file_pos(source);
	ht_source_close(source);
	fuzz_ctx_done(ctx);
}

static void fuzz_inflate_both(const char *path, size_t size, struct fuzz_inflated *ret_alone)
{
	struct fuzz_inflated ahead;
	fuzz_inflate(path, 0, 0, ret_alone);
	fuzz_inflate(path, 64 + size % 61, size / 7, &ahead);
	FUZZ_REQUIRE(ret_alone->status == ahead.status);
	FUZZ_REQUIRE(fuzz_same(&ret_alone->text, &ahead.text));
	FUZZ_REQUIRE(ret_alone->damage.kind == ahead.damage.kind);
	FUZZ_REQUIRE(ret_alone->damage.offset == ahead.damage.offset);
	FUZZ_REQUIRE(ret_alone->damage.text == ahead.damage.text);
	FUZZ_REQUIRE(ret_alone->pos == ahead.pos && ret_alone->file_pos == ahead.file_pos);
	free(ahead.text.bytes);
}

/* Where only the checksum is wrong, right it, and inflate once more: random bytes never have one that is right. */
static void fuzz_right(const char *path, size_t size, bool by_both, const struct fuzz_inflated *was)
{
	const char *wrong = "checksum or length of a gzip member does not match";
	struct fuzz_inflated again;
	if (was->status != HT_OK || was->damage.kind != HT_DAMAGE_CORRUPT ||
	        strcmp(was->damage.text, wrong) != 0 || was->damage.offset < 18)
		return;
	uint32_t crc = ht_deflate_crc(0, (uint8_t *)was->text.bytes, was->text.n);
	uint8_t trailer[8];
	for (int i = 0; i < 4; i++) {
		trailer[i] = (uint8_t)(crc >> 8 * i);
		trailer[4 + i] = (uint8_t)(was->text.n >> 8 * i);
	}
	off_t at = (off_t)was->damage.offset - 8;
	FUZZ_REQUIRE(pwrite(fuzz_files[0].fd, trailer, sizeof trailer, at) == sizeof trailer);
	if (by_both)
		fuzz_inflate_both(path, size, &again);
	else
		fuzz_inflate(path, 0, 0, &again);
	free(again.text.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned char header[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };
	struct fuzz_inflated alone;
	const char *path = fuzz_file(header, sizeof header, data, size);
	bool by_both = fuzz_is_chosen(data, size, FUZZ_ONE_IN);
	if (by_both) {
		fuzz_compare_trace(path, size);
		fuzz_inflate_both(path, size, &alone);
	} else {
		fuzz_inflate(path, 0, 0, &alone);
	}
	fuzz_right(path, size, by_both, &alone);
	free(alone.text.bytes);
	return 0;
}
