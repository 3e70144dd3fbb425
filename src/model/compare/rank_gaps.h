/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_gaps.h - kernels of single ranks between two sides: one rank of many that is slower hardly moves the mean over ranks.
 *
 * Of the name in hand (step_samples.h) every rank has its own samples, steps of each run. A rank stands out with what it
 * changed beyond the median of what the other ranks did: that is its own, the rest is everybody's.
 */
#ifndef HT_MODEL_COMPARE_RANK_GAPS_H
#define HT_MODEL_COMPARE_RANK_GAPS_H

#include "model/compare/step_samples.h"

struct ht_rank_gap {
	int64_t rank;
	struct ht_run_gap gap;
	double change; /* test over base, less 1; NaN: not on both sides */
	double others; /* median change of the other ranks that have it */
};

struct ht_rank_gaps {
	const struct ht_step_samples *samples;
	size_t n_base;
	size_t n;                 /* ranks; 0: there is one, or the runs have different ones */
	struct ht_sample *of;     /* by part */
	struct ht_sample *runs;   /* of the rank in hand, by set */
	struct ht_rank_gap *gaps; /* by rank */
	double *sorted;
};

/* n_base: how many of the sets are the base, from the first. Memory in scratch. */
enum ht_status ht_rank_gaps_init(const struct ht_step_samples *samples, size_t n_base,
        struct ht_rank_gaps *ret_gaps) HT_MUST_USE;
/* Fill gaps for the name in hand. */
void ht_rank_gaps_own(struct ht_rank_gaps *gaps, struct ht_run_noise noise);
/* How much the typical time of a name changed on a rank, by its place (typical_time.h, table k of the parts); NaN: not known. */
double ht_rank_typical_growth(
        const struct ht_rank_gaps *gaps, size_t k, size_t i_rank, const char *name);

#endif
