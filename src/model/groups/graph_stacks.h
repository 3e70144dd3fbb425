/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_stacks.h - the stacks of kernels of graph launches: what a recording has around their operator, below what is around the launch.
 *
 *     execute_8 ; cudaGraphLaunch ; model.py(30): forward ; nn.Module: Linear_0 ; aten::addmm ; gemm
 *     around the launch             from the recording                                          the kernel
 *
 * Names of recordings that the trace does not have get numbers behind its string ids.
 */
#ifndef HT_MODEL_GROUPS_GRAPH_STACKS_H
#define HT_MODEL_GROUPS_GRAPH_STACKS_H

#include "model/origin/origin.h"
#include "model/rows/row_stacks.h"

struct ht_graph_stacks {
	struct ht_run *run;
	struct ht_stacks *stacks;  /* the trace's, which grow */
	ht_tree_match *is_level;   /* what makes a level of a stack, in recordings, too */
	struct ht_origins origins; /* without a trace: there are no graph launches */
	struct ht_pool names;      /* that the trace does not have */
	struct site_stack *last;   /* by site: where it was put last */
};

/* End it with done, also after a failure. */
enum ht_status ht_graph_stacks_init(struct ht_run *run, struct ht_stacks *stacks,
        ht_tree_match *is_level, struct ht_graph_stacks *ret) HT_MUST_USE;
void ht_graph_stacks_done(struct ht_graph_stacks *graphs);
/* The stack of the operator of a GPU activity below that of its launch; the same when nothing is known. False: out of memory. */
bool ht_graph_stacks_below(
        struct ht_graph_stacks *graphs, size_t i_gpu, uint32_t launch_stack, uint32_t *ret_stack);
/* The text of a name of a stack. */
const char *ht_graph_stacks_name(const struct ht_graph_stacks *graphs, uint32_t name);

#endif
