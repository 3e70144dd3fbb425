/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_tree.h - the operators of a trace as trees, with their own and whole time on the host and on the device.
 *
 * Nodes are operators, modules, profiler steps, and those annotations that are a data loader, an optimizer's step
 * or communication; one tree per thread, by the call tree of the store (seal_tracks.c). A row that ends after the
 * one it started in ends with it. Everything else (Python frames, other annotations) makes no level.
 *
 *     aten::linear                 host total: its length; host self: without its child and its own calls
 *     └─ aten::addmm               device self: kernels that it launched itself
 *        └─ cudaLaunchKernel ─► gemm           device total: those of its children too
 *
 * An operator whose only child is an operator of the same name is one with it: the child's time is its own.
 * A call of the runtime or driver belongs to the innermost node around it; of a driver call inside a runtime call only
 * the outer counts. GPU work belongs to its operator (seal_gpu.c: External id, else around its launch), else to the
 * innermost node around its launch; durations are added, work that runs at the same time counts twice. The
 * backward pass is a tree of its own thread.
 * Tensor cores: an operator is eligible when its name is listed, when one of its children is, or when it launched a
 * kernel that runs on them (tensor_cores.def).
 */
#ifndef HT_MODEL_CALLS_OP_TREE_H
#define HT_MODEL_CALLS_OP_TREE_H

#include "model/rows/name_traits.h"

enum ht_node_kind {
	HT_NODE_OPERATOR,
	HT_NODE_MODULE,
	HT_NODE_STEP,
	HT_NODE_LOADER,
	HT_NODE_OPTIMIZER,
	HT_NODE_COMM,   /* an annotation of communication */
	HT_NODE_MERGED, /* one with its parent; nothing refers to it */
};

struct ht_op_node {
	uint32_t row;
	uint32_t parent; /* node around it, HT_NONE at the top */
	int64_t host_total_ns, host_self_ns;
	int64_t device_total_ns, device_self_ns; /* of kernels, copies and sets */
	int64_t tc_total_ns, tc_self_ns;         /* of kernels that run on tensor cores */
	uint8_t kind;                            /* enum ht_node_kind */
	bool is_counted; /* an operator that tables list: no optimizer, no wrapper of the model */
	bool tc_listed, tc_eligible;
};

struct ht_op_tree {
	const struct ht_trace *trace;
	const struct ht_op_node *nodes; /* parents before children; of each thread by time */
	size_t n;
	const uint32_t *of;     /* by row: the node that it is or is inside of; HT_NONE: none */
	const uint32_t *of_gpu; /* by index of gpu[]: the node that launched it; HT_NONE: none */
	const int64_t *ends;    /* by row: where it ends for the tree */
};

/* Of the traits' trace. Memory in scratch, or shared (run_memo.h): not to be changed. O(n). */
enum ht_status ht_op_tree_make(struct ht_run *run, const struct ht_traits *traits,
        struct ht_op_tree *ret_tree) HT_MUST_USE;

#endif
