/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hint.h - the sentence under a table: what its rows say together, and the verb that goes on from there.
 *
 * A hint is made from the finished rows, so it cannot say what they do not. Absent values count as nothing.
 */
#ifndef HT_MODEL_FINDING_HINT_H
#define HT_MODEL_FINDING_HINT_H

#include "table/table.h"

/* Share from which something is worth a sentence. */
#define HT_WORTH_A_HINT 0.2

/* Sum of a column of integers. */
double ht_hint_total(const ht_table *table, const char *column);
/* The same over the rows whose text in a column is the given one. */
double ht_hint_total_of(
        const ht_table *table, const char *column, const char *key, const char *text);

/* As much of a name as a sentence bears; NULL when out of memory. */
const char *ht_hint_name(struct ht_arena *arena, const char *name);

/* A share as a sentence says it: "94 %", and "more than 99 %" or "less than 1 %" for what rounding would make all or
 * nothing. */
struct ht_share_text {
	char text[24];
};
struct ht_share_text ht_share_text(double share);

/* A text with what it leads to. */
struct ht_hint {
	const char *text; /* as in the rows */
	const char *is;   /* what it is: "waiting for the host" */
	const char *next; /* verb */
};

/* "82 % of idle time is waiting for the CPU to launch. Next: critical-path": of the text with the largest sum, when it
 * is worth a sentence. of is a term of the templates. */
enum ht_status ht_hint_largest(struct ht_arena *arena, ht_table *table, const char *column,
        const char *key, const char *of, const struct ht_hint *hints, size_t n_hints) HT_MUST_USE;

#endif
