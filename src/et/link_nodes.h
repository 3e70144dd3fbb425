/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_nodes.h - an execution trace with its Kineto trace: times, GPU work and dependencies of nodes.
 *
 *   node ── join ──► event ── parent chain ──► exclusive time
 *                      ▲
 *   GPU event ─ correlation ─► launch ─ External id, else containment ─► event ─► node, else thread node
 *
 * Two modes. Ours: all GPU work that a runtime or driver call of the window launched, under the operator that
 * encloses the call; work launched before the window stands under the process node. Chakra's: what its trace
 * linker does (kernels and copies of known launch calls, under the last operator with the same External id that
 * started before, profiler steps left out, other work dropped), for comparing with it.
 *
 * Dependencies between threads: calls of a thread come in groups, apart by a gap of more than gap_ns; a group waits
 * for the call of another thread that started last before it. Waiting calls (cudaStreamSynchronize and the like):
 * the next call of the thread depends on the last GPU work of the stream, or of all streams, that had ended.
 * Chakra takes these from HTA's critical path of the first step, by External id: the first call that starts after the
 * one that waited depends on the work.
 */
#ifndef HT_ET_LINK_NODES_H
#define HT_ET_LINK_NODES_H

#include "et/et_linked.h"

#define HT_ET_GAP_NS ((int64_t)1000000)

/* Memory is the arena's. A pair that cannot be joined has join.is_refused or no key, and nothing else. */
enum ht_status ht_et_link_make(ht_ctx *ctx, const struct ht_et *et, const struct ht_trace *trace,
        const struct ht_et_link_options *options, struct ht_arena *arena,
        struct ht_et_link *ret_link) HT_MUST_USE;
/* HT_FORMAT with the reason when a pair cannot be joined. */
enum ht_status ht_et_link_demand(
        ht_ctx *ctx, const struct ht_et *et, const struct ht_et_link *link) HT_MUST_USE;

#endif
