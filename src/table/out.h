/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.h - what renderers write to: text in a small buffer (base/emit.h) that drains to a sink.
 *
 * Renderers write without checks; after the first refusal of the sink all else is dropped, and
 * ht_out_finish answers HT_IO. Long loops may look at ht_out_failed to stop early.
 */
#ifndef HT_TABLE_OUT_H
#define HT_TABLE_OUT_H

#include "base/emit.h"

#define HT_OUT_BUFFER 16384

struct ht_out {
	ht_ctx *ctx;
	const struct ht_sink *sink;
	bool for_page; /* ht_render_for_page of own.h */
	struct ht_emit emit;
	char buffer[HT_OUT_BUFFER];
};

void ht_out_init(struct ht_out *out, ht_ctx *ctx, const struct ht_sink *sink);
/* Flush; HT_IO when any write was refused. */
enum ht_status ht_out_finish(struct ht_out *out) HT_MUST_USE;

static inline bool ht_out_failed(const struct ht_out *out)
{
	return out->emit.status != HT_OK;
}

static inline void ht_out_bytes(struct ht_out *out, const void *bytes, size_t n)
{
	if (n)
		ht_emit_text(&out->emit, bytes, n);
}

static inline void ht_out_str(struct ht_out *out, const char *text)
{
	ht_emit_text(&out->emit, text, strlen(text));
}

static inline void ht_out_char(struct ht_out *out, char byte)
{
	ht_emit_char(&out->emit, byte);
}

/* The byte n times; for padding and rules. */
static inline void ht_out_fill(struct ht_out *out, char byte, size_t n)
{
	while (n--)
		ht_emit_char(&out->emit, byte);
}

#endif
