/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_linked.h - what is found when an execution trace is linked with its Kineto trace; see link_nodes.h.
 */
#ifndef HT_ET_ET_LINKED_H
#define HT_ET_ET_LINKED_H

#include "et/et_join.h"

struct ht_path_wait;

struct ht_et_link_options {
	bool as_chakra;
	int64_t gap_ns;
	const struct ht_path_wait *waits; /* as Chakra: those of the path */
	size_t n_waits;
};

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

#endif
