/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glob.c - see glob.h.
 *
 * The text before the first star stands at the start, that behind the last one at the end. Each piece between two stars is
 * taken where it is found first, as that leaves most to the pieces behind it.
 */
#include "base/glob.h"

#include <string.h>

/* Whether n bytes without a star fit the start of a text. */
static bool fits(const char *piece, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (!text[i] || (piece[i] != '?' && piece[i] != text[i]))
			return false;
	return true;
}

/* Where a piece fits first in a text that ends at end; NULL: nowhere. */
static const char *find(const char *piece, size_t n, const char *text, const char *end)
{
	if (!memchr(piece, '?', n))
		return memmem(text, (size_t)(end - text), piece, n);
	for (; (size_t)(end - text) >= n; text++)
		if (fits(piece, n, text))
			return text;
	return NULL;
}

bool ht_glob_matches(const char *pattern, const char *text)
{
	size_t n = strcspn(pattern, "*");
	if (!fits(pattern, n, text))
		return false;
	text += n;
	pattern += n;
	if (!*pattern)
		return !*text;
	for (const char *end = text + strlen(text);;) {
		n = strcspn(++pattern, "*");
		if (!pattern[n])
			return (size_t)(end - text) >= n && fits(pattern, n, end - n);
		text = find(pattern, n, text, end);
		if (!text)
			return false;
		text += n;
		pattern += n;
	}
}
