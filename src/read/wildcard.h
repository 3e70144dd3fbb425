/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wildcard.h - names with * ? [ ] to the paths that exist.
 *
 * Bounded in every way: a pattern walks the directories level by level, without recursion, and stops at a
 * number of names looked at.
 */
#ifndef HT_READ_WILDCARD_H
#define HT_READ_WILDCARD_H

#include "base/status.h"

/* Longest path or pattern. */
#define HT_MAX_PATH_BYTES 4096

/* Does the text hold * ? or [? */
bool ht_has_wildcard(const char *text);

/* Does a name fit a pattern: * any text, ? one character, [a-z] [!a-z] one of a set, \ takes the next byte
 * literally? A leading dot must be written out. Time is at most the product of the lengths. */
bool ht_wildcard_fits(const char *pattern, const char *name);

/* The paths that fit, appended to ret_paths (char *, in the arena), in no order. one: the first will do.
 * HT_LIMIT when too many names had to be looked at, HT_USAGE for a pattern that is too long. */
enum ht_status ht_wildcard_expand(ht_ctx *ctx, const char *pattern, bool one,
        struct ht_arena *arena, struct ht_vec *ret_paths) HT_MUST_USE;

#endif
