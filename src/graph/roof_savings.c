/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roof_savings.c - see roof_savings.h.
 */
#include "graph/roof_savings.h"

#include "base/sort.h"
#include "graph/cp_shorter.h"

/* What all walks together may look at, and the walks that there are in any case. */
#define MAX_LOOKED_AT 1500000
#define LEAST_WALKS   8

struct finder {
	struct ht_run *run;
	const struct ht_op_calls *calls;
	struct ht_cost_groups *groups;
	struct ht_cp_shorter shorter;
	uint32_t *by_group;  /* calls that take too long, by group */
	uint32_t *first;     /* by group: its slice of them */
	uint32_t *by_excess; /* groups, the largest first */
};

/* ---- calls of groups ---- */

static enum ht_status sort_calls(struct finder *f)
{
	struct ht_arena *scratch = f->run->scratch;
	size_t n_groups = f->groups->n, n = f->calls->n;
	f->first = ht_arena_alloc(scratch, (n_groups + 2) * sizeof *f->first);
	f->by_group = ht_arena_room(scratch, (n + 1) * sizeof *f->by_group);
	if (!f->first || !f->by_group)
		return ht_fail_nomem(f->run->ctx);
	for (size_t i = 0; i < n; i++)
		f->first[f->groups->group_of[i] + 2] += f->calls->list[i].excess_ns > 0;
	for (size_t k = 2; k < n_groups + 2; k++)
		f->first[k] += f->first[k - 1];
	for (size_t i = 0; i < n; i++)
		if (f->calls->list[i].excess_ns > 0)
			f->by_group[f->first[f->groups->group_of[i] + 1]++] = (uint32_t)i;
	return HT_OK;
}

static enum ht_status sort_groups(struct finder *f)
{
	size_t n = f->groups->n;
	uint64_t *keys = ht_arena_room(f->run->scratch, (n + 1) * sizeof *keys);
	f->by_excess = ht_arena_room(f->run->scratch, (n + 1) * sizeof *f->by_excess);
	if (!keys || !f->by_excess)
		return ht_fail_nomem(f->run->ctx);
	for (size_t i = 0; i < n; i++) {
		keys[i] = UINT64_MAX - (uint64_t)f->groups->list[i].excess_ns;
		f->by_excess[i] = (uint32_t)i;
	}
	return ht_sort_keys(f->run->ctx->mem, keys, f->by_excess, n) ? HT_OK
	                                                             : ht_fail_nomem(f->run->ctx);
}

/* ---- walks ---- */

/* Let the activities of a group take an attainable time, or the time that they took. */
static void set_group(struct finder *f, size_t group, bool shorter)
{
	for (size_t i = f->first[group]; i < f->first[group + 1]; i++) {
		const struct ht_op_call *call = &f->calls->list[f->by_group[i]];
		double factor = 1 - (double)call->excess_ns / (double)call->gpu_ns;
		for (size_t k = 0; k < call->n; k++)
			ht_cp_shorter_set(&f->shorter, f->calls->activities[call->first + k],
			        shorter ? factor : 1);
	}
}

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void find_all(struct finder *f)
{
	struct ht_cost_group *list = f->groups->list;
	size_t n = f->groups->n, n_walks = MAX_LOOKED_AT / ht_cp_shorter_cost(&f->shorter);
	n_walks = n_walks > LEAST_WALKS ? n_walks : LEAST_WALKS;
	for (size_t i = 0; i < n; i++)
		set_group(f, i, true);
	int64_t most_ns = ht_cp_shorter_saved_ns(&f->shorter);
	/* no group saves more than all of them: often that is nothing */
	for (size_t i = 0; i < n; i++) {
		list[i].could_save_ns = lesser(list[i].excess_ns, most_ns);
		set_group(f, i, false);
	}
	size_t n_single = most_ns > 0 ? (n < n_walks ? n : n_walks) : 0;
	for (size_t i = 0; i < n_single; i++) {
		struct ht_cost_group *group = &list[f->by_excess[i]];
		if (group->could_save_ns <= 0)
			break;
		set_group(f, f->by_excess[i], true);
		group->could_save_ns =
		        lesser(group->could_save_ns, ht_cp_shorter_saved_ns(&f->shorter));
		set_group(f, f->by_excess[i], false);
	}
	if (!n_single || n_single == n)
		return;
	for (size_t i = n_single; i < n; i++)
		set_group(f, f->by_excess[i], true);
	int64_t rest_ns = ht_cp_shorter_saved_ns(&f->shorter);
	for (size_t i = n_single; i < n; i++) {
		struct ht_cost_group *group = &list[f->by_excess[i]];
		group->could_save_ns = lesser(group->could_save_ns, rest_ns);
	}
}

enum ht_status ht_roof_savings_find(
        struct ht_run *run, const struct ht_op_calls *calls, struct ht_cost_groups *groups)
{
	struct finder f = { .run = run, .calls = calls, .groups = groups };
	HT_TRY(sort_calls(&f));
	HT_TRY(sort_groups(&f));
	enum ht_status status = ht_cp_shorter_make(run, &f.shorter);
	if (status == HT_OK && f.shorter.is_known)
		find_all(&f);
	ht_cp_shorter_done(&f.shorter);
	return status;
}
