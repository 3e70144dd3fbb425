/*
 * text.h - questions about texts that may be missing.
 */
#ifndef HT_BASE_TEXT_H
#define HT_BASE_TEXT_H

#include <stdbool.h>
#include <string.h>

/* The same bytes, or both NULL. */
static inline bool ht_text_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

#endif
