/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - the eight numbers of a distribution, as pandas describe gives them.
 */
#ifndef HT_MODEL_NUMBERS_STATS_H
#define HT_MODEL_NUMBERS_STATS_H

#include "table/table.h"

struct ht_describe {
	uint64_t count;
	double mean, std;               /* std with n - 1, NaN for one sample */
	double min, p25, p50, p75, max; /* linear interpolation; NaN for no sample */
};

/* Sums of integers and of their squares are exact in any order. */
static inline unsigned __int128 ht_square(int64_t value)
{
	unsigned __int128 size = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
	return size * size;
}
/* Deviation with n - 1 from such sums, NaN for fewer than two samples. */
double ht_exact_std(uint64_t n, __int128 sum, unsigned __int128 squares);

/* Puts values into another order; of an even number the lower of the middle two. n is not 0. */
int64_t ht_median_i64(int64_t *values, size_t n);
/* The same, but of an even number the mean of the two in the middle. */
int64_t ht_middle_i64(int64_t *values, size_t n);
/* Of values; room has place for as many doubles, and what it holds afterwards is nothing. It may be values, which are lost then. */
double ht_middle_f64(const double *values, size_t n, void *room);
/* Of sorted values without the one at position but. */
static inline int64_t ht_sorted_but(const int64_t *sorted, size_t but, size_t k)
{
	return sorted[k + (k >= but)];
}
/* Sort, and the position of a value that is there. */
void ht_sort_i64(int64_t *values, size_t n);
size_t ht_sorted_find(const int64_t *sorted, size_t n, int64_t value);

/* Puts values into another order. */
void ht_describe_i64(int64_t *values, size_t n, struct ht_describe *ret_describe);
void ht_describe_f64(double *values, size_t n, struct ht_describe *ret_describe);
/* Its cells, from a column on. */
enum {
	HT_DESCRIBED_COUNT,
	HT_DESCRIBED_MEAN,
	HT_DESCRIBED_STD,
	HT_DESCRIBED_MIN,
	HT_DESCRIBED_P25,
	HT_DESCRIBED_P50,
	HT_DESCRIBED_P75,
	HT_DESCRIBED_MAX
};
/* Puts them; whole: min and max are integers. */
void ht_describe_put(
        ht_table *table, size_t column, const struct ht_describe *describe, bool whole);

#endif
