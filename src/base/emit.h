/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h - build text fast: numbers, times and JSON strings into a buffer that drains to a callback.
 *
 * Calls do not answer a status, so that writers read like the text they write: the first failure is
 * kept in `status`, later text goes nowhere, and ht_emit_done answers it.
 *
 *   ht_emit_*  ─► [ buffer ] ── full ──► flush(user, bytes, n)
 */
#ifndef HT_BASE_EMIT_H
#define HT_BASE_EMIT_H

#include "base/status.h"

#include <string.h>

/* Longest piece that is written at one go; numbers are shorter. */
#define HT_EMIT_PIECE 64
/* Bytes that ht_emit_init makes room for. */
#define HT_EMIT_CAP ((size_t)256 << 10)

typedef enum ht_status (*ht_flush_fn)(void *user, const void *bytes, size_t n);

struct ht_emit_double {
	uint64_t bits;
	uint8_t n; /* 0: free */
	char text[31];
};

struct ht_emit {
	ht_ctx *ctx;
	ht_flush_fn flush;
	void *user;
	char *bytes;
	size_t n, cap;
	enum ht_status status;
	/* what doubles look like: few are distinct, all are slow; NULL: not kept */
	struct ht_emit_double *doubles;
};

enum ht_status ht_emit_init(
        struct ht_emit *emit, ht_ctx *ctx, ht_flush_fn flush, void *user) HT_MUST_USE;
/* The same over the caller's memory, more than HT_EMIT_PIECE bytes: ht_emit_drain ends it. */
void ht_emit_begin(
        struct ht_emit *emit, ht_ctx *ctx, ht_flush_fn flush, void *user, char *bytes, size_t cap);
/* Drain and free; answers the first failure. Must be called once after a successful init. */
enum ht_status ht_emit_done(struct ht_emit *emit) HT_MUST_USE;

/* Room for n <= HT_EMIT_PIECE bytes; the caller adds what it used to emit->n. */
void ht_emit_drain(struct ht_emit *emit);
static inline char *ht_emit_room(struct ht_emit *emit)
{
	if (emit->n > emit->cap - HT_EMIT_PIECE)
		ht_emit_drain(emit);
	return emit->bytes + emit->n;
}

static inline void ht_emit_char(struct ht_emit *emit, char c)
{
	*ht_emit_room(emit) = c;
	emit->n++;
}

void ht_emit_long_text(struct ht_emit *emit, const char *text, size_t n);
static inline void ht_emit_text(struct ht_emit *emit, const char *text, size_t n)
{
	if (n > HT_EMIT_PIECE) {
		ht_emit_long_text(emit, text, n);
		return;
	}
	memcpy(ht_emit_room(emit), text, n);
	emit->n += n;
}

/* A literal. */
#define HT_EMIT(emit, literal) ht_emit_text((emit), "" literal, sizeof(literal) - 1)

void ht_emit_u64(struct ht_emit *emit, uint64_t value);
void ht_emit_i64(struct ht_emit *emit, int64_t value);
/* Nanoseconds as microseconds with exactly three decimals. */
void ht_emit_us(struct ht_emit *emit, int64_t ns);
/* Shortest text that reads back the same; "inf", "-inf", "nan" in quotes. */
void ht_emit_f64(struct ht_emit *emit, double value);
/* A JSON string, quotes included. */
void ht_emit_string(struct ht_emit *emit, const char *text, size_t n);
/* The body of a JSON string, no quotes. */
void ht_emit_escaped(struct ht_emit *emit, const char *text, size_t n);

#endif
