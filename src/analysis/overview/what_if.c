/* SPDX-License-Identifier: Apache-2.0 */
/*
 * what_if.c - what slows a training job down, and what its steps would take otherwise: by replaying it with other durations.
 *
 * From traces: host threads, launches, streams, events and waits as a graph of durations (job/event_graph.h), replayed over all ranks with
 * some of them changed (job/event_replay.h): every start is computed from what it waits for. The replay without changes comes first: where it
 * is more than 5 % off in the median there are no answers, and the gaps that it does not explain are a view of their own.
 *
 * From a table of operations (--operations, --meta; job/ops.h): the operations of all steps and workers, what waits for what, and
 * the replay without launch delays. Ideal is what an operation takes on average (compute) or in the median (communication).
 *     S     T / T_id                       the whole slowdown
 *     S_t, S_dp, S_stage                   T(ideal, but operations of the type, rank or stage as recorded) / T_id
 *     S_w   min(S_dp, S_stage)             of a worker, named by its global rank
 *     M_W   (T - T_rem) / (T - T_id)       T_rem: the worst 3 % of workers ideal; M_S: the last stage ideal
 *     A_W   (T_add - T_id) / (T - T_id)    T_add: all ideal but those workers; A_S: but the last stage
 * Definitions and digits are those of the published straggler analysis (arXiv 2505.05713).
 *
 * Example: two data-parallel ranks, one stage, whose forward takes 1 s and 3 s, then a transfer of 1 s and an optimizer of 1 s: T =
 * 5 s. Ideal is a forward of 2 s: T_id = 4 s, S = 1.25, and rank 1 alone explains it: S_dp of it is 1.25, M_W is 1.
 */
#include "analysis/analysis.h"
#include "job/event_graph.h"
#include "job/ops.h"
#include "job/what_if_steps.h"
#include "model/finding/finding.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Less is not worth taking apart. */
#define MIN_SLOWDOWN 1.03
/* Who has this much of it is whose it is. */
#define MOST 0.5

static enum ht_status choose(struct ht_run *run);
static enum ht_status find_graph(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define SLOWDOWN_COLUMNS(COLUMN)                                                                    \
	COLUMN(COL_METRIC, "metric", HT_STR, HT_KEY,                                                \
	        "T, T_id: mean step time replayed and ideal, in seconds; S: T / T_id; S_t, S_dp, "  \
	        "S_stage, S_w: slowdown by type of operation, data-parallel rank, stage, worker; "  \
	        "M_W, M_S: share of the slowdown that goes with the worst workers, the last stage", \
	        NULL)                                                                               \
	COLUMN(COL_KEY, "key", HT_STR, HT_KEY,                                                      \
	        "of what: type, rank, stage or step; empty: of all", NULL)                          \
	COLUMN(COL_VALUE, "value", HT_F64, HT_MEASURE, "seconds for T, else a ratio", NULL)
HT_COLUMNS(slowdown_columns, SLOWDOWN_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "answers", ht_what_if_columns, HT_N_WHAT_IF_COLUMNS },
	{ "slowdown", slowdown_columns, HT_COUNT(slowdown_columns) },
	{ "gaps", ht_what_if_gap_columns, HT_N_WHAT_IF_GAP_COLUMNS },
};

static const struct ht_param params[] = {
	{ "view", HT_STR, "answers",
	        "step times with other durations, whose slowdown it is (of operations always), or gaps that the replay does not explain",
	        "answers|slowdown|gaps" },
	{ "scale", HT_STR, NULL,
	        "a question of your own: name expression or word, conditions, = value: 'nccl=0.5', '@annotation:data@rank:1=median', "
	        "'gemm@stage:1@step:5-=best', 'extra=remove', 'gemm=2ms', '@annotation:data=+5ms', 'elementwise=fuse', "
	        "'@group:dp@size:1MB-=ranks:64', '@annotation:microbatch=repeat:2'",
	        NULL },
	{ "operations", HT_STR, NULL,
	        "table of operations of a job (CSV, also compressed) instead of traces", NULL },
	{ "meta", HT_STR, NULL, "with operations: what is known of the job (YAML)", NULL },
};

const struct ht_analysis ht_analysis_what_if = {
	.info = { .name = "what-if",
	        .group = "dependencies",
	        .title = "What-if",
	        .question = "What slows a job down, and how long would its steps take without?",
	        .method =
	                "Every start is computed anew over all ranks: work begins when its launch, its "
	                "stream and the events before it are over, a collective with its last rank; CPU "
	                "time keeps its length. Peers are ranks that communicate alike; like its peers is "
	                "their median. Whose slowdown it is: ideal is the mean time of compute and the "
	                "median of communication.",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1,
	        .input_param = "operations" },
	.facts = { [HT_EVENT_FACTS_NODES] = { "nodes", ht_event_node_columns, HT_N_EVENT_COLUMNS },
	        [HT_EVENT_FACTS_EDGES] = { "edges", ht_event_edge_columns,
	                HT_N_EVENT_EDGE_COLUMNS },
	        [HT_EVENT_FACTS_WINDOWS] = { "windows", ht_event_window_columns,
	                HT_N_EVENT_WINDOW_COLUMNS },
	        [HT_EVENT_FACTS_GROUPS] = { "groups", ht_event_group_columns,
	                HT_N_EVENT_GROUP_COLUMNS },
	        [HT_EVENT_FACTS_OF] = { "of", ht_event_of_columns, HT_N_EVENT_OF_COLUMNS } },
	.of = "every start computed anew over all ranks",
	.across = true,
	.choose = choose,
	.per_rank = find_graph,
	.is_sound = ht_event_graph_is_sound,
	.finish = finish,
};

static enum ht_status choose(struct ht_run *run)
{
	const char *operations = ht_run_str(run, "operations"), *meta = ht_run_str(run, "meta");
	if (operations && meta)
		ht_run_set(run, "view", "slowdown");
	if (!operations == !meta)
		return HT_OK;
	return ht_fail(run->ctx, HT_USAGE, NULL, -1, "give --operations FILE.csv --meta FILE.yaml",
	        "%s goes with %s", operations ? "operations" : "meta",
	        operations ? "meta" : "operations");
}

/* ---- rows ---- */

static void put(ht_table *table, const char *metric, const char *key, double value)
{
	ht_table_row(table);
	ht_table_put_str(table, COL_METRIC, metric);
	ht_table_put_str(table, COL_KEY, key);
	ht_table_put_f64(table, COL_VALUE, value);
}

static void put_numbered(ht_table *table, const char *metric, int64_t key, double value)
{
	char text[24];
	snprintf(text, sizeof text, "%" PRId64, key);
	put(table, metric, text, value);
}

static void put_share(ht_table *table, const char *share_name, const char *added_name,
        const struct ht_ops_share *share)
{
	put(table, share_name, "", share->share);
	put(table, added_name, "", share->added);
	put(table, "T_rem", share_name, share->left_s);
}

static void put_parts(ht_table *table, const struct ht_ops *job, const struct ht_ops_slowdown *s)
{
	size_t n_stages = (size_t)job->shape.n_stages;
	for (int type = 0; type < HT_OPS_N_TYPES; type++) {
		const char *name = type == HT_OPS_FORWARD_SEND    ? "forward-pp-comm"
		                   : type == HT_OPS_BACKWARD_SEND ? "backward-pp-comm"
		                                                  : ht_ops_type_name(type);
		if (!isnan(s->by_type[type]))
			put(table, "S_t", name, s->by_type[type]);
	}
	for (size_t d = 0; d < job->n_data; d++)
		put_numbered(table, "S_dp", job->data_ranks[d], s->by_data[d]);
	for (size_t i = 0; i < n_stages; i++)
		put_numbered(table, "S_stage", (int64_t)i, s->by_stage[i]);
	for (size_t d = 0; d < job->n_data; d++)
		for (size_t i = 0; i < n_stages; i++)
			put_numbered(table, "S_w", job->ranks[d * n_stages + i],
			        ht_ops_of_worker(s, d, i));
	for (size_t i = 0; i < s->n_worst; i++)
		put_numbered(table, "worst", s->worst_ranks[i], s->worst_slowdowns[i]);
	if (!s->is_decomposed)
		return;
	put_share(table, "M_W", "A_W", &s->worst);
	put_share(table, "M_S", "A_S", &s->last);
}

static enum ht_status say_slowdown(
        struct ht_run *run, ht_table *table, const char *variant, double share, const char *group)
{
	struct ht_finding f = ht_finding("job-slowdown", HT_STATE_FOUND);
	f.variant = variant;
	/* without a rank that is slower than the mean a job can be faster than ideal, in which that rank takes the mean */
	if (!isnan(share))
		ht_finding_share(&f, fmin(share, 1), "of.slowdown", HT_NO_I64);
	if (group)
		ht_finding_subject(&f, "group", group);
	return ht_finding_note(run->scratch, &f, table);
}

static enum ht_status say_none(struct ht_run *run, ht_table *table, double slowdown)
{
	struct ht_finding f = ht_finding("job-slowdown", HT_STATE_NONE);
	ht_finding_number(&f, "slowdown", slowdown);
	ht_finding_number(&f, "least", MIN_SLOWDOWN);
	return ht_finding_note(run->scratch, &f, table);
}

/* Who has most of it, in the order of what is said first. */
static enum ht_status say_whose_of_ops(struct ht_run *run, ht_table *table,
        const struct ht_ops *job, const struct ht_ops_slowdown *s)
{
	bool has_stages = job->shape.n_stages > 1;
	if (s->worst.share >= MOST)
		return say_slowdown(run, table, "ranks", s->worst.share, NULL);
	if (has_stages && s->last.share >= MOST)
		return say_slowdown(run, table, "last_stage", s->last.share, NULL);
	if (s->has_uneven_batches)
		return say_slowdown(run, table, "batches_of_workers", NAN, NULL);
	return say_slowdown(run, table, has_stages ? "spread_stages" : "spread", NAN, NULL);
}

static enum ht_status put_slowdown(struct ht_run *run, ht_table *table, const struct ht_ops *job,
        const struct ht_ops_slowdown *s)
{
	put(table, "T", "", s->time_s);
	put(table, "T_id", "", s->ideal_s);
	put(table, "S", "", s->time_s / s->ideal_s);
	put(table, "launch_slowdown", "", s->recorded_s / s->time_s);
	put_parts(table, job, s);
	for (size_t i = 0; i < job->n_steps; i++)
		put_numbered(table, "S_step", job->steps[i], s->steps_s[i] / s->ideal_s);
	HT_TRY(ht_table_add_note(table,
	        "%zu steps of %zu data-parallel ranks and %" PRId64
	        " stages; %zu operations a step and rank, %zu dependencies, %zu groups",
	        job->n_steps, job->n_data, job->shape.n_stages, job->n_nodes, job->n_deps,
	        job->n_groups));
	return s->is_decomposed ? say_whose_of_ops(run, table, job, s)
	                        : say_none(run, table, s->time_s / s->ideal_s);
}

static void put_trace_share(ht_table *table, const char *share_name, const char *added_name,
        const struct ht_what_if_share *share)
{
	put(table, share_name, "", share->share);
	put(table, added_name, "", share->added);
	put(table, "T_rem", share_name, share->left_ns / 1e9);
}

/* What of the slowdown is there when only a type of operation is not ideal. */
static double share_of_type(const struct ht_what_if_slowdown *s, enum ht_what_if_type type)
{
	return (s->of_type[type] - 1) / (s->time_ns / s->ideal_ns - 1);
}

static enum ht_status say_whose(
        struct ht_run *run, ht_table *table, const struct ht_what_if_slowdown *s)
{
	double transfers = share_of_type(s, HT_WHAT_IF_TRANSFERS);
	if (s->worst.share >= MOST)
		return say_slowdown(run, table, "ranks", s->worst.share, NULL);
	if (s->n_stages > 1 && s->last.share >= MOST)
		return say_slowdown(run, table, "last_stage", s->last.share, NULL);
	if (s->slow_group && transfers >= MOST)
		return say_slowdown(run, table, "link", transfers, s->slow_group);
	if (s->has_uneven_batches)
		return say_slowdown(run, table, "batches", NAN, NULL);
	return say_slowdown(run, table, s->n_stages > 1 ? "spread_stages" : "spread", NAN, NULL);
}

/* The same of traces: a rank is a worker. */
static enum ht_status put_ranks(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	static const char *const types[HT_WHAT_IF_N_TYPES] = { [HT_WHAT_IF_FORWARD] =
		                                                       "forward-compute",
		[HT_WHAT_IF_BACKWARD] = "backward-compute",
		[HT_WHAT_IF_OPTIMIZER] = "optimizer",
		[HT_WHAT_IF_TRANSFERS] = "communication",
		[HT_WHAT_IF_CPU] = "cpu",
		[HT_WHAT_IF_GPU] = "gpu" };
	struct ht_what_if_slowdown s;
	HT_TRY(ht_what_if_slowdown_find(run, parts, table, &s));
	if (!s.is_known)
		return HT_OK;
	put(table, "T", "", s.time_ns / 1e9);
	put(table, "T_id", "", s.ideal_ns / 1e9);
	put(table, "S", "", s.time_ns / s.ideal_ns);
	for (size_t i = 0; i < HT_WHAT_IF_N_TYPES; i++)
		put(table, "S_t", types[i], s.of_type[i]);
	for (int64_t i = 0; s.n_stages > 1 && i < s.n_replicas; i++)
		if (s.of_replica[i] > 0)
			put_numbered(table, "S_dp", i, s.of_replica[i]);
	for (int64_t i = 0; s.n_stages > 1 && i < s.n_stages; i++)
		put_numbered(table, "S_stage", i, s.of_stage[i]);
	for (size_t i = 0; i < parts->n; i++)
		put_numbered(table, "S_w", parts->list[i].rank, s.of_part[i]);
	for (size_t i = 0; i < parts->n; i++)
		if (s.is_worst[i])
			put_numbered(table, "worst", parts->list[i].rank, s.of_part[i]);
	if (s.time_ns < MIN_SLOWDOWN * s.ideal_ns)
		return say_none(run, table, s.time_ns / s.ideal_ns);
	put_trace_share(table, "M_W", "A_W", &s.worst);
	if (s.n_stages > 1)
		put_trace_share(table, "M_S", "A_S", &s.last);
	return say_whose(run, table, &s);
}

static enum ht_status find_graph(struct ht_run *run, struct ht_part *part)
{
	struct ht_cp_options options = ht_cp_options_default(run);
	return ht_run_str(run, "operations")
	               ? HT_OK
	               : ht_event_graph_put(run, &options, ht_run_str(run, "scale"), part);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	const char *operations = ht_run_str(run, "operations");
	struct ht_ops job;
	struct ht_ops_slowdown slowdown;
	if (!operations) {
		if (ht_run_is(run, "view", "slowdown"))
			return put_ranks(run, parts, table);
		if (ht_run_is(run, "view", "gaps"))
			return ht_what_if_gaps(run, parts, table);
		HT_TRY(ht_parts_rows(run, parts, 0, 0, table));
		return ht_what_if_ask(run, parts, ht_run_str(run, "scale"), table);
	}
	/* no traces, so no ranks and steps to name */
	HT_TRY(ht_table_set_method(table, run->analysis->info.method));
	HT_TRY(ht_ops_read(run->ctx, operations, ht_run_str(run, "meta"), run->scratch, &job));
	HT_TRY(ht_ops_slowdown_find(run->ctx, &job, run->scratch, &slowdown));
	return put_slowdown(run, table, &job, &slowdown);
}
