/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_ties.h - what collectives say about the clocks of their ranks, all of them together.
 *
 * A tie is a collective with the moment T at which its last rank arrived:
 *     start_i + d_i <= T <= end_j + d_j     for those that arrive, and those that leave after all arrived
 * With d as unknowns these are difference constraints, solved by moving borders until nothing changes
 * (Bellman-Ford over ranks, one pass over all ties at a time).
 */
#ifndef HT_MODEL_CLOCKS_CLOCK_TIES_H
#define HT_MODEL_CLOCKS_CLOCK_TIES_H

#include "model/communication/collective_match.h"

struct ht_tied_call {
	size_t i_rank;
	int64_t start_ns, end_ns;
	int tie; /* enum ht_comm_tie */
};

struct ht_ties {
	struct ht_tied_call *calls;
	size_t *first; /* calls of tie t are first[t] to first[t + 1] */
	size_t n, n_ranks;
};

/* The collectives that tie two or more ranks, with times of the files' clocks. Memory in the arena. */
bool ht_ties_collect(struct ht_arena *arena, const struct ht_matches *matches, size_t n_ranks,
        struct ht_ties *ret_ties);
/* By how much a tie is broken; negative: it holds. */
int64_t ht_ties_excess_ns(const struct ht_ties *ties, size_t t);
/* Ties that times break, and by how much at most. */
size_t ht_ties_broken(const struct ht_ties *ties, int64_t tolerance_ns, int64_t *ret_worst_ns);
/* Leave those out. */
void ht_ties_drop_broken(struct ht_ties *ties, int64_t tolerance_ns);
/* The smallest moves (least largest one) that keep all ties: move_ns has an entry per rank. False when there
 * are none, or, with *ret_nomem, when out of memory. */
bool ht_ties_mend(struct ht_arena *scratch, const struct ht_ties *ties, int64_t tolerance_ns,
        int64_t *move_ns, bool *ret_nomem);
/* How far each rank could move against one of them; INT64_MAX: any way. No tie may be broken. */
void ht_ties_slack(const struct ht_ties *ties, size_t from, int64_t tolerance_ns,
        int64_t *forward_ns, int64_t *back_ns);

#endif
