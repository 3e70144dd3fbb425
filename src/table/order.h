/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - rows in the order of a column.
 */
#ifndef HT_TABLE_ORDER_H
#define HT_TABLE_ORDER_H

#include "table/storage.h"

/* Reorders the row numbers by the column, stably, nulls last in either direction. Several keys: call
 * from the least significant to the most. Text is ordered by its bytes. O(n). */
enum ht_status ht_order_rows(ht_ctx *ctx, const ht_table *table, size_t column, bool descending,
        uint32_t *rows, size_t n) HT_MUST_USE;

#endif
