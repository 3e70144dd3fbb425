/* SPDX-License-Identifier: Apache-2.0 */
/*
 * straggler.h - the verdict on stragglers with its cause, as every verb tells it.
 *
 * own_time.h says who keeps the others waiting in most steps; the cause of a candidate is what it does more of than the
 * ranks of its group (excess.h): the GPU work or the annotation whose excess is at least half of its lateness, the larger
 * of the two; else, when all its GPU work together (or all its annotations) is, the largest part of that.
 */
#ifndef HT_MODEL_STRAGGLERS_STRAGGLER_H
#define HT_MODEL_STRAGGLERS_STRAGGLER_H

#include "model/stragglers/excess.h"
#include "model/finding/finding.h"
#include "model/stragglers/rank_names.h"

struct ht_straggler_cause {
	const char *side; /* "kernel", "host"; NULL: nothing explains it */
	const struct ht_excess *excess;
	bool in_all; /* only all names together do */
};

struct ht_stragglers {
	struct ht_run *run;
	const struct ht_parts *parts;
	struct ht_lateness lateness; /* n 0: nothing can be said */
	struct ht_verdict *verdicts; /* one per part */
	struct ht_rank_spread spread;
	struct ht_excess *gpu, *host;
	size_t n_steps; /* that could be compared, at most over groups */
	const char *
	        missing; /* ranks that are not there, for whom all may be waiting (rank_names.h); "" when all are */
};

/* The tables of a part that it is found from, and writing them for the rank in hand. */
struct ht_straggler_facts {
	size_t calls, profiles, steps; /* chosen_calls.h, excess.h, own_time.h */
	size_t exposed, gaps;          /* exposed.h, put by whoever breaks the device's time down */
};
enum ht_status ht_stragglers_put(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_straggler_facts *at, struct ht_part *part) HT_MUST_USE;
/* run->clocks[0] is there. Memory in scratch. Where no collective makes ranks wait, lateness.n is 0 and nothing else is
 * there. */
enum ht_status ht_stragglers_find(struct ht_run *run, const struct ht_parts *parts,
        const struct ht_straggler_facts *at, struct ht_stragglers *ret_stragglers) HT_MUST_USE;

/* What a step would lose, on average, if the slow ranks of the group were as fast as the rest; HT_NO_I64: not a candidate. */
int64_t ht_straggler_cost_ns(const struct ht_verdict *verdict);
/* Of a rank of the lateness; nothing unless it is a candidate. */
struct ht_straggler_cause ht_straggler_cause_of(
        const struct ht_stragglers *stragglers, const struct ht_late_rank *rank);
/* "rank 2", "ranks 4–7 (node 0)": a candidate with all of its group. Memory in scratch; NULL when out of it. */
const char *ht_straggler_names(
        const struct ht_stragglers *stragglers, const struct ht_late_rank *rank);
/* The conclusion about a candidate, of kind slow-rank: who it is, by how much it delays the others per step, what takes longer
 * there than on other ranks, and the event that stands for it. Memory in scratch. */
enum ht_status ht_straggler_finding(const struct ht_stragglers *stragglers,
        const struct ht_late_rank *rank, struct ht_finding *ret_finding) HT_MUST_USE;
/* The conclusion where there is no candidate: none, or unknown with the reason. */
struct ht_finding ht_straggler_nobody(const struct ht_stragglers *stragglers);

#endif
