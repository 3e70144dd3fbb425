/*
 * cp_overlay.h - the critical path drawn into a trace: marked events and arrows between them.
 *
 * Events on the path get args.critical = 1. Every edge that is shown becomes a pair of flow events with
 * one id: ph "s" at from, ph "f" with bp "e" at to, cat and name "critical_path", args weight (in
 * microseconds), critical and type. Pid and tid are those of the rows' tracks.
 */
#ifndef HT_GRAPH_CP_OVERLAY_H
#define HT_GRAPH_CP_OVERLAY_H

#include "graph/cp_types.h"

#define HT_CP_OVERLAY_NAME "critical_path"

struct ht_cp_arrow {
	uint32_t from_row, to_row;
	int64_t from_ns, to_ns; /* in the trace's own clock; inside the slice of the row */
	int64_t weight_ns;
	const char *type; /* ht_cp_type_name */
	bool critical;
};

struct ht_cp_overlay {
	const uint8_t *critical; /* by row: on the path */
	size_t n_critical;
	struct ht_cp_arrow *arrows; /* flow id = position */
	size_t n_arrows;
	bool only_critical;
	const char *note; /* NULL, or why there is nothing */
};

/* One being made; a policy that has another graph draws it with these. */
struct ht_cp_drawing {
	struct ht_run *run;
	const struct ht_trace *trace;
	struct ht_cp_overlay *overlay;
	uint8_t *critical;
	struct ht_vec arrows;
	bool no_memory;
	bool all; /* edges off the path too */
};
/* The row is on the path; HT_NONE is none. */
void ht_cp_mark(struct ht_cp_drawing *drawing, uint32_t row);
void ht_cp_draw(struct ht_cp_drawing *drawing, struct ht_cp_arrow arrow);

/* Of the rank in hand, by the parameters of critical-path: only-critical leaves out spans off the path
 * (annotations and Python frames stay); arrows are the delays of the path and where it goes from one
 * track to another, or with all-edges everything that waits for something. Memory in run->scratch. */
enum ht_status ht_cp_overlay_make(
        struct ht_run *run, struct ht_cp_overlay *ret_overlay) HT_MUST_USE;
/* Whether the written trace has the row. */
bool ht_cp_overlay_keeps(
        const struct ht_cp_overlay *overlay, const struct ht_trace *trace, uint32_t row);

#endif
