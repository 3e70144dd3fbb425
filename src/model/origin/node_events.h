/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_events.h - kernels of graphs by where their node was made.
 *
 * Nsight Systems records the creation of every node of a graph (cat graph_node): on a thread, inside of the operators and
 * annotations that ran when the graph was captured, with the id that kernels carry as "graph node id". Graphs are instantiated
 * and cloned; a copy names its original, and copies of copies lead back to the node that code made. Of a copy whose
 * original is not in the file nothing is known: where it was copied says nothing about its kernel.
 *
 * Ids prove the join, so this comes before what positions and names say, and an annotation of the node goes on top of it.
 */
#ifndef HT_MODEL_ORIGIN_NODE_EVENTS_H
#define HT_MODEL_ORIGIN_NODE_EVENTS_H

#include "model/origin/choose.h"

/* Whether the trace has nodes that were made. */
bool ht_node_events_any(const struct ht_trace *trace);
/* Put them over what is known of GPU activities: site[] and sites (struct ht_origin) may grow. */
enum ht_status ht_node_events_apply(struct ht_chooser *chooser, uint32_t *site, uint8_t *of_graph,
        struct ht_vec *sites) HT_MUST_USE;

#endif
