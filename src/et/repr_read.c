/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repr_read.c - Python's repr of a list, as Chakra's messages hold arguments, back to JSON text.
 *
 * Tokens are translated one by one; whether they make a value is the caller's to find out of the JSON text. Numbers
 * that JSON does not have become strings, as PyTorch writes them.
 */
#include "et/et_convert.h"

#include "base/emit.h"
#include "base/text_compare.h"
#include "base/utf8.h"

struct repr {
	struct ht_emit *e;
	struct ht_vec *scratch; /* char: the string in hand */
	const char *p, *end;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The code point of so many digits at p; UINT32_MAX when they are not there. */
static uint32_t code_of(const char *p, const char *end, size_t n_digits)
{
	uint32_t code = 0;
	if ((size_t)(end - p) < n_digits)
		return UINT32_MAX;
	for (size_t i = 0; i < n_digits; i++) {
		int digit = ht_hex_digit(p[i]);
		if (digit < 0)
			return UINT32_MAX;
		code = code * 16 + (uint32_t)digit;
	}
	return code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0xfffd : code;
}

/* What stands behind a backslash at p; out has room for four bytes. Unknown escapes stay as they are. */
static size_t unescape(struct repr *r, char *out)
{
	static const char from[] = "nrt\\'\"", to[] = "\n\r\t\\'\"";
	char c = r->p < r->end ? *r->p : '\\';
	const char *known = c ? memchr(from, c, sizeof from - 1) : NULL;
	size_t n_digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
	uint32_t code = n_digits ? code_of(r->p + 1, r->end, n_digits) : UINT32_MAX;
	if (known) {
		r->p++;
		*out = to[known - from];
		return 1;
	}
	if (code != UINT32_MAX) {
		r->p += 1 + n_digits;
		return ht_utf8_put(out, code);
	}
	*out = '\\';
	return 1;
}

/* The string whose quote is at p; false when it has no end. */
static bool read_string(struct repr *r)
{
	char quote = *r->p++, *text = r->scratch->data;
	size_t n = 0;
	while (r->p < r->end && *r->p != quote) {
		if (*r->p++ != '\\')
			text[n++] = r->p[-1];
		else
			n += unescape(r, text + n);
	}
	ht_emit_string(r->e, text, n);
	return r->p++ < r->end;
}

static void read_word(struct repr *r)
{
	static const struct {
		const char *python, *json;
	} words[] = { { "True", "true" }, { "False", "false" }, { "None", "null" },
		{ "inf", "\"inf\"" }, { "-inf", "\"-inf\"" }, { "nan", "\"nan\"" } };
	const char *start = r->p;
	while (r->p < r->end && !is_blank(*r->p) && !strchr(",[]()'\"", *r->p))
		r->p++;
	size_t n = (size_t)(r->p - start);
	for (size_t i = 0; i < HT_COUNT(words); i++)
		if (strlen(words[i].python) == n && !memcmp(words[i].python, start, n)) {
			ht_emit_text(r->e, words[i].json, strlen(words[i].json));
			return;
		}
	/* a zero byte ends no word above, and is none */
	ht_emit_text(r->e, start, n ? n : 1);
	r->p += !n;
}

/* A comma, unless it is that of a tuple of one. */
static void read_comma(struct repr *r)
{
	for (r->p++; r->p < r->end && is_blank(*r->p);)
		r->p++;
	if (r->p == r->end || *r->p != ')')
		ht_emit_char(r->e, ',');
}

bool ht_et_repr_read(
        struct ht_mem *mem, struct ht_emit *e, struct ht_vec *scratch, const char *repr, size_t n)
{
	struct repr r = { e, scratch, repr, repr + n };
	scratch->n = 0;
	if (!ht_vec_reserve(mem, scratch, 1, n + 4)) {
		e->status = ht_fail_nomem(e->ctx);
		return true;
	}
	while (r.p < r.end) {
		char c = *r.p;
		if (c == '\'' || c == '"') {
			if (!read_string(&r))
				return false;
		} else if (c == ',') {
			read_comma(&r);
		} else if (c == '[' || c == ']' || c == '(' || c == ')') {
			ht_emit_char(e, c == '[' || c == '(' ? '[' : ']');
			r.p++;
		} else if (is_blank(c)) {
			r.p++;
		} else {
			read_word(&r);
		}
	}
	return true;
}
