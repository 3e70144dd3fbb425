/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_escape.c - see json_escape.h.
 */
#include "base/json_escape.h"

#include <string.h>

size_t ht_json_escape(char *out, unsigned char code)
{
	static const char hex[] = "0123456789abcdef";
	static const char shorts[] = "\b\t\n\f\r\"\\", letters[] = "btnfr\"\\";
	const char *known = code ? strchr(shorts, code) : NULL;
	out[0] = '\\';
	if (known) {
		out[1] = letters[known - shorts];
		return 2;
	}
	memcpy(out + 1, "u00", 3);
	out[4] = hex[code >> 4];
	out[5] = hex[code & 15];
	return 6;
}

char *ht_json_escape_text(char *out, const char *text)
{
	for (; *text; text++) {
		if (ht_json_needs_escape((unsigned char)*text))
			out += ht_json_escape(out, (unsigned char)*text);
		else
			*out++ = *text;
	}
	return out;
}
