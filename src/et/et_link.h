/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_link.h - an execution trace with its Kineto trace: times, GPU work and dependencies of nodes.
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
#ifndef HT_ET_ET_LINK_H
#define HT_ET_ET_LINK_H

#include "et/et_join.h"
#include "model/policy.h"

#define HT_ET_GAP_NS ((int64_t)1000000)

struct ht_et_link_options {
	bool as_chakra;
	int64_t gap_ns;
	const struct ht_path_wait *waits; /* as Chakra: those of the path */
	size_t n_waits;
};

/* Whether an event counts as a call; profiler steps do not for Chakra. */
bool ht_et_is_call(const struct ht_trace *trace, uint32_t row, bool as_chakra);

/* A piece of GPU work. */
struct ht_et_gpu {
	uint32_t gpu;  /* index into the trace's gpu */
	uint32_t host; /* row of its node; the process node for work launched before the window */
	bool is_orphan;
};

struct ht_et_linked {
	int64_t ts_ns, dur_ns, self_ns; /* of nodes with an event */
	uint32_t first_gpu, n_gpu;      /* slice of gpus, in order of start */
	uint32_t after;                 /* node of another thread that it waits for, HT_ET_NONE */
	uint32_t first_sync, n_sync;    /* slice of syncs */
};

struct ht_et_link {
	struct ht_et_join join;
	struct ht_et_linked *nodes; /* by row */
	struct ht_et_gpu *gpus;     /* by host, then start */
	size_t n_gpus;
	uint32_t *syncs; /* indexes into gpus */
	size_t n_syncs;
	size_t n_kernels, n_copies, n_sets, n_orphans, n_after;
	int64_t self_ns; /* sum over events, profiler steps left out */
};

/* Memory is the arena's. A pair that cannot be joined has join.is_refused or no key, and nothing else. */
enum ht_status ht_et_link_make(ht_ctx *ctx, const struct ht_et *et, const struct ht_trace *trace,
        const struct ht_et_link_options *options, struct ht_arena *arena,
        struct ht_et_link *ret_link) HT_MUST_USE;
/* HT_FORMAT with the reason when a pair cannot be joined. */
enum ht_status ht_et_link_demand(
        ht_ctx *ctx, const struct ht_et *et, const struct ht_et_link *link) HT_MUST_USE;

#endif
