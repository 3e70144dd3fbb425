/* SPDX-License-Identifier: Apache-2.0 */
/*
 * what_if_gaps.c - what the replay of a job does not explain. See what_if_steps.h.
 */
#include "job/what_if_steps.h"

#include "base/sort.h"
#include "job/event_graph.h"
#include "model/clocks/clocks.h"

#include <stdlib.h>

const struct ht_column ht_what_if_gap_columns[HT_N_WHAT_IF_GAP_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_WHAT_IF_GAP_COLUMNS);

struct gap {
	int64_t ns;
	size_t i_rank;
	uint32_t node;
};

static int compare_gaps(const void *left, const void *right)
{
	const struct gap *a = left, *b = right;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->i_rank != b->i_rank ? ht_order_i64((int64_t)a->i_rank, (int64_t)b->i_rank)
	                              : ht_order_i64(a->node, b->node);
}

enum ht_status ht_what_if_gaps(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	size_t n = 0, most = ht_parts_n_rows(parts, HT_EVENT_FACTS_NODES);
	struct gap *gaps = ht_arena_room(run->scratch, (most + 1) * sizeof *gaps);
	if (!gaps)
		return ht_fail_nomem(run->ctx);
	for (size_t k = 0; k < parts->n; k++) {
		const ht_table *nodes = parts->list[k].facts[HT_EVENT_FACTS_NODES];
		for (uint32_t i = 0; i < ht_table_n_rows(nodes); i++)
			if (ht_table_i64(nodes, i, HT_EVENT_GAP) > 0 &&
			        !ht_table_is_null(nodes, i, HT_EVENT_STEP))
				gaps[n++] =
				        (struct gap){ ht_table_i64(nodes, i, HT_EVENT_GAP), k, i };
	}
	qsort(gaps, n, sizeof *gaps, compare_gaps);
	for (size_t i = 0; i < n; i++) {
		const struct ht_part *part = &parts->list[gaps[i].i_rank];
		const ht_table *nodes = part->facts[HT_EVENT_FACTS_NODES];
		struct ht_time_move move = ht_part_move(run, part);
		int64_t start = ht_table_i64(nodes, gaps[i].node, HT_EVENT_START);
		ht_table_row(table);
		ht_table_put_i64(table, HT_GAP_RANK, part->rank);
		ht_table_put_i64(table, HT_GAP_LENGTH, gaps[i].ns);
		ht_table_put_i64(table, HT_GAP_UNTIL, ht_time_moved(&move, start));
		ht_table_put_cell(table, HT_GAP_NAME, nodes, gaps[i].node, HT_EVENT_NAME);
		ht_table_put_cell(table, HT_GAP_ROW, nodes, gaps[i].node, HT_EVENT_ROW);
	}
	return n ? HT_OK : ht_table_add_note(table, "no unexplained gaps before GPU activity");
}
