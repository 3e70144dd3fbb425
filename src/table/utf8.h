/*
 * utf8.h - the little UTF-8 a table needs: check, repair, walk, measure.
 *
 * Tables hold valid UTF-8 only, so everything but valid and repair may trust its input.
 */
#ifndef HT_TABLE_UTF8_H
#define HT_TABLE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No malformed, overlong or surrogate sequence, and no NUL. */
bool ht_utf8_valid(const char *text, size_t n);
/* Writes text with U+FFFD for each offending byte; dst holds 3 n bytes. Returns the length. */
size_t ht_utf8_repair(const char *text, size_t n, char *dst);
/* Code point at *at, which moves past it. */
uint32_t ht_utf8_next(const char **at);
/* Terminal cells, one per code point. */
size_t ht_utf8_width(const char *text, size_t n);

#endif
