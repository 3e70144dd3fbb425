/*
 * out.h - a buffered writer over ht_sink that fails once.
 *
 * Renderers write without checks; after the first refusal of the sink all else is dropped, and
 * ht_out_finish answers HT_IO. Long loops may look at failed to stop early.
 */
#ifndef HT_TABLE_OUT_H
#define HT_TABLE_OUT_H

#include "base/status.h"

#define HT_OUT_BUFFER 16384

struct ht_out {
	ht_ctx *ctx;
	const struct ht_sink *sink;
	bool failed;
	size_t n;        /* bytes waiting in the buffer */
	uint64_t n_sent; /* bytes handed over before those */
	char buffer[HT_OUT_BUFFER];
};

void ht_out_init(struct ht_out *out, ht_ctx *ctx, const struct ht_sink *sink);
void ht_out_bytes(struct ht_out *out, const void *bytes, size_t n);
void ht_out_str(struct ht_out *out, const char *text);
/* The byte n times; for padding and rules. */
void ht_out_fill(struct ht_out *out, char byte, size_t n);
/* Flush; HT_IO when any write was refused. */
enum ht_status ht_out_finish(struct ht_out *out) HT_MUST_USE;

void ht_out_flush(struct ht_out *out);

static inline void ht_out_char(struct ht_out *out, char byte)
{
	if (out->n == HT_OUT_BUFFER)
		ht_out_flush(out);
	out->buffer[out->n++] = byte;
}

#endif
