/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - binary search: the first place in an ascending list whose value is not below.
 *
 * HT_LOWER_BOUND is for any list: at is the index variable, is_below an expression over it that is true for
 * a run of places from the start and false for the rest. HT_LOWER_BOUND_NEAR begins at a place that is likely near, and
 * goes away from it in steps that double.
 */
#ifndef HT_BASE_SEARCH_H
#define HT_BASE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HT_LOWER_BOUND(at, n, is_below)                                                            \
	__extension__({                                                                            \
		size_t ht_low_ = 0, ht_high_ = (n);                                                \
		while (ht_low_ < ht_high_) {                                                       \
			size_t at = ht_low_ + (ht_high_ - ht_low_) / 2;                            \
			if (is_below)                                                              \
				ht_low_ = at + 1;                                                  \
			else                                                                       \
				ht_high_ = at;                                                     \
		}                                                                                  \
		ht_low_;                                                                           \
	})

#define HT_LOWER_BOUND_NEAR(at, n, near, is_below)                                                 \
	__extension__({                                                                            \
		size_t ht_from_ = 0, ht_to_ = (n), ht_step_ = 1, at = (near);                      \
		bool ht_up_ = at < ht_to_ && (is_below);                                           \
		ht_from_ = ht_up_ ? at + 1 : 0;                                                    \
		ht_to_ = !ht_up_ && at < ht_to_ ? at : ht_to_;                                     \
		while (ht_step_ < ht_to_ - ht_from_) {                                             \
			at = ht_up_ ? ht_from_ + ht_step_ : ht_to_ - ht_step_;                     \
			bool ht_is_below_ = (is_below);                                            \
			if (ht_is_below_)                                                          \
				ht_from_ = at + 1;                                                 \
			else                                                                       \
				ht_to_ = at;                                                       \
			if (ht_is_below_ != ht_up_)                                                \
				break;                                                             \
			ht_step_ *= 2;                                                             \
		}                                                                                  \
		while (ht_from_ < ht_to_) {                                                        \
			at = ht_from_ + (ht_to_ - ht_from_) / 2;                                   \
			if (is_below)                                                              \
				ht_from_ = at + 1;                                                 \
			else                                                                       \
				ht_to_ = at;                                                       \
		}                                                                                  \
		ht_from_;                                                                          \
	})

static inline size_t ht_lower_bound_u32(const uint32_t *list, size_t n, uint32_t value)
{
	return HT_LOWER_BOUND(at, n, list[at] < value);
}

static inline size_t ht_lower_bound_i64(const int64_t *list, size_t n, int64_t value)
{
	return HT_LOWER_BOUND(at, n, list[at] < value);
}

#endif
