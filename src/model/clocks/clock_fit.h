/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_fit.h - the correction of one clock from what is known about it at some moments.
 *
 *   ns │        u       u            upper bounds: an arrival before the others left
 *      │   ·  · ─·──·───·── ·        the others' ends less its own: scattered about the correction
 *      │     l      l                lower bounds: an end after the others arrived
 *      └──────────────────────► its own time
 */
#ifndef HT_MODEL_CLOCKS_CLOCK_FIT_H
#define HT_MODEL_CLOCKS_CLOCK_FIT_H

#include "table/table.h"

/* Beyond this, in 10^-12, two clocks are not taken to drift. */
#define HT_CLOCK_MAX_DRIFT_PPT 1000000000

struct ht_clock_point {
	int64_t at_ns, ns;
};

struct ht_clock_points {
	struct ht_clock_point *lower, *upper, *ends;
	size_t n_lower, n_upper, n_ends;
};

/* Bounds that a correction breaks by more than the tolerance. */
size_t ht_clock_broken(
        const struct ht_time_move *c, const struct ht_clock_points *points, int64_t tolerance_ns);

/* The best constant correction, or with a drift where only that keeps all bounds; a broken one where none does.
 * False when out of memory. */
bool ht_clock_fit(struct ht_arena *scratch, const struct ht_clock_points *points,
        int64_t tolerance_ns, struct ht_time_move *ret_move);

#endif
