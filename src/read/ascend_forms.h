/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_forms.h - a rank that is there as text and as database: do both say the same?
 *
 * One of the two is read; of both some counts and sums are taken straight from the files, which is cheap beside reading
 * them. They become the side table "forms", which health shows: a row per thing that both have.
 *
 *   what     kernels, collectives, allocations, memory samples, steps
 *   count    text_count, database_count: they should be equal
 *   total    text_total, database_total, in ns or bytes (unit): of durations, sizes, allocated totals, steps
 *   tolerance  by how much the totals may differ: text has few decimals, so each row may be off by one of the last place
 */
#ifndef HT_READ_ASCEND_FORMS_H
#define HT_READ_ASCEND_FORMS_H

#include "read/rank_files.h"
#include "store/builder.h"

/* Nothing when the rank has one form only, or databases cannot be read. Files that cannot be used are left out. */
enum ht_status ht_ascend_forms_compare(
        struct ht_builder *builder, const struct ht_rank_files *files) HT_MUST_USE;

#endif
