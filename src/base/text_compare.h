/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_compare.h - small questions about texts.
 */
#ifndef HT_BASE_TEXT_COMPARE_H
#define HT_BASE_TEXT_COMPARE_H

#include <stdbool.h>
#include <string.h>

/* The same bytes, or both NULL. */
static inline bool ht_text_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static inline bool ht_text_starts(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static inline bool ht_text_ends(const char *text, const char *end)
{
	size_t n = strlen(text), n_end = strlen(end);
	return n >= n_end && !memcmp(text + n - n_end, end, n_end);
}

/* 0 to 15; -1 for a byte that is no hexadecimal digit. */
static inline int ht_hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	                              : -1;
}

#endif
