/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimals.h - many decimals of a table at once: whole numbers and powers of ten, never doubles.
 *
 *     "31.620" is 31620 / 10^3, "0.0" is 0 / 10^1, "40" is 40 / 10^0
 *
 * A decimal has 1 to 15 digits, no sign, no zero in front but one before the point, and digits on both sides of a point.
 * All else is left to the caller, be it a number or not.
 */
#ifndef HT_READ_DECIMALS_H
#define HT_READ_DECIMALS_H

#include "read/csv_rows.h"

/* A cell as value / 10^scale; false when it is no such decimal. 16 bytes from p on can be read. */
bool ht_decimal_read(const char *p, size_t n, int64_t *ret_value, uint8_t *ret_scale);

/* The cells of a column over 10^scale, up to the first that is no such decimal, has more digits behind its point, or would
 * have more than 15 digits in all; returns how many there are. rows has the stops of n rows, see struct ht_csv_rows.
 * HT_CSV_FRONT bytes in front of the text and HT_PADDING behind it can be read. */
typedef size_t (*ht_decimals_fn)(const char *text, const uint32_t *const *rows, size_t n,
        size_t column, uint8_t scale, int64_t *ret_values);
size_t ht_decimals_base(const char *text, const uint32_t *const *rows, size_t n, size_t column,
        uint8_t scale, int64_t *ret_values);
size_t ht_decimals_avx2(const char *text, const uint32_t *const *rows, size_t n, size_t column,
        uint8_t scale, int64_t *ret_values);
/* The best one for this CPU. They agree. */
ht_decimals_fn ht_decimals_best(void);

#endif
