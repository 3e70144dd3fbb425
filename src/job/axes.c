/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axes.c - see axes.h.
 */
#include "job/axes.h"

#include "model/communication/collective_match.h"
#include "model/communication/group_axis.h"

#include <math.h>
#include <string.h>

/* Less often a step, a reduction of the forward pass is that of a loss. */
#define MIN_REDUCTIONS 4

/* ---- descriptions ---- */

/* The place on an axis that the groups of a rank give it; -1: none does. */
static int64_t place_on(const struct ht_event_rank *r, enum ht_axis axis, int64_t *ret_size)
{
	const ht_table *groups = r->part->facts[HT_EVENT_FACTS_GROUPS];
	for (size_t i = 0; i < ht_table_n_rows(groups); i++) {
		if (ht_axis_of(ht_table_str(groups, i, HT_GROUP_DESCRIPTION)) != axis)
			continue;
		int64_t first, place = ht_group_place(ht_table_str(groups, i, HT_GROUP_RANKS),
		                       r->number, &first, ret_size);
		if (place >= 0)
			return place;
	}
	return -1;
}

/* ---- without descriptions ---- */

struct sharing {
	const char *group; /* the first that reduces in the forward pass */
	size_t n;
};

/* By rank and step: when the backward pass first is on the GPU. */
static double *find_backwards(const struct ht_event_job *job)
{
	size_t n = job->n_ranks * job->n_windows;
	double *first = ht_arena_room(job->run->scratch, (n + 1) * sizeof *first);
	for (size_t i = 0; first && i < n; i++)
		first[i] = -INFINITY;
	for (uint32_t i = 0; first && i < job->n_nodes; i++) {
		unsigned flags = job->flags[i] & (HT_EVENT_WORK | HT_EVENT_BACKWARD);
		if (flags != (HT_EVENT_WORK | HT_EVENT_BACKWARD) || job->step[i] == HT_NONE)
			continue;
		double *at = &first[job->i_rank[i] * job->n_windows + job->step[i]];
		*at = *at == -INFINITY ? job->recorded[i] : fmin(*at, job->recorded[i]);
	}
	return first;
}

static bool reduces_forward(const struct ht_event_job *job, const double *backwards, uint32_t node)
{
	if (job->unit[node] == HT_NONE || job->step[node] == HT_NONE)
		return false;
	const struct ht_collective *c = job->units[job->unit[node]].of;
	bool reduces = c->kind == HT_COMM_ALLREDUCE || c->kind == HT_COMM_REDUCE_SCATTER;
	return reduces && c->size > 1 && (size_t)c->size < job->n_ranks &&
	       job->recorded[node] <
	               backwards[job->i_rank[node] * job->n_windows + job->step[node]];
}

static enum ht_status find_sharing(struct ht_event_job *job)
{
	struct sharing *of = ht_arena_alloc(job->run->scratch, (job->n_ranks + 1) * sizeof *of);
	const double *backwards = find_backwards(job);
	if (!of || !backwards)
		return ht_fail_nomem(job->run->ctx);
	for (uint32_t i = 0; i < job->n_nodes; i++) {
		if (!reduces_forward(job, backwards, i))
			continue;
		struct sharing *s = &of[job->i_rank[i]];
		const char *group = job->units[job->unit[i]].of->group;
		s->group = s->group ? s->group : group;
		s->n += !strcmp(s->group, group);
	}
	for (size_t k = 0; k < job->n_ranks; k++) {
		int64_t first, size, place;
		const char *ranks = of[k].group ? strchr(of[k].group, '[') : NULL;
		if (!ranks || of[k].n < MIN_REDUCTIONS * job->n_windows)
			continue;
		place = ht_group_place(ranks, job->ranks[k].number, &first, &size);
		job->ranks[k].share = place < 0 ? 0 : place;
	}
	return HT_OK;
}

enum ht_status ht_event_job_axes(struct ht_event_job *job, bool *ret_has_stages)
{
	bool has_stages = job->n_ranks > 0, has_shares = false;
	int64_t size;
	for (size_t k = 0; k < job->n_ranks; k++) {
		struct ht_event_rank *r = &job->ranks[k];
		int64_t tensor = place_on(r, HT_AXIS_TENSOR, &size),
		        context = place_on(r, HT_AXIS_CONTEXT, &size);
		has_shares |= tensor >= 0 || context >= 0;
		r->share = (tensor > 0 ? tensor : 0) * (context >= 0 ? size : 1) +
		           (context > 0 ? context : 0);
		r->stage = place_on(r, HT_AXIS_PIPELINE, &size);
		has_stages &= r->stage >= 0;
	}
	for (size_t k = 0; k < job->n_ranks && !has_stages; k++)
		job->ranks[k].stage = 0;
	*ret_has_stages = has_stages;
	return has_shares ? HT_OK : find_sharing(job);
}
