/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairwise.h - sums as NumPy makes them, to the last digit: for results that are compared with those of programs that use it.
 */
#ifndef HT_JOB_PAIRWISE_H
#define HT_JOB_PAIRWISE_H

#include <stddef.h>

/* Eight sums side by side, halves of long lists apart. */
double ht_pairwise_sum(const double *values, size_t n);

#endif
