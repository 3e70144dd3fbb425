/* SPDX-License-Identifier: Apache-2.0 */
/*
 * natural.h - order of names as people read them: groups of digits compare as numbers.
 */
#ifndef HT_BASE_NATURAL_H
#define HT_BASE_NATURAL_H

int ht_natural_compare(const char *left, const char *right);
/* The same of elements of an array of names: for qsort. */
int ht_natural_compare_names(const void *left, const void *right);

#endif
