/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.h - stable sorting of 32-bit indexes by 64-bit keys.
 */
#ifndef HT_BASE_SORT_H
#define HT_BASE_SORT_H

#include "base/status.h"

/* Sort keys ascending and carry the indexes along; equal keys keep their order. Linear time: a few runs are
 * merged, anything else is sorted by radix over the bits in which keys differ. False when out of memory. */
bool ht_sort_keys(struct ht_mem *mem, uint64_t *keys, uint32_t *indexes, size_t n);

/* The same by all threads of the context, which are told apart by ranges of keys: for long lists. Fewer than 2^32. */
enum ht_status ht_sort_keys_shared(
        ht_ctx *ctx, uint64_t *keys, uint32_t *indexes, size_t n) HT_MUST_USE;

/* qsort, stable, but merging runs that are in order already, as rows of a trace mostly are: linear for a few. The room
 * for it is from mem; without any it is qsort. */
void ht_sort_items(struct ht_mem *mem, void *items, size_t n, size_t size,
        int (*compare)(const void *, const void *));

/* -1, 0 or 1. */
static inline int ht_order_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* For qsort and bsearch over plain numbers; NaN is equal to all. */
static inline int ht_compare_i64(const void *left, const void *right)
{
	return ht_order_i64(*(const int64_t *)left, *(const int64_t *)right);
}

static inline int ht_compare_f64(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

/* A signed number as a key that sorts in the same order. */
static inline uint64_t ht_sort_key_i64(int64_t value)
{
	return (uint64_t)value ^ (uint64_t)1 << 63;
}

#endif
