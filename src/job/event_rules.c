/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_rules.c - what rules of the user change in a job. See event_edit.h.
 */
#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"
#include "job/event_edit.h"
#include "model/communication/collective_match.h"
#include "table/optional.h"

#include <math.h>
#include <regex.h>
#include <string.h>

/* ---- which nodes ---- */

static bool is_listed(const char *list, int64_t number)
{
	return !list || ht_list_text_has(list, number);
}

/* What a rule says of ranks, stages, groups and sizes, which one rank does not know. */
static bool fits_job(const struct ht_event_job *job, const struct ht_cp_rule *rule, uint32_t node)
{
	const struct ht_event_rank *r = &job->ranks[job->i_rank[node]];
	const struct ht_collective *of =
	        job->unit[node] == HT_NONE ? NULL : job->units[job->unit[node]].of;
	if (!is_listed(rule->ranks, r->number) || !is_listed(rule->stages, r->stage))
		return false;
	if (rule->has_size && !(of && of->bytes != HT_NO_I64 && of->bytes >= rule->least_bytes &&
	                              of->bytes <= rule->most_bytes))
		return false;
	return !rule->group || (of && !regexec(rule->group, of->group, 0, NULL, 0));
}

/* The first rule that fits counts. */
static void choose(struct ht_event_editor *e, const struct ht_cp_rules *rules, size_t k)
{
	const struct ht_event_job *job = e->job;
	for (uint32_t i = 0; i < job->n_nodes; i++) {
		e->is_chosen[i] = (job->rules[i] >> k & 1) && fits_job(job, &rules->list[k], i);
		for (size_t j = 0; j < k && e->is_chosen[i]; j++)
			if ((job->rules[i] >> j & 1) && fits_job(job, &rules->list[j], i))
				e->is_chosen[i] = false;
	}
}

/* What is known of a node for rules of that kind; -1: nothing. */
static int64_t fact(const struct ht_event_job *job, uint32_t node, size_t column)
{
	const struct ht_event_rank *r = &job->ranks[job->i_rank[node]];
	const ht_table *of = r->part->facts[HT_EVENT_FACTS_OF];
	size_t n = ht_table_n_rows(of);
	int64_t own = node - r->first;
	size_t at = HT_LOWER_BOUND(i, n, ht_table_i64(of, i, HT_OF_NODE) < own);
	return at < n && ht_table_i64(of, at, HT_OF_NODE) == own
	               ? ht_table_i64_or(of, at, column, -1)
	               : -1;
}

static int64_t row_of(const struct ht_event_job *job, uint32_t node)
{
	const struct ht_event_rank *r = &job->ranks[job->i_rank[node]];
	return ht_table_i64_or(
	        r->part->facts[HT_EVENT_FACTS_NODES], node - r->first, HT_EVENT_ROW, -1);
}

/* ---- whole events ---- */

struct events {
	uint64_t *keys;          /* row of the event */
	uint32_t *nodes, *first; /* slices, n + 1 */
	size_t n;
	uint64_t *begins; /* by event: its first node */
	uint32_t *order;  /* of events, as they begin */
};

static bool events_make(struct ht_event_editor *e, struct events *ret)
{
	struct ht_arena *a = e->job->run->scratch;
	uint32_t most = 0;
	for (size_t i = 0; i < e->job->n_ranks; i++)
		most = e->job->ranks[i].n > most ? e->job->ranks[i].n : most;
	*ret = (struct events){ .keys = ht_arena_room(a, (most + (size_t)1) * sizeof(uint64_t)),
		.nodes = ht_arena_room(a, (most + (size_t)1) * sizeof(uint32_t)),
		.first = ht_arena_room(a, (most + (size_t)2) * sizeof(uint32_t)),
		.begins = ht_arena_room(a, (most + (size_t)1) * sizeof(uint64_t)),
		.order = ht_arena_room(a, (most + (size_t)1) * sizeof(uint32_t)) };
	return ret->keys && ret->nodes && ret->first && ret->begins && ret->order;
}

/* The events of a rank that its chosen nodes are of, in order of their starts. */
static bool find_events(struct ht_event_editor *e, const struct ht_event_rank *r, struct events *ev)
{
	struct ht_mem *mem = e->job->run->ctx->mem;
	size_t n = 0;
	for (uint32_t i = r->first; i < r->first + r->n; i++) {
		int64_t row = e->is_chosen[i] ? fact(e->job, i, HT_OF_EVENT) : -1;
		if (row < 0)
			continue;
		ev->keys[n] = (uint64_t)row;
		ev->nodes[n++] = i;
	}
	if (!ht_sort_keys(mem, ev->keys, ev->nodes, n))
		return false;
	ev->n = 0;
	for (size_t i = 0; i < n; i++) {
		if (i && ev->keys[i] == ev->keys[i - 1])
			continue;
		ev->begins[ev->n] = ev->nodes[i];
		ev->order[ev->n] = (uint32_t)ev->n;
		ev->first[ev->n++] = (uint32_t)i;
	}
	ev->first[ev->n] = (uint32_t)n;
	return ht_sort_keys(mem, ev->begins, ev->order, ev->n);
}

/* An event takes a time of its own on its thread or stream; what it launches is not meant. */
static bool is_own(const struct ht_event_job *job, uint32_t node)
{
	return !(job->flags[node] & HT_EVENT_WORK) ||
	       row_of(job, node) == fact(job, node, HT_OF_EVENT);
}

static void set_event(
        struct ht_event_editor *e, const struct ht_cp_rule *rule, const uint32_t *nodes, size_t n)
{
	uint32_t last = HT_NONE;
	double sum = 0;
	for (size_t i = 0; i < n; i++) {
		if (!is_own(e->job, nodes[i]))
			continue;
		last = nodes[i];
		sum += e->dur[last];
	}
	if (last == HT_NONE)
		return;
	if (rule->value == HT_CP_INSERT || sum == 0) {
		e->dur[last] += rule->factor;
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (is_own(e->job, nodes[i]))
			e->dur[nodes[i]] *= rule->factor / sum;
}

/* The k-th event of a step happens so often that k of them have happened k times the number, rounded down. */
static void repeat_events(
        struct ht_event_editor *e, const struct ht_cp_rule *rule, const struct events *ev)
{
	const struct ht_event_job *job = e->job;
	uint32_t step = HT_NONE, nth = 0;
	for (size_t k = 0; k < ev->n; k++) {
		uint32_t at = ev->order[k], begin = ev->nodes[ev->first[at]];
		nth = job->step[begin] == step ? nth + 1 : 0;
		step = job->step[begin];
		uint32_t copies =
		        (uint32_t)(floor((nth + 1) * rule->factor) - floor(nth * rule->factor));
		for (uint32_t i = ev->first[at]; i < ev->first[at + 1]; i++) {
			uint32_t node = ev->nodes[i];
			e->event[node] = begin;
			e->copies[node] = copies ? copies : 1;
			if (!copies)
				ht_event_scale(e, node, 0);
		}
	}
}

/* The graph itself will be another one. */
static bool start_graph(struct ht_event_editor *e)
{
	size_t n = e->job->n_nodes;
	if (e->copies)
		return true;
	e->copies = ht_arena_room(e->job->run->scratch, (n + 1) * sizeof *e->copies);
	e->event = ht_arena_room(e->job->run->scratch, (n + 1) * sizeof *e->event);
	e->after = ht_arena_room(e->job->run->scratch, (n + 1) * sizeof *e->after);
	if (!e->copies || !e->event || !e->after)
		return false;
	for (size_t i = 0; i < n; i++) {
		e->copies[i] = 1;
		e->event[i] = e->after[i] = HT_NONE;
	}
	return true;
}

static enum ht_status change_events(struct ht_event_editor *e, const struct ht_cp_rule *rule)
{
	struct events ev;
	bool repeats = rule->value == HT_CP_REPEAT;
	if (!events_make(e, &ev) || (repeats && !start_graph(e)))
		return ht_fail_nomem(e->job->run->ctx);
	for (size_t i = 0; i < e->job->n_ranks; i++) {
		if (!find_events(e, &e->job->ranks[i], &ev))
			return ht_fail_nomem(e->job->run->ctx);
		if (repeats)
			repeat_events(e, rule, &ev);
		for (size_t k = 0; k < ev.n && !repeats; k++)
			set_event(e, rule, ev.nodes + ev.first[k], ev.first[k + 1] - ev.first[k]);
	}
	return HT_OK;
}

/* ---- in turn ---- */

/* GPU activity of a rank, in the order of launches. */
static bool order_works(struct ht_event_editor *e, const struct ht_event_rank *r, struct events *ev)
{
	const struct ht_event_job *job = e->job;
	ev->n = 0;
	for (uint32_t i = r->first; i < r->first + r->n; i++) {
		uint32_t launch = job->launch[i];
		if (!(job->flags[i] & HT_EVENT_WORK))
			continue;
		double at = launch == HT_NONE ? job->recorded[i]
		                              : job->recorded[launch] + job->dur[launch];
		ev->keys[ev->n] = (uint64_t)fmax(at, 0);
		ev->nodes[ev->n++] = i;
	}
	return ht_sort_keys(job->run->ctx->mem, ev->keys, ev->nodes, ev->n);
}

/* What is chosen waits for what is launched before it, and is waited for by what is launched next. */
static enum ht_status put_in_turn(struct ht_event_editor *e)
{
	struct events ev;
	if (!events_make(e, &ev) || !start_graph(e))
		return ht_fail_nomem(e->job->run->ctx);
	for (size_t i = 0; i < e->job->n_ranks; i++) {
		if (!order_works(e, &e->job->ranks[i], &ev))
			return ht_fail_nomem(e->job->run->ctx);
		for (size_t k = 1; k < ev.n; k++)
			if (e->is_chosen[ev.nodes[k]] || e->is_chosen[ev.nodes[k - 1]])
				e->after[ev.nodes[k]] = ev.nodes[k - 1];
	}
	return HT_OK;
}

/* ---- fused kernels ---- */

/* Whether a chosen piece of work can be one with what is before it: that is chosen too, and it waits for no other stream. */
static bool is_next(const struct ht_event_editor *e, uint32_t node)
{
	const struct ht_event_job *job = e->job;
	uint32_t before = job->before[node];
	return before != HT_NONE && e->is_chosen[node] && e->is_chosen[before] &&
	       (job->flags[node] & job->flags[before] & HT_EVENT_WORK) &&
	       job->step[node] == job->step[before] &&
	       job->first_edge[node] == job->first_edge[node + 1];
}

/* The first has the time of all. */
static enum ht_status fuse(struct ht_event_editor *e, struct ht_event_unknown *unknown)
{
	const struct ht_event_job *job = e->job;
	uint32_t *firsts =
	        ht_arena_room(job->run->scratch, (job->n_nodes + (size_t)1) * sizeof *firsts);
	if (!firsts)
		return ht_fail_nomem(job->run->ctx);
	for (uint32_t i = 0; i < job->n_nodes; i++) {
		firsts[i] = i;
		if (!is_next(e, i))
			continue;
		uint32_t before = job->before[i], first = firsts[before];
		int64_t own = fact(job, i, HT_OF_MEMORY);
		int64_t of_first = fact(job, first, HT_OF_MEMORY);
		if (own < 0 || of_first < 0) {
			*unknown = (struct ht_event_unknown){ "no_bytes",
				ht_event_job_name(job, own < 0 ? i : first) };
			return HT_OK;
		}
		e->dur[first] = (first == before ? (double)of_first : e->dur[first]) + (double)own;
		e->dur[i] = 0;
		e->is_fused[i] = true;
		firsts[i] = first;
	}
	return HT_OK;
}

/* ---- rules ---- */

static void scale(struct ht_event_editor *e, const struct ht_cp_rule *rule)
{
	for (uint32_t i = 0; i < e->job->n_nodes; i++) {
		if (!e->is_chosen[i])
			continue;
		if (rule->value == HT_CP_APART)
			e->is_apart[i] = true;
		else
			ht_event_scale(e, i, rule->factor);
	}
}

static enum ht_status apply(
        struct ht_event_editor *e, const struct ht_cp_rule *rule, struct ht_event_unknown *unknown)
{
	switch (rule->value) {
	case HT_CP_FACTOR:
	case HT_CP_APART: scale(e, rule); break;
	case HT_CP_MEDIAN: return ht_event_like_peers(e, HT_PEER_OTHERS, e->is_chosen);
	case HT_CP_BEST: return ht_event_like_peers(e, HT_PEER_BEST, e->is_chosen);
	case HT_CP_SERIAL: return put_in_turn(e);
	case HT_CP_FUSE: return fuse(e, unknown);
	case HT_CP_RANKS: return ht_event_resize_groups(e, rule->factor, unknown);
	case HT_CP_SET:
	case HT_CP_INSERT:
	case HT_CP_REPEAT: return change_events(e, rule);
	}
	return HT_OK;
}

enum ht_status ht_event_apply(struct ht_event_editor *e, const struct ht_cp_rules *rules,
        struct ht_event_unknown *ret_unknown)
{
	*ret_unknown = (struct ht_event_unknown){ 0 };
	for (size_t k = 0; k < rules->n && k < 64 && !ret_unknown->why; k++) {
		choose(e, rules, k);
		HT_TRY(apply(e, &rules->list[k], ret_unknown));
	}
	return HT_OK;
}
