/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_deflate_isal.c - gzip members through ISA-L; see io_deflate.h.
 *
 * ISA-L inflates straight into the caller's buffer and checks CRC-32 and length of each member. It
 * keeps the last 32 KiB itself, so buffers may be of any size; large ones save that copying.
 */
#include "base/io_deflate.h"
#include "base/mem.h"

#include <isa-l.h>

/* More than the longest match, and than what was seen: 458. */
#define MAX_UNWRITTEN 1024

struct ht_inflater {
	struct inflate_state state;
};

enum ht_status ht_inflater_open(ht_ctx *ctx, struct ht_inflater **ret_inflater)
{
	struct ht_inflater *inflater = ht_mem_zalloc(ctx->mem, sizeof *inflater);
	if (!inflater)
		return ht_fail_nomem(ctx);
	isal_inflate_init(&inflater->state);
	*ret_inflater = inflater;
	return HT_OK;
}

void ht_inflater_close(struct ht_mem *mem, struct ht_inflater *inflater)
{
	ht_mem_free(mem, inflater, sizeof *inflater);
}

void ht_inflater_reset(struct ht_inflater *inflater)
{
	isal_inflate_reset(&inflater->state);
	inflater->state.crc_flag = ISAL_GZIP;
}

static const char *error_text(int error)
{
	switch (error) {
	case ISAL_INCORRECT_CHECKSUM: return "checksum or length of a gzip member does not match";
	case ISAL_INVALID_WRAPPER: return "a gzip header is damaged";
	case ISAL_UNSUPPORTED_METHOD: return "a gzip header names an unknown method";
	default: return "the deflate data are damaged";
	}
}

enum ht_status ht_inflater_run(
        struct ht_inflater *inflater, struct ht_deflate_step *step, const char **ret_damage)
{
	struct inflate_state *state = &inflater->state;
	/* ISA-L does not write through next_in; its type merely lacks const. */
	state->next_in = (uint8_t *)(uintptr_t)step->in;
	state->avail_in = (uint32_t)step->n_in;
	state->next_out = step->out;
	state->avail_out = (uint32_t)step->n_out;
	int error = isal_inflate(state);
	step->used = step->n_in - state->avail_in;
	step->made = step->n_out - state->avail_out;
	step->is_done = state->block_state == ISAL_BLOCK_FINISH;
	if (error >= 0)
		return HT_OK;
	/* a match that makes no sense is counted in although nothing is copied: what stood there before */
	if (error == ISAL_INVALID_SYMBOL || error == ISAL_INVALID_LOOKBACK)
		step->made -= step->made < MAX_UNWRITTEN ? step->made : MAX_UNWRITTEN;
	*ret_damage = error_text(error);
	return HT_FORMAT;
}

struct ht_deflater {
	struct isal_zstream stream;
	uint8_t level_buf[ISAL_DEF_LVL1_DEFAULT];
};

enum ht_status ht_deflater_open(ht_ctx *ctx, struct ht_deflater **ret_deflater)
{
	struct ht_deflater *deflater = ht_mem_zalloc(ctx->mem, sizeof *deflater);
	if (!deflater)
		return ht_fail_nomem(ctx);
	isal_deflate_init(&deflater->stream);
	deflater->stream.level = 1;
	deflater->stream.level_buf = deflater->level_buf;
	deflater->stream.level_buf_size = sizeof deflater->level_buf;
	deflater->stream.gzip_flag = IGZIP_GZIP;
	*ret_deflater = deflater;
	return HT_OK;
}

void ht_deflater_close(struct ht_mem *mem, struct ht_deflater *deflater)
{
	ht_mem_free(mem, deflater, sizeof *deflater);
}

bool ht_deflater_run(struct ht_deflater *deflater, struct ht_deflate_step *step, bool last)
{
	struct isal_zstream *stream = &deflater->stream;
	stream->next_in = (uint8_t *)(uintptr_t)step->in;
	stream->avail_in = (uint32_t)step->n_in;
	stream->end_of_stream = last;
	stream->next_out = step->out;
	stream->avail_out = (uint32_t)step->n_out;
	bool ok = isal_deflate(stream) == COMP_OK;
	step->used = step->n_in - stream->avail_in;
	step->made = step->n_out - stream->avail_out;
	step->is_done = stream->internal_state.state == ZSTATE_END;
	return ok;
}

uint32_t ht_deflate_crc(uint32_t crc, const uint8_t *bytes, size_t n)
{
	return crc32_gzip_refl(crc, bytes, n);
}

const char *ht_deflate_library(void)
{
#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
	return "ISA-L " TEXT(ISAL_MAJOR_VERSION) "." TEXT(ISAL_MINOR_VERSION) "." TEXT(
	        ISAL_PATCH_VERSION);
#undef TEXT
#undef TEXT_
}
