/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval.h - unions and overlaps of time intervals.
 */
#ifndef HT_MODEL_NUMBERS_INTERVAL_H
#define HT_MODEL_NUMBERS_INTERVAL_H

#include "base/status.h"

struct ht_interval {
	int64_t start, end;
};

/* Sort in place and merge what overlaps or touches; returns the number left. O(n log n); mem has room to sort. */
size_t ht_interval_merge(struct ht_mem *mem, struct ht_interval *intervals, size_t n);
/* Is a time in one of the merged intervals, which are half open? O(log n). */
bool ht_interval_has(const struct ht_interval *merged, size_t n, int64_t time);
/* Sum of lengths of merged intervals. */
int64_t ht_interval_length(const struct ht_interval *merged, size_t n);
/* Length of the intersection of two merged lists. */
int64_t ht_interval_overlap(
        const struct ht_interval *a, size_t n_a, const struct ht_interval *b, size_t n_b);
/* Length of what of the merged intervals is within [from, to). O(log n) and those within. */
int64_t ht_interval_within(const struct ht_interval *merged, size_t n, int64_t from, int64_t to);
/* Lengths of the first i of the merged intervals, for i up to n. With them what is within [from, to) takes O(log n). */
void ht_interval_sums(const struct ht_interval *merged, size_t n, int64_t *ret_sums);
int64_t ht_interval_between(
        const struct ht_interval *merged, const int64_t *sums, size_t n, int64_t from, int64_t to);
/* The first of the merged intervals that has something within [from, to); ret_n is how many have. O(log n). */
const struct ht_interval *ht_interval_slice(
        const struct ht_interval *merged, size_t n, int64_t from, int64_t to, size_t *ret_n);
/* What of a is not in b, both merged: ret has room for n_a + n_b. Returns their number. */
size_t ht_interval_subtract(const struct ht_interval *a, size_t n_a, const struct ht_interval *b,
        size_t n_b, struct ht_interval *ret);
/* Exclusive time per combination of up to 8 merged lists: ret_length[mask] = time in which exactly the
 * lists of the mask are active; ret_length has 1 << n_lists entries, [0] stays 0. */
void ht_interval_combinations(const struct ht_interval *const *lists, const size_t *n,
        size_t n_lists, int64_t *ret_length);

/* How many intervals lie over one another, on average of the time that they cover: added by start. */
struct ht_depth {
	double sum, covered;
	int64_t until; /* of what is covered */
};
void ht_depth_add(struct ht_depth *depth, int64_t start, int64_t end);
/* Steps that lie over one another deeper than this are no steps one after the other: what a step takes, or its path, means
 * nothing, and to look at each would take the square of their number. */
enum { HT_MOST_DEEP = 8 };
bool ht_depth_is_steps(const struct ht_depth *depth);

#endif
