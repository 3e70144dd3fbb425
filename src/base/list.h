/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.h - lists of whole numbers as people type them: "0,2-3,7-" or "all".
 *
 * Items are numbers and ranges, both ends included; a range may be open at its end ("7-"). Negative
 * numbers are written as they are: "-1", "-3--1".
 */
#ifndef HT_BASE_LIST_H
#define HT_BASE_LIST_H

#include "base/status.h"

struct ht_list_range {
	int64_t first, last;
};

/* Zero-initialised it holds everything. */
struct ht_list {
	struct ht_vec ranges; /* struct ht_list_range, ascending, apart */
	bool some;            /* false: everything */
};

/* Read a list; NULL, "" and "all" are everything. HT_USAGE tells what ("--rank") was wrong. The
 * caller ends the list with ht_list_done. */
enum ht_status ht_list_parse(
        ht_ctx *ctx, const char *what, const char *text, struct ht_list *ret_list) HT_MUST_USE;
void ht_list_done(ht_ctx *ctx, struct ht_list *list);
/* O(log n). */
bool ht_list_has(const struct ht_list *list, int64_t value);
/* The same of a text that was parsed before, for a few questions. */
bool ht_list_text_has(const char *text, int64_t value);

/* A whole number that fills the text. */
bool ht_parse_i64(const char *text, int64_t *ret_value);

#endif
