/* SPDX-License-Identifier: Apache-2.0 */
/*
 * use_sum.h - how well a job uses its devices: the totals of its ranks (use_table.h) together, for conclusions and comparisons.
 *
 * Figures over step time are weighted by step time and devices, those over GPU time by GPU time.
 */
#ifndef HT_MODEL_UTILISATION_USE_SUM_H
#define HT_MODEL_UTILISATION_USE_SUM_H

#include "model/utilisation/use_table.h"
#include "model/finding/finding.h"
#include "model/part.h"

struct ht_use_sum {
	size_t n_ranks;                             /* that have shapes */
	double hfu, mfu, modelled, near_roof, copy; /* NAN: not known */
	double one_peak;   /* mfu with the peak of dtype for all products */
	const char *dtype; /* of most products; in the parts, NULL: none */
	double recomputed; /* of the FLOPs, what the backward pass repeats of the forward pass */
	bool has_products;
};

/* Totals of the rank in hand, at the peaks that are listed; no rows where no shapes were recorded. Table of ht_use_columns; all of
 * the rank first, then steps where they are asked for. */
enum ht_status ht_use_facts_put(struct ht_run *run, bool by_step, ht_table *table) HT_MUST_USE;

/* Of the parts of a side, whose facts[k] is that table. */
struct ht_use_sum ht_use_sum(const struct ht_parts *parts, size_t side, size_t k);
/* Whether products of slower types than most make the figure a higher one: each at the peak of its own type, a layer in full precision by
 * mistake raises it. At the peak of the slower type it says nothing, and may pass 1. */
bool ht_use_is_mixed(const struct ht_use_sum *sum);
/* Whether so much is recomputed that it is worth a word: activation checkpointing. */
static inline bool ht_use_recomputes(const struct ht_use_sum *sum)
{
	return sum->recomputed >= 0.01;
}
/* A sentence of it: found, or unknown and why. */
struct ht_finding ht_use_finding(const struct ht_use_sum *sum);

#endif
