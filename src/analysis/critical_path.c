/*
 * critical_path.c - which events the time of a step hangs on, and what would make it shorter.
 *
 * Operators, runtime calls and GPU work of a window become a graph of "not before" edges weighted with
 * the time that passes on them (common/cp_graph.h); the critical path is its longest way:
 *     length = max over all ways of the sum of edge weights <= window
 * Five kinds of edges: time inside an operator, call or kernel; order; delay from a launch to its work;
 * delay between work of one stream; waits for the GPU.
 *
 * Views: "summary" shares of the path by what bounds it; "graph" sizes; "path" its edges in order;
 * "edges" all edges; "events" time on the path and slack of every event; "what-if" the length with
 * other durations, --scale "nccl=0.5,aten::copy_=0", or with each kind of bound at no cost.
 *
 * Reads host operators and calls, GPU work, cuda_sync rows. Blind to dependencies through data between
 * threads (other than the autograd threads) and between ranks. O(n log n) time, O(n) memory.
 *
 * Example: op [0,10) us calls launch [2,4), its kernel runs [7,20): op.start 2 launch.start, delay 5,
 * kernel 13: length 20 of 20 us; 10 % cpu_bound, 25 % launch overhead, 65 % gpu_compute_bound.
 */
#include "analysis/analysis.h"
#include "graph/cp_whatif.h"
#include "hta/hta_names.h"
#include "model/launch.h"
#include "base/thread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status check_options(struct ht_run *run);
static enum ht_status find_path(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

static const struct ht_column columns[] = {
	{ "rank", HT_I64, HT_KEY, "rank of the trace", NULL },
	{ "bound_by", HT_STR, HT_KEY, "what the time depends on; null for edges without time",
	        NULL },
	{ "scale", HT_STR, HT_KEY, "the rule: what, and by how much its time is multiplied", NULL },
	{ "index", HT_I64, HT_KEY, "row of the event that the time belongs to; null when nobody's",
	        NULL },
	{ "from_index", HT_I64, HT_KEY, "row of the event that the edge leaves", NULL },
	{ "from_point", HT_STR, HT_KEY, "start or end of that event", NULL },
	{ "to_index", HT_I64, HT_KEY, "row of the event that the edge enters", NULL },
	{ "to_point", HT_STR, HT_KEY, "start or end of that event", NULL },
	{ "ts_ns", HT_TIME, HT_MEASURE, "when it begins, from the first event of all ranks", NULL },
	{ "duration_ns", HT_DURATION, HT_MEASURE, "time on the edge, or of all edges so bound",
	        NULL },
	{ "share", HT_RATIO, HT_MEASURE, "of the length of the path", NULL },
	{ "type", HT_STR, HT_MEASURE, "kind of the edge", NULL },
	{ "name", HT_STR, HT_MEASURE, "name of the event", NULL },
	{ "short_name", HT_STR, HT_DETAIL, "name without template arguments and parameters", NULL },
	{ "cat", HT_STR, HT_DETAIL, "category of the event", NULL },
	{ "pid", HT_I64, HT_DETAIL, "process id of the event", NULL },
	{ "tid", HT_I64, HT_DETAIL, "thread id of the event", NULL },
	{ "stream", HT_I64, HT_DETAIL, "stream of GPU work; null on the host", NULL },
	{ "dur_ns", HT_DURATION, HT_MEASURE, "duration of the event itself", NULL },
	{ "path_ns", HT_DURATION, HT_MEASURE, "time on the critical path that belongs to the event",
	        NULL },
	{ "slack_ns", HT_DURATION, HT_MEASURE,
	        "how much longer it could take before the path gets longer", NULL },
	{ "critical", HT_BOOL, HT_MEASURE, "on the critical path", NULL },
	{ "n_edges", HT_I64, HT_DETAIL, "edges of the path; in what-if: edges that the rule scales",
	        NULL },
	{ "n_nodes", HT_I64, HT_DETAIL, "nodes of the path", NULL },
	{ "n_events", HT_I64, HT_MEASURE, "events on the path", NULL },
	{ "graph_nodes", HT_I64, HT_DETAIL, "nodes of the graph that have an edge", NULL },
	{ "graph_edges", HT_I64, HT_DETAIL, "edges of the graph", NULL },
	{ "window_start_ns", HT_TIME, HT_MEASURE,
	        "start of the window, from the first event of all ranks", NULL },
	{ "window_ns", HT_DURATION, HT_MEASURE,
	        "from the start of the window to its end or that of its last work", NULL },
	{ "length_ns", HT_DURATION, HT_MEASURE, "length of the critical path", NULL },
	{ "new_length_ns", HT_DURATION, HT_MEASURE, "length with the changed durations", NULL },
	{ "saved_ns", HT_DURATION, HT_MEASURE, "how much shorter that is", NULL },
	{ "saved_share", HT_RATIO, HT_MEASURE, "saved over length", NULL },
};

static const struct ht_param params[] = {
	{ "view", HT_STR, "summary", "which table", "summary|graph|path|edges|events|what-if" },
	{ "instance", HT_STR, "0", "which occurrence of the annotation, from 0; a-b for several",
	        NULL },
	{ "data-load-events", HT_STR, NULL,
	        "expression for names of host events that load data; they become events of the graph",
	        NULL },
	{ "scale", HT_STR, NULL,
	        "what-if rules, name expression or word = factor: 'nccl=0.5,cpu_bound=0'", NULL },
	{ "zero-weight-launch-edges", HT_BOOL, NULL,
	        "order work after its launch also where the launch cost no time; on, with "
	        "hta-compat off",
	        NULL },
	{ "count-gaps", HT_BOOL, "false", "gaps between top-level operators count as time", NULL },
	{ "only-critical", HT_BOOL, "true", "saved trace: drop events that are not on the path",
	        NULL },
	{ "all-edges", HT_BOOL, "false",
	        "saved trace: draw every edge of the graph; needs only-critical off", NULL },
};

const struct ht_analysis ht_analysis_critical_path = {
	.info = { .name = "critical-path",
	        .group = "dependencies",
	        .title = "Critical path",
	        .question = "Which events does the time of a step hang on, and what would "
	                    "shorten it?",
	        .method =
	                "Longest way through the graph of operators, runtime calls and GPU work of "
	                "the window: time inside events, launch and kernel delays, order, and "
	                "waits. Gaps between top-level operators weigh nothing.",
	        .hta = "critical_path_analysis",
	        HT_ONE_SCHEMA(columns),
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1, .draws = true, },
	.choose = check_options,
	.per_rank = find_path,
	.finish = finish,
};

/* ---- one rank ---- */

struct job {
	struct ht_run run;
	struct ht_arena *arena;
	struct ht_cp_graph graph;
	struct ht_cp_path path;
};

static int64_t node_ns(const struct job *job, uint32_t node)
{
	const struct ht_trace *t = job->graph.trace;
	uint32_t row = ht_cp_node_row(&job->graph, node);
	return (node & 1 ? ht_end_ns(t, row) : t->ts_ns[row]);
}

/* To the end of the window or of its last event, whichever is later. */
static int64_t window_ns(const struct job *job)
{
	const struct ht_cp_graph *g = &job->graph;
	int64_t end = g->end_ns;
	for (size_t i = 0; i < g->n_order; i++) {
		int64_t node_end = node_ns(job, g->order[i]);
		end = node_end > end ? node_end : end;
	}
	return end - g->start_ns;
}

/* ---- cells ---- */

static void put_index(ht_table *table, uint32_t row)
{
	if (row == HT_NONE)
		ht_table_put_null(table);
	else
		ht_table_put_i64(table, row);
}

static void put_text(ht_table *table, const char *text)
{
	ht_table_put_str(table, text && *text ? text : NULL);
}

/* name, short_name, cat, pid, tid, stream */
static void put_event(ht_table *table, struct job *job, uint32_t row)
{
	const struct ht_trace *t = job->graph.trace;
	if (row == HT_NONE) {
		for (int i = 0; i < 6; i++)
			ht_table_put_null(table);
		return;
	}
	const char *name = ht_str(t, t->name[row]);
	ht_table_put_str(table, name);
	ht_table_put_str(table, ht_hta_shorten_name(job->arena, name));
	put_text(table, ht_cat(t, row));
	ht_put_track(table, t, row);
	const struct ht_gpu *gpu = ht_gpu_of_row(t, row);
	if (gpu)
		ht_table_put_i64(table, gpu->stream);
	else
		ht_table_put_null(table);
}

/* ---- views ---- */

struct total {
	const char *name;
	double weight;
	int64_t n_edges;
};

static int compare_name(const void *left, const void *right)
{
	return strcmp(((const struct total *)left)->name, ((const struct total *)right)->name);
}

static int compare_weight(const void *left, const void *right)
{
	const struct total *a = left, *b = right;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return strcmp(a->name, b->name);
}

static enum ht_status put_summary(struct job *job, ht_table *table)
{
	const struct ht_cp_graph *g = &job->graph;
	struct total totals[HT_CP_N_BOUNDS] = { 0 };
	double sum = 0;
	for (int k = 0; k < HT_CP_N_BOUNDS; k++)
		totals[k].name = ht_cp_bound_name(k);
	for (size_t i = 0; i < job->path.n_edges; i++) {
		const struct ht_cp_edge *edge = &g->edges[job->path.edges[i]];
		struct total *total = &totals[ht_cp_bound(g, edge)];
		total->weight += edge->weight;
		total->n_edges++;
		sum += edge->weight;
	}
	qsort(totals, HT_CP_N_BOUNDS, sizeof *totals,
	        g->options.hta ? compare_name : compare_weight);
	for (int k = 0; k < HT_CP_N_BOUNDS; k++) {
		if (!totals[k].n_edges || (!*totals[k].name && !g->options.hta))
			continue;
		ht_table_row(table);
		ht_table_put_i64(table, job->run.rank);
		ht_table_put_str(table, totals[k].name);
		ht_table_put_i64(table, ht_cp_ns(g, totals[k].weight));
		ht_table_put_f64(table, sum > 0 ? totals[k].weight / sum : NAN);
		ht_table_put_i64(table, totals[k].n_edges);
	}
	return HT_OK;
}

static int64_t count_events(const struct job *job, bool *seen)
{
	int64_t n = 0;
	for (size_t i = 0; i < job->path.n_edges; i++) {
		const struct ht_cp_edge *edge = &job->graph.edges[job->path.edges[i]];
		const uint32_t events[2] = { edge->from / 2, edge->to / 2 };
		for (int k = 0; k < 2; k++) {
			n += !seen[events[k]];
			seen[events[k]] = true;
		}
	}
	return n;
}

static enum ht_status put_graph(struct job *job, ht_table *table)
{
	const struct ht_cp_graph *g = &job->graph;
	bool *seen = ht_arena_alloc(job->arena, g->n_events + 1);
	if (!seen)
		return ht_fail_nomem(job->run.ctx);
	ht_table_row(table);
	ht_table_put_i64(table, job->run.rank);
	ht_table_put_i64(table, g->start_ns);
	ht_table_put_i64(table, window_ns(job));
	ht_table_put_i64(table, ht_cp_ns(g, job->path.length));
	ht_table_put_i64(table, count_events(job, seen));
	ht_table_put_i64(table, job->path.n_edges ? (int64_t)job->path.n_edges + 1 : 0);
	ht_table_put_i64(table, (int64_t)job->path.n_edges);
	ht_table_put_i64(table, (int64_t)g->n_order);
	ht_table_put_i64(table, (int64_t)g->n_edges);
	return HT_OK;
}

static enum ht_status put_path(struct job *job, ht_table *table)
{
	const struct ht_cp_graph *g = &job->graph;
	for (size_t i = 0; i < job->path.n_edges; i++) {
		const struct ht_cp_edge *edge = &g->edges[job->path.edges[i]];
		ht_table_row(table);
		ht_table_put_i64(table, job->run.rank);
		put_index(table, edge->row);
		ht_table_put_i64(table, node_ns(job, edge->from));
		ht_table_put_i64(table, ht_cp_ns(g, edge->weight));
		ht_table_put_str(table, ht_cp_type_name(edge->type));
		put_event(table, job, edge->row);
		put_text(table, ht_cp_bound_name(ht_cp_bound(g, edge)));
	}
	return HT_OK;
}

static enum ht_status put_edges(struct job *job, ht_table *table)
{
	const struct ht_cp_graph *g = &job->graph;
	double *slack;
	HT_TRY(ht_cp_slack(&job->run, g, &job->path, &slack));
	for (size_t i = 0; i < g->n_edges; i++) {
		const struct ht_cp_edge *edge = &g->edges[i];
		ht_table_row(table);
		ht_table_put_i64(table, job->run.rank);
		ht_table_put_i64(table, ht_cp_node_row(g, edge->from));
		ht_table_put_str(table, edge->from & 1 ? "end" : "start");
		ht_table_put_i64(table, ht_cp_node_row(g, edge->to));
		ht_table_put_str(table, edge->to & 1 ? "end" : "start");
		put_index(table, edge->row);
		ht_table_put_i64(table, ht_cp_ns(g, edge->weight));
		ht_table_put_str(table, ht_cp_type_name(edge->type));
		put_text(table, ht_cp_bound_name(ht_cp_bound(g, edge)));
		ht_table_put_i64(table, ht_cp_ns(g, slack[i]));
		ht_table_put_i64(table, job->path.on_path[i]);
	}
	return HT_OK;
}

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

static enum ht_status measure_events(struct job *job, struct event_time *times)
{
	const struct ht_cp_graph *g = &job->graph;
	double *slack;
	HT_TRY(ht_cp_slack(&job->run, g, &job->path, &slack));
	for (uint32_t i = 0; i < g->n_edges; i++) {
		const struct ht_cp_edge *edge = &g->edges[i];
		uint32_t owner = edge->row == HT_NONE ? HT_NONE : g->event_of_row[edge->row];
		if (job->path.on_path[i])
			times[edge->from / 2].critical = times[edge->to / 2].critical = true;
		if (owner == HT_NONE || edge->type != HT_CP_OPERATOR)
			continue;
		take_slack(&times[owner], slack[i]);
		if (job->path.on_path[i])
			times[owner].path += ht_cp_weight(g, i);
	}
	bool *settled = ht_arena_alloc(job->arena, g->n_events + 1);
	if (!settled)
		return ht_fail_nomem(job->run.ctx);
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

static enum ht_status put_events(struct job *job, ht_table *table)
{
	const struct ht_cp_graph *g = &job->graph;
	struct event_time *times = ht_arena_alloc(job->arena, (g->n_events + 1) * sizeof *times);
	if (!times)
		return ht_fail_nomem(job->run.ctx);
	HT_TRY(measure_events(job, times));
	for (uint32_t e = 0; e < g->n_events; e++) {
		uint32_t row = g->events[e].row;
		ht_table_row(table);
		ht_table_put_i64(table, job->run.rank);
		ht_table_put_i64(table, row);
		ht_table_put_i64(table, node_ns(job, ht_cp_start(e)));
		put_event(table, job, row);
		ht_table_put_i64(table, g->trace->dur_ns[row]);
		ht_table_put_i64(table, ht_cp_ns(g, times[e].path));
		if (times[e].has_slack)
			ht_table_put_i64(table, ht_cp_ns(g, times[e].slack));
		else
			ht_table_put_null(table);
		ht_table_put_i64(table, times[e].critical);
	}
	return HT_OK;
}

static enum ht_status put_rules(struct job *job, ht_table *table, const char *text,
        const struct ht_cp_rule *rules, size_t n_rules)
{
	const struct ht_cp_graph *g = &job->graph;
	double *weights;
	size_t n_edges;
	struct ht_cp_path path;
	HT_TRY(ht_cp_rules_apply(&job->run, g, rules, n_rules, &weights, &n_edges));
	HT_TRY(ht_cp_path_find(&job->run, g, weights, &path));
	double saved = job->path.length - path.length;
	ht_table_row(table);
	ht_table_put_i64(table, job->run.rank);
	ht_table_put_str(table, text);
	ht_table_put_i64(table, ht_cp_ns(g, job->path.length));
	ht_table_put_i64(table, ht_cp_ns(g, path.length));
	ht_table_put_i64(table, ht_cp_ns(g, saved));
	ht_table_put_f64(table, job->path.length > 0 ? saved / job->path.length : NAN);
	ht_table_put_i64(table, (int64_t)n_edges);
	return HT_OK;
}

/* Every kind of time that the graph has, at no cost. */
static enum ht_status put_each_bound(struct job *job, ht_table *table)
{
	bool has[HT_CP_N_BOUNDS] = { 0 };
	for (size_t i = 0; i < job->graph.n_edges; i++)
		has[ht_cp_bound(&job->graph, &job->graph.edges[i])] = true;
	for (int k = HT_CP_BOUND_NONE + 1; k < HT_CP_N_BOUNDS; k++) {
		struct ht_cp_rule rule = { .what = ht_cp_bound_name(k) };
		rule.text = ht_arena_printf(job->arena, "%s=0", rule.what);
		if (!rule.text)
			return ht_fail_nomem(job->run.ctx);
		if (has[k])
			HT_TRY(put_rules(job, table, rule.text, &rule, 1));
	}
	return HT_OK;
}

static enum ht_status put_what_if(struct job *job, ht_table *table)
{
	const char *text = ht_run_str(&job->run, "scale");
	if (!text)
		return put_each_bound(job, table);
	const struct ht_cp_rule *rules;
	size_t n;
	HT_TRY(ht_cp_rules_read(&job->run, text, &rules, &n));
	for (size_t k = 0; k < n; k++)
		HT_TRY(put_rules(job, table, rules[k].text, &rules[k], 1));
	return n > 1 ? put_rules(job, table, text, rules, n) : HT_OK;
}

static const struct view {
	const char *name, *columns;
	enum ht_status (*put)(struct job *job, ht_table *table);
} views[] = {
	{ "summary", "rank,bound_by,duration_ns,share,n_edges", put_summary },
	{ "graph",
	        "rank,window_start_ns,window_ns,length_ns,n_events,n_nodes,n_edges,graph_nodes,"
	        "graph_edges",
	        put_graph },
	{ "path", "rank,index,ts_ns,duration_ns,type,name,short_name,cat,pid,tid,stream,bound_by",
	        put_path },
	{ "edges",
	        "rank,from_index,from_point,to_index,to_point,index,duration_ns,type,bound_by,"
	        "slack_ns,critical",
	        put_edges },
	{ "events",
	        "rank,index,ts_ns,name,short_name,cat,pid,tid,stream,dur_ns,path_ns,slack_ns,critical",
	        put_events },
	{ "what-if", "rank,scale,length_ns,new_length_ns,saved_ns,saved_share,n_edges",
	        put_what_if },
};

/* ---- all ranks ---- */

static enum ht_status add_notes(const struct job *job, ht_table *table)
{
	const struct ht_cp_graph *g = &job->graph;
	long long rank = job->run.rank;
	if (g->note)
		HT_TRY(ht_table_add_note(table, "rank %lld: %s", rank, g->note));
	if (g->empty)
		return HT_OK;
	if (!job->path.n_edges)
		return ht_table_add_note(table, "rank %lld: no events in the window", rank);
	if (job->path.cyclic)
		HT_TRY(ht_table_add_note(table,
		        "rank %lld: some events wait for each other; these edges were left out",
		        rank));
	return ht_table_add_note(table, "rank %lld: path %.3f ms of a window of %.3f ms", rank,
	        (double)ht_cp_ns(g, job->path.length) / 1e6, (double)window_ns(job) / 1e6);
}

static const struct view *chosen_view(const struct ht_run *run)
{
	for (size_t k = 0; k < HT_COUNT(views); k++)
		if (ht_run_is(run, "view", views[k].name))
			return &views[k];
	return views;
}

static enum ht_status check_options(struct ht_run *run)
{
	struct ht_cp_options options;
	return ht_cp_options_read(run, &options);
}

static enum ht_status find_path(struct ht_run *run, struct ht_part *part)
{
	const struct view *view = chosen_view(run);
	struct ht_view chosen = { .columns = view->columns };
	struct ht_cp_options options;
	struct job job = { .run = *run, .arena = run->scratch };
	HT_TRY(ht_table_apply_view(run->ctx, part->facts[0], &chosen));
	HT_TRY(ht_cp_options_read(run, &options));
	HT_TRY(ht_cp_build(run, &options, &job.graph));
	if (!job.graph.empty)
		HT_TRY(ht_cp_path_find(run, &job.graph, NULL, &job.path));
	HT_TRY(add_notes(&job, part->facts[0]));
	if (!job.graph.empty && job.path.n_edges)
		HT_TRY(view->put(&job, part->facts[0]));
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	const struct view *view = chosen_view(run);
	struct ht_view chosen = { .columns = view->columns };
	HT_TRY(ht_table_apply_view(run->ctx, table, &chosen));
	if (view == views)
		ht_table_set_bar(table, "share");
	return ht_parts_rows(run, parts, 0, 0, table);
}
