/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_groups.c - see name_groups.h.
 */
#include "model/rows/name_groups.h"

#include "model/numbers/stats.h"
#include "base/checked.h"
#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right)
{
	const struct ht_name_group *a = left, *b = right;
	if (a->folded != b->folded)
		return a->folded ? 1 : -1;
	if (a->sum_ns != b->sum_ns)
		return a->sum_ns > b->sum_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Longest sum first, then by name; "others" last. */
static void sort_groups(struct ht_name_groups *groups)
{
	qsort(groups->items, groups->n, sizeof *groups->items, compare);
}

static void add(struct ht_name_group *group, int64_t dur_ns)
{
	if (!group->count || dur_ns < group->min_ns)
		group->min_ns = dur_ns;
	if (!group->count || dur_ns > group->max_ns)
		group->max_ns = dur_ns;
	ht_sum(&group->sum_ns, dur_ns);
	group->squares += ht_square(dur_ns);
	group->count++;
	group->n_samples++;
}

enum ht_status ht_name_groups_make(struct ht_run *run, const struct ht_trace *trace,
        const struct ht_named_dur *durs, size_t n, struct ht_name_groups *ret_groups)
{
	size_t n_strings = trace->n_string_offsets ? trace->n_string_offsets - 1 : 0;
	/* slot of a name + 1; the entry past the last string is for events without a name */
	uint32_t *slot = ht_arena_alloc(run->scratch, (n_strings + 1) * sizeof *slot);
	uint32_t *group_of = ht_arena_alloc(run->scratch, (n + 1) * sizeof *group_of);
	if (!slot || !group_of)
		return ht_fail_nomem(run->ctx);
	struct ht_name_groups groups = { 0 };
	for (size_t i = 0; i < n; i++) {
		uint32_t *s = &slot[durs[i].name < n_strings ? durs[i].name : n_strings];
		if (!*s)
			*s = (uint32_t)++groups.n;
		group_of[i] = *s - 1;
	}
	groups.items = ht_arena_alloc(run->scratch, (groups.n + 1) * sizeof *groups.items);
	if (!groups.items)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++) {
		struct ht_name_group *group = &groups.items[group_of[i]];
		group->name = ht_str(trace, durs[i].name);
		group->n_names = 1;
		add(group, durs[i].dur_ns);
	}
	sort_groups(&groups);
	*ret_groups = groups;
	return HT_OK;
}

void ht_name_group_pool(struct ht_name_group *a, const struct ht_name_group *b)
{
	if (!b->n_samples)
		return;
	a->squares += b->squares;
	if (!a->n_samples || b->min_ns < a->min_ns)
		a->min_ns = b->min_ns;
	if (!a->n_samples || b->max_ns > a->max_ns)
		a->max_ns = b->max_ns;
	a->count += b->count;
	a->n_samples += b->n_samples;
	ht_sum(&a->sum_ns, b->sum_ns);
}

double ht_name_group_mean(const struct ht_name_group *group)
{
	return (double)group->sum_ns / (double)group->n_samples;
}

double ht_name_group_std(const struct ht_name_group *group)
{
	return ht_exact_std(group->n_samples, group->sum_ns, group->squares);
}

/* The running sum below which names stay: HTA's quantile over the running sums themselves. */
static double quantile_of_sums(const struct ht_name_groups *groups, double ratio)
{
	double at = ratio * (double)(groups->n - 1);
	size_t low = (size_t)at;
	double sum = 0;
	for (size_t i = 0; i <= low; i++)
		sum += (double)groups->items[i].sum_ns;
	if (low + 1 < groups->n)
		sum += (at - (double)low) * (double)groups->items[low + 1].sum_ns;
	return sum;
}

static double total(const struct ht_name_groups *groups)
{
	double sum = 0;
	for (size_t i = 0; i < groups->n; i++)
		sum += (double)groups->items[i].sum_ns;
	return sum;
}

static bool stays(const struct ht_fold *fold, const struct ht_name_group *group, size_t i,
        double before, double bound)
{
	if (fold->keep && !regexec(fold->keep, group->name, 0, NULL, 0))
		return true;
	if (fold->max_names && i >= (size_t)fold->max_names)
		return false;
	/* by time the name that crosses the bound still stays */
	return fold->ratio_of_names ? before + (double)group->sum_ns <= bound : before < bound;
}

/* The name stands for its sum, not for its events. */
static void describe_sum(struct ht_name_group *group)
{
	group->min_ns = group->max_ns = group->sum_ns;
	group->squares = ht_square(group->sum_ns);
	group->n_samples = 1;
}

void ht_name_groups_fold(struct ht_name_groups *groups, const struct ht_fold *fold)
{
	if (!groups->n || (fold->max_names && groups->n <= (size_t)fold->max_names))
		return;
	double bound = fold->ratio_of_names ? quantile_of_sums(groups, fold->ratio)
	                                    : fold->ratio * total(groups);
	struct ht_name_group others = { .name = "others", .folded = true };
	double before = 0;
	size_t n_kept = 0;
	for (size_t i = 0; i < groups->n; i++) {
		struct ht_name_group group = groups->items[i];
		bool kept = stays(fold, &group, i, before, bound);
		before += (double)group.sum_ns;
		if (fold->stats_of_sums)
			describe_sum(&group);
		if (kept) {
			groups->items[n_kept++] = group;
		} else {
			ht_name_group_pool(&others, &group);
			others.n_names++;
		}
	}
	groups->n = n_kept;
	if (others.n_names)
		groups->items[groups->n++] = others;
}
