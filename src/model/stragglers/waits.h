/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.h - when a rank communicates and does nothing else, and when it waits for others.
 *
 * All leave a collective that makes ranks wait for the last at about the same time, so the last one's duration is the
 * transfer, and what others spend more is waiting:
 *
 *     wait of a call = its duration - the shortest of the collective's
 *
 * Durations need no clock, and who starts late and ends late loses nothing. The same holds of a send and its receive: the longer one
 * waits for the other, which counts as far as no kernel computes meanwhile: receives are posted early.
 */
#ifndef HT_MODEL_STRAGGLERS_WAITS_H
#define HT_MODEL_STRAGGLERS_WAITS_H

#include "model/numbers/interval.h"
#include "model/stragglers/lateness.h"

struct ht_times {
	struct ht_interval *list; /* merged, in set time */
	size_t n;
};

struct ht_rank_waits {
	struct ht_times exposed; /* it communicates while no kernel computes */
	struct ht_times
	        waits; /* some collective of it waits, whatever else goes on, or an exposed send or receive */
};

/* One per part, whose facts[exposed_k] and [gaps_k] exposed.h has put; of a rank without GPU work all of the host's
 * calls are exposed. Memory in scratch. */
enum ht_status ht_waits_find(struct ht_run *run, const struct ht_parts *parts, size_t exposed_k,
        size_t gaps_k, const struct ht_lateness *lateness,
        struct ht_rank_waits **ret_waits) HT_MUST_USE;

#endif
