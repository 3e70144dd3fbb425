/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h - extended regular expressions that people give, within bounds.
 *
 * The C library writes x+ as xx* and x{9} as nine copies, one inside the other, and tries back-references one by
 * one: ways to make a short pattern cost gigabytes or hours. So the size after that is worked out before.
 */
#ifndef HT_BASE_PATTERN_H
#define HT_BASE_PATTERN_H

#include "base/status.h"

#include <regex.h>

#define HT_PATTERN_BYTES 1024
#define HT_PATTERN_WHY   128

/* Compile a pattern that only says yes or no; regfree it. HT_USAGE or HT_LIMIT, with the reason in why, when it is
 * none or too large. */
enum ht_status ht_pattern_compile(
        const char *pattern, regex_t *ret_regex, char why[HT_PATTERN_WHY]) HT_MUST_USE;

/* The same pattern for texts of more than HT_PATTERN_LONG bytes. The C library tries a pattern at every place of a text,
 * and each try may go to the end: with this one, which begins at the first place and may skip what it likes, it goes
 * through the text once. It is slower on short ones, and passes no bytes that are none of the locale's characters. */
#define HT_PATTERN_LONG 4096
enum ht_status ht_pattern_compile_long(
        const char *pattern, regex_t *ret_regex, char why[HT_PATTERN_WHY]) HT_MUST_USE;

#endif
