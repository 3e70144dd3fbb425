/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_walk.h - the critical path of a window: what each nanosecond of it was spent on.
 *
 * Walked back from the end. At the start of GPU work the way leads to what it waited for last: to other
 * work, or along its launch to the host. On the host it leads back along the thread until the moment in
 * which the GPU work before went idle, and goes on there: time of the host counts only while all that
 * must be waited for on the GPU is idle. A call that waited leads to the work that it waited for.
 *
 *   host       ....[ op [launch]]            k2 was launched after k1 had ended:
 *   stream  [ k1 ]               [ k2 ]      k1, host, launch delay, k2
 *
 * The pieces lie end to end from the start of the window to its end. Delays before work that are longer
 * than the tolerance belong to what ran on the device meanwhile, and only the rest to the delay.
 */
#ifndef HT_GRAPH_CP_WALK_H
#define HT_GRAPH_CP_WALK_H

#include "graph/cp_model.h"

struct ht_cp_piece {
	int64_t start_ns, end_ns;
	uint32_t row; /* whose time it is; of a delay the work that is late; HT_NONE: nobody's */
	uint32_t from_row; /* of a delay: the launch call, or the work before; else HT_NONE */
	uint8_t type;      /* enum ht_cp_type */
	uint8_t bound;     /* enum ht_cp_bound */
	bool inferred;
};

/* Who gets pieces, latest first; false means out of memory. */
struct ht_cp_sink {
	bool (*put)(void *user, const struct ht_cp_piece *piece);
	void *user;
};

/* A point of the walk: in GPU work at a time, or on a host thread. */
struct ht_cp_place {
	int64_t time_ns;
	uint32_t work;  /* HT_NONE: on the host */
	uint32_t track; /* on the host */
	int64_t floor_ns;
	uint32_t floor; /* on the host: the work that goes on below floor_ns, HT_NONE: none */
	bool inferred;
	bool handed; /* came from another thread */
};

/* Where the walk of a window begins. */
struct ht_cp_place ht_cp_place_of_end(
        const struct ht_cp_model *model, const struct ht_cp_window *window);
/* What comes before a piece of work: the delay before it, as far as it lies after since_ns. False when out of
 * memory. */
bool ht_cp_walk_behind(struct ht_cp_model *model, uint32_t work, int64_t since_ns,
        const struct ht_cp_sink *sink, struct ht_cp_place *ret_place) HT_MUST_USE;
/* One step of the walk: the place moves towards since_ns. False when out of memory. */
bool ht_cp_walk_step(struct ht_cp_model *model, int64_t since_ns, const struct ht_cp_sink *sink,
        struct ht_cp_place *place) HT_MUST_USE;

/* The path of a window, earliest first, as the content of pieces (struct ht_cp_piece), which the caller frees, also
 * after a failure. O(pieces * log n). */
enum ht_status ht_cp_walk(struct ht_run *run, struct ht_cp_model *model,
        const struct ht_cp_window *window, struct ht_vec *pieces) HT_MUST_USE;

/* How long no device worked in the window; HT_NO_I64 where the rank has no GPU work at all. */
enum ht_status ht_cp_idle_ns(struct ht_run *run, const struct ht_cp_model *model,
        const struct ht_cp_window *window, int64_t *ret_idle_ns) HT_MUST_USE;

#endif
