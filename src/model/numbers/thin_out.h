/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thin_out.h - fewer points of a curve that look like all of them.
 *
 * Largest triangle three buckets (S. Steinarsson, 2013): the first and the last point stay, the points between them
 * are cut into buckets, and of each bucket the point stays that makes the largest triangle with the one kept before and
 * the mean of the bucket after. In integers, so that every machine keeps the same points.
 */
#ifndef HT_MODEL_NUMBERS_THIN_OUT_H
#define HT_MODEL_NUMBERS_THIN_OUT_H

#include <stddef.h>
#include <stdint.h>

struct ht_point {
	int64_t x, y; /* x ascending; differences of both below 2^48 */
};

/* Indexes of at most n_kept (3 or more) points, ascending; ret has room for that. Returns their number. */
size_t ht_thin_out(const struct ht_point *points, size_t n, size_t n_kept, size_t *ret);

#endif
