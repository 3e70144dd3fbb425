/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_cp_build.h - what the builders of HTA's critical path graph share; not for analyses.
 */
#ifndef HT_HTA_HTA_CP_BUILD_H
#define HT_HTA_HTA_CP_BUILD_H

#include "hta/hta_cp_graph.h"
#include "graph/cp_sync.h"
#include "hta/hta_frame.h"

struct ht_cp_builder {
	struct ht_run *run; /* scratch is this rank's own */
	struct ht_cp_graph *g;
	const struct ht_trace *trace;
	struct ht_cp_names names;
	size_t cap_edges;
	int64_t first, last;        /* instances of the annotation that make the window */
	double zero;                /* HTA: what it takes off every time */
	bool no_memory;             /* an edge could not be stored; told once, at the end */
	struct ht_cp_edge nowhere;  /* what an edge that could not be stored is written to */
	const int64_t *correlation; /* by row, -1 when absent; NULL until a builder needs it */
	/* HTA's table */
	struct ht_frame frame;
	struct ht_row_columns columns;
	uint8_t *in_frame; /* by row */
	uint8_t *clipped;  /* by row: HTA keeps it for the window */
};

/* Room in scratch, zeroed; NULL sets no_memory. */
void *ht_cp_alloc(struct ht_cp_builder *b, size_t n, size_t bytes);

/* Edges. weight is the time between the nodes, 0 for order and waits or when forced. */
struct ht_cp_edge *ht_cp_edge_add(
        struct ht_cp_builder *b, uint32_t from, uint32_t to, enum ht_cp_type type, uint32_t row);
/* Merge repeated edges, index by node. */
enum ht_status ht_cp_graph_seal(struct ht_cp_builder *b) HT_MUST_USE;

/* Start or end of a row in the graph's unit. */
double ht_cp_time(const struct ht_cp_builder *b, uint32_t row, bool end);
/* Nodes of the chosen rows: g->events is filled in the order of rows. */
enum ht_status ht_cp_events_make(struct ht_cp_builder *b, const uint8_t *chosen) HT_MUST_USE;

/* One host thread as a forest: rows in the order of their starts, parents before children. */
struct ht_cp_tree {
	const uint32_t *rows;
	const uint32_t *parent; /* position in rows, HT_NONE at the top */
	size_t n;
};
/* Edges of a depth-first walk (hta_cp_host.c). */
void ht_cp_walk_tree(struct ht_cp_builder *b, const struct ht_cp_tree *tree);

enum ht_status ht_hta_cp_select(struct ht_cp_builder *b) HT_MUST_USE;
enum ht_status ht_hta_cp_host_edges(struct ht_cp_builder *b) HT_MUST_USE;
enum ht_status ht_hta_cp_gpu_edges(struct ht_cp_builder *b) HT_MUST_USE;

#endif
