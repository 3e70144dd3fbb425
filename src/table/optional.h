/* SPDX-License-Identifier: Apache-2.0 */
/*
 * optional.h - cells that may be null, read with what stands for none.
 */
#ifndef HT_TABLE_OPTIONAL_H
#define HT_TABLE_OPTIONAL_H

#include <math.h>

#include "holotrace.h"

static inline int64_t ht_table_i64_or(
        const ht_table *table, size_t row, size_t column, int64_t none)
{
	return ht_table_is_null(table, row, column) ? none : ht_table_i64(table, row, column);
}

static inline double ht_table_f64_or_nan(const ht_table *table, size_t row, size_t column)
{
	return ht_table_is_null(table, row, column) ? (double)NAN
	                                            : ht_table_f64(table, row, column);
}

static inline const char *ht_table_str_or_null(const ht_table *table, size_t row, size_t column)
{
	return ht_table_is_null(table, row, column) ? NULL : ht_table_str(table, row, column);
}

#endif
