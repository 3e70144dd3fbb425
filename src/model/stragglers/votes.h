/* SPDX-License-Identifier: Apache-2.0 */
/*
 * votes.h - which rank comes last to collectives, by how little time it spends in them: no clock is needed.
 *
 * All leave a collective that makes ranks wait for the last at about the same time, so who came last has the shortest
 * duration. Whether the shortest is more than chance says Dixon's one-sided test at 99.5 %: of the sorted durations x of n
 * ranks, the ratio
 *     n <= 7    (x2 - x1) / (xn - x1)          n <= 10   (x2 - x1) / (xn-1 - x1)
 *     n <= 13   (x3 - x1) / (xn-1 - x1)        else      (x3 - x1) / (xn-2 - x1)
 * is above the critical value of n; of more than 100 ranks, whether it is three standard deviations below the mean. Then
 * the collective is a vote for that rank. Fewer than three ranks, or no more than three different durations, say nothing.
 */
#ifndef HT_MODEL_STRAGGLERS_VOTES_H
#define HT_MODEL_STRAGGLERS_VOTES_H

#include "model/communication/chosen_calls.h"

/* Is the least of the durations, which get sorted, an outlier? n is 3 or more. */
bool ht_shortest_is_odd(int64_t *durations, size_t n);

/* For one rank. */
struct ht_vote {
	size_t n;
	int64_t ns, most_ns;             /* what the next shortest took more: sum and maximum */
	const struct ht_comm_call *call; /* where that is most; NULL: none */
};

struct ht_votes {
	size_t n_judged;    /* collectives that could have been a vote */
	struct ht_vote *of; /* by part */
};

/* Of the chosen calls; run->clocks[0] is there. Memory in scratch. */
enum ht_status ht_votes_count(struct ht_run *run, const struct ht_parts *parts, size_t calls_k,
        struct ht_votes *ret_votes) HT_MUST_USE;

#endif
