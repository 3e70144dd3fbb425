/*
 * utf8.c - see utf8.h.
 */
#include "table/utf8.h"

#include <string.h>

/* Length of the sequence at text, 0 when malformed. */
static size_t sequence(const unsigned char *text, size_t n)
{
	unsigned char lead = text[0];
	if (lead < 0x80)
		return lead ? 1 : 0;
	size_t len = lead >= 0xc2 && lead < 0xe0 ? 2 : (lead & 0xf0) == 0xe0 ? 3 : 4;
	if (lead < 0xc2 || lead > 0xf4 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong, surrogate and beyond U+10FFFF show in the second byte. */
	if ((lead == 0xe0 && text[1] < 0xa0) || (lead == 0xed && text[1] > 0x9f) ||
	        (lead == 0xf0 && text[1] < 0x90) || (lead == 0xf4 && text[1] > 0x8f))
		return 0;
	return len;
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
		size_t len = sequence((const unsigned char *)text + i, n - i);
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
		size_t len = sequence((const unsigned char *)text + i, n - i);
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
