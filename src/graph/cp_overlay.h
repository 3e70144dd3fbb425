/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_overlay.h - the critical path drawn into a trace: marked events and arrows between them.
 *
 * Events on the path get args.critical = 1; every edge that is shown becomes an arrow.
 */
#ifndef HT_GRAPH_CP_OVERLAY_H
#define HT_GRAPH_CP_OVERLAY_H

#include "graph/cp_types.h"
#include "model/drawing.h"

/* One being made; a policy that has another graph draws it with these. */
struct ht_cp_drawing {
	struct ht_run *run;
	const struct ht_trace *trace;
	uint8_t *critical; /* by row: on the path */
	size_t n_critical;
	struct ht_vec arrows; /* struct ht_arrow */
	bool no_memory;
	bool all; /* edges off the path too */
};
/* The row is on the path; HT_NONE is none. */
void ht_cp_mark(struct ht_cp_drawing *drawing, uint32_t row);
void ht_cp_draw(struct ht_cp_drawing *drawing, struct ht_arrow arrow);

/* Of the rank in hand, by the parameters of critical-path: only-critical leaves out spans off the path
 * (annotations and Python frames stay); arrows are the delays of the path and where it goes from one
 * track to another, or with all-edges everything that waits for something. Memory in run->scratch. */
enum ht_status ht_cp_overlay_make(struct ht_run *run, struct ht_drawing *ret_drawing) HT_MUST_USE;

#endif
