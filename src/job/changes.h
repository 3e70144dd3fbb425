/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.h - where the level of a series changes: Hunter's change points, with those of Apache Otava to the index.
 *
 * A window slides over the series. Inside, the split (tau, kappa) with the largest divergence
 *     Q = 2/(n+m) Σ|x - y| - 2m/((n+m)(n-1)) Σ|x - x'| - 2n/((n+m)(m-1)) Σ|y - y'|       x: n values before tau, y: m from tau to kappa
 * is a change point when Student's t tells the values before from those after, at ten times max_pvalue; then the same in both parts. Of all
 * that windows found, the weakest go until all of the rest are significant at max_pvalue and change by more than min_magnitude.
 *
 * Example: 100 -+ 0.5 in turn ten times, then 110 -+ 0.5: one change at index 10, Q = 94.4444, t = -44.7214, p = 6.6556e-20.
 * O(n w^2) time for windows of w values.
 */
#ifndef HT_JOB_CHANGES_H
#define HT_JOB_CHANGES_H

#include "base/status.h"

#define HT_CHANGES_WINDOW     50
#define HT_CHANGES_MAX_WINDOW 1000
#define HT_CHANGES_MAX_PVALUE 0.001

struct ht_changes_options {
	size_t window; /* 2 to HT_CHANGES_MAX_WINDOW */
	double max_pvalue, min_magnitude;
};

struct ht_change {
	size_t index; /* of the first value of the new level */
	double p;     /* that both sides are one level; NAN: both are constant and the same */
	double mean_before, mean_after, std_before, std_after; /* up to the changes beside it */
};

/* That a change like it is somewhere among n values of one level: p for each place that it could be at, and each place of a window that its
 * level could begin or end at, as both are chosen after looking at the values. */
double ht_change_chance(const struct ht_change *change, size_t n);
/* What is missing (NAN) becomes the value before it, or after it at the start. False: there is no value. */
bool ht_changes_fill(double *values, size_t n);
/* Of values that are all finite; ascending, in the arena. */
enum ht_status ht_changes_find(ht_ctx *ctx, struct ht_arena *arena, const double *values, size_t n,
        const struct ht_changes_options *options, struct ht_change **ret_changes,
        size_t *ret_n) HT_MUST_USE;
/* How much larger the larger level is, or how much smaller the smaller one, whichever is more. */
double ht_change_magnitude(const struct ht_change *change);

#endif
