/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_number.h - whole numbers in the text of an execution trace.
 */
#ifndef HT_ET_ET_NUMBER_H
#define HT_ET_ET_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A whole number that ends where JSON's do; false for anything else. */
bool ht_et_parse_i64(const char *p, size_t n, int64_t *ret_value);
bool ht_et_parse_u64(const char *p, size_t n, uint64_t *ret_value);

#endif
