/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - finding the columns that a user names.
 */
#ifndef HT_TABLE_RESOLVE_H
#define HT_TABLE_RESOLVE_H

#include "base/status.h"

/* The column of that name, or of that label (dur for dur_ns) when one alone has it. HT_USAGE lists what
 * exists, and the nearest as a hint. */
enum ht_status ht_table_resolve(
        ht_ctx *ctx, const ht_table *table, const char *name, size_t *ret_column) HT_MUST_USE;
/* There is no column of that name: HT_USAGE, in the same way. */
enum ht_status ht_table_fail_column(ht_ctx *ctx, const ht_table *table, const char *name);

#endif
