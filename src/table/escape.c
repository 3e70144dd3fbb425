/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escape.c - see escape.h.
 */
#include "table/escape.h"

#include "base/json_escape.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

#define ESCAPE_BYTES 12

static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

static bool unsafe(uint32_t code)
{
	return is_control(code) || code == 0xad || code == 0x61c ||
	       (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || code == 0xfffe ||
	       code == 0xffff /* which XML has no way to say */ ||
	       (code >= 0xe0000 && code <= 0xe007f);
}

static int escape(uint32_t code, char *ret_text)
{
	if (code == '\n' || code == '\t' || code == '\r')
		return snprintf(ret_text, ESCAPE_BYTES, "\\%c",
		        code == '\n'   ? 'n'
		        : code == '\t' ? 't'
		                       : 'r');
	return snprintf(
	        ret_text, ESCAPE_BYTES, code < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)code);
}

/* Bytes at the front of text that are printable ASCII, which most names are throughout. */
static size_t plain_prefix(const char *text, size_t n)
{
	size_t i = 0;
	while (i < n && text[i] >= 0x20 && text[i] < 0x7f)
		i++;
	return i;
}

bool ht_clean(struct ht_mem *mem, struct ht_vec *chars, const char *text, size_t n)
{
	chars->n = 0;
	/* The worst byte, a control, becomes four. */
	if (n > SIZE_MAX / 8 || !ht_vec_reserve(mem, chars, 1, 4 * n + ESCAPE_BYTES))
		return false;
	char *dst = chars->data;
	const char *end = text + n;
	size_t used = plain_prefix(text, n);
	memcpy(dst, text, used);
	for (const char *at = text + used; at < end;) {
		const char *start = at;
		uint32_t code = ht_utf8_next(&at);
		if (unsafe(code)) {
			used += (size_t)escape(code, dst + used);
		} else {
			memcpy(dst + used, start, (size_t)(at - start));
			used += (size_t)(at - start);
		}
	}
	dst[used] = '\0';
	chars->n = used;
	return true;
}

size_t ht_clean_width(const char *text, size_t n)
{
	char unused[ESCAPE_BYTES];
	size_t width = plain_prefix(text, n);
	for (const char *at = text + width, *end = text + n; at < end;) {
		uint32_t code = ht_utf8_next(&at);
		width += unsafe(code) ? (size_t)escape(code, unused) : 1;
	}
	return width;
}

static bool is_blank(uint32_t code)
{
	return code == '\t' || code == '\n' || code == '\r';
}

bool ht_has_controls(const char *text, size_t n)
{
	for (const char *at = text + plain_prefix(text, n), *end = text + n; at < end;) {
		uint32_t code = ht_utf8_next(&at);
		if (is_control(code) && !is_blank(code))
			return true;
	}
	return false;
}

void ht_out_controls(struct ht_out *out, const char *text, size_t n)
{
	for (const char *at = text, *end = text + n; at < end;) {
		const char *start = at;
		uint32_t code = ht_utf8_next(&at);
		char escaped[ESCAPE_BYTES];
		if (is_control(code) && !is_blank(code))
			ht_out_bytes(out, escaped, (size_t)escape(code, escaped));
		else
			ht_out_bytes(out, start, (size_t)(at - start));
	}
}

void ht_out_html(struct ht_out *out, const char *text)
{
	for (const char *at = text; *at;) {
		const char *start = at;
		uint32_t code = ht_utf8_next(&at);
		char escaped[ESCAPE_BYTES];
		if (unsafe(code))
			ht_out_bytes(out, escaped, (size_t)escape(code, escaped));
		else if (code == '&')
			ht_out_str(out, "&amp;");
		else if (code == '<')
			ht_out_str(out, "&lt;");
		else if (code == '>')
			ht_out_str(out, "&gt;");
		else if (code == '"')
			ht_out_str(out, "&quot;");
		else if (code == '\'')
			ht_out_str(out, "&#39;");
		else
			ht_out_bytes(out, start, (size_t)(at - start));
	}
}

/* Bytes at the front that JSON and terminals take as they are; C1 controls start with 0xc2. */
static size_t json_prefix(const char *text)
{
	size_t i = 0;
	while ((unsigned char)text[i] >= 0x20 && text[i] != '"' && text[i] != '\\' &&
	        text[i] != 0x7f && (unsigned char)text[i] != 0xc2)
		i++;
	return i;
}

void ht_out_json(struct ht_out *out, const char *text)
{
	if (!text) {
		ht_out_str(out, "null");
		return;
	}
	ht_out_char(out, '"');
	for (;;) {
		size_t n = json_prefix(text);
		ht_out_bytes(out, text, n);
		text += n;
		if (!*text)
			break;
		const char *start = text;
		uint32_t code = ht_utf8_next(&text);
		char escaped[HT_JSON_ESCAPE_BYTES];
		if (code >= 0xa0)
			ht_out_bytes(out, start, (size_t)(text - start));
		else
			ht_out_bytes(out, escaped, ht_json_escape(escaped, (unsigned char)code));
	}
	ht_out_char(out, '"');
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void ht_out_md(struct ht_out *out, const char *text)
{
	for (const char *at = text; *at;) {
		const char *start = at;
		uint32_t code = ht_utf8_next(&at);
		char escaped[ESCAPE_BYTES];
		if (unsafe(code)) {
			ht_out_char(out, '\\');
			ht_out_bytes(out, escaped, (size_t)escape(code, escaped));
			continue;
		}
		/* An underscore inside a word is literal already, and most are. */
		bool literal = code == '_' && start > text && is_word(start[-1]) && is_word(*at);
		if (code < 0x80 && strchr("\\`*_[]<>|~$&#!", (int)code) && !literal)
			ht_out_char(out, '\\');
		ht_out_bytes(out, start, (size_t)(at - start));
	}
}
