/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.c - see emit.h.
 */
#include "base/emit.h"

#include "base/json_escape.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/number.h"

#include <math.h>

#define N_DOUBLES 512 /* power of two */

void ht_emit_begin(
        struct ht_emit *emit, ht_ctx *ctx, ht_flush_fn flush, void *user, char *bytes, size_t cap)
{
	*emit = (struct ht_emit){
		.ctx = ctx, .flush = flush, .user = user, .bytes = bytes, .cap = cap
	};
}

enum ht_status ht_emit_init(struct ht_emit *emit, ht_ctx *ctx, ht_flush_fn flush, void *user)
{
	ht_emit_begin(emit, ctx, flush, user, ht_mem_alloc(ctx->mem, HT_EMIT_CAP), HT_EMIT_CAP);
	emit->doubles = ht_mem_zalloc(ctx->mem, N_DOUBLES * sizeof *emit->doubles);
	if (emit->bytes && emit->doubles)
		return HT_OK;
	ht_mem_free(ctx->mem, emit->bytes, HT_EMIT_CAP);
	ht_mem_free(ctx->mem, emit->doubles, N_DOUBLES * sizeof *emit->doubles);
	return ht_fail_nomem(ctx);
}

enum ht_status ht_emit_done(struct ht_emit *emit)
{
	ht_emit_drain(emit);
	ht_mem_free(emit->ctx->mem, emit->bytes, HT_EMIT_CAP);
	ht_mem_free(emit->ctx->mem, emit->doubles, N_DOUBLES * sizeof *emit->doubles);
	return emit->status;
}

void ht_emit_drain(struct ht_emit *emit)
{
	if (emit->status == HT_OK && emit->n)
		emit->status = emit->flush(emit->user, emit->bytes, emit->n);
	emit->n = 0;
}

void ht_emit_long_text(struct ht_emit *emit, const char *text, size_t n)
{
	if (n > emit->cap - emit->n)
		ht_emit_drain(emit);
	if (n <= emit->cap) {
		memcpy(emit->bytes + emit->n, text, n);
		emit->n += n;
	} else if (emit->status == HT_OK) {
		emit->status = emit->flush(emit->user, text, n);
	}
}

/* Digits of value, ending before `end`; returns where they start. */
static char *put_digits(char *end, uint64_t value)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
	                            "25262728293031323334353637383940414243444546474849"
	                            "50515253545556575859606162636465666768697071727374"
	                            "75767778798081828384858687888990919293949596979899";
	while (value >= 100) {
		end -= 2;
		memcpy(end, pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10) {
		end -= 2;
		memcpy(end, pairs + value * 2, 2);
		return end;
	}
	*--end = (char)('0' + value);
	return end;
}

void ht_emit_u64(struct ht_emit *emit, uint64_t value)
{
	char digits[20], *end = digits + sizeof digits;
	char *start = put_digits(end, value);
	ht_emit_text(emit, start, (size_t)(end - start));
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

void ht_emit_i64(struct ht_emit *emit, int64_t value)
{
	if (value < 0)
		ht_emit_char(emit, '-');
	ht_emit_u64(emit, magnitude(value));
}

void ht_emit_us(struct ht_emit *emit, int64_t ns)
{
	char digits[24], *end = digits + sizeof digits;
	uint64_t value = magnitude(ns);
	unsigned fraction = (unsigned)(value % 1000);
	end[-1] = (char)('0' + fraction % 10);
	end[-2] = (char)('0' + fraction / 10 % 10);
	end[-3] = (char)('0' + fraction / 100);
	end[-4] = '.';
	char *start = put_digits(end - 4, value / 1000);
	if (ns < 0)
		*--start = '-';
	ht_emit_text(emit, start, (size_t)(end - start));
}

void ht_emit_f64(struct ht_emit *emit, double value)
{
	if (isnan(value)) {
		HT_EMIT(emit, "\"nan\"");
		return;
	}
	if (isinf(value)) {
		if (value > 0)
			HT_EMIT(emit, "\"inf\"");
		else
			HT_EMIT(emit, "\"-inf\"");
		return;
	}
	if (!emit->doubles) {
		emit->n += (size_t)ht_double_print(ht_emit_room(emit), value);
		return;
	}
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	struct ht_emit_double *known = &emit->doubles[ht_hash_u64(bits) & (N_DOUBLES - 1)];
	if (!known->n || known->bits != bits) {
		char text[40];
		known->n = (uint8_t)ht_double_print(text, value);
		known->bits = bits;
		memcpy(known->text, text, sizeof known->text);
	}
	ht_emit_text(emit, known->text, known->n);
}

#define ONES (UINT64_MAX / 255)
#define HIGH (ONES * 0x80)

/* Are there bytes below 0x20, quotes or backslashes among these eight? May say yes wrongly for text
 * beyond ASCII, never no. */
static bool needs_escape(uint64_t w)
{
	uint64_t quote = w ^ ONES * '"', slash = w ^ ONES * '\\';
	uint64_t below = (w - ONES * 0x20) & ~w;
	uint64_t is_quote = (quote - ONES) & ~quote, is_slash = (slash - ONES) & ~slash;
	return ((below | is_quote | is_slash) & HIGH) != 0;
}

static size_t escape(char *out, unsigned char c)
{
	if (ht_json_needs_escape(c))
		return ht_json_escape(out, c);
	out[0] = (char)c;
	return 1;
}

void ht_emit_escaped(struct ht_emit *emit, const char *text, size_t n)
{
	while (n >= 8) {
		uint64_t w;
		memcpy(&w, text, 8);
		char *out = ht_emit_room(emit);
		if (needs_escape(w)) {
			for (int i = 0; i < 8; i++)
				out += escape(out, (unsigned char)text[i]);
			emit->n = (size_t)(out - emit->bytes);
		} else {
			memcpy(out, &w, 8);
			emit->n += 8;
		}
		text += 8;
		n -= 8;
	}
	char *out = ht_emit_room(emit);
	for (size_t i = 0; i < n; i++)
		out += escape(out, (unsigned char)text[i]);
	emit->n = (size_t)(out - emit->bytes);
}

void ht_emit_string(struct ht_emit *emit, const char *text, size_t n)
{
	ht_emit_char(emit, '"');
	ht_emit_escaped(emit, text, n);
	ht_emit_char(emit, '"');
}
