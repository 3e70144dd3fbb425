/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_facts.h - what HTA's rules for one rank depend on in all the others.
 *
 * HTA cuts the last step off when the set has two names of steps, wherever they are, and counts time from the
 * first event of all files. Each rank is looked at once; what is found is small and shared by all runs.
 */
#ifndef HT_HTA_HTA_FACTS_H
#define HT_HTA_HTA_FACTS_H

#include "model/run.h"

struct ht_set_facts {
	bool two_steps; /* two different names of steps, GPU copies of steps included */
	/* Where HTA's clock is 0: the first event of all ranks, by the files' own times, which it compares as
	 * they are; 0 for an empty set. */
	int64_t first_ts_ns;
	int64_t first_timed_ns; /* the same over rows that have a time */
	int64_t zero_ns;        /* first span with a category, in set time */
};

/* Over every rank of the set, chosen or not. The answer lives as long as the set, or as the run. */
enum ht_status ht_hta_facts_find(struct ht_run *run, const struct ht_set *set,
        const struct ht_set_facts **ret_facts) HT_MUST_USE;

/* What one rank contributes to that. */
struct ht_hta_finding {
	int64_t first_ts_ns, first_timed_ns, first_span_ns; /* INT64_MAX: no such row */
	char step[64];                                      /* the first name met, "" for none */
	bool two_steps;
};
/* Of every rank of the set, in the arena. */
enum ht_status ht_hta_findings(ht_ctx *ctx, struct ht_arena *arena, const struct ht_set *set,
        struct ht_hta_finding **ret_findings) HT_MUST_USE;
/* Keep for all runs over the set what findings from elsewhere say, one per rank of its roster. */
enum ht_status ht_hta_facts_keep(
        ht_ctx *ctx, struct ht_set *set, const struct ht_hta_finding *findings) HT_MUST_USE;

/* "ProfilerStep#7" with digits right after the sign. */
bool ht_hta_is_step_name(const char *name);

#endif
