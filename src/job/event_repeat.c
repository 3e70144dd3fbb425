/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_repeat.c - see event_repeat.h.
 *
 * The first copies keep the numbers of their nodes, and others stand behind all nodes: copy c of node v is extra[v] + c - 1.
 */
#include "job/event_repeat.h"

#include "model/communication/collective_match.h"

#include <string.h>

struct repeat {
	const struct ht_event_job *from;
	const uint32_t *copies, *event, *after; /* by node of it */
	struct ht_event_job *to;
	uint32_t *extra; /* by node of from: its first further copy */
	uint32_t *
	        tail; /* by node that is the first of its event on its thread or stream: the last */
	uint32_t *head; /* by node: that first one */
	uint32_t n_edges;
	double *dur;
	float *scale;
	bool *is_apart, *is_fused;
};

static uint32_t copy_of(const struct repeat *r, uint32_t node, uint32_t copy)
{
	return copy ? r->extra[node] + copy - 1 : node;
}

/* What is before the end of the first step happens once, also of an event that goes on after it. */
static bool is_same_event(const struct repeat *r, uint32_t node, uint32_t other)
{
	return r->event[node] != HT_NONE && r->event[node] == r->event[other] &&
	       r->copies[node] == r->copies[other];
}

/* What copy c of a node waits for instead of another node: of its event the same copy, else the last. */
static uint32_t waits_for(const struct repeat *r, uint32_t node, uint32_t copy, uint32_t other)
{
	if (other == HT_NONE)
		return HT_NONE;
	return is_same_event(r, node, other) ? copy_of(r, other, copy)
	                                     : copy_of(r, other, r->copies[other] - 1);
}

static void find_ends(struct repeat *r)
{
	for (uint32_t i = 0; i < r->from->n_nodes; i++) {
		uint32_t before = r->from->before[i];
		r->head[i] = before != HT_NONE && is_same_event(r, i, before) ? r->head[before] : i;
		r->tail[r->head[i]] = i;
	}
}

static void put_edges(struct repeat *r, uint32_t node, uint32_t copy, uint32_t as)
{
	const struct ht_event_job *from = r->from;
	struct ht_event_job *to = r->to;
	to->first_edge[as] = r->n_edges;
	for (uint32_t e = from->first_edge[node]; e < from->first_edge[node + 1]; e++) {
		/* what the event waits for from outside is over when it happens again */
		if (copy && !is_same_event(r, node, from->edge_from[e]))
			continue;
		to->edge_from[r->n_edges] = waits_for(r, node, copy, from->edge_from[e]);
		to->edge_lag[r->n_edges] = from->edge_lag[e];
		to->edge_kind[r->n_edges++] = from->edge_kind[e];
	}
}

static void put_after(struct repeat *r, uint32_t node, uint32_t copy)
{
	uint32_t after = r->after[node];
	if (after == HT_NONE || (copy && !is_same_event(r, node, after)))
		return;
	r->to->edge_from[r->n_edges] = waits_for(r, node, copy, after);
	r->to->edge_lag[r->n_edges] = 0;
	r->to->edge_kind[r->n_edges++] = HT_EDGE_RECORDED;
}

static void put_node(
        struct repeat *r, const struct ht_event_edit *edit, uint32_t node, uint32_t copy)
{
	const struct ht_event_job *from = r->from;
	struct ht_event_job *to = r->to;
	uint32_t as = copy_of(r, node, copy);
	bool begins = copy && r->head[node] == node;
	to->before[as] = begins ? copy_of(r, r->tail[node], copy - 1)
	                        : waits_for(r, node, copy, from->before[node]);
	to->launch[as] = waits_for(r, node, copy, from->launch[node]);
	to->unit[as] = HT_NONE;
	to->step[as] = from->step[node];
	to->flags[as] = from->flags[node];
	to->is_free[as] = from->is_free[node];
	to->recorded[as] = from->recorded[node];
	to->dur[as] = from->dur[node];
	to->before_lag[as] = from->before_lag[node];
	to->launch_lag[as] = from->launch_lag[node];
	r->dur[as] = edit->dur[node];
	r->scale[as] = edit->scale[node];
	r->is_apart[as] = edit->is_apart[node];
	r->is_fused[as] = edit->is_fused[node];
	put_edges(r, node, copy, as);
	put_after(r, node, copy);
}

static bool put_unit(struct repeat *r, const struct ht_event_unit *unit, uint32_t *n_members)
{
	const struct ht_event_job *from = r->from;
	struct ht_event_job *to = r->to;
	uint32_t copies = unit->n ? r->copies[from->members[unit->first]] : 1;
	for (uint32_t i = 0; i < unit->n; i++)
		if (r->copies[from->members[unit->first + i]] != copies)
			return false;
	for (uint32_t c = 0; c < copies; c++) {
		to->units[to->n_units] = (struct ht_event_unit){ *n_members, unit->n, 0, unit->of };
		for (uint32_t i = 0; i < unit->n; i++) {
			uint32_t member = copy_of(r, from->members[unit->first + i], c);
			to->members[(*n_members)++] = member;
			to->unit[member] = to->n_units;
		}
		to->n_units++;
	}
	return true;
}

static bool make_room(struct repeat *r, size_t n, size_t n_edges, size_t n_units)
{
	struct ht_arena *a = r->from->run->scratch;
	r->dur = ht_arena_room(a, (n + 1) * sizeof(double));
	r->scale = ht_arena_room(a, (n + 1) * sizeof(float));
	r->is_apart = ht_arena_room(a, n + 1);
	r->is_fused = ht_arena_room(a, n + 1);
	return ht_event_job_room(r->to, n, n_edges, n_units) && r->dur && r->scale && r->is_apart &&
	       r->is_fused;
}

/* How much there will be of everything, and where copies begin. */
static bool count(struct repeat *r, size_t *ret_n, size_t *ret_edges, size_t *ret_units)
{
	const struct ht_event_job *from = r->from;
	size_t n = from->n_nodes, n_edges = 0, n_units = 0;
	for (uint32_t i = 0; i < from->n_nodes; i++) {
		r->extra[i] = (uint32_t)n;
		n += r->copies[i] - 1;
		n_edges +=
		        (size_t)r->copies[i] * (from->first_edge[i + 1] - from->first_edge[i] + 1);
		if (n >= HT_NONE / 4 || n_edges >= HT_NONE / 4)
			return false;
	}
	for (uint32_t u = 0; u < from->n_units; u++)
		n_units += from->units[u].n ? r->copies[from->members[from->units[u].first]] : 1;
	*ret_n = n;
	*ret_edges = n_edges;
	*ret_units = n_units;
	return true;
}

/* Nodes in the order of their numbers: edges are slices. */
static void put_nodes(struct repeat *r, const struct ht_event_edit *edit)
{
	for (uint32_t i = 0; i < r->from->n_nodes; i++)
		put_node(r, edit, i, 0);
	for (uint32_t i = 0; i < r->from->n_nodes; i++)
		for (uint32_t c = 1; c < r->copies[i]; c++)
			put_node(r, edit, i, c);
	r->to->first_edge[r->to->n_nodes] = r->n_edges;
}

enum ht_status ht_event_job_replay_repeated(struct ht_event_editor *e,
        const struct ht_event_edit *edit, double *ret_steps_ns,
        struct ht_event_unknown *ret_unknown)
{
	struct ht_event_job *from = e->job, to = *from;
	struct ht_arena *a = from->run->scratch;
	size_t n = 0, n_edges = 0, n_units = 0,
	       room = (from->n_nodes + (size_t)1) * sizeof(uint32_t);
	struct repeat r = { .from = from,
		.copies = e->copies,
		.event = e->event,
		.after = e->after,
		.to = &to,
		.extra = ht_arena_room(a, room),
		.tail = ht_arena_room(a, room),
		.head = ht_arena_room(a, room) };
	uint32_t n_members = 0;
	if (!r.extra || !r.tail || !r.head)
		return ht_fail_nomem(from->run->ctx);
	if (!count(&r, &n, &n_edges, &n_units))
		return ht_fail(from->run->ctx, HT_LIMIT, NULL, -1, "choose fewer steps with --step",
		        "the job with what is repeated is more than a replay can hold");
	if (!make_room(&r, n, n_edges, n_units))
		return ht_fail_nomem(from->run->ctx);
	find_ends(&r);
	to.n_nodes = (uint32_t)n;
	to.n_units = 0;
	to.n_broken = 0;
	put_nodes(&r, edit);
	for (uint32_t u = 0; u < from->n_units; u++) {
		if (put_unit(&r, &from->units[u], &n_members))
			continue;
		*ret_unknown =
		        (struct ht_event_unknown){ "uneven_repeat", from->units[u].of->group };
		return HT_OK;
	}
	HT_TRY(ht_event_job_sort(&to));
	if (to.n_broken)
		*ret_unknown = (struct ht_event_unknown){ "repeat_circle", to.broken };
	ht_event_job_replay(&to, &(struct ht_event_edit){ r.dur, r.scale, r.is_apart, r.is_fused },
	        ret_steps_ns);
	return HT_OK;
}
