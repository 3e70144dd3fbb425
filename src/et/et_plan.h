/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_plan.h - an execution trace as the graph that simulators take: host and GPU nodes, numbered, with dependencies.
 *
 *   items    nodes in order of their old ids, numbered from 0; behind each the GPU work that it launched
 *   deps     what must be done before: the call before on the thread, the launching call; with our own rules also
 *            waits for other threads and for the GPU, and the work before on the stream
 *
 * Items without dependencies that nothing depends on are left out. The graph has no circles: with one the plan is refused.
 */
#ifndef HT_ET_ET_PLAN_H
#define HT_ET_ET_PLAN_H

#include "et/et_groups.h"
#include "et/link_nodes.h"

/* Chakra's numbers of node types and collectives. */
enum ht_et_node_type {
	HT_ET_METADATA = 1,
	HT_ET_COMP = 4,
	HT_ET_SEND = 5,
	HT_ET_RECV = 6,
	HT_ET_COLL = 7
};

struct ht_et_item {
	uint32_t row;    /* of the node, or of the node that launched the GPU work */
	uint32_t gpu;    /* index into the link's gpus, HT_ET_NONE for a call */
	uint32_t parent; /* item, HT_ET_NONE */
	uint32_t comm;   /* row of the node that describes the communication, HT_ET_NONE */
	uint8_t type;    /* enum ht_et_node_type */
	bool is_cpu_op, is_left_out;
	int8_t comm_type; /* CollectiveCommType, -1: none */
	int64_t comm_bytes;
	int32_t peer,
	        tag; /* of send and recv: rank of the other side, number among those of the pair; -1 */
	uint32_t first_dep, n_deps;
};

struct ht_et_plan {
	const struct ht_et *et;
	const struct ht_trace *trace;  /* NULL: no times, no GPU work */
	const struct ht_et_link *link; /* the same */
	bool as_chakra;
	int64_t rank; /* HT_ET_NO_RANK: unknown */
	struct ht_et_groups groups;
	struct ht_et_item *items; /* an item's place is its id */
	size_t n_items;
	uint32_t *deps; /* items */
	size_t n_deps;
	uint32_t *item_of; /* by row */
	int64_t zero_ns;   /* earliest start */
};

/* link and trace may be NULL. Memory is the arena's. HT_FORMAT when dependencies go round in a circle. */
enum ht_status ht_et_plan_make(ht_ctx *ctx, const struct ht_et *et, const struct ht_trace *trace,
        const struct ht_et_link *link, bool as_chakra, int64_t rank, struct ht_arena *arena,
        struct ht_et_plan *ret_plan) HT_MUST_USE;

/* What an item is called, when it starts and how long it takes without what is inside of it. False: no times. */
const char *ht_et_item_name(const struct ht_et_plan *plan, const struct ht_et_item *item);
bool ht_et_item_time(const struct ht_et_plan *plan, const struct ht_et_item *item,
        int64_t *ret_ts_ns, int64_t *ret_dur_ns, int64_t *ret_self_ns);
/* Process group of its communication, NULL when unknown; in the arena or the trace. */
const char *ht_et_item_group(
        const struct ht_et_plan *plan, const struct ht_et_item *item, struct ht_arena *arena);
/* The communication of an item, where it has some. */
void ht_et_item_classify(
        const struct ht_et_plan *plan, struct ht_et_item *item, struct ht_arena *arena);

#endif
