/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_shorter.h - what the steps of a rank would save if some of its GPU work took less time: the what-if of single activities.
 *
 * Work that nobody waits for saves nothing, however slow it is. What is saved is never more than the time that work is shorter by.
 */
#ifndef HT_GRAPH_CP_SHORTER_H
#define HT_GRAPH_CP_SHORTER_H

#include "graph/cp_retime.h"

struct ht_cp_shorter {
	struct ht_cp_model m;
	struct ht_cp_clock clock;
	double *factors;  /* by work: 1 unless set */
	int64_t *base_ns; /* by window: its length */
	bool is_known;    /* false: no windows, or nothing of the host was recorded */
};

/* Of the chosen steps of the rank in hand, whatever annotation is asked for. Memory in scratch; to be ended with
 * ht_cp_shorter_done, also after a failure. */
enum ht_status ht_cp_shorter_make(struct ht_run *run, struct ht_cp_shorter *ret) HT_MUST_USE;
void ht_cp_shorter_done(struct ht_cp_shorter *shorter);

/* The work of gpu[i] of the trace takes so many times as long. */
void ht_cp_shorter_set(struct ht_cp_shorter *shorter, uint32_t gpu, double factor);
/* What all windows save together with what is set. O(works + waits). */
int64_t ht_cp_shorter_saved_ns(struct ht_cp_shorter *shorter);
/* How much one such answer looks at. */
size_t ht_cp_shorter_cost(const struct ht_cp_shorter *shorter);

#endif
