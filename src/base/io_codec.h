/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_codec.h - what io.c and io_write.c share with the compressors. Private to base/io*.c.
 *
 *   reading   fd ─► ht_input (compressed pieces) ─► ht_decoder ─► the caller's buffer
 *   writing   the caller's bytes ─► ht_encoder ─► ht_output (pieces) ─► fd
 */
#ifndef HT_BASE_IO_CODEC_H
#define HT_BASE_IO_CODEC_H

#include "base/damage.h"
#include "base/status.h"

/* Compressed bytes on their way in: [next, end) of bytes is unused. */
struct ht_input {
	ht_ctx *ctx; /* of the call in progress */
	const char *path;
	int fd;
	uint8_t *bytes;
	size_t next, end, cap;
	uint64_t n_read; /* from the file so far */
	bool at_end;     /* the file has no more */
};

/* Read the next piece when all bytes are used; sets at_end instead when there is none. */
enum ht_status ht_input_fill(struct ht_input *in) HT_MUST_USE;
uint64_t ht_input_pos(const struct ht_input *in);
/* Fill buf from an offset on, by any thread; fewer than cap bytes at the end only. The errno value of what went wrong. */
int ht_read_at(
        ht_ctx *ctx, int fd, uint64_t offset, void *buf, size_t cap, size_t *ret_n) HT_MUST_USE;

/* read delivers up to cap bytes. Fewer than cap: the end was reached, or damage was filled in. */
struct ht_decoder {
	enum ht_status (*open)(ht_ctx *ctx, void **ret_state);
	enum ht_status (*read)(void *state, struct ht_input *in, uint8_t *out, size_t cap,
	        size_t *ret_n, struct ht_damage *damage);
	void (*close)(struct ht_mem *mem, void *state);
};

extern const struct ht_decoder ht_gzip_decoder, ht_zstd_decoder;

/* Bytes on their way out: the first n of bytes wait to be written. */
struct ht_output {
	ht_ctx *ctx;
	const char *path; /* for messages */
	int fd;
	const struct ht_sink *sink; /* where they go instead of fd; NULL: to fd */
	uint8_t *bytes;
	size_t n, cap;
};

/* Write what waits; afterwards all of cap is free. */
enum ht_status ht_output_flush(struct ht_output *out) HT_MUST_USE;

/* write takes all n bytes, flushing the output as it fills; last also ends the stream. */
struct ht_encoder {
	enum ht_status (*open)(ht_ctx *ctx, void **ret_state);
	enum ht_status (*write)(
	        void *state, const void *bytes, size_t n, bool last, struct ht_output *out);
	void (*close)(struct ht_mem *mem, void *state);
};

extern const struct ht_encoder ht_gzip_encoder, ht_zstd_encoder;

#endif
