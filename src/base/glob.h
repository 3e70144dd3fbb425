/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glob.h - patterns of names: * for any text, ? for one byte.
 */
#ifndef HT_BASE_GLOB_H
#define HT_BASE_GLOB_H

#include <stdbool.h>

/* O(pattern + text); pieces between stars that have a ? are O(piece * text). */
bool ht_glob_matches(const char *pattern, const char *text);

#endif
