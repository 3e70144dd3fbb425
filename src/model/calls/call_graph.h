/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_graph.h - the call trees of one trace with GPU work as leaves, and sums over subtrees.
 *
 *   ProfilerStep#1                     depth 0
 *   ├─ aten::linear                    depth 1
 *   │  └─ aten::addmm                  depth 2
 *   │     └─ cudaLaunchKernel          depth 3
 *   │        └─ gemm kernel            depth 4, height 0: parent is its launch call
 *   └─ ## backward ##                  depth 1
 *      └─ autograd::engine::...        on the autograd thread, under what is open on the thread that waits
 *
 * Trees come from trace->parent (one thread each), autograd threads are joined to their callers
 * (autograd.h). With one_backward: the top-level rows of the only autograd thread become children of the
 * "## backward ##" annotation that contains them in time on the main thread (the one with the profiler
 * steps), or of the step when there is no such annotation. Sums are over GPU work of the frame.
 * O(n log n) time, O(n) memory.
 */
#ifndef HT_MODEL_CALLS_CALL_GRAPH_H
#define HT_MODEL_CALLS_CALL_GRAPH_H

#include "model/rows/frame.h"

/* All arrays are indexed by trace row. */
struct ht_call_graph {
	const uint32_t *parent; /* HT_NONE at the top and for rows in no tree */
	const int32_t *depth;   /* 0 at the top, -1 for rows in no tree */
	const uint32_t *order;  /* rows in trees, parents before children */
	size_t n_order;
	/* sums over subtrees, NULL until asked for */
	const int32_t *height;          /* 0 GPU work, host rows at least 1, -1 in no tree */
	const uint32_t *n_kernels;      /* GPU work in the subtree */
	const int64_t *kernel_ns;       /* sum of its durations */
	const int64_t *first_kernel_ns; /* earliest start, HT_NO_I64 when none */
	const int64_t *last_kernel_ns;  /* latest end, HT_NO_I64 when none */
};

/* With one_backward: stitched only when there is exactly one autograd thread. Memory in scratch. */
enum ht_status ht_call_graph_make(struct ht_run *run, const struct ht_frame *frame,
        bool one_backward, struct ht_call_graph *ret_graph) HT_MUST_USE;
/* Fill in the sums of a graph of the same frame. */
enum ht_status ht_call_graph_sum(
        struct ht_run *run, const struct ht_frame *frame, struct ht_call_graph *graph) HT_MUST_USE;

#endif
