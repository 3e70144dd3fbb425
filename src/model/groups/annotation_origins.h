/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotation_origins.h - the GPU activity of each annotation by operator, module and line.
 *
 * An activity belongs to the innermost annotation around its launch (annotate.h), profiler steps left out, as in kernel-annotations;
 * so each counts once, and the rows of an annotation add up to its GPU activity.
 */
#ifndef HT_MODEL_GROUPS_ANNOTATION_ORIGINS_H
#define HT_MODEL_GROUPS_ANNOTATION_ORIGINS_H

#include "model/origin/origin_columns.h"

#define HT_ANNOTATION_ORIGIN_COLUMNS(COLUMN)                                                       \
	COLUMN(HT_ANNOTATED_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)               \
	COLUMN(HT_ANNOTATED_NAME, "name", HT_STR, HT_KEY,                                          \
	        "innermost annotation around the launch, null when there is none", NULL)           \
	HT_ORIGIN_COLUMNS(COLUMN, HT_ANNOTATED, HT_KEY)                                            \
	COLUMN(HT_ANNOTATED_COUNT, "count", HT_I64, HT_MEASURE, "GPU activities", NULL)            \
	COLUMN(HT_ANNOTATED_SUM_NS, "sum_ns", HT_DURATION, HT_MEASURE, "sum of their durations",   \
	        NULL)
HT_COLUMN_NUMBERS(HT_ANNOTATION_ORIGIN_COLUMNS, HT_N_ANNOTATED_COLUMNS);

/* Append the rows of the rank in hand: by annotation, longest first in each. */
enum ht_status ht_annotation_origins_put(struct ht_run *run, ht_table *table) HT_MUST_USE;

#endif
