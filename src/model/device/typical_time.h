/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typical_time.h - how long GPU work takes when nothing disturbs it.
 *
 * Processes that share a GPU, or a clock that drops, make single calls longer, at times a hundredfold, and never
 * shorter. A change of the program moves what calls take at best, such accidents do not. Two ways to see it:
 *     by place  of the first call of a name in a step, the second and so on, the lower quartile over the steps;
 *               their sum. Keeps calls of different size apart, needs two steps.
 *     by half   the mean of the shorter half of all calls, for each call. Needs no second step, and bears accidents
 *               that hit the same calls in every step; sees nothing of the longer half.
 */
#ifndef HT_MODEL_DEVICE_TYPICAL_TIME_H
#define HT_MODEL_DEVICE_TYPICAL_TIME_H

#include "base/vec.h"

/* One call of a name. */
struct ht_call {
	uint32_t name, step; /* numbers of the caller's */
	int64_t ts_ns, dur_ns;
};

/* Lower quartile of values, which are sorted in place; n is not 0. */
double ht_lower_quartile(double *values, size_t n);

/* Sorts calls by name, step and time. */
void ht_calls_sort(struct ht_call *calls, size_t n);
/* Typical time per step of sorted calls of one name. A call that some of the n_steps lack counts in proportion.
 * firsts is room for n_steps + 1, values for n_steps. NaN with fewer than two steps. */
double ht_typical_by_place(
        const struct ht_call *calls, size_t n, size_t n_steps, size_t *firsts, double *values);
/* values is room for n. */
double ht_typical_by_half(const struct ht_call *calls, size_t n, size_t n_steps, double *values);
/* By way and side, base first: the larger growth of both ways, as what neither sees is an accident; NaN where none is known. */
double ht_typical_growth(const double ns[2][2]);

#endif
