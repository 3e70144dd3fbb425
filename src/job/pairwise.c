/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairwise.c - see pairwise.h.
 */
#include "job/pairwise.h"

#include <string.h>

/* Longer lists are halved. */
#define BLOCK 128

double ht_pairwise_sum(const double *values, size_t n)
{
	double part[8], sum = 0;
	size_t i = 0;
	if (n > BLOCK) {
		size_t half = n / 2 - n / 2 % 8;
		return ht_pairwise_sum(values, half) + ht_pairwise_sum(values + half, n - half);
	}
	if (n >= 8) {
		memcpy(part, values, sizeof part);
		for (i = 8; i + 8 <= n; i += 8)
			for (size_t k = 0; k < 8; k++)
				part[k] += values[i + k];
		sum = ((part[0] + part[1]) + (part[2] + part[3])) +
		      ((part[4] + part[5]) + (part[6] + part[7]));
	}
	for (; i < n; i++)
		sum += values[i];
	return sum;
}
