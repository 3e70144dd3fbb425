/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_row.h - which rows of a trace HTA knows.
 */
#ifndef HT_HTA_HTA_ROW_H
#define HT_HTA_HTA_ROW_H

#include "store/columns.h"

/* HTA drops rows without dur or cat, whatever their phase; rows whose time was refused are in no result. */
static inline bool ht_hta_is_row(const struct ht_trace *t, uint32_t row)
{
	return !(t->flags[row] & HT_EV_NO_DUR) && t->categories[t->cat[row]].name != HT_NO_STR &&
	       t->kind[row] != HT_KIND_TRACE_SPAN && !ht_time_was_refused(t, row);
}

#endif
