/*
 * hta_cells.h - the columns of HTA's table of a rank that no file has: hta.stream, hta.iteration, ...
 *
 * The drop-in Python package shows the events as HTA's users know them. It asks the events table for
 * HTA's rows (hta-rows) and for these columns by name; the call graph is made only when one of its
 * columns is asked for. As HTA defines them, with its defects fixed:
 * times share one zero, steps are the host's, sums over a subtree count GPU work and not waits.
 */
#ifndef HT_HTA_HTA_CELLS_H
#define HT_HTA_HTA_CELLS_H

#include "model/call_graph.h"

/* Which column, -1 when it has none of that name; ret_column describes it. */
int ht_hta_cell_find(const char *name, struct ht_column *ret_column);
bool ht_hta_cell_needs_graph(int field);

/* What the cells of one rank are read from. */
struct ht_hta_cells {
	const struct ht_trace *trace;
	bool compat;
	int64_t zero_ns; /* HTA's time zero on the trace's clock */
	const char *keys, *arg_keys;
	struct ht_hta_columns columns;
	struct ht_call_graph graph; /* empty unless asked for */
};

enum ht_status ht_hta_cells_start(struct ht_run *run, const struct ht_frame *frame, bool with_graph,
        struct ht_hta_cells *ret_cells) HT_MUST_USE;
void ht_hta_cell_put(const struct ht_hta_cells *cells, int field, uint32_t row, ht_table *table);

/* Does HTA count the row among its GPU rows when it filters: with stream and correlation, or a wait on
 * an event or context? */
bool ht_hta_cells_is_gpu(const struct ht_hta_cells *cells, uint32_t row);

#endif
