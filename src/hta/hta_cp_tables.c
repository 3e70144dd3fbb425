/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_cp_tables.c - the views of HTA's critical path graph. See graph/cp_tables.h.
 *
 * One window, the first instance unless said. Weights are HTA's: they need not cover the window.
 */
#include "hta/hta_cp_graph.h"

#include "graph/cp_tables.h"
#include "store/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct shown {
	struct ht_run *run;
	const char *scale;
	struct ht_cp_graph g;
	struct ht_cp_path path;
	struct ht_cp_window window;
	ht_table *table;
};

static int64_t node_ns(const struct shown *s, uint32_t node)
{
	uint32_t row = ht_cp_node_row(&s->g, node);
	return node & 1 ? ht_end_ns(s->g.trace, row) : s->g.trace->ts_ns[row];
}

/* To the end of the window or of its last event, whichever is later. */
static int64_t window_ns(const struct shown *s)
{
	int64_t end = s->g.end_ns;
	for (size_t i = 0; i < s->g.n_order; i++) {
		int64_t node_end = node_ns(s, s->g.order[i]);
		end = node_end > end ? node_end : end;
	}
	return end - s->g.start_ns;
}

struct total {
	const char *name;
	double weight;
	int64_t n_edges;
};

static int compare_name(const void *left, const void *right)
{
	return strcmp(((const struct total *)left)->name, ((const struct total *)right)->name);
}

static enum ht_status put_summary(struct shown *s)
{
	struct total totals[HT_CP_N_BOUNDS] = { 0 };
	double sum = 0;
	for (int k = 0; k < HT_CP_N_BOUNDS; k++)
		totals[k].name = ht_cp_bound_name(k);
	for (size_t i = 0; i < s->path.n_edges; i++) {
		const struct ht_cp_edge *edge = &s->g.edges[s->path.edges[i]];
		struct total *total = &totals[ht_cp_bound(&s->g, edge)];
		total->weight += edge->weight;
		total->n_edges++;
		sum += edge->weight;
	}
	qsort(totals, HT_CP_N_BOUNDS, sizeof *totals, compare_name);
	for (int k = 0; k < HT_CP_N_BOUNDS; k++) {
		if (!totals[k].n_edges)
			continue;
		ht_cp_put_key(s->table, s->run, &s->window);
		ht_table_put_str(s->table, HT_CP_SUMMARY_BOUND_BY, totals[k].name);
		ht_table_put_i64(s->table, HT_CP_SUMMARY_DURATION_NS, ht_cp_ns(totals[k].weight));
		ht_table_put_f64(
		        s->table, HT_CP_SUMMARY_SHARE, sum > 0 ? totals[k].weight / sum : NAN);
		ht_table_put_i64(s->table, HT_CP_SUMMARY_INFERRED_NS, 0);
		ht_table_put_i64(s->table, HT_CP_SUMMARY_WINDOW_NS, window_ns(s));
		ht_table_put_i64(s->table, HT_CP_SUMMARY_STEP_NS, s->g.end_ns - s->g.start_ns);
		ht_table_put_null(s->table, HT_CP_SUMMARY_IDLE_NS);
		ht_table_put_i64(s->table, HT_CP_SUMMARY_N_EDGES, totals[k].n_edges);
		ht_table_put_null(s->table, HT_CP_SUMMARY_STEP_TIME_NS);
	}
	return HT_OK;
}

static int64_t count_events(const struct shown *s, bool *seen)
{
	int64_t n = 0;
	for (size_t i = 0; i < s->path.n_edges; i++) {
		const struct ht_cp_edge *edge = &s->g.edges[s->path.edges[i]];
		const uint32_t events[2] = { edge->from / 2, edge->to / 2 };
		for (int k = 0; k < 2; k++) {
			n += !seen[events[k]];
			seen[events[k]] = true;
		}
	}
	return n;
}

static enum ht_status put_graph(struct shown *s)
{
	bool *seen = ht_arena_alloc(s->run->scratch, s->g.n_events + 1);
	if (!seen)
		return ht_fail_nomem(s->run->ctx);
	ht_cp_put_key(s->table, s->run, &s->window);
	ht_table_put_i64(s->table, HT_CP_GRAPH_WINDOW_START_NS, s->g.start_ns);
	ht_table_put_i64(s->table, HT_CP_GRAPH_WINDOW_NS, window_ns(s));
	ht_table_put_i64(s->table, HT_CP_GRAPH_STEP_NS, s->g.end_ns - s->g.start_ns);
	ht_table_put_null(s->table, HT_CP_GRAPH_IDLE_NS);
	ht_table_put_i64(s->table, HT_CP_GRAPH_LENGTH_NS, ht_cp_ns(s->path.length));
	ht_table_put_i64(s->table, HT_CP_GRAPH_INFERRED_NS, 0);
	ht_table_put_i64(s->table, HT_CP_GRAPH_N_EVENTS, count_events(s, seen));
	ht_table_put_i64(
	        s->table, HT_CP_GRAPH_N_NODES, s->path.n_edges ? (int64_t)s->path.n_edges + 1 : 0);
	ht_table_put_i64(s->table, HT_CP_GRAPH_N_EDGES, (int64_t)s->path.n_edges);
	ht_table_put_i64(s->table, HT_CP_GRAPH_GRAPH_NODES, (int64_t)s->g.n_order);
	ht_table_put_i64(s->table, HT_CP_GRAPH_GRAPH_EDGES, (int64_t)s->g.n_edges);
	return HT_OK;
}

static enum ht_status put_path(struct shown *s)
{
	for (size_t i = 0; i < s->path.n_edges; i++) {
		const struct ht_cp_edge *edge = &s->g.edges[s->path.edges[i]];
		ht_cp_put_key(s->table, s->run, &s->window);
		ht_table_put_known(s->table, HT_CP_PATH_INDEX, edge->row, HT_NONE);
		ht_table_put_i64(s->table, HT_CP_PATH_TS, node_ns(s, edge->from));
		ht_table_put_i64(s->table, HT_CP_PATH_DURATION, ht_cp_ns(edge->weight));
		ht_table_put_str(s->table, HT_CP_PATH_TYPE, ht_cp_type_name(edge->type));
		ht_cp_put_event(s->table, HT_CP_PATH_NAME, s->run, edge->row);
		ht_cp_put_text(
		        s->table, HT_CP_PATH_BOUND, ht_cp_bound_name(ht_cp_bound(&s->g, edge)));
		ht_table_put_i64(s->table, HT_CP_PATH_INFERRED, false);
		ht_table_put_nulls_to_end(s->table, HT_CP_PATH_ORIGIN_OP);
	}
	return HT_OK;
}

static enum ht_status put_edges(struct shown *s)
{
	double *slack;
	HT_TRY(ht_cp_slack(s->run, &s->g, &s->path, &slack));
	for (size_t i = 0; i < s->g.n_edges; i++) {
		const struct ht_cp_edge *edge = &s->g.edges[i];
		ht_cp_put_key(s->table, s->run, &s->window);
		ht_table_put_i64(
		        s->table, HT_CP_EDGE_FROM_INDEX, ht_cp_node_row(&s->g, edge->from));
		ht_table_put_str(s->table, HT_CP_EDGE_FROM_POINT, edge->from & 1 ? "end" : "start");
		ht_table_put_i64(s->table, HT_CP_EDGE_TO_INDEX, ht_cp_node_row(&s->g, edge->to));
		ht_table_put_str(s->table, HT_CP_EDGE_TO_POINT, edge->to & 1 ? "end" : "start");
		ht_table_put_known(s->table, HT_CP_EDGE_INDEX, edge->row, HT_NONE);
		ht_table_put_i64(s->table, HT_CP_EDGE_DURATION_NS, ht_cp_ns(edge->weight));
		ht_table_put_str(s->table, HT_CP_EDGE_TYPE, ht_cp_type_name(edge->type));
		ht_cp_put_text(
		        s->table, HT_CP_EDGE_BOUND_BY, ht_cp_bound_name(ht_cp_bound(&s->g, edge)));
		ht_table_put_i64(s->table, HT_CP_EDGE_SLACK_NS, ht_cp_ns(slack[i]));
		ht_table_put_i64(s->table, HT_CP_EDGE_CRITICAL, s->path.on_path[i]);
	}
	return HT_OK;
}

/* ---- events ---- */

struct event_time {
	double path, slack;
	bool has_slack, critical;
};

/* Slack of an event is the least of the edges that are its time; of its nodes' edges when none is. */
static void take_slack(struct event_time *time, double slack)
{
	if (!time->has_slack || slack < time->slack)
		time->slack = slack;
	time->has_slack = true;
}

static enum ht_status measure_events(struct shown *s, struct event_time *times)
{
	const struct ht_cp_graph *g = &s->g;
	double *slack;
	HT_TRY(ht_cp_slack(s->run, g, &s->path, &slack));
	for (uint32_t i = 0; i < g->n_edges; i++) {
		const struct ht_cp_edge *edge = &g->edges[i];
		uint32_t owner = edge->row == HT_NONE ? HT_NONE : g->event_of_row[edge->row];
		if (s->path.on_path[i])
			times[edge->from / 2].critical = times[edge->to / 2].critical = true;
		if (owner == HT_NONE || edge->type != HT_CP_OPERATOR)
			continue;
		take_slack(&times[owner], slack[i]);
		if (s->path.on_path[i])
			times[owner].path += ht_cp_weight(g, i);
	}
	bool *settled = ht_arena_alloc(s->run->scratch, g->n_events + 1);
	if (!settled)
		return ht_fail_nomem(s->run->ctx);
	for (size_t e = 0; e < g->n_events; e++)
		settled[e] = times[e].has_slack;
	for (size_t i = 0; i < g->n_edges; i++) {
		const uint32_t events[2] = { g->edges[i].from / 2, g->edges[i].to / 2 };
		for (int k = 0; k < 2; k++) {
			if (!settled[events[k]])
				take_slack(&times[events[k]], slack[i]);
		}
	}
	return HT_OK;
}

static enum ht_status put_events(struct shown *s)
{
	const struct ht_cp_graph *g = &s->g;
	struct event_time *times =
	        ht_arena_alloc(s->run->scratch, (g->n_events + 1) * sizeof *times);
	if (!times)
		return ht_fail_nomem(s->run->ctx);
	HT_TRY(measure_events(s, times));
	for (uint32_t e = 0; e < g->n_events; e++) {
		uint32_t row = g->events[e].row;
		ht_cp_put_key(s->table, s->run, &s->window);
		ht_table_put_i64(s->table, HT_CP_EVENT_INDEX, row);
		ht_table_put_i64(s->table, HT_CP_EVENT_TS_NS, g->trace->ts_ns[row]);
		ht_cp_put_event(s->table, HT_CP_EVENT_NAME, s->run, row);
		ht_table_put_i64(s->table, HT_CP_EVENT_DUR_NS, g->trace->dur_ns[row]);
		ht_table_put_i64(s->table, HT_CP_EVENT_PATH_NS, ht_cp_ns(times[e].path));
		if (times[e].has_slack)
			ht_table_put_i64(s->table, HT_CP_EVENT_SLACK_NS, ht_cp_ns(times[e].slack));
		else
			ht_table_put_null(s->table, HT_CP_EVENT_SLACK_NS);
		ht_table_put_i64(s->table, HT_CP_EVENT_CRITICAL, times[e].critical);
		ht_table_put_nulls_to_end(s->table, HT_CP_EVENT_ORIGIN_OP);
	}
	return HT_OK;
}

/* ---- what if ---- */

struct scaled {
	double *weights;
	double matched; /* weight of the edges that a rule fits */
	size_t n;
};

static enum ht_status scale_edges(struct shown *s, struct ht_cp_rules *rules, struct scaled *ret)
{
	const struct ht_cp_graph *g = &s->g;
	struct scaled scaled = { .weights = ht_arena_alloc(
		                         s->run->scratch, (g->n_edges + 1) * sizeof(double)) };
	if (!scaled.weights)
		return ht_fail_nomem(s->run->ctx);
	for (uint32_t i = 0; i < g->n_edges; i++) {
		const struct ht_cp_edge *edge = &g->edges[i];
		const struct ht_cp_rule *rule = ht_cp_rules_find(
		        rules, g->trace, edge->type, ht_cp_bound(g, edge), edge->row);
		double weight = ht_cp_weight(g, i);
		scaled.weights[i] = rule ? weight * rule->factor : weight;
		scaled.matched += rule ? weight : 0;
		scaled.n += rule != NULL;
	}
	*ret = scaled;
	return HT_OK;
}

static enum ht_status put_rules(struct shown *s, struct ht_cp_rules *rules, bool only_matching)
{
	struct scaled scaled = { 0 };
	struct ht_cp_path path = { 0 };
	HT_TRY(scale_edges(s, rules, &scaled));
	if (only_matching && !scaled.n)
		return HT_OK;
	HT_TRY(ht_cp_path_find(s->run, &s->g, scaled.weights, &path));
	double saved = s->path.length - path.length;
	ht_cp_put_key(s->table, s->run, &s->window);
	ht_table_put_str(s->table, HT_CP_WHAT_IF_SCALE, rules->text);
	ht_table_put_i64(s->table, HT_CP_WHAT_IF_LENGTH, ht_cp_ns(s->path.length));
	ht_table_put_i64(s->table, HT_CP_WHAT_IF_NEW_LENGTH, ht_cp_ns(path.length));
	ht_table_put_i64(s->table, HT_CP_WHAT_IF_SAVED, ht_cp_ns(saved));
	ht_table_put_f64(s->table, HT_CP_WHAT_IF_SAVED_SHARE,
	        s->path.length > 0 ? saved / s->path.length : NAN);
	ht_table_put_i64(s->table, HT_CP_WHAT_IF_MATCHED, ht_cp_ns(scaled.matched));
	ht_table_put_i64(s->table, HT_CP_WHAT_IF_N_EDGES, (int64_t)scaled.n);
	return HT_OK;
}

static enum ht_status put_what_if(struct shown *s)
{
	struct ht_cp_rules rules;
	HT_TRY(ht_cp_scale_read(s->run, s->scale, &rules));
	enum ht_status status = HT_OK;
	for (size_t k = 0; k < rules.n && status == HT_OK; k++) {
		struct ht_cp_rules one = { rules.list[k].text, &rules.list[k], 1, rules.parent };
		status = put_rules(s, &one, !s->scale);
	}
	if (status == HT_OK && s->scale && rules.n > 1)
		status = put_rules(s, &rules, false);
	ht_cp_rules_done(&rules);
	return status;
}

static enum ht_status add_notes(const struct shown *s)
{
	long long rank = s->run->rank;
	if (s->g.note)
		HT_TRY(ht_table_add_note(s->table, "rank %lld: %s", rank, s->g.note));
	if (!s->g.empty && !s->path.n_edges)
		return ht_table_add_note(s->table, "rank %lld: no events in the window", rank);
	if (s->path.cyclic)
		return ht_table_add_note(s->table,
		        "rank %lld: some events wait for each other; these edges were left out",
		        rank);
	return HT_OK;
}

enum ht_status ht_hta_cp_put(struct ht_run *run, const struct ht_cp_options *options, int view,
        const char *scale, ht_table *table)
{
	static enum ht_status (*const fill[HT_CP_N_VIEWS])(struct shown *) = {
		[HT_CP_VIEW_SUMMARY] = put_summary,
		[HT_CP_VIEW_GRAPH] = put_graph,
		[HT_CP_VIEW_PATH] = put_path,
		[HT_CP_VIEW_EDGES] = put_edges,
		[HT_CP_VIEW_EVENTS] = put_events,
		[HT_CP_VIEW_WHAT_IF] = put_what_if,
	};
	struct shown s = { .run = run, .scale = scale, .table = table };
	HT_TRY(ht_cp_build(run, options, &s.g));
	if (!s.g.empty)
		HT_TRY(ht_cp_path_find(run, &s.g, NULL, &s.path));
	s.window = (struct ht_cp_window){ .instance = s.g.first_instance, .step = HT_NO_I64 };
	HT_TRY(add_notes(&s));
	return s.path.n_edges ? fill[view](&s) : HT_OK;
}
