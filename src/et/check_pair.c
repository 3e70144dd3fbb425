/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_pair.c - rules about an execution trace and the Kineto trace of the same window: ET060 to ET064.
 *
 * A node and an event are the same call when they have the same record function id; PyTorch's own test demands
 * that both files have the same ids. The declaration of process groups is recorded before the profiler starts and
 * is in the execution trace only.
 */
#include "et/et_findings.h"
#include "store/args.h"

#include "base/sort.h"
#include "et/et_groups.h"
#include "et/et_join.h"

#include <string.h>

struct pair {
	struct ht_et_check *c;
	const struct ht_trace *trace;
	struct ht_et_join join;
};

static bool is_step(const char *name)
{
	return !strncmp(name, "ProfilerStep#", 13);
}

/* Whether the node's id lies outside the window's, and that window has no steps of its own there. */
static bool is_outside(const struct pair *p, uint32_t row)
{
	uint64_t id = ht_et_nodes(p->c->et)[row].rf_id;
	return id < p->join.first_event || id > p->join.last_event;
}

/* One file may hold several windows of a schedule: steps that the Kineto trace does not have say so. */
static bool has_other_windows(const struct pair *p)
{
	const struct ht_et *et = p->c->et;
	for (uint32_t row = 0; row < ht_et_n(et); row++)
		if (ht_et_nodes(et)[row].rf_id && p->join.event[row] == HT_NONE &&
		        is_outside(p, row) && is_step(ht_et_str(et, ht_et_nodes(et)[row].name)))
			return true;
	return false;
}

static size_t report_nodes(struct pair *p)
{
	const struct ht_et *et = p->c->et;
	bool several = has_other_windows(p);
	size_t n_outside = 0;
	for (uint32_t row = 0; row < ht_et_n(et); row++) {
		const struct ht_et_node *node = &ht_et_nodes(et)[row];
		if (!node->rf_id || ht_et_kind(et, row) != HT_ET_OP ||
		        p->join.event[row] != HT_NONE || ht_et_is_group_init(et, row))
			continue;
		if (several && is_outside(p, row))
			n_outside++;
		else
			ht_et_report(p->c, HT_ET060, HT_ET_ERROR, row,
			        "%.120s with rf_id %llu is not in the Kineto trace",
			        ht_et_str(et, node->name), (unsigned long long)node->rf_id);
	}
	return n_outside;
}

static size_t report_events(struct pair *p)
{
	const struct ht_trace *t = p->trace;
	struct ht_arg_cursor ids = ht_arg_cursor(t, "Record function id");
	size_t n = 0;
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		if (!ht_et_is_cpu_event(t, row) || !ht_is_span(t, row) ||
		        p->join.node[row] != HT_ET_NONE)
			continue;
		int64_t id = ht_arg_cursor_i64(&ids, row, 0);
		if (id <= 0 || ht_et_is_unfinished(t, row))
			continue;
		n++;
		ht_et_report(p->c, HT_ET060, HT_ET_ERROR, HT_ET_NONE,
		        "event %u of the Kineto trace, %.120s with id %lld, is not in the execution "
		        "trace",
		        row, ht_str(t, t->name[row]), (long long)id);
	}
	return n;
}

static void check_names(struct pair *p)
{
	const struct ht_et *et = p->c->et;
	for (uint32_t row = 0; row < ht_et_n(et); row++) {
		uint32_t event = p->join.event[row];
		const char *name = ht_et_str(et, ht_et_nodes(et)[row].name);
		if (event == HT_NONE)
			continue;
		const char *other = ht_str(p->trace, p->trace->name[event]);
		if (!ht_et_same_name(name, other))
			ht_et_report(p->c, HT_ET061, HT_ET_ERROR, row,
			        "it is %.120s here and %.120s in the Kineto trace", name, other);
	}
}

/* The operator or annotation around an event that has a node, as a node. */
static uint32_t around(const struct pair *p, uint32_t event)
{
	const struct ht_trace *t = p->trace;
	for (uint32_t row = t->parent[event]; row != HT_NONE; row = t->parent[row])
		if (p->join.node[row] != HT_ET_NONE)
			return p->join.node[row];
	return HT_ET_NONE;
}

static void check_parents(struct pair *p)
{
	const struct ht_et *et = p->c->et;
	for (uint32_t row = 0; row < ht_et_n(et); row++) {
		uint32_t parent = ht_et_nodes(et)[row].parent;
		if (p->join.event[row] == HT_NONE || parent == HT_ET_NONE)
			continue;
		uint32_t wanted = around(p, p->join.event[row]);
		/* what the other trace does not have cannot be compared */
		if (p->join.event[parent] == HT_NONE ? wanted == HT_ET_NONE : wanted == parent)
			continue;
		if (p->join.event[parent] == HT_NONE && ht_et_kind(et, parent) == HT_ET_OP)
			continue;
		ht_et_report(p->c, HT_ET062, HT_ET_WARNING, row,
		        "its parent is %llu, but in the Kineto trace %s%llu is around it",
		        (unsigned long long)ht_et_nodes(et)[parent].id,
		        wanted == HT_ET_NONE ? "nothing, not " : "",
		        (unsigned long long)ht_et_nodes(et)[wanted == HT_ET_NONE ? parent : wanted]
		                .id);
	}
}

/* The first track that a thread was seen with, and the other way round. */
static enum ht_status check_threads(struct pair *p)
{
	const struct ht_et *et = p->c->et;
	struct ht_arena *arena = p->c->scratch;
	uint32_t *row_of = ht_arena_alloc(arena, (p->trace->n_tracks + 1) * sizeof *row_of);
	uint64_t *tids = ht_arena_alloc(arena, ((size_t)ht_et_n(et) + 1) * sizeof *tids);
	uint32_t *rows = ht_arena_alloc(arena, ((size_t)ht_et_n(et) + 1) * sizeof *rows);
	size_t n = 0;
	if (!row_of || !tids || !rows)
		return ht_fail_nomem(p->c->ctx);
	memset(row_of, 0xff, p->trace->n_tracks * sizeof *row_of);
	for (uint32_t row = 0; row < ht_et_n(et); row++) {
		if (p->join.event[row] == HT_NONE)
			continue;
		uint32_t track = p->trace->track[p->join.event[row]];
		uint32_t first = row_of[track];
		if (first == HT_ET_NONE)
			row_of[track] = row;
		else if (ht_et_nodes(et)[first].tid != ht_et_nodes(et)[row].tid)
			ht_et_report(p->c, HT_ET063, HT_ET_ERROR, row,
			        "thread %llu shares a thread of the Kineto trace with thread %llu",
			        (unsigned long long)ht_et_nodes(et)[row].tid,
			        (unsigned long long)ht_et_nodes(et)[first].tid);
		tids[n] = ht_et_nodes(et)[row].tid;
		rows[n++] = row;
	}
	if (!ht_sort_keys(p->c->ctx->mem, tids, rows, n))
		return ht_fail_nomem(p->c->ctx);
	for (size_t i = 1; i < n; i++)
		if (tids[i] == tids[i - 1] && p->trace->track[p->join.event[rows[i]]] !=
		                                      p->trace->track[p->join.event[rows[i - 1]]])
			ht_et_report(p->c, HT_ET063, HT_ET_ERROR, rows[i],
			        "thread %llu is more than one thread of the Kineto trace",
			        (unsigned long long)tids[i]);
	return HT_OK;
}

static void check_window(struct pair *p, size_t n_outside, size_t n_events)
{
	if (n_outside)
		ht_et_report(p->c, HT_ET064, HT_ET_WARNING, HT_ET_NONE,
		        "several windows: %zu nodes are of windows before or after that of the Kineto "
		        "trace",
		        n_outside);
	if (n_events)
		ht_et_report(p->c, HT_ET064, HT_ET_WARNING, HT_ET_NONE,
		        "partial window: %zu of %zu events of the Kineto trace have no node",
		        n_events, p->join.n_events);
}

/* Pairs that cannot be compared; true when one was found. */
static bool refuse(struct pair *p)
{
	const struct ht_et_join *join = &p->join;
	if (join->n_same_id_events)
		ht_et_report(p->c, HT_ET060, HT_ET_ERROR, HT_ET_NONE,
		        "%zu events of the Kineto trace have an id that another has too",
		        join->n_same_id_events);
	if (join->key == HT_ET_BY_NOTHING && join->n_nodes)
		ht_et_report(p->c, HT_ET060, HT_ET_ERROR, HT_ET_NONE,
		        "no event of the Kineto trace has a record function id");
	else if (join->is_refused)
		ht_et_report(p->c, HT_ET061, HT_ET_ERROR, HT_ET_NONE,
		        "only %zu of %zu pairs with the same id have the same name: the traces are not of "
		        "the same run",
		        join->n_same_name, join->n_pairs);
	return join->key == HT_ET_BY_NOTHING || join->is_refused;
}

enum ht_status ht_et_check_pair(struct ht_et_check *c, const struct ht_trace *trace)
{
	struct pair p = { .c = c, .trace = trace };
	HT_TRY(ht_et_join_make(c->ctx, c->et, trace, c->scratch, &p.join));
	if (refuse(&p))
		return HT_OK;
	size_t n_outside = report_nodes(&p);
	/* External ids are not all of nodes */
	size_t n_events = p.join.key == HT_ET_BY_RF_ID ? report_events(&p) : 0;
	check_names(&p);
	check_parents(&p);
	check_window(&p, n_outside, n_events);
	return check_threads(&p);
}
