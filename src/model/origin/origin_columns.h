/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origin_columns.h - the origin of a GPU activity as cells of a table.
 */
#ifndef HT_MODEL_ORIGIN_ORIGIN_COLUMNS_H
#define HT_MODEL_ORIGIN_ORIGIN_COLUMNS_H

#include "model/origin/origin.h"
#include "table/table.h"

#define HT_ORIGIN_COLUMNS(COLUMN, OF, ROLE)                                                        \
	COLUMN(OF##_ORIGIN_OP, "origin_op", HT_STR, ROLE,                                          \
	        "operator that the GPU activity belongs to, of graphs too", NULL)                  \
	COLUMN(OF##_ORIGIN_MODULE, "origin_module", HT_STR, ROLE,                                  \
	        "nn.Module calls that the GPU activity belongs to", NULL)                          \
	COLUMN(OF##_ORIGIN_SOURCE, "origin_source", HT_STR, ROLE,                                  \
	        "line of the user's code that the GPU activity belongs to", NULL)                  \
	COLUMN(OF##_ORIGIN_METHOD, "origin_method", HT_STR, ROLE, "how its origin is known", NULL) \
	COLUMN(OF##_ORIGIN_CONFIDENCE, "origin_confidence", HT_RATIO, ROLE,                        \
	        "how sure its origin is, 0 to 1", NULL)
enum { HT_ORIGIN_COLUMNS(HT_COLUMN_NUMBER, HT_CELL, HT_DETAIL) HT_N_ORIGIN_CELLS };

/* From a column on. origins NULL, and a row that is no GPU activity: nulls. */
void ht_origin_put(ht_table *table, size_t column, const struct ht_origins *origins, uint32_t row);

#endif
