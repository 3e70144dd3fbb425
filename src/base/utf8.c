/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.c - see utf8.h.
 */
#include "base/utf8.h"

#include <string.h>

size_t ht_utf8_length(const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;
	if (!n)
		return 0;
	if (p[0] < 0x80)
		return 1;
	size_t need = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || n < need)
		return 0;
	for (size_t i = 1; i < need; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
	bool surrogate = p[0] == 0xed && p[1] >= 0xa0;
	bool beyond = p[0] == 0xf4 && p[1] >= 0x90;
	return overlong || surrogate || beyond ? 0 : need;
}

size_t ht_utf8_put(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* A sequence that tables take: they end their texts with NUL. */
static size_t sequence(const char *text, size_t n)
{
	return *text ? ht_utf8_length(text, n) : 0;
}

/* True when the eight bytes are ASCII without NUL. */
static bool plain8(const char *text)
{
	uint64_t w;
	memcpy(&w, text, sizeof w);
	const uint64_t high = 0x8080808080808080u, ones = 0x0101010101010101u;
	return !((w | (w - ones)) & high);
}

bool ht_utf8_valid(const char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		if (n - i >= 8 && plain8(text + i)) {
			i += 8;
			continue;
		}
		size_t len = sequence(text + i, n - i);
		if (!len)
			return false;
		i += len;
	}
	return true;
}

size_t ht_utf8_repair(const char *text, size_t n, char *dst)
{
	size_t used = 0;
	for (size_t i = 0; i < n;) {
		size_t len = sequence(text + i, n - i);
		memcpy(dst + used, len ? text + i : "\xef\xbf\xbd", len ? len : 3);
		used += len ? len : 3;
		i += len ? len : 1;
	}
	return used;
}

uint32_t ht_utf8_next(const char **at)
{
	const unsigned char *p = (const unsigned char *)*at;
	size_t len = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	uint32_t code = len == 1 ? p[0] : p[0] & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++)
		code = code << 6 | (p[i] & 0x3fu);
	*at += len;
	return code;
}

size_t ht_utf8_width(const char *text, size_t n)
{
	size_t width = 0;
	for (size_t i = 0; i < n; i++)
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	return width;
}

size_t ht_utf8_bytes(const char *text, size_t n, size_t cells)
{
	const char *at = text, *end = text + n;
	while (at < end && cells--)
		ht_utf8_next(&at);
	return (size_t)(at - text);
}
