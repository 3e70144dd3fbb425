/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.h - whether a kernel can be of an operator, by their names; for joins by position, where launches carry no name.
 *
 * Names contradict each other when the kernel says what it computes (a matrix product, attention, a norm, an activation) and the
 * operator is known to compute something else. Where either says nothing they fit.
 */
#ifndef HT_MODEL_ORIGIN_FIT_H
#define HT_MODEL_ORIGIN_FIT_H

#include <stdbool.h>

bool ht_origin_fits(const char *op, const char *kernel);
/* What a kernel computes by its name: "gemm", "attention", ...; NULL when the name says nothing. */
const char *ht_kernel_family(const char *kernel);

#endif
