/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - which rows a where-expression keeps.
 *
 * A test on a null cell is neither true nor false, as in SQL: name != x does not keep rows without a
 * name, and not (name == x) does not either; is null asks for them.
 */
#ifndef HT_TABLE_FILTER_H
#define HT_TABLE_FILTER_H

#include "table/storage.h"
#include "table/where.h"

/* Writes the numbers of the rows kept, ascending, to rows, which holds n_rows. */
enum ht_status ht_filter_rows(ht_ctx *ctx, const ht_table *table, struct ht_where *tree,
        struct ht_arena *arena, uint32_t *rows, size_t *ret_n) HT_MUST_USE;

#endif
