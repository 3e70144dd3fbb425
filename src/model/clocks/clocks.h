/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.h - one clock for all ranks, from the collectives that they share.
 *
 * Nobody leaves a collective before its last rank has arrived, and no receive ends before its send began. With
 * the correction d of each rank's clock:
 *
 *     start_i + d_i <= end_j + d_j        for all ranks i, j of a collective that synchronises them
 *
 *     rank 0   [=====wait=====|==transfer==]           max start <= min end
 *     rank 1                  [==transfer==]
 *     rank 1'                                    [=====]   an hour off: does not fit, and must move
 *
 * Where the files' clocks satisfy all bounds they stay as they are. Else ranks are placed one after the other.
 * Those come first whom a clock fits that another rank has: the files', or that of a rank placed before (ranks of
 * one machine share theirs). When there is none, the one that shares most collectives with those placed gets a
 * clock of its own: the median by which it leaves collectives before the others, as all leave them at about the
 * same time, kept within the bounds; with a drift where no constant keeps them.
 * Ranks that keep their relative clocks form a family, and the largest family is the one that stays. What is
 * then still violated is mended by the smallest moves that satisfy all bounds; when there are none, the set is
 * impossible: no clock explains it (health says so), and ranks stay where they were placed.
 *
 * The uncertainty of a rank is how far its clock could be moved against that of the reference without breaking
 * a bound, other ranks moving along as they must. Clocks are taken to run at the same speed unless the bounds
 * refute it; speeds that differ by more than 1000 ppm are no drift.
 * Bounds may be missed by HT_CLOCK_TOLERANCE_NS, what whole microseconds of start and duration hide.
 */
#ifndef HT_MODEL_CLOCKS_CLOCKS_H
#define HT_MODEL_CLOCKS_CLOCKS_H

#include "model/communication/collective_match.h"

#define HT_CLOCK_TOLERANCE_NS 2000

struct ht_clock {
	int64_t moved_ns;       /* correction of the file's clock, at the middle of its calls */
	int64_t drift_ppt;      /* and how it grows with time, in 10^-12; mostly 0 */
	int64_t uncertainty_ns; /* HT_NO_I64: nothing ties it to the reference */
	size_t n_collectives, n_pairs; /* that tie it to other ranks */
	size_t n_violated;             /* of them that no clocks explain */
	size_t n_mismatched;           /* calls that should match those of other ranks and do not */
	size_t component; /* ranks that are tied to each other, directly or through others, have the same */
	bool is_tied; /* to the reference */
};

struct ht_clocks {
	struct ht_clock *of;        /* by rank of the roster */
	struct ht_time_move *moves; /* the same: own time to set time */
	size_t n, reference;
	bool aligned;      /* times of all ranks can be compared */
	bool from_files;   /* the files' clocks can; else only collectives compare them */
	bool moved;        /* some rank's clock was */
	size_t n_violated; /* collectives that no clocks explain */
	int64_t violation_ns;
	struct ht_matches matches; /* on the fitted clocks */
};

/* From the calls of all ranks of a roster (facts[0] of parts). The answer lies in the arena. */
enum ht_status ht_clocks_fit(ht_ctx *ctx, struct ht_arena *arena, struct ht_arena *scratch,
        const struct ht_roster *roster, const struct ht_parts *calls,
        const struct ht_clocks **ret_clocks) HT_MUST_USE;

/* How far the arrivals of two ranks can be told apart; HT_NO_I64: not at all. */
int64_t ht_clocks_between_ns(const struct ht_clocks *clocks, size_t a, size_t b);

/* Notes under a table that compares ranks: how well their clocks agree, which were moved, what does not match. */
enum ht_status ht_clocks_note(const struct ht_run *run, ht_table *table) HT_MUST_USE;
/* The same without what is as it should be. */
enum ht_status ht_clocks_note_odd(const struct ht_run *run, ht_table *table) HT_MUST_USE;

#endif
