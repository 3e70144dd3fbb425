/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.c - see out.h.
 */
#include "table/out.h"

static enum ht_status to_sink(void *user, const void *bytes, size_t n)
{
	struct ht_out *out = user;
	if (!ht_io_should_fail(out->ctx) && out->sink->write(out->sink->user, bytes, n))
		return HT_OK;
	return ht_fail(out->ctx, HT_IO, NULL, -1, NULL, "the output could not be written");
}

void ht_out_init(struct ht_out *out, ht_ctx *ctx, const struct ht_sink *sink)
{
	out->ctx = ctx;
	out->sink = sink;
	out->for_page = false;
	ht_emit_begin(&out->emit, ctx, to_sink, out, out->buffer, sizeof out->buffer);
}

enum ht_status ht_out_finish(struct ht_out *out)
{
	ht_emit_drain(&out->emit);
	return out->emit.status;
}
