/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.h - iterations of a serving engine summed by phase, and the steady part of decoding.
 *
 * p50 and p99 are of the wall time of single iterations, by nearest rank. Steady is the longest run of decode iterations one after
 * the other, behind the first 10 % of them, whose batch stays within 10 % of the median batch of those.
 */
#ifndef HT_MODEL_SERVING_PHASES_H
#define HT_MODEL_SERVING_PHASES_H

#include "model/serving/engine_iterations.h"

#define HT_MOST_PHASES 4

struct ht_phase_sum {
	enum ht_phase phase;
	int64_t n;
	int64_t requests, tokens, kv_tokens; /* -1: no annotation says */
	int64_t wall_ns, gpu_ns, gap_ns, p50_ns, p99_ns;
	int64_t filled, padded; /* requests and sizes, of those that say both */
	uint32_t longest;       /* row */
	/* of decode; steady_n 0: there is none */
	int64_t steady_n, steady_tokens, steady_wall_ns, steady_p50_ns, steady_p99_ns;
};

/* Prefill, decode, mixed, then what is none of them; only those that there are. */
enum ht_status ht_phases_sum(struct ht_run *run, const struct ht_iteration *list, size_t n,
        struct ht_phase_sum ret_sums[static HT_MOST_PHASES], size_t *ret_n) HT_MUST_USE;

#endif
