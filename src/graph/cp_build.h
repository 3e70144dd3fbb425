/*
 * cp_build.h - what the builders of the critical path graph share; not for analyses.
 */
#ifndef HT_GRAPH_CP_BUILD_H
#define HT_GRAPH_CP_BUILD_H

#include "graph/cp_graph.h"
#include "model/frame.h"

/* What a name says; found once per string id. */
enum ht_cp_name {
	HT_CP_NAME_KNOWN = 1,     /* the other bits are set */
	HT_CP_NAME_WAITS = 2,     /* a call that may wait for the GPU */
	HT_CP_NAME_COPIES = 4,    /* a copy call: waits for its own copy only */
	HT_CP_NAME_LOCKS = 8,     /* holds the runtime's lock */
	HT_CP_NAME_AUTOGRAD = 16, /* the autograd engine at work */
	HT_CP_NAME_DATA_LOAD = 32,
	HT_CP_NAME_RECORDS = 64, /* records an event on a stream */
};

struct ht_cp_builder {
	struct ht_run *run; /* scratch is this rank's own */
	struct ht_cp_graph *g;
	const struct ht_trace *trace;
	void *data_load; /* regex_t, or NULL */
	size_t cap_edges;
	uint32_t window_track; /* host track of the annotation, HT_NONE when unknown */
	double zero;           /* HTA: what it takes off every time */
	bool *waited;          /* by event: the call did wait for GPU work that ran meanwhile */
	uint32_t *cross;       /* by event: 1 + the event of another thread that it follows; NULL */
	bool no_memory;        /* an edge could not be stored; told once, at the end */
	struct ht_cp_edge nowhere;  /* what an edge that could not be stored is written to */
	const int64_t *correlation; /* by row, -1 when absent; NULL until a builder needs it */
	/* HTA's table */
	struct ht_frame frame;
	struct ht_hta_columns columns;
	uint8_t *in_frame; /* by row */
	uint8_t *clipped;  /* by row: HTA keeps it for the window */
};

/* Bits of a row's name. */
uint8_t ht_cp_name_bits(struct ht_cp_builder *b, uint32_t row);
/* A call that may wait for the GPU, told by its name. */
bool ht_cp_may_wait(struct ht_cp_builder *b, uint32_t row);
/* Room in scratch, zeroed; NULL sets no_memory. */
void *ht_cp_alloc(struct ht_cp_builder *b, size_t n, size_t bytes);

/* Edges. weight is the time between the nodes, 0 for order and waits or when forced. */
struct ht_cp_edge *ht_cp_edge_add(
        struct ht_cp_builder *b, uint32_t from, uint32_t to, enum ht_cp_type type, uint32_t row);
/* Merge repeated edges, index by node. */
enum ht_status ht_cp_graph_seal(struct ht_cp_builder *b) HT_MUST_USE;

/* Microseconds as a reader of decimal numbers gets them. */
double ht_cp_us(int64_t ns);
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
/* Edges of a depth-first walk (cp_host.c). */
void ht_cp_walk_tree(struct ht_cp_builder *b, const struct ht_cp_tree *tree);

enum ht_status ht_cp_host_edges(struct ht_cp_builder *b) HT_MUST_USE;
enum ht_status ht_cp_gpu_edges(struct ht_cp_builder *b) HT_MUST_USE;

/* With HTA's rules. */
enum ht_status ht_cp_hta_select(struct ht_cp_builder *b) HT_MUST_USE;
enum ht_status ht_cp_hta_host_edges(struct ht_cp_builder *b) HT_MUST_USE;
enum ht_status ht_cp_hta_gpu_edges(struct ht_cp_builder *b) HT_MUST_USE;

/* ---- waits for CUDA events (cp_sync.c) ---- */

/* A piece of GPU work and its launch. */
struct ht_cp_launch {
	int64_t device, stream;
	uint32_t track;             /* of the launch call */
	uint32_t launch;            /* row */
	uint32_t work;              /* row */
	int64_t launch_ns, work_ns; /* when they start */
};

/* A wait row of the trace (category cuda_sync) and what it waits for. */
enum ht_cp_wait_kind {
	HT_CP_WAIT_STREAM,
	HT_CP_WAIT_CONTEXT,
	HT_CP_WAIT_EVENT,
	HT_CP_WAIT_STREAM_EVENT
};
struct ht_cp_wait {
	int64_t correlation;
	uint32_t row;
	uint32_t call; /* host row, HT_NONE when not in the trace */
	int64_t device, stream;
	uint32_t source; /* GPU row before the event record, HT_NONE unknown; events only */
	uint32_t target; /* first GPU row that must wait, HT_NONE unknown; stream waits only */
	uint8_t kind;
};

/* Fill source and target of event waits; needs b->correlation. Sorts the launches. */
enum ht_status ht_cp_resolve_waits(struct ht_cp_builder *b, struct ht_cp_launch *launches,
        size_t n_launches, struct ht_cp_wait *waits, size_t n_waits) HT_MUST_USE;
/* Kind by name; false for rows that are no wait. */
bool ht_cp_wait_kind(const struct ht_trace *trace, uint32_t row, uint8_t *ret_kind);

/* (device, stream) → small number, for arrays by stream. */
struct ht_cp_lane {
	int64_t device, stream;
};
struct ht_cp_lanes {
	struct ht_cp_lane *list; /* sorted, distinct */
	size_t n;
};
/* The streams of all GPU events. */
enum ht_status ht_cp_lanes_make(struct ht_cp_builder *b, struct ht_cp_lanes *ret_lanes) HT_MUST_USE;
/* HTA knows streams only, not devices. */
struct ht_cp_lane ht_cp_lane_of(const struct ht_cp_builder *b, uint32_t event);
/* SIZE_MAX when not there. */
size_t ht_cp_lane_find(const struct ht_cp_lanes *lanes, struct ht_cp_lane lane);

#endif
