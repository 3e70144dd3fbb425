/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found_runtime.c - see found_runtime.h.
 */
#include "verdict/found_runtime.h"

#include "model/origin/regions.h"
#include "model/serving/phases.h"

const struct ht_column ht_found_serving_columns[] = HT_COLUMN_ENTRIES(HT_FOUND_SERVING_COLUMNS);
const struct ht_column ht_found_compile_columns[] = HT_COLUMN_ENTRIES(HT_FOUND_COMPILE_COLUMNS);

enum ht_status ht_found_serving_put(struct ht_run *run, ht_table *table)
{
	struct ht_phase_sum sums[HT_MOST_PHASES];
	struct ht_iteration *list;
	size_t n, n_sums;
	HT_TRY(ht_iterations_find(run, &list, &n));
	HT_TRY(ht_phases_sum(run, list, n, sums, &n_sums));
	for (size_t i = 0; i < n_sums; i++) {
		const struct ht_phase_sum *p = &sums[i];
		ht_table_row(table);
		ht_table_put_str(table, HT_SERVING_PHASE, ht_phase_name(p->phase));
		ht_table_put_i64(table, HT_SERVING_N, p->n);
		ht_table_put_known(table, HT_SERVING_REQUESTS, p->requests, -1);
		ht_table_put_known(table, HT_SERVING_TOKENS, p->tokens, -1);
		ht_table_put_i64(table, HT_SERVING_WALL_NS, p->wall_ns);
		ht_table_put_i64(table, HT_SERVING_GAP_NS, p->gap_ns);
		ht_table_put_i64(table, HT_SERVING_P50_NS, p->p50_ns);
		ht_table_put_i64(table, HT_SERVING_P99_NS, p->p99_ns);
		ht_table_put_i64(table, HT_SERVING_ROW, p->longest);
	}
	return HT_OK;
}

enum ht_status ht_found_compile_put(struct ht_run *run, ht_table *table)
{
	const struct ht_compiled_region *list;
	size_t n;
	HT_TRY(ht_regions_find(run, &list, &n));
	for (size_t i = 0; i < n; i++) {
		if (!list[i].n_recompiled)
			continue;
		ht_table_row(table);
		ht_table_put_str(table, HT_COMPILE_ID, list[i].compile_id);
		ht_table_put_i64(table, HT_COMPILE_N, list[i].n_recompiled);
		ht_table_put_i64(table, HT_COMPILE_NS, list[i].compile_ns);
		ht_table_put_str(table, HT_COMPILE_REASON, list[i].reason);
		ht_table_put_i64(table, HT_COMPILE_ROW, list[i].compile_row);
	}
	return HT_OK;
}
