/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_escape.h - bytes that a JSON string cannot hold as they are.
 */
#ifndef HT_BASE_JSON_ESCAPE_H
#define HT_BASE_JSON_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#define HT_JSON_ESCAPE_BYTES 6

static inline bool ht_json_needs_escape(unsigned char c)
{
	return c < 0x20 || c == '"' || c == '\\';
}

/* The escape of a code point below 0x100, needed or not; out has room for HT_JSON_ESCAPE_BYTES. Returns its length. */
size_t ht_json_escape(char *out, unsigned char code);
/* A text as it stands in a JSON string, without quotes; out has room for HT_JSON_ESCAPE_BYTES per byte. Returns its end. */
char *ht_json_escape_text(char *out, const char *text);

#endif
