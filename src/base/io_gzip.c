/*
 * io_gzip.c - gzip through ISA-L, both ways.
 *
 *   file = member member ... [zero bytes]        member = header, deflate blocks, CRC-32, length
 *
 * ISA-L inflates straight into the caller's buffer and checks CRC-32 and length of each member. It
 * keeps the last 32 KiB itself, so buffers may be of any size; large ones save that copying.
 */
#include "base/io_codec.h"

#include <isa-l/igzip_lib.h>

/* ISA-L counts in 32 bits. */
#define MAX_STEP ((size_t)1 << 30)

struct gzip_reader {
	struct inflate_state inflate;
	bool in_member, at_end;
	uint64_t n_members; /* begun */
};

static enum ht_status reader_open(ht_ctx *ctx, void **ret_state)
{
	struct gzip_reader *reader = ht_mem_zalloc(ctx->mem, sizeof *reader);
	if (!reader)
		return ht_fail_nomem(ctx);
	isal_inflate_init(&reader->inflate);
	*ret_state = reader;
	return HT_OK;
}

static void reader_close(struct ht_mem *mem, void *state)
{
	ht_mem_free(mem, state, sizeof(struct gzip_reader));
}

static void set_damage(struct ht_damage *damage, enum ht_damage_kind kind,
        const struct ht_input *in, const char *text)
{
	*damage = (struct ht_damage){ kind, ht_input_pos(in), text };
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

/* Stand at the next member, past padding, or at the end. */
static enum ht_status next_member(
        struct gzip_reader *reader, struct ht_input *in, struct ht_damage *damage)
{
	for (;;) {
		HT_TRY(ht_input_fill(in));
		while (reader->n_members && in->next < in->end && !in->bytes[in->next])
			in->next++;
		if (in->next < in->end || in->at_end)
			break;
	}
	if (in->next == in->end) {
		reader->at_end = true;
		return HT_OK;
	}
	if (in->bytes[in->next] != 0x1f) {
		set_damage(damage, HT_DAMAGE_CORRUPT, in,
		        "bytes after the gzip data that are not gzip");
		return HT_OK;
	}
	isal_inflate_reset(&reader->inflate);
	reader->inflate.crc_flag = ISAL_GZIP;
	reader->in_member = true;
	reader->n_members++;
	return HT_OK;
}

/* Inflate what one piece of input gives, up to cap bytes. */
static enum ht_status inflate_step(struct gzip_reader *reader, struct ht_input *in, uint8_t *out,
        size_t cap, size_t *ret_n, struct ht_damage *damage)
{
	struct inflate_state *inflate = &reader->inflate;
	HT_TRY(ht_input_fill(in));
	size_t n_in = in->end - in->next;
	if (n_in > MAX_STEP)
		n_in = MAX_STEP;
	if (cap > MAX_STEP)
		cap = MAX_STEP;
	inflate->next_in = in->bytes + in->next;
	inflate->avail_in = (uint32_t)n_in;
	inflate->next_out = out;
	inflate->avail_out = (uint32_t)cap;
	int error = isal_inflate(inflate);
	in->next += n_in - inflate->avail_in;
	*ret_n = cap - inflate->avail_out;
	if (error < 0)
		set_damage(damage, HT_DAMAGE_CORRUPT, in, error_text(error));
	else if (inflate->block_state == ISAL_BLOCK_FINISH)
		reader->in_member = false;
	else if (in->next == in->end && in->at_end && !*ret_n)
		set_damage(damage, HT_DAMAGE_TRUNCATED, in, "the file ends inside a gzip member");
	return HT_OK;
}

static enum ht_status reader_read(void *state, struct ht_input *in, uint8_t *out, size_t cap,
        size_t *ret_n, struct ht_damage *damage)
{
	struct gzip_reader *reader = state;
	size_t n = 0;
	while (n < cap && !reader->at_end && damage->kind == HT_DAMAGE_NONE) {
		size_t n_step = 0;
		if (reader->in_member)
			HT_TRY(inflate_step(reader, in, out + n, cap - n, &n_step, damage));
		else
			HT_TRY(next_member(reader, in, damage));
		n += n_step;
	}
	*ret_n = n;
	return HT_OK;
}

const struct ht_decoder ht_gzip_decoder = {
	.open = reader_open,
	.read = reader_read,
	.close = reader_close,
};

struct gzip_writer {
	struct isal_zstream deflate;
	uint8_t level_buf[ISAL_DEF_LVL1_DEFAULT];
};

static enum ht_status writer_open(ht_ctx *ctx, void **ret_state)
{
	struct gzip_writer *writer = ht_mem_zalloc(ctx->mem, sizeof *writer);
	if (!writer)
		return ht_fail_nomem(ctx);
	isal_deflate_init(&writer->deflate);
	writer->deflate.level = 1;
	writer->deflate.level_buf = writer->level_buf;
	writer->deflate.level_buf_size = sizeof writer->level_buf;
	writer->deflate.gzip_flag = IGZIP_GZIP;
	*ret_state = writer;
	return HT_OK;
}

static void writer_close(struct ht_mem *mem, void *state)
{
	ht_mem_free(mem, state, sizeof(struct gzip_writer));
}

static enum ht_status writer_write(
        void *state, const void *bytes, size_t n, bool last, struct ht_output *out)
{
	struct isal_zstream *deflate = &((struct gzip_writer *)state)->deflate;
	const uint8_t *next = bytes;
	for (;;) {
		size_t n_in = n < MAX_STEP ? n : MAX_STEP, n_out = out->cap - out->n;
		/* ISA-L does not write through next_in; its type merely lacks const. */
		deflate->next_in = (uint8_t *)(uintptr_t)next;
		deflate->avail_in = (uint32_t)n_in;
		deflate->end_of_stream = last && n_in == n;
		deflate->next_out = out->bytes + out->n;
		deflate->avail_out = (uint32_t)n_out;
		if (isal_deflate(deflate) != COMP_OK)
			return ht_fail(out->ctx, HT_IO, out->path, -1, NULL,
			        "cannot compress: deflate failed");
		next += n_in - deflate->avail_in;
		n -= n_in - deflate->avail_in;
		out->n += n_out - deflate->avail_out;
		if (!n && (last ? deflate->internal_state.state == ZSTATE_END
		                : deflate->avail_out > 0))
			return HT_OK;
		if (!deflate->avail_out)
			HT_TRY(ht_output_flush(out));
	}
}

const struct ht_encoder ht_gzip_encoder = {
	.open = writer_open,
	.write = writer_write,
	.close = writer_close,
};
