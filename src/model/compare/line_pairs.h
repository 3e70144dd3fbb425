/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_pairs.h - functions of two versions of the code that are the same, though edits above have moved them.
 *
 * Lines of profiles are those where functions begin: "model.py(30): forward". Functions of one file and name are paired in the order of
 * their lines where both sides have as many of them; else only those whose line is the same on both sides are.
 */
#ifndef HT_MODEL_COMPARE_LINE_PAIRS_H
#define HT_MODEL_COMPARE_LINE_PAIRS_H

#include "model/part.h"

struct ht_line_pair {
	const char *control, *test; /* texts of the parts */
};

/* By text of the baseline; those that are equal on both sides are left out. */
struct ht_line_pairs {
	struct ht_line_pair *list;
	size_t n;
};

/* Of the texts of the parts' table k. Memory in scratch. */
enum ht_status ht_line_pairs_make(struct ht_run *run, const struct ht_parts *parts, size_t k,
        struct ht_line_pairs *ret_pairs) HT_MUST_USE;
/* What the text is called in this run; itself where it has no partner. */
const char *ht_line_pairs_find(const struct ht_line_pairs *pairs, const char *text);

#endif
