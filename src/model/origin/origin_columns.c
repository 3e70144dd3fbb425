/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origin_columns.c - see origin_columns.h.
 */
#include "model/origin/origin_columns.h"

#include "store/columns.h"

void ht_origin_put(ht_table *table, size_t column, const struct ht_origins *origins, uint32_t row)
{
	const struct ht_gpu *gpu =
	        origins && row != HT_NONE ? ht_gpu_of_row(origins->trace, row) : NULL;
	struct ht_origin origin;
	if (!gpu) {
		ht_table_put_nulls(table, column, column + HT_N_ORIGIN_CELLS);
		return;
	}
	ht_origin_get(origins, (size_t)(gpu - origins->trace->gpu), &origin);
	ht_table_put_str(table, column + HT_CELL_ORIGIN_OP, origin.op);
	ht_table_put_str(table, column + HT_CELL_ORIGIN_MODULE, origin.module);
	ht_table_put_str(table, column + HT_CELL_ORIGIN_SOURCE, origin.source);
	ht_table_put_str(
	        table, column + HT_CELL_ORIGIN_METHOD, ht_origin_method_name(origin.method));
	ht_table_put_f64(table, column + HT_CELL_ORIGIN_CONFIDENCE, origin.confidence);
}
