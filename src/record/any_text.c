/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any_text.c - see any_text.h.
 */
#include "record/any_text.h"

#include "base/utf8.h"

#include <string.h>

void ht_emit_any(struct ht_emit *emit, const char *bytes, size_t n)
{
	char piece[3 * 256];
	if (!n || ht_utf8_valid(bytes, n)) {
		ht_emit_string(emit, bytes, n);
		return;
	}
	ht_emit_char(emit, '"');
	for (size_t at = 0; at < n;) {
		size_t step = n - at < 256 ? n - at : 256;
		/* Not in the middle of a character. */
		while (step > 1 && at + step < n &&
		        ((unsigned char)bytes[at + step] & 0xc0) == 0x80)
			step--;
		ht_emit_escaped(emit, piece, ht_utf8_repair(bytes + at, step, piece));
		at += step;
	}
	ht_emit_char(emit, '"');
}

/* Where appended text goes. */
struct appended {
	ht_ctx *ctx;
	struct ht_vec *to; /* char */
};

static enum ht_status append(void *user, const void *bytes, size_t n)
{
	const struct appended *appended = user;
	if (!ht_vec_reserve(appended->ctx->mem, appended->to, 1, n))
		return ht_fail_nomem(appended->ctx);
	memcpy((char *)appended->to->data + appended->to->n, bytes, n);
	appended->to->n += n;
	return HT_OK;
}

enum ht_status ht_rec_escape(ht_ctx *ctx, const char *bytes, size_t n, struct ht_vec *text)
{
	size_t first = text->n;
	struct appended appended = { ctx, text };
	struct ht_emit emit;
	HT_TRY(ht_emit_init(&emit, ctx, append, &appended));
	ht_emit_any(&emit, bytes, n);
	HT_TRY(ht_emit_done(&emit));
	/* Without the quotes. */
	char *start = (char *)text->data + first;
	memmove(start, start + 1, text->n - first - 2);
	text->n -= 2;
	return HT_OK;
}
