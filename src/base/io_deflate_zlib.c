/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_deflate_zlib.c - gzip members through zlib or zlib-ng, where ISA-L is not to be had; see io_deflate.h.
 *
 * Reading 200 MB from gzip takes some 1.6 times the processor time that it takes with ISA-L. The bytes
 * written differ, what they hold does not. Memory comes from mem.h.
 */
#include "base/io_deflate.h"
#include "base/mem.h"

#include <string.h>

#ifdef HT_ZLIB_NG
#include <zlib-ng.h>
#define Z(name) zng_##name
typedef zng_stream stream_type;
typedef uint32_t avail_type;
#else
#define ZLIB_CONST
#include <zlib.h>
#define Z(name) name
typedef z_stream stream_type;
typedef uInt avail_type;
#endif

/* The largest window, with a gzip header and trailer around it. */
#define WINDOW_BITS (15 + 16)
#define LEVEL       1
#define MEM_LEVEL   8

static void *zlib_alloc(void *mem, avail_type n, avail_type bytes)
{
	return ht_mem_alloc_noted(mem, (size_t)n * bytes);
}

static void zlib_free(void *mem, void *block)
{
	ht_mem_free_noted(mem, block);
}

struct ht_inflater {
	stream_type stream;
};

enum ht_status ht_inflater_open(ht_ctx *ctx, struct ht_inflater **ret_inflater)
{
	struct ht_inflater *inflater = ht_mem_zalloc(ctx->mem, sizeof *inflater);
	if (!inflater)
		return ht_fail_nomem(ctx);
	inflater->stream.zalloc = zlib_alloc;
	inflater->stream.zfree = zlib_free;
	inflater->stream.opaque = ctx->mem;
	if (Z(inflateInit2)(&inflater->stream, WINDOW_BITS) != Z_OK) {
		ht_mem_free(ctx->mem, inflater, sizeof *inflater);
		return ht_fail_nomem(ctx);
	}
	*ret_inflater = inflater;
	return HT_OK;
}

void ht_inflater_close(struct ht_mem *mem, struct ht_inflater *inflater)
{
	if (inflater)
		Z(inflateEnd)(&inflater->stream);
	ht_mem_free(mem, inflater, sizeof *inflater);
}

void ht_inflater_reset(struct ht_inflater *inflater)
{
	Z(inflateReset)(&inflater->stream);
}

static const char *error_text(const char *said)
{
	if (said &&
	        (!strcmp(said, "incorrect data check") || !strcmp(said, "incorrect length check")))
		return "checksum or length of a gzip member does not match";
	if (said && !strcmp(said, "unknown compression method"))
		return "a gzip header names an unknown method";
	if (said && strstr(said, "header"))
		return "a gzip header is damaged";
	return "the deflate data are damaged";
}

enum ht_status ht_inflater_run(
        struct ht_inflater *inflater, struct ht_deflate_step *step, const char **ret_damage)
{
	stream_type *stream = &inflater->stream;
	stream->next_in = step->in;
	stream->avail_in = (avail_type)step->n_in;
	stream->next_out = step->out;
	stream->avail_out = (avail_type)step->n_out;
	int code = Z(inflate)(stream, Z_NO_FLUSH);
	step->used = step->n_in - stream->avail_in;
	step->made = step->n_out - stream->avail_out;
	step->is_done = code == Z_STREAM_END;
	/* Z_BUF_ERROR: nothing could be done with what there was */
	if (code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR)
		return HT_OK;
	if (code == Z_MEM_ERROR)
		return HT_NOMEM;
	*ret_damage = error_text(code == Z_NEED_DICT ? "header" : stream->msg);
	return HT_FORMAT;
}

struct ht_deflater {
	stream_type stream;
};

enum ht_status ht_deflater_open(ht_ctx *ctx, struct ht_deflater **ret_deflater)
{
	struct ht_deflater *deflater = ht_mem_zalloc(ctx->mem, sizeof *deflater);
	if (!deflater)
		return ht_fail_nomem(ctx);
	deflater->stream.zalloc = zlib_alloc;
	deflater->stream.zfree = zlib_free;
	deflater->stream.opaque = ctx->mem;
	if (Z(deflateInit2)(&deflater->stream, LEVEL, Z_DEFLATED, WINDOW_BITS, MEM_LEVEL,
	            Z_DEFAULT_STRATEGY) != Z_OK) {
		ht_mem_free(ctx->mem, deflater, sizeof *deflater);
		return ht_fail_nomem(ctx);
	}
	*ret_deflater = deflater;
	return HT_OK;
}

void ht_deflater_close(struct ht_mem *mem, struct ht_deflater *deflater)
{
	if (deflater)
		Z(deflateEnd)(&deflater->stream);
	ht_mem_free(mem, deflater, sizeof *deflater);
}

bool ht_deflater_run(struct ht_deflater *deflater, struct ht_deflate_step *step, bool last)
{
	stream_type *stream = &deflater->stream;
	stream->next_in = step->in;
	stream->avail_in = (avail_type)step->n_in;
	stream->next_out = step->out;
	stream->avail_out = (avail_type)step->n_out;
	int code = Z(deflate)(stream, last ? Z_FINISH : Z_NO_FLUSH);
	step->used = step->n_in - stream->avail_in;
	step->made = step->n_out - stream->avail_out;
	step->is_done = code == Z_STREAM_END;
	return code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR;
}

uint32_t ht_deflate_crc(uint32_t crc, const uint8_t *bytes, size_t n)
{
	while (n) {
		size_t n_step = n < HT_DEFLATE_MAX_STEP ? n : HT_DEFLATE_MAX_STEP;
		crc = (uint32_t)Z(crc32)(crc, bytes, (avail_type)n_step);
		bytes += n_step;
		n -= n_step;
	}
	return crc;
}

const char *ht_deflate_library(void)
{
#ifdef HT_ZLIB_NG
	return "zlib-ng " ZLIBNG_VERSION;
#else
	return "zlib " ZLIB_VERSION;
#endif
}
