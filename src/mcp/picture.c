/* SPDX-License-Identifier: Apache-2.0 */
/*
 * picture.c - see picture.h.
 *
 * The PNG has a byte per pixel, the number of a colour, and is packed by the library's own gzip, whose frame is taken off:
 * inside is the same deflate stream that PNG has in its frame.
 */
#include "mcp/picture.h"

#include "base/utf8.h"
#include "table/escape.h"
#include "holotrace/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_PIXELS 12
#define GZIP_HEAD   10
#define GZIP_TAIL   8

static const uint32_t colors[PICTURE_COLORS] = { 0xffffff, 0x3b82c4, 0xd9730d, 0x6aa84f, 0x8e7cc3,
	0xc9302c, 0x9fc5e8, 0xb7b7b7, 0xd9d2a9 };

/* ---- PNG ---- */

static uint32_t crc_of(uint32_t crc, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		crc ^= bytes[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return crc;
}

static void put_u32(struct mcp_text *out, uint32_t value)
{
	const uint8_t bytes[] = { (uint8_t)(value >> 24), (uint8_t)(value >> 16),
		(uint8_t)(value >> 8), (uint8_t)value };
	struct ht_sink sink = mcp_text_sink(out);
	(void)sink.write(sink.user, bytes, sizeof bytes);
}

static void put_chunk(struct mcp_text *out, const char *type, const void *bytes, size_t n)
{
	struct ht_sink sink = mcp_text_sink(out);
	put_u32(out, (uint32_t)n);
	(void)sink.write(sink.user, type, 4);
	(void)sink.write(sink.user, bytes, n);
	uint32_t crc = crc_of(0xffffffffu, (const uint8_t *)type, 4);
	put_u32(out, ~crc_of(crc, bytes, n));
}

static uint32_t adler_of(const uint8_t *bytes, size_t n)
{
	uint32_t a = 1, b = 0;
	for (size_t i = 0; i < n; i++) {
		a = (a + bytes[i]) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

/* Rows of pixels, each behind the byte that says that it is not filtered. */
static uint8_t *draw(struct mcp_call *call, const struct picture *picture, uint32_t height)
{
	const size_t stride = PICTURE_WIDTH + 1;
	uint8_t *pixels = ht_arena_alloc(&call->arena, stride * height);
	for (size_t i = 0; pixels && i < picture->n; i++) {
		const struct picture_span *span = &picture->spans[i];
		size_t from = (size_t)(span->from * PICTURE_WIDTH),
		       to = (size_t)(span->to * PICTURE_WIDTH);
		to = to > from ? to : from + 1;
		for (size_t y = 1; y < LINE_PIXELS; y++)
			for (size_t x = from; x < to && x < PICTURE_WIDTH; x++)
				pixels[(span->line * LINE_PIXELS + y) * stride + 1 + x] =
				        span->color;
	}
	return pixels;
}

static const char *base64(struct mcp_call *call, const uint8_t *bytes, size_t n)
{
	static const char digits[] =
	        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = ht_arena_alloc(&call->arena, (n + 2) / 3 * 4 + 1), *to = text;
	for (size_t i = 0; text && i < n; i += 3) {
		uint32_t word = (uint32_t)bytes[i] << 16 |
		                (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) |
		                (i + 2 < n ? bytes[i + 2] : 0);
		for (int k = 0; k < 4; k++)
			*to++ = i + (size_t)k <= n ? digits[word >> (18 - 6 * k) & 63] : '=';
	}
	return text;
}

/* The zlib stream of the pixels, from the gzip one. */
static enum ht_status pack(
        struct mcp_call *call, const uint8_t *pixels, size_t n, struct mcp_text *ret_data)
{
	struct mcp_text gzip = { .mem = call->ctx->mem };
	struct ht_sink sink = mcp_text_sink(&gzip), out = mcp_text_sink(ret_data);
	enum ht_status status = ht_compress(call->ctx, "gzip", pixels, n, &sink);
	const uint8_t *bytes = gzip.bytes.data;
	/* a head without name and extra fields, as the library writes it */
	if (status == HT_OK && (gzip.bytes.n < GZIP_HEAD + GZIP_TAIL || bytes[3] != 0))
		status = ht_fail(
		        call->ctx, HT_INTERNAL, NULL, -1, NULL, "a gzip head with further fields");
	if (status == HT_OK) {
		(void)out.write(out.user, "\x78\x9c", 2);
		(void)out.write(out.user, bytes + GZIP_HEAD, gzip.bytes.n - GZIP_HEAD - GZIP_TAIL);
		put_u32(ret_data, adler_of(pixels, n));
	}
	mcp_text_done(&gzip);
	return status;
}

const char *picture_png(struct mcp_call *call, const struct picture *picture)
{
	const uint32_t height = (picture->n_lines ? picture->n_lines : 1) * LINE_PIXELS;
	struct mcp_text png = { .mem = call->ctx->mem }, head = png, data = png;
	const char *text = NULL;
	uint8_t palette[PICTURE_COLORS * 3];
	for (size_t i = 0; i < PICTURE_COLORS; i++)
		for (int k = 0; k < 3; k++)
			palette[3 * i + (size_t)k] = (uint8_t)(colors[i] >> (16 - 8 * k));
	uint8_t *pixels = draw(call, picture, height);
	if (pixels && pack(call, pixels, (size_t)(PICTURE_WIDTH + 1) * height, &data) == HT_OK) {
		struct ht_sink sink = mcp_text_sink(&png), to_head = mcp_text_sink(&head);
		(void)sink.write(sink.user, "\x89PNG\r\n\x1a\n", 8);
		put_u32(&head, PICTURE_WIDTH);
		put_u32(&head, height);
		/* 8 bits, numbers of colours */
		(void)to_head.write(to_head.user, "\x08\x03\0\0\0", 5);
		put_chunk(&png, "IHDR", head.bytes.data, head.bytes.n);
		put_chunk(&png, "PLTE", palette, sizeof palette);
		put_chunk(&png, "IDAT", data.bytes.data, data.bytes.n);
		put_chunk(&png, "IEND", "", 0);
		bool ok = !png.failed && !head.failed && !data.failed;
		text = ok ? base64(call, png.bytes.data, png.bytes.n) : NULL;
	}
	mcp_text_done(&png);
	mcp_text_done(&head);
	mcp_text_done(&data);
	return text;
}

/* ---- SVG ---- */

/* The widest first. */
static int compare_spans(const void *x, const void *y)
{
	const struct picture_span *a = x, *b = y;
	double wide_a = a->to - a->from, wide_b = b->to - b->from;
	return wide_a < wide_b ? 1 : wide_a > wide_b ? -1 : 0;
}

static void put_span(struct ht_out *out, const struct picture_span *span)
{
	char text[200];
	double x = span->from * PICTURE_WIDTH, width = (span->to - span->from) * PICTURE_WIDTH;
	unsigned y = span->line * LINE_PIXELS;
	snprintf(text, sizeof text,
	        "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"11\" fill=\"#%06x\"/>\n", x, y,
	        width > 0.5 ? width : 0.5, (unsigned)colors[span->color]);
	ht_out_str(out, text);
	if (width < 40)
		return;
	/* what has room, in whole characters: a letter is 6 wide */
	char name[256];
	size_t n = ht_utf8_bytes(
	        span->name, strlen(span->name), (size_t)(width / 6 < 60 ? width / 6 : 60));
	snprintf(name, sizeof name, "%.*s", (int)n, span->name);
	snprintf(text, sizeof text, "<text x=\"%.1f\" y=\"%u\" font-size=\"9\">", x + 2, y + 9);
	ht_out_str(out, text);
	ht_out_html(out, name);
	ht_out_str(out, "</text>\n");
}

const char *picture_svg(struct mcp_call *call, const struct picture *picture, size_t max_bytes)
{
	struct mcp_text svg = { .mem = call->ctx->mem };
	struct ht_sink sink = mcp_text_sink(&svg);
	struct ht_out out;
	char head[160];
	qsort(picture->spans, picture->n, sizeof *picture->spans, compare_spans);
	snprintf(head, sizeof head,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\">\n", PICTURE_WIDTH,
	        picture->n_lines * LINE_PIXELS);
	ht_out_init(&out, call->ctx, &sink);
	ht_out_str(&out, head);
	enum ht_status status = ht_out_finish(&out);
	for (size_t i = 0; status == HT_OK && i < picture->n && svg.bytes.n + 300 < max_bytes;
	        i++) {
		put_span(&out, &picture->spans[i]);
		status = ht_out_finish(&out);
	}
	(void)sink.write(sink.user, "</svg>\n", 8);
	const char *text =
	        svg.failed ? NULL : ht_arena_strndup(&call->arena, svg.bytes.data, svg.bytes.n - 1);
	mcp_text_done(&svg);
	return text;
}
