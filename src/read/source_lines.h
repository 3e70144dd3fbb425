/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_lines.h - sources as people write them: "rank=path", and lists with one on each line.
 */
#ifndef HT_READ_SOURCE_LINES_H
#define HT_READ_SOURCE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part after "123=", with the number; NULL when text is not of that form. */
const char *ht_source_after_rank(const char *text, int64_t *ret_rank);
/* Cut the next line off *rest: trimmed, empty for comments. False at the end. */
bool ht_source_next_line(char **rest, char **ret_line);
/* Every line in sight is a path by its form; the last one may be cut. */
bool ht_source_has_path_lines(const char *text, size_t n);

#endif
