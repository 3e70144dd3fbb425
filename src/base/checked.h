/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checked.h - sums and differences of 64-bit numbers, and cuts to them, that stop at the ends of their range.
 *
 * Files can hold any number, and sums of long durations pass 292 years. A result at the end of the range is wrong
 * by less than one that has wrapped to the other side, and no undefined behaviour.
 */
#ifndef HT_BASE_CHECKED_H
#define HT_BASE_CHECKED_H

#include <math.h>
#include <stdint.h>

static inline int64_t ht_add_sat(int64_t a, int64_t b)
{
	int64_t sum;
	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return b < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t ht_sub_sat(int64_t a, int64_t b)
{
	int64_t difference;
	if (!__builtin_sub_overflow(a, b, &difference))
		return difference;
	return b < 0 ? INT64_MAX : INT64_MIN;
}

/* Without what is behind the point; NAN is 0. */
static inline int64_t ht_cut_sat(double value)
{
	const double end = 9223372036854775808.0;
	if (!(value > -end && value < end))
		return value >= end ? INT64_MAX : value <= -end ? INT64_MIN : 0;
	return (int64_t)value;
}

/* To the nearest, halves away from 0; NAN is 0. The C library's llround says something else on every kind of processor of what is
 * beyond the range. */
static inline int64_t ht_round_sat(double value)
{
	return ht_cut_sat(round(value));
}

/* Add to a sum. */
static inline void ht_sum(int64_t *sum, int64_t value)
{
	*sum = ht_add_sat(*sum, value);
}

#endif
