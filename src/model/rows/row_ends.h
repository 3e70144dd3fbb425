/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_ends.h - where the rows of the rank in hand end for the tree (store/tree.h), found once for all that ask.
 */
#ifndef HT_MODEL_ROWS_ROW_ENDS_H
#define HT_MODEL_ROWS_ROW_ENDS_H

#include "model/run.h"

/* By row; rows that are in no track have 0. */
enum ht_status ht_ends_find(
        struct ht_run *run, const struct ht_trace *trace, const int64_t **ret_ends) HT_MUST_USE;

#endif
