/*
 * stats.h - the eight numbers of a distribution, as pandas describe gives them.
 */
#ifndef HT_MODEL_STATS_H
#define HT_MODEL_STATS_H

#include "base/status.h"

struct ht_describe {
	uint64_t count;
	double mean, std;               /* std with n - 1, NaN for one sample */
	double min, p25, p50, p75, max; /* linear interpolation; NaN for no sample */
};

/* Sorts values in place. */
void ht_describe_i64(int64_t *values, size_t n, struct ht_describe *ret_describe);
void ht_describe_f64(double *values, size_t n, struct ht_describe *ret_describe);

#endif
