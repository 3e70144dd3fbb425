/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_groups.h - durations grouped by name, and the small ones folded into "others".
 */
#ifndef HT_MODEL_ROWS_NAME_GROUPS_H
#define HT_MODEL_ROWS_NAME_GROUPS_H

#include "model/run.h"

#include <regex.h>

struct ht_named_dur {
	uint32_t name; /* string id of the trace */
	int64_t dur_ns;
};

/* Count, sum and spread of some durations; groups can be pooled without the durations. */
struct ht_name_group {
	const char *name;
	uint64_t count;     /* events */
	uint64_t n_samples; /* what mean and spread are over: events, or sums of names */
	int64_t sum_ns, min_ns, max_ns;
	unsigned __int128
	        squares;  /* sum of the squares of the samples: exact, so order does not matter */
	uint64_t n_names; /* names folded into it, 1 for a name of its own */
	bool folded;
};

struct ht_name_groups {
	struct ht_name_group *items;
	size_t n;
};

/* One group per name, longest sum first, then by name. Names point into the trace. */
enum ht_status ht_name_groups_make(struct ht_run *run, const struct ht_trace *trace,
        const struct ht_named_dur *durs, size_t n, struct ht_name_groups *ret_groups) HT_MUST_USE;
/* Add b's durations to a. */
void ht_name_group_pool(struct ht_name_group *a, const struct ht_name_group *b);
double ht_name_group_mean(const struct ht_name_group *group);
/* Deviation with n - 1, NaN for one sample. */
double ht_name_group_std(const struct ht_name_group *group);

/* Which names keep a group of their own. */
struct ht_fold {
	int64_t max_names;   /* nothing is folded up to here; 0: no bound, only the ratio counts */
	double ratio;        /* 0 to 1 */
	bool ratio_of_names; /* a quantile over the list of running sums; else a share of time */
	bool stats_of_sums;  /* after folding, statistics are over the sums of names */
	const regex_t *keep; /* names that are never folded, NULL: none */
};

/* Fold sorted groups in place: of the max_names longest those within the ratio stay; the rest becomes
 * one last group "others". */
void ht_name_groups_fold(struct ht_name_groups *groups, const struct ht_fold *fold);

#endif
