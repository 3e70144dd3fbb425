/*
 * op_nodes.h - which host rows are operators, as the profiler views count them, and what is around each.
 *
 *   ProfilerStep#1                 other
 *   ├─ nn.Module: Linear_0         other
 *   │  └─ aten::linear             operator
 *   │     └─ aten::addmm           operator, around it aten::linear
 *   └─ Optimizer.step#AdamW.step   other
 *
 * Operators are rows of the category, without steps, optimizer steps, data loaders and the forward calls of the
 * (Distributed)DataParallel wrappers. Those, and modules, are nodes of the tree but no operators. Python functions,
 * other annotations and calls of the runtime are no nodes. An operator whose only node inside is an operator of its
 * own name is one call with it.
 */
#ifndef HT_MODEL_OP_NODES_H
#define HT_MODEL_OP_NODES_H

#include "model/run.h"

enum ht_node { HT_NODE_NONE, HT_NODE_OPERATOR, HT_NODE_OTHER };

struct ht_op_nodes {
	const uint8_t *node;    /* by row: enum ht_node */
	const uint32_t *around; /* by row: the nearest node around it, HT_NONE */
	const uint32_t *op;     /* by row: the nearest operator around it, HT_NONE */
	const uint32_t *call;   /* by row of a node: the outermost row of its call */
};

/* Of the trace in hand; memory in scratch. */
enum ht_status ht_op_nodes_make(struct ht_run *run, struct ht_op_nodes *ret_nodes) HT_MUST_USE;

/* enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__, enumerate(DataPipe)#... */
bool ht_is_data_loader_name(const char *name);
/* The same as an expression, for those who look names up by one. */
#define HT_DATA_LOADER_NAMES "^enumerate\\(DataLoader\\)#.*\\.__next__$|^enumerate\\(DataPipe\\)#"

#endif
