/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.h - the activities of one replay against a stretch of one tape.
 *
 * By names where the tape has them, stream by stream where both have several: streams belong together when they have the
 * same names, however ordered. Without names by position, when there are as many, or as many kernels: then every position is checked
 * (fit.h), and kernels at launches of the same operator with the same shapes must have the same name.
 */
#ifndef HT_MODEL_ORIGIN_MATCH_H
#define HT_MODEL_ORIGIN_MATCH_H

#include "model/origin/tape.h"

/* One replay: activities in order of their start. */
struct ht_graph_replay {
	const struct ht_trace *trace;
	const uint32_t *gpus; /* indexes into gpu[] */
	size_t n;
	const uint64_t *keys; /* ht_tape_key of each */
	int64_t size;         /* of the annotation around the launch, -1: none */
	uint32_t launch;
};

struct ht_matched {
	uint32_t *partner; /* by activity: index of the tape's entry, UINT32_MAX: none */
	size_t n;          /* that have one */
	double confidence;
};

/* Against the entries [first, first + m) of a tape. Memory in scratch. */
enum ht_status ht_match(struct ht_run *run, const struct ht_graph_replay *replay,
        const struct ht_tape *tape, size_t first, size_t m,
        struct ht_matched *ret_matched) HT_MUST_USE;

#endif
