/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_order.c - an order of the nodes of a job in which each comes after what it waits for. See event_replay.h.
 *
 * Nodes of one rank are in such an order, and collectives join the ranks: a node is next when all that it waits for is done, and what waits
 * for a collective goes on when its last rank has come. Where clocks or matches are wrong two collectives may wait for each other: those that
 * are left over are no collectives then, and end as they did.
 */
#include "job/event_replay.h"

#include "model/communication/collective_match.h"

#include <string.h>

struct sorting {
	struct ht_event_job *job;
	uint32_t *first, *next; /* by node: those that wait for it */
	uint32_t *open;         /* by node: how many it waits for */
	uint32_t *stack;
	uint32_t n_stack;
};

/* Tell every pair of a node and one that it waits for. */
static void each_wait(
        struct sorting *s, uint32_t node, void (*tell)(struct sorting *, uint32_t, uint32_t))
{
	const struct ht_event_job *job = s->job;
	if (job->before[node] != HT_NONE)
		tell(s, job->before[node], node);
	if (job->launch[node] != HT_NONE)
		tell(s, job->launch[node], node);
	for (uint32_t e = job->first_edge[node]; e < job->first_edge[node + 1]; e++)
		tell(s, job->edge_from[e], node);
}

static void count(struct sorting *s, uint32_t from, uint32_t to)
{
	s->first[from + 1]++;
	s->open[to]++;
}

static void link_up(struct sorting *s, uint32_t from, uint32_t to)
{
	s->next[s->first[from]++] = to;
}

static void release(struct sorting *s, uint32_t node)
{
	for (uint32_t i = s->first[node]; i < s->first[node + 1]; i++)
		if (!--s->open[s->next[i]])
			s->stack[s->n_stack++] = s->next[i];
}

static void walk(struct sorting *s)
{
	struct ht_event_job *job = s->job;
	while (s->n_stack) {
		uint32_t node = s->stack[--s->n_stack];
		uint32_t unit = job->unit[node];
		job->order[job->n_order++] = node;
		if (unit == HT_NONE || job->is_free[node])
			release(s, node);
		if (unit == HT_NONE || --job->units[unit].left)
			continue;
		job->order[job->n_order++] = job->n_nodes + unit;
		for (uint32_t i = 0; i < job->units[unit].n; i++) {
			uint32_t member = job->members[job->units[unit].first + i];
			if (!job->is_free[member])
				release(s, member);
		}
	}
}

/* Collectives of which some rank never comes: their members end as they did. */
static bool take_apart(struct ht_event_job *job)
{
	bool any = false;
	for (uint32_t u = 0; u < job->n_units; u++) {
		struct ht_event_unit *unit = &job->units[u];
		if (!unit->left)
			continue;
		any = true;
		job->broken = job->n_broken++ ? job->broken : unit->of->name;
		for (uint32_t i = 0; i < unit->n; i++)
			job->unit[job->members[unit->first + i]] = HT_NONE;
		unit->n = 0;
	}
	return any;
}

static void sort_once(struct sorting *s)
{
	struct ht_event_job *job = s->job;
	job->n_order = 0;
	memset(s->open, 0, job->n_nodes * sizeof *s->open);
	memset(s->first, 0, (job->n_nodes + 2) * sizeof *s->first);
	for (uint32_t u = 0; u < job->n_units; u++)
		job->units[u].left = job->units[u].n;
	for (uint32_t i = 0; i < job->n_nodes; i++)
		each_wait(s, i, count);
	for (uint32_t i = 0; i < job->n_nodes; i++)
		s->first[i + 1] += s->first[i];
	for (uint32_t i = 0; i < job->n_nodes; i++)
		each_wait(s, i, link_up);
	memmove(s->first + 1, s->first, job->n_nodes * sizeof *s->first);
	s->first[0] = 0;
	for (uint32_t i = job->n_nodes; i--;)
		if (!s->open[i])
			s->stack[s->n_stack++] = i;
	walk(s);
}

enum ht_status ht_event_job_sort(struct ht_event_job *job)
{
	struct ht_arena own;
	ht_arena_init_like(&own, job->run->scratch);
	size_t n = job->n_nodes, n_waits = 2 * n + job->first_edge[n];
	struct sorting s = { .job = job,
		.first = ht_arena_room(&own, (n + 2) * sizeof(uint32_t)),
		.next = ht_arena_room(&own, (n_waits + 1) * sizeof(uint32_t)),
		.open = ht_arena_room(&own, (n + 1) * sizeof(uint32_t)),
		.stack = ht_arena_room(&own, (n + 1) * sizeof(uint32_t)) };
	bool has_room = s.first && s.next && s.open && s.stack;
	if (has_room) {
		sort_once(&s);
		if (job->n_order < job->n_nodes + job->n_units && take_apart(job))
			sort_once(&s);
	}
	ht_arena_done(&own);
	return has_room ? HT_OK : ht_fail_nomem(job->run->ctx);
}
