/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - finding the columns that a user names.
 */
#ifndef HT_TABLE_VIEW_H
#define HT_TABLE_VIEW_H

#include "table/storage.h"

/* The column of that name, or of that label (dur for dur_ns) when one alone has it. HT_USAGE lists what
 * exists, and the nearest as a hint. */
enum ht_status ht_view_resolve(
        ht_ctx *ctx, const ht_table *table, const char *name, size_t *ret_column) HT_MUST_USE;

#endif
