/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell_text.c - see cell_text.h.
 */
#include "model/rows/cell_text.h"

#include "base/mem.h"
#include "json/json_text.h"
#include "store/shape.h"

#include <inttypes.h>
#include <stdio.h>

static enum ht_status append(void *user, const void *bytes, size_t n)
{
	struct ht_cell_text *cell = user;
	if (!ht_vec_reserve(cell->emit.ctx->mem, &cell->bytes, 1, n + 1))
		return ht_fail_nomem(cell->emit.ctx);
	if (n)
		memcpy((char *)cell->bytes.data + cell->bytes.n, bytes, n);
	cell->bytes.n += n;
	return HT_OK;
}

enum ht_status ht_cell_text_init(struct ht_cell_text *cell, ht_ctx *ctx)
{
	*cell = (struct ht_cell_text){ .bytes = { 0 } };
	return ht_emit_init(&cell->emit, ctx, append, cell);
}

enum ht_status ht_cell_text_done(struct ht_cell_text *cell)
{
	ht_ctx *ctx = cell->emit.ctx;
	enum ht_status status = ctx ? ht_emit_done(&cell->emit) : HT_OK;
	if (ctx)
		ht_vec_free(ctx->mem, &cell->bytes, 1);
	return status;
}

const char *ht_cell_text_take(struct ht_cell_text *cell)
{
	ht_emit_drain(&cell->emit);
	/* room for the NUL, also when nothing was written */
	if (cell->emit.status != HT_OK || append(cell, "", 0) != HT_OK)
		return NULL;
	char *text = cell->bytes.data;
	text[cell->bytes.n] = '\0';
	cell->bytes.n = 0;
	return text;
}

void ht_cell_ms(struct ht_emit *emit, int64_t ns)
{
	const int64_t one = 1000000;
	char text[40];
	int n = snprintf(text, sizeof text, "%s%" PRId64 ".%06" PRId64, ns < 0 ? "-" : "",
	        ns < 0 ? -(ns / one) : ns / one, ns < 0 ? -(ns % one) : ns % one);
	while (text[n - 1] == '0')
		n--;
	n -= text[n - 1] == '.';
	ht_emit_text(emit, text, (size_t)n);
}

/* As repr() does: single quotes unless that would need escapes and double ones would not. */
static void put_python_string(struct ht_emit *emit, const char *text, size_t n)
{
	char quote = memchr(text, '\'', n) && !memchr(text, '"', n) ? '"' : '\'';
	ht_emit_char(emit, quote);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];
		char hex[8];
		if (c == '\\' || c == (unsigned char)quote) {
			ht_emit_char(emit, '\\');
			ht_emit_char(emit, (char)c);
		} else if (c == '\n') {
			HT_EMIT(emit, "\\n");
		} else if (c == '\r') {
			HT_EMIT(emit, "\\r");
		} else if (c == '\t') {
			HT_EMIT(emit, "\\t");
		} else if (c < 0x20 || c == 0x7f) {
			ht_emit_text(emit, hex, (size_t)snprintf(hex, sizeof hex, "\\x%02x", c));
		} else {
			ht_emit_char(emit, (char)c);
		}
	}
	ht_emit_char(emit, quote);
}

void ht_cell_string(struct ht_emit *emit, const char *text, size_t n, bool python)
{
	(python ? put_python_string : ht_emit_string)(emit, text, n);
}

/* A JSON text as Python shows it: other words for true, false and null, other quotes. */
static void put_python_json(struct ht_emit *emit, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *decoded;
		size_t end = i + 1, bad;
		switch (text[i]) {
		case '"':
			while (end < n && text[end] != '"')
				end += 1 + (text[end] == '\\');
			decoded = ht_mem_alloc(emit->ctx->mem, 3 * (end - i) + 1);
			if (!decoded) {
				emit->status = ht_fail_nomem(emit->ctx);
				return;
			}
			put_python_string(emit, decoded,
			        ht_json_decode(text + i + 1, end - i - 1, decoded, &bad));
			ht_mem_free(emit->ctx->mem, decoded, 3 * (end - i) + 1);
			i = end;
			break;
		case 't':
			HT_EMIT(emit, "True");
			i += 3;
			break;
		case 'f':
			HT_EMIT(emit, "False");
			i += 4;
			break;
		case 'n':
			HT_EMIT(emit, "None");
			i += 3;
			break;
		default: ht_emit_char(emit, text[i]);
		}
	}
}

static void put_value(struct ht_emit *emit, const struct ht_trace *t,
        const struct ht_arg_column *column, uint64_t at, bool python)
{
	uint32_t id;
	switch ((enum ht_arg_type)column->type) {
	case HT_ARG_I64: ht_emit_i64(emit, ht_arg_i64_at(t, column, at)); break;
	case HT_ARG_U64: ht_emit_u64(emit, (uint64_t)ht_arg_i64_at(t, column, at)); break;
	case HT_ARG_F64: ht_emit_f64(emit, ht_arg_f64_at(t, column, at)); break;
	case HT_ARG_STR:
		id = (uint32_t)ht_arg_i64_at(t, column, at);
		ht_cell_string(emit, ht_str(t, id), ht_str_len(t, id), python);
		break;
	case HT_ARG_JSON:
		id = (uint32_t)ht_arg_i64_at(t, column, at);
		(python ? put_python_json : ht_emit_text)(emit, ht_str(t, id), ht_str_len(t, id));
		break;
	case HT_ARG_BOOL:
		if (ht_arg_i64_at(t, column, at))
			ht_emit_text(emit, python ? "True" : "true", 4);
		else
			ht_emit_text(emit, python ? "False" : "false", 5);
		break;
	case HT_ARG_NULL: ht_emit_text(emit, python ? "None" : "null", 4); break;
	}
}

void ht_cell_args(struct ht_emit *emit, const struct ht_trace *t, uint32_t row, bool python)
{
	size_t n = 0;
	const uint32_t *items = ht_row_items(t, row, &n);
	bool first = true;
	ht_emit_char(emit, '{');
	for (size_t i = 0; i < n; i++) {
		if (items[i] < HT_FIELD_COUNT)
			continue;
		const struct ht_arg_column *column = &t->arg_columns[items[i] - HT_FIELD_COUNT];
		uint64_t at = column->top_level ? UINT64_MAX : ht_arg_position(t, column, row);
		if (at == UINT64_MAX)
			continue;
		if (!first)
			HT_EMIT(emit, ", ");
		first = false;
		ht_cell_string(emit, ht_str(t, column->key), ht_str_len(t, column->key), python);
		HT_EMIT(emit, ": ");
		put_value(emit, t, column, at, python);
	}
	ht_emit_char(emit, '}');
}
