/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_zstd.c - zstd, both ways.
 *
 * Frames may follow each other. A frame may ask for a window of up to 128 MiB, as much as
 * "zstd --long" needs; more is refused before it is allocated. The library's memory comes from mem.h.
 */
#define ZSTD_STATIC_LINKING_ONLY
#include "base/io_codec.h"
#include "base/mem.h"
#include "base/unzstd.h"

#include <zstd.h>
#include <zstd_errors.h>

#define WINDOW_LOG_MAX 27
#define LEVEL          3
#define PIECE_BYTES    ((size_t)1 << 20)

struct zstd_reader {
	ZSTD_DCtx *dctx;
	bool is_full;  /* the last call filled its output, and zstd may hold more */
	size_t wanted; /* 0: at the end of a frame */
};

static void reader_close(struct ht_mem *mem, void *state)
{
	ZSTD_freeDCtx(((struct zstd_reader *)state)->dctx);
	ht_mem_free(mem, state, sizeof(struct zstd_reader));
}

static enum ht_status reader_open(ht_ctx *ctx, void **ret_state)
{
	struct zstd_reader *reader = ht_mem_zalloc(ctx->mem, sizeof *reader);
	if (!reader)
		return ht_fail_nomem(ctx);
	ZSTD_customMem mem = { ht_mem_alloc_noted, ht_mem_free_noted, ctx->mem };
	reader->dctx = ZSTD_createDCtx_advanced(mem);
	if (!reader->dctx) {
		reader_close(ctx->mem, reader);
		return ht_fail_nomem(ctx);
	}
	ZSTD_DCtx_setParameter(reader->dctx, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	*ret_state = reader;
	return HT_OK;
}

static enum ht_status reader_error(const struct ht_input *in, size_t code, struct ht_damage *damage)
{
	const char *text = "the zstd data are damaged";
	switch (ZSTD_getErrorCode(code)) {
	case ZSTD_error_memory_allocation: return ht_fail_nomem(in->ctx);
	case ZSTD_error_frameParameter_windowTooLarge:
		return ht_fail(in->ctx, HT_LIMIT, in->path, -1,
		        "compress it again without --ultra and with --long=27 at most",
		        "the zstd window is larger than %d MiB", 1 << (WINDOW_LOG_MAX - 20));
	case ZSTD_error_checksum_wrong: text = "the checksum of a zstd frame does not match"; break;
	case ZSTD_error_prefix_unknown: text = "bytes between zstd frames that are not zstd"; break;
	case ZSTD_error_dictionary_wrong: text = "a zstd dictionary is needed"; break;
	default: break;
	}
	*damage = (struct ht_damage){ HT_DAMAGE_CORRUPT, ht_input_pos(in), text };
	return HT_OK;
}

static enum ht_status reader_read(void *state, struct ht_input *in, uint8_t *bytes, size_t cap,
        size_t *ret_n, struct ht_damage *damage)
{
	struct zstd_reader *reader = state;
	ZSTD_outBuffer out = { bytes, cap, 0 };
	while (out.pos < cap && damage->kind == HT_DAMAGE_NONE) {
		if (!reader->is_full) {
			HT_TRY(ht_input_fill(in));
			if (in->next == in->end && !reader->wanted)
				break;
		}
		ZSTD_inBuffer piece = { in->bytes, in->end, in->next };
		size_t n_before = out.pos;
		size_t wanted = ZSTD_decompressStream(reader->dctx, &out, &piece);
		in->next = piece.pos;
		if (ZSTD_isError(wanted)) {
			HT_TRY(reader_error(in, wanted, damage));
			break;
		}
		reader->wanted = wanted;
		/* After the end of a frame a call without input would begin another. */
		reader->is_full = wanted && out.pos == cap;
		if (wanted && in->next == in->end && in->at_end && out.pos == n_before)
			*damage = (struct ht_damage){ HT_DAMAGE_TRUNCATED, ht_input_pos(in),
				"the file ends inside a zstd frame" };
	}
	*ret_n = out.pos;
	return HT_OK;
}

const struct ht_decoder ht_zstd_decoder = {
	.open = reader_open,
	.read = reader_read,
	.close = reader_close,
};

enum ht_status ht_unzstd(
        ht_ctx *ctx, const void *bytes, size_t n, uint64_t max_bytes, struct ht_vec *out)
{
	/* the decoder only reads what is in hand */
	struct ht_input in = {
		.ctx = ctx, .bytes = (uint8_t *)(uintptr_t)bytes, .end = n, .cap = n, .at_end = true
	};
	struct ht_damage damage = { 0 };
	size_t made = PIECE_BYTES;
	void *state;
	HT_TRY(reader_open(ctx, &state));
	enum ht_status status = HT_OK;
	while (status == HT_OK && made == PIECE_BYTES && out->n <= max_bytes) {
		if (!ht_vec_reserve(ctx->mem, out, 1, PIECE_BYTES)) {
			status = ht_fail_nomem(ctx);
			break;
		}
		made = 0;
		status = reader_read(
		        state, &in, (uint8_t *)out->data + out->n, PIECE_BYTES, &made, &damage);
		out->n += made;
	}
	reader_close(ctx->mem, state);
	/* a window that is too large */
	if (status == HT_LIMIT)
		ht_error_clear(ctx);
	bool is_bad = status == HT_LIMIT || damage.kind != HT_DAMAGE_NONE || out->n > max_bytes;
	return is_bad ? HT_FORMAT : status;
}

static void writer_close(struct ht_mem *mem, void *state)
{
	(void)mem;
	ZSTD_freeCCtx(state);
}

static enum ht_status writer_open(ht_ctx *ctx, void **ret_state)
{
	ZSTD_customMem mem = { ht_mem_alloc_noted, ht_mem_free_noted, ctx->mem };
	ZSTD_CCtx *cctx = ZSTD_createCCtx_advanced(mem);
	if (!cctx)
		return ht_fail_nomem(ctx);
	ZSTD_CCtx_setParameter(cctx, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(cctx, ZSTD_c_checksumFlag, 1);
	*ret_state = cctx;
	return HT_OK;
}

static enum ht_status writer_write(
        void *state, const void *bytes, size_t n, bool last, struct ht_output *out)
{
	ZSTD_inBuffer in = { bytes, n, 0 };
	for (;;) {
		ZSTD_outBuffer piece = { out->bytes, out->cap, out->n };
		size_t left = ZSTD_compressStream2(
		        state, &piece, &in, last ? ZSTD_e_end : ZSTD_e_continue);
		out->n = piece.pos;
		if (ZSTD_isError(left))
			return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation
			               ? ht_fail_nomem(out->ctx)
			               : ht_fail(out->ctx, HT_IO, out->path, -1, NULL,
			                         "cannot compress: %s", ZSTD_getErrorName(left));
		if (last ? !left : in.pos == n)
			return HT_OK;
		if (out->n == out->cap)
			HT_TRY(ht_output_flush(out));
	}
}

const struct ht_encoder ht_zstd_encoder = {
	.open = writer_open,
	.write = writer_write,
	.close = writer_close,
};
