/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - the little UTF-8 that is needed: check, repair, walk, measure, write.
 *
 * Tables hold valid UTF-8 only, so everything but valid and repair may trust its input.
 */
#ifndef HT_BASE_UTF8_H
#define HT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the valid sequence at text (1 to 4), 0 when there is none within n bytes. */
size_t ht_utf8_length(const char *text, size_t n);
/* The sequence of a code point; out has room for 4 bytes. Returns its length. */
size_t ht_utf8_put(char *out, uint32_t code);
/* No malformed, overlong or surrogate sequence, and no NUL. */
bool ht_utf8_valid(const char *text, size_t n);
/* Writes text with U+FFFD for each offending byte; dst holds 3 n bytes. Returns the length. */
size_t ht_utf8_repair(const char *text, size_t n, char *dst);
/* Code point at *at, which moves past it. */
uint32_t ht_utf8_next(const char **at);
/* Terminal cells, one per code point. */
size_t ht_utf8_width(const char *text, size_t n);
/* Bytes of at most so many cells from the front. */
size_t ht_utf8_bytes(const char *text, size_t n, size_t cells);

#endif
