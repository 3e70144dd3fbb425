/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_order.h - rows in the order of time: (start, longer first, row).
 */
#ifndef HT_STORE_ROW_ORDER_H
#define HT_STORE_ROW_ORDER_H

#include "base/status.h"
#include "store/event.h"

struct ht_trace;

/* Put rows, which ascend, into that order. Linear: rows of a trace are a few runs that are in order already, and these are
 * merged with room for the longest of them but the first; anything else is sorted by keys. False when out of memory. */
bool ht_rows_order(struct ht_mem *mem, const struct ht_trace *t, uint32_t *rows, size_t n);

#endif
