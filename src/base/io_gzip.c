/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_gzip.c - gzip files, both ways.
 *
 *   file = member member ... [zero bytes]        member = header, deflate blocks, CRC-32, length
 *
 * Members are inflated straight into the caller's buffer and checked by the library behind io_deflate.h.
 */
#include "base/io_codec.h"
#include "base/io_deflate.h"
#include "base/mem.h"

struct gzip_reader {
	struct ht_inflater *inflater;
	bool in_member, at_end;
	uint64_t n_members; /* begun */
};

static void reader_close(struct ht_mem *mem, void *state)
{
	ht_inflater_close(mem, ((struct gzip_reader *)state)->inflater);
	ht_mem_free(mem, state, sizeof(struct gzip_reader));
}

static enum ht_status reader_open(ht_ctx *ctx, void **ret_state)
{
	struct gzip_reader *reader = ht_mem_zalloc(ctx->mem, sizeof *reader);
	if (!reader)
		return ht_fail_nomem(ctx);
	enum ht_status status = ht_inflater_open(ctx, &reader->inflater);
	if (status != HT_OK) {
		reader_close(ctx->mem, reader);
		return status;
	}
	*ret_state = reader;
	return HT_OK;
}

static void set_damage(struct ht_damage *damage, enum ht_damage_kind kind,
        const struct ht_input *in, const char *text)
{
	*damage = (struct ht_damage){ kind, ht_input_pos(in), text };
}

static size_t at_most(size_t n)
{
	return n < HT_DEFLATE_MAX_STEP ? n : HT_DEFLATE_MAX_STEP;
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
	ht_inflater_reset(reader->inflater);
	reader->in_member = true;
	reader->n_members++;
	return HT_OK;
}

/* Inflate what one piece of input gives, up to cap bytes. */
static enum ht_status inflate_step(struct gzip_reader *reader, struct ht_input *in, uint8_t *out,
        size_t cap, size_t *ret_n, struct ht_damage *damage)
{
	HT_TRY(ht_input_fill(in));
	struct ht_deflate_step step = { .in = in->bytes + in->next,
		.n_in = at_most(in->end - in->next),
		.out = out,
		.n_out = at_most(cap) };
	const char *text = NULL;
	enum ht_status status = ht_inflater_run(reader->inflater, &step, &text);
	if (status == HT_NOMEM)
		return ht_fail_nomem(in->ctx);
	in->next += step.used;
	*ret_n = step.made;
	if (status != HT_OK)
		set_damage(damage, HT_DAMAGE_CORRUPT, in, text);
	else if (step.is_done)
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

static enum ht_status writer_open(ht_ctx *ctx, void **ret_state)
{
	struct ht_deflater *deflater;
	HT_TRY(ht_deflater_open(ctx, &deflater));
	*ret_state = deflater;
	return HT_OK;
}

static void writer_close(struct ht_mem *mem, void *state)
{
	ht_deflater_close(mem, state);
}

static enum ht_status writer_write(
        void *state, const void *bytes, size_t n, bool last, struct ht_output *out)
{
	const uint8_t *next = bytes;
	for (;;) {
		struct ht_deflate_step step = { .in = next,
			.n_in = at_most(n),
			.out = out->bytes + out->n,
			.n_out = out->cap - out->n };
		if (!ht_deflater_run(state, &step, last && step.n_in == n))
			return ht_fail(out->ctx, HT_IO, out->path, -1, NULL,
			        "cannot compress: deflate failed");
		next += step.used;
		n -= step.used;
		out->n += step.made;
		bool is_full = step.made == step.n_out;
		if (!n && (last ? step.is_done : !is_full))
			return HT_OK;
		if (is_full)
			HT_TRY(ht_output_flush(out));
	}
}

const struct ht_encoder ht_gzip_encoder = {
	.open = writer_open,
	.write = writer_write,
	.close = writer_close,
};
