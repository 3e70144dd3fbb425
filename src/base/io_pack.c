/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_pack.c - ht_compress: bytes in memory, compressed into a sink.
 */
#include "base/io_codec.h"
#include "base/mem.h"
#include "holotrace/own.h"

#include <string.h>

#define BUFFER_BYTES ((size_t)64 << 10)

static enum ht_status pack(
        const struct ht_encoder *encoder, struct ht_output *out, const void *bytes, size_t n)
{
	void *state;
	HT_TRY(encoder->open(out->ctx, &state));
	enum ht_status status = encoder->write(state, bytes, n, true, out);
	if (status == HT_OK)
		status = ht_output_flush(out);
	encoder->close(out->ctx->mem, state);
	return status;
}

enum ht_status ht_compress(
        ht_ctx *ctx, const char *coding, const void *bytes, size_t n, const struct ht_sink *sink)
{
	ht_error_clear(ctx);
	const struct ht_encoder *encoder = !strcmp(coding, "gzip")   ? &ht_gzip_encoder
	                                   : !strcmp(coding, "zstd") ? &ht_zstd_encoder
	                                                             : NULL;
	if (!encoder)
		return ht_fail(ctx, HT_USAGE, NULL, -1, NULL, "compression is gzip or zstd, not %s",
		        coding);
	struct ht_output out = { .ctx = ctx,
		.path = "memory",
		.fd = -1,
		.sink = sink,
		.bytes = ht_mem_alloc(ctx->mem, BUFFER_BYTES),
		.cap = BUFFER_BYTES };
	if (!out.bytes)
		return ht_fail_nomem(ctx);
	enum ht_status status = pack(encoder, &out, bytes, n);
	ht_mem_free(ctx->mem, out.bytes, BUFFER_BYTES);
	return status;
}
