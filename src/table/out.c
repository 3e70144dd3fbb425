/*
 * out.c - see out.h.
 */
#include "table/out.h"

#include <string.h>

void ht_out_init(struct ht_out *out, ht_ctx *ctx, const struct ht_sink *sink)
{
	out->ctx = ctx;
	out->sink = sink;
	out->failed = false;
	out->n = 0;
	out->n_sent = 0;
}

static void send(struct ht_out *out, const void *bytes, size_t n)
{
	if (out->failed || !n)
		return;
	out->n_sent += n;
	out->failed = ht_io_should_fail(out->ctx) || !out->sink->write(out->sink->user, bytes, n);
}

void ht_out_flush(struct ht_out *out)
{
	send(out, out->buffer, out->n);
	out->n = 0;
}

void ht_out_bytes(struct ht_out *out, const void *bytes, size_t n)
{
	if (n > HT_OUT_BUFFER - out->n)
		ht_out_flush(out);
	if (n > HT_OUT_BUFFER) {
		send(out, bytes, n);
		return;
	}
	if (n)
		memcpy(out->buffer + out->n, bytes, n);
	out->n += n;
}

void ht_out_str(struct ht_out *out, const char *text)
{
	ht_out_bytes(out, text, strlen(text));
}

void ht_out_fill(struct ht_out *out, char byte, size_t n)
{
	while (n--)
		ht_out_char(out, byte);
}

enum ht_status ht_out_finish(struct ht_out *out)
{
	ht_out_flush(out);
	if (out->failed)
		return ht_fail(out->ctx, HT_IO, NULL, -1, NULL, "the output could not be written");
	return HT_OK;
}
