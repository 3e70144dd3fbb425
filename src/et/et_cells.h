/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_cells.h - columns of events that come from the node of the execution trace which an event is: et.node, et.op_schema, ...
 *
 * What HTA's correlate_execution_trace and add_et_column add to its table, joined by record function id.
 */
#ifndef HT_ET_ET_CELLS_H
#define HT_ET_ET_CELLS_H

#include "et/et_join.h"
#include "model/run.h"

/* Which column, -1 when it has none of that name; ret_column describes it. */
int ht_et_cell_find(const char *name, struct ht_column *ret_column);

struct ht_et_cells {
	struct ht_et *et; /* NULL: the rank has none; cells are null */
	struct ht_et_join join;
};

/* The execution trace of the rank in hand. HT_MISSING when it is of another run. To be ended with done. */
enum ht_status ht_et_cells_start(struct ht_run *run, struct ht_et_cells *ret_cells) HT_MUST_USE;
void ht_et_cells_done(struct ht_et_cells *cells);
void ht_et_cell_put(
        const struct ht_et_cells *cells, int field, uint32_t row, ht_table *table, size_t column);

#endif
