/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assemble.h - make the arrays of a trace from the rows that readers gave.
 */
#ifndef HT_STORE_ASSEMBLE_H
#define HT_STORE_ASSEMBLE_H

#include "store/builder.h"

/* Fills all sections that come straight from the file; links are made later by ht_trace_link. Rows
 * change hands, columns are emptied as they are copied, so that memory peaks at the result plus a column. */
enum ht_status ht_assemble(
        ht_ctx *ctx, struct ht_builder *builder, struct ht_trace *trace) HT_MUST_USE;

/* Number tracks and categories in the order in which the rows have them; those that no row has are left out. */
enum ht_status ht_renumber(ht_ctx *ctx, struct ht_trace *trace) HT_MUST_USE;

#endif
