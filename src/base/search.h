/*
 * search.h - binary search: the first place in an ascending list whose value is not below.
 *
 * HT_LOWER_BOUND is for any list: at is the index variable, is_below an expression over it that is true for
 * a run of places from the start and false for the rest.
 */
#ifndef HT_BASE_SEARCH_H
#define HT_BASE_SEARCH_H

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

static inline size_t ht_lower_bound_u32(const uint32_t *list, size_t n, uint32_t value)
{
	return HT_LOWER_BOUND(at, n, list[at] < value);
}

static inline size_t ht_lower_bound_i64(const int64_t *list, size_t n, int64_t value)
{
	return HT_LOWER_BOUND(at, n, list[at] < value);
}

#endif
