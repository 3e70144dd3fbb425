/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inductor_graph.h - a replay of a CUDA graph that torch.compile made (mode reduce-overhead) against the wrapper of its graph.
 *
 * Generated kernels are anchors: those of the replay, in order, must be those of the wrapper, all of them. What lies between two anchors belongs
 * to the library calls between them: to the only one, one to one, or by what kernel and operator compute.
 */
#ifndef HT_MODEL_ORIGIN_INDUCTOR_GRAPH_H
#define HT_MODEL_ORIGIN_INDUCTOR_GRAPH_H

#include "model/origin/compile_log.h"
#include "model/origin/match.h"

/* ret_calls has the call of each activity, NULL: unknown; *ret_n how many have one: 0 when the anchors contradict. */
enum ht_status ht_inductor_match(struct ht_run *run, const struct ht_graph_replay *replay,
        const struct ht_compiled_graph *graph, const struct ht_compiled_call ***ret_calls,
        size_t *ret_n) HT_MUST_USE;

#endif
