/* SPDX-License-Identifier: Apache-2.0 */
/*
 * brief.h - the names of a column as a terminal shows them, so that rows stay distinct.
 *
 *   ncclDevKernel_AllGather_RING_LL(…)       ncclDev…AllGather_RING_
 *   ncclDevKernel_ReduceScatter_Sum_f32(…)   ncclDev…ReduceScatter_S
 *
 * Each name is demangled, made safe and shortened (shorten.h). Names that became equal by it are shown again by
 * where they differ: some of the front, then what follows the longest front that they share with another.
 */
#ifndef HT_TABLE_BRIEF_H
#define HT_TABLE_BRIEF_H

#include "table/storage.h"

struct ht_brief {
	const char *text; /* NULL: this string is in no row of the column */
	size_t n, width;
};

/* Replaces the content of chars by a name of the trace, demangled and safe for a terminal. False when out of memory. */
bool ht_show_name(struct ht_mem *mem, struct ht_vec *chars, const char *text, size_t n);
/* Cells that it takes. */
size_t ht_show_name_width(const char *text, size_t n);

/* One per string of the table's pool, for a text column of so many cells; SIZE_MAX: nothing is shortened. */
enum ht_status ht_brief_make(ht_ctx *ctx, const ht_table *table, size_t column, size_t width,
        struct ht_arena *arena, struct ht_brief **ret_briefs) HT_MUST_USE;

#endif
