/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_snapshot.h - the ranks of a run that were read at some time: sets that nobody changes.
 *
 * A request holds one for as long as it lasts. When more of the run is read the run gets another one, whose sets
 * share the traces; the old one goes with its last holder.
 */
#ifndef SERVE_RUN_SNAPSHOT_H
#define SERVE_RUN_SNAPSHOT_H

#include "holotrace.h"
#include "overlay.h"
#include "timelines.h"

#include <stdatomic.h>

/* The ranks of a span, or of all, with their timelines. */
struct span_set {
	int64_t span; /* 0: default */
	ht_set *set;
	struct serve_overlays *overlays; /* results that are drawn into its timelines */
	struct rank_timelines *timelines;
};

struct snapshot {
	atomic_int n_refs;
	uint64_t generation;
	struct span_set all;    /* of the whole run */
	struct span_set *spans; /* NULL when the run has one only */
	size_t n_spans;
};

/* Takes over the sets of all and spans, and the list, from malloc; frees them also on failure. */
struct snapshot *snapshot_new(struct timelines *timelines, uint64_t generation, ht_set *all,
        struct span_set *spans, size_t n_spans);
struct snapshot *snapshot_hold(struct snapshot *snapshot);
void snapshot_release(struct snapshot *snapshot);
/* The set of a span by its text ("2", "default"), or of the whole run for NULL; NULL when there is none. */
struct span_set *snapshot_span(struct snapshot *snapshot, const char *span);

#endif
