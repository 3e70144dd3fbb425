/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - numbers as people read them (text, md, html), and exactly (csv, json).
 *
 *   duration 3070 ns -> "3.07 µs"   bytes 1536 -> "1.50 KiB"   ratio 0.124 -> "12.4 %"
 *   count 1234567 -> "1 234 567" with thin spaces              zero -> "0", null -> "–"
 *
 * Three significant digits, never fewer than the integer has. A plain space stands only before the
 * unit, so that alignment can split a text at the point and at the space.
 */
#ifndef HT_TABLE_FORMAT_H
#define HT_TABLE_FORMAT_H

#include "table/storage.h"

#define HT_FORMAT_BYTES 96

/* Decimal digits; buf holds HT_FORMAT_BYTES. Each returns the length and ends with a NUL. */
size_t ht_format_i64(char *buf, int64_t value);
size_t ht_format_u64(char *buf, uint64_t value);
/* The fewest digits that read back as the same double. */
size_t ht_format_f64(char *buf, double value);
/* A count with thin spaces between thousands. */
size_t ht_format_count(char *buf, uint64_t value);
/* The exact value of a cell that is neither null nor text: what csv and json print. */
size_t ht_format_exact(char *buf, const struct ht_cells *cells, size_t row);
/* The humanised value of a cell that is not text, null included. */
size_t ht_format_human(char *buf, const struct ht_cells *cells, size_t row);

/* The same of a number outside of tables: HT_DURATION_F64, HT_RATIO, HT_F64, HT_BYTES. */
size_t ht_format_double(char *buf, enum ht_type type, double value);

#endif
