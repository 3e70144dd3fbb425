/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_cells.c - see et_cells.h.
 */
#include "et/et_cells.h"

#include "et/et_files.h"
#include "et/link_nodes.h"
#include "table/table.h"

#include <string.h>

#define CELLS(COLUMN)                                                                              \
	COLUMN(CELL_NODE, "et.node", HT_U64, HT_DETAIL,                                            \
	        "id of the event's node in the execution trace", NULL)                             \
	COLUMN(CELL_NODE_NAME, "et.node_name", HT_STR, HT_DETAIL, "name of the node", NULL)        \
	COLUMN(CELL_OP_SCHEMA, "et.op_schema", HT_STR, HT_DETAIL, "schema of the operator", NULL)  \
	COLUMN(CELL_INPUT_SHAPES, "et.input_shapes", HT_STR, HT_DETAIL, "shapes of the inputs",    \
	        NULL)                                                                              \
	COLUMN(CELL_INPUT_TYPES, "et.input_types", HT_STR, HT_DETAIL, "types of the inputs", NULL) \
	COLUMN(CELL_OUTPUT_SHAPES, "et.output_shapes", HT_STR, HT_DETAIL, "shapes of the outputs", \
	        NULL)                                                                              \
	COLUMN(CELL_OUTPUT_TYPES, "et.output_types", HT_STR, HT_DETAIL, "types of the outputs",    \
	        NULL)
HT_COLUMNS(columns, CELLS);

int ht_et_cell_find(const char *name, struct ht_column *ret_column)
{
	for (size_t i = 0; i < HT_COUNT(columns); i++)
		if (!strcmp(name, columns[i].name)) {
			*ret_column = columns[i];
			return (int)i;
		}
	return -1;
}

enum ht_status ht_et_cells_start(struct ht_run *run, struct ht_et_cells *ret_cells)
{
	struct ht_et_cells cells = { NULL, { 0 } };
	struct ht_et_link link = { 0 };
	HT_TRY(ht_et_take(run, false, &cells.et));
	if (!cells.et) {
		*ret_cells = cells;
		return HT_OK;
	}
	enum ht_status status =
	        ht_et_join_make(run->ctx, cells.et, run->trace, run->scratch, &cells.join);
	link.join = cells.join;
	if (status == HT_OK)
		status = ht_et_link_demand(run->ctx, cells.et, &link);
	if (status != HT_OK) {
		ht_et_free(cells.et);
		return status;
	}
	*ret_cells = cells;
	return HT_OK;
}

void ht_et_cells_done(struct ht_et_cells *cells)
{
	ht_et_free(cells->et);
	cells->et = NULL;
}

void ht_et_cell_put(
        const struct ht_et_cells *cells, int field, uint32_t row, ht_table *table, size_t column)
{
	uint32_t at = cells->et ? cells->join.node[row] : HT_ET_NONE;
	if (at == HT_ET_NONE) {
		ht_table_put_null(table, column);
		return;
	}
	const struct ht_et_node *node = &ht_et_nodes(cells->et)[at];
	const uint32_t texts[HT_COUNT(columns)] = { [CELL_NODE_NAME] = node->name,
		[CELL_OP_SCHEMA] = node->op_schema,
		[CELL_INPUT_SHAPES] = node->in.shapes,
		[CELL_INPUT_TYPES] = node->in.types,
		[CELL_OUTPUT_SHAPES] = node->out.shapes,
		[CELL_OUTPUT_TYPES] = node->out.types };
	if (field == CELL_NODE)
		ht_table_put_i64(table, column, (int64_t)node->id);
	else
		ht_table_put_str(table, column,
		        texts[field] == HT_ET_NO_STR ? NULL : ht_et_str(cells->et, texts[field]));
}
