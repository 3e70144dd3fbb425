/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thin_out.c - see thin_out.h.
 */
#include "model/numbers/thin_out.h"

/* Where bucket k of n_buckets begins; they cut the points between the first and the last. */
static size_t bucket(size_t k, size_t n_buckets, size_t n)
{
	return 1 + (size_t)((unsigned __int128)k * (n - 2) / n_buckets);
}

/* Twice the area of the triangle of a, b and the mean of n points with this sum, n times. */
static unsigned __int128 area(
        const struct ht_point *a, const struct ht_point *b, const __int128 sum[2], int64_t n)
{
	__int128 x = sum[0] - (__int128)n * a->x, y = sum[1] - (__int128)n * a->y;
	__int128 twice = ((__int128)b->x - a->x) * y - ((__int128)b->y - a->y) * x;
	return (unsigned __int128)(twice < 0 ? -twice : twice);
}

size_t ht_thin_out(const struct ht_point *points, size_t n, size_t n_kept, size_t *ret)
{
	size_t n_ret = 0, n_buckets = n_kept - 2;
	if (n <= n_kept) {
		for (; n_ret < n; n_ret++)
			ret[n_ret] = n_ret;
		return n_ret;
	}
	ret[n_ret++] = 0;
	for (size_t k = 0; k < n_buckets; k++) {
		size_t from = bucket(k, n_buckets, n), to = bucket(k + 1, n_buckets, n);
		size_t end = k + 1 < n_buckets ? bucket(k + 2, n_buckets, n) : n;
		__int128 sum[2] = { 0 };
		for (size_t i = to; i < end; i++) {
			sum[0] += points[i].x;
			sum[1] += points[i].y;
		}
		size_t best = from;
		unsigned __int128 largest = 0;
		for (size_t i = from; i < to; i++) {
			unsigned __int128 size =
			        area(&points[ret[n_ret - 1]], &points[i], sum, (int64_t)(end - to));
			if (size > largest) {
				largest = size;
				best = i;
			}
		}
		ret[n_ret++] = best;
	}
	ret[n_ret++] = n - 1;
	return n_ret;
}
