/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrow.h - what the two Arrow exports share: types, metadata and null counts.
 */
#ifndef HT_TABLE_ARROW_H
#define HT_TABLE_ARROW_H

#include "table/storage.h"

enum ht_arrow_type {
	HT_ARROW_INT64,
	HT_ARROW_UINT64,
	HT_ARROW_FLOAT64,
	HT_ARROW_BOOL,
	HT_ARROW_UTF8,
	HT_ARROW_LARGE_UTF8, /* 64-bit offsets, when a column holds 2 GiB of text and more */
};

/* Key and value of a column's or a table's metadata; value is never NULL. */
struct ht_arrow_pair {
	const char *key, *value;
};
#define HT_ARROW_MAX_PAIRS 4

enum ht_arrow_type ht_arrow_type_of(const ht_table *table, size_t column);
/* Unit (where there is one), sentence, role and type; returns how many. */
size_t ht_arrow_column_pairs(const struct ht_column *column, struct ht_arrow_pair *ret_pairs);
/* Title, method and notes, the notes joined by newlines in the arena. False when out of memory. */
bool ht_arrow_table_pairs(const ht_table *table, struct ht_arena *arena,
        struct ht_arrow_pair *ret_pairs, size_t *ret_n);
/* Nulls among n rows from row on. */
size_t ht_arrow_null_count(const struct ht_cells *cells, size_t row, size_t n);
/* Bytes of text in n rows from row on. */
uint64_t ht_arrow_text_bytes(const ht_table *table, size_t column, size_t row, size_t n);
/* Up to eight rows from row on as the bits of a byte: validity, or the values of a bool column. */
uint8_t ht_arrow_valid_bits(const struct ht_cells *cells, size_t row, size_t n);
uint8_t ht_arrow_bool_bits(const struct ht_cells *cells, size_t row, size_t n);

#endif
