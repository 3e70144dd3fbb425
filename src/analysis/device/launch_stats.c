/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_stats.c - launches with their GPU work: call time, run time, delay.
 *
 * Of every piece of GPU work whose launch call is in the trace (a graph launch has one per kernel):
 *     launch_delay = max(0, start of the work - end of the launch call)
 *
 * Views: "summary", by name of the work over all ranks: count, means and largest of the three, and how many are short, of those launched alone;
 * "all", a row each; "short", work that runs shorter than its own launch took (cpu <= runtime-cutoff and gpu < cpu);
 * "runtime-outliers", calls longer than runtime-cutoff; "delay-outliers", delays above launch-delay-cutoff.
 *
 * Reads GPU work and runtime and driver calls. Blind to work launched before the window. O(n log n).
 * Order: summary by summed delay, then name; all by rank, launch row, GPU row; the others worst first. With
 * hta-compat there is no summary but HTA's rows.
 *
 * Example: call [10,14) us, kernel [20,23) us: cpu 4 us, gpu 3 us, delay 6 us; a short kernel.
 */
#include "analysis/analysis.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/sort.h"
#include "model/finding/finding.h"
#include "model/finding/hint.h"
#include "model/origin/graph_launches.h"
#include "model/policy.h"
#include "model/rows/frame.h"
#include "model/device/launch.h"
#include "base/checked.h"
#include "store/args.h"

#include <stdlib.h>
#include <string.h>

static enum ht_status choose(struct ht_run *run);
static enum ht_status list_launches(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define LAUNCHES_COLUMNS(COLUMN)                                                                   \
	COLUMN(LAUNCHES_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                   \
	COLUMN(LAUNCHES_CORRELATION, "correlation", HT_I64, HT_KEY,                                \
	        "correlation id that links call and work", NULL)                                   \
	COLUMN(LAUNCHES_CPU_NS, "cpu_ns", HT_DURATION, HT_MEASURE, "duration of the launch call",  \
	        NULL)                                                                              \
	COLUMN(LAUNCHES_GPU_NS, "gpu_ns", HT_DURATION, HT_MEASURE, "duration of the GPU activity", \
	        NULL)                                                                              \
	COLUMN(LAUNCHES_LAUNCH_DELAY_NS, "launch_delay_ns", HT_DURATION, HT_MEASURE,               \
	        "from the end of the call to the start of the work, 0 when it starts before",      \
	        NULL)                                                                              \
	COLUMN(LAUNCHES_NAME, "name", HT_STR, HT_KEY, "kernel, copy or set", NULL)                 \
	COLUMN(LAUNCHES_LAUNCH, "launch", HT_STR, HT_KEY, "name of the launch call", NULL)         \
	COLUMN(LAUNCHES_DEVICE, "device", HT_I64, HT_DETAIL, "GPU index, null when unknown", NULL) \
	COLUMN(LAUNCHES_STREAM, "stream", HT_I64, HT_DETAIL, "stream on the GPU", NULL)            \
	COLUMN(LAUNCHES_INDEX_LAUNCH, "index_launch", HT_I64, HT_DETAIL, "row of the launch call", \
	        NULL)                                                                              \
	COLUMN(LAUNCHES_INDEX_GPU, "index_gpu", HT_I64, HT_DETAIL, "row of the GPU activity", NULL)
HT_COLUMNS(of_launches, LAUNCHES_COLUMNS);

#define SUMMARY_COLUMNS(COLUMN)                                                                    \
	COLUMN(SUMMARY_NAME, "name", HT_STR, HT_KEY, "kernel, copy or set", NULL)                  \
	COLUMN(SUMMARY_COUNT, "count", HT_I64, HT_MEASURE, "launches of it", NULL)                 \
	COLUMN(SUMMARY_LAUNCH_DELAY_MEAN_NS, "launch_delay_mean_ns", HT_DURATION_F64, HT_MEASURE,  \
	        "from the end of the call to the start of the work", NULL)                         \
	COLUMN(SUMMARY_LAUNCH_DELAY_MAX_NS, "launch_delay_max_ns", HT_DURATION, HT_MEASURE,        \
	        "the longest", NULL)                                                               \
	COLUMN(SUMMARY_CPU_MEAN_NS, "cpu_mean_ns", HT_DURATION_F64, HT_MEASURE,                    \
	        "duration of the launch calls", NULL)                                              \
	COLUMN(SUMMARY_CPU_MAX_NS, "cpu_max_ns", HT_DURATION, HT_MEASURE, "the longest", NULL)     \
	COLUMN(SUMMARY_GPU_MEAN_NS, "gpu_mean_ns", HT_DURATION_F64, HT_MEASURE,                    \
	        "duration of the work", NULL)                                                      \
	COLUMN(SUMMARY_GPU_MAX_NS, "gpu_max_ns", HT_DURATION, HT_DETAIL, "the longest", NULL)      \
	COLUMN(SUMMARY_N_SHORT, "n_short", HT_I64, HT_MEASURE,                                     \
	        "work that ran shorter than its launch call, which launched nothing else", NULL)   \
	COLUMN(SUMMARY_LAUNCH_DELAY_NS, "launch_delay_ns", HT_DURATION, HT_DETAIL,                 \
	        "sum of the delays", NULL)                                                         \
	COLUMN(SUMMARY_CPU_NS, "cpu_ns", HT_DURATION, HT_DETAIL, "sum of the calls", NULL)         \
	COLUMN(SUMMARY_GPU_NS, "gpu_ns", HT_DURATION, HT_DETAIL, "sum of the work", NULL)
HT_COLUMNS(of_summary, SUMMARY_COLUMNS);

#define GRAPHS_COLUMNS(COLUMN)                                                                     \
	COLUMN(GRAPHS_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                     \
	COLUMN(GRAPHS_DEVICE, "device", HT_I64, HT_KEY, "GPU index, null when unknown", NULL)      \
	COLUMN(GRAPHS_LAUNCH, "launch", HT_STR, HT_KEY, "name of the launch call", NULL)           \
	COLUMN(GRAPHS_LAUNCHES, "launches", HT_I64, HT_MEASURE, "graph launches", NULL)            \
	COLUMN(GRAPHS_KERNELS, "kernels_per_launch", HT_F64, HT_MEASURE,                           \
	        "kernels of a launch, mean", NULL)                                                 \
	COLUMN(GRAPHS_LEAST, "least_activities", HT_I64, HT_DETAIL,                                \
	        "GPU activities of the smallest launch", NULL)                                     \
	COLUMN(GRAPHS_MOST, "most_activities", HT_I64, HT_DETAIL,                                  \
	        "GPU activities of the largest launch", NULL)                                      \
	COLUMN(GRAPHS_CPU_NS, "cpu_ns", HT_DURATION, HT_MEASURE, "sum of the calls", NULL)         \
	COLUMN(GRAPHS_GPU_NS, "gpu_ns", HT_DURATION, HT_MEASURE,                                   \
	        "summed time of the GPU activities", NULL)                                         \
	COLUMN(GRAPHS_SPAN_NS, "span_ns", HT_DURATION, HT_MEASURE,                                 \
	        "from first start to last end of each launch, overlaps once", NULL)                \
	COLUMN(GRAPHS_INSIDE_NS, "idle_inside_ns", HT_DURATION, HT_MEASURE,                        \
	        "of the spans, when nothing runs on the device", NULL)                             \
	COLUMN(GRAPHS_BETWEEN_NS, "idle_between_ns", HT_DURATION, HT_MEASURE,                      \
	        "between the first span and the last, outside of spans, when nothing runs", NULL)
HT_COLUMNS(of_graphs, GRAPHS_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "summary", of_summary, HT_COUNT(of_summary) },
	{ "all", of_launches, HT_COUNT(of_launches) },
	{ "short", of_launches, HT_COUNT(of_launches) },
	{ "runtime-outliers", of_launches, HT_COUNT(of_launches) },
	{ "delay-outliers", of_launches, HT_COUNT(of_launches) },
	{ "graphs", of_graphs, HT_COUNT(of_graphs) },
};

/* What a rank contributes to the summary. */
#define GROUP_COLUMNS(COLUMN)                                                                      \
	COLUMN(GROUP_NAME, "name", HT_STR, HT_KEY, "kernel, copy or set", NULL)                    \
	COLUMN(GROUP_COUNT, "count", HT_I64, HT_MEASURE, "launches", NULL)                         \
	COLUMN(GROUP_N_SHORT, "n_short", HT_I64, HT_MEASURE,                                       \
	        "work that ran shorter than its own call", NULL)                                   \
	COLUMN(GROUP_DELAY_NS, "delay_ns", HT_DURATION, HT_MEASURE, "sum", NULL)                   \
	COLUMN(GROUP_DELAY_MAX_NS, "delay_max_ns", HT_DURATION, HT_MEASURE, "longest", NULL)       \
	COLUMN(GROUP_CPU_NS, "cpu_ns", HT_DURATION, HT_MEASURE, "sum", NULL)                       \
	COLUMN(GROUP_CPU_MAX_NS, "cpu_max_ns", HT_DURATION, HT_MEASURE, "longest", NULL)           \
	COLUMN(GROUP_GPU_NS, "gpu_ns", HT_DURATION, HT_MEASURE, "sum", NULL)                       \
	COLUMN(GROUP_GPU_MAX_NS, "gpu_max_ns", HT_DURATION, HT_MEASURE, "longest", NULL)
HT_COLUMNS(group_columns, GROUP_COLUMNS);

#define COUNTS_COLUMNS(COLUMN)                                                                     \
	COLUMN(COUNTS_N_LINKED, "n_linked", HT_I64, HT_MEASURE,                                    \
	        "GPU activity whose launch call is in the trace", NULL)
HT_COLUMNS(counts, COUNTS_COLUMNS);

static const struct ht_param params[] = {
	{ "view", HT_STR, "summary",
	        "sums by name, all launches, those that stand out, or graph launches with idle time "
	        "inside and between them",
	        "summary|all|short|runtime-outliers|delay-outliers|graphs" },
	{ "runtime-cutoff", HT_DURATION, "50us", "a launch call longer than this is an outlier",
	        NULL },
	{ "launch-delay-cutoff", HT_DURATION, "100us", "a delay longer than this is an outlier",
	        NULL },
	{ "include-memory", HT_BOOL, "true", "memcpy and memset too", NULL },
};

const struct ht_analysis ht_analysis_launch_stats = {
	.info = { .name = "launch-stats",
	        .group = "launch",
	        .page_view = "launch",
	        .title = "Launch statistics",
	        .question = "How long do launches take, and how long does launched work wait?",
	        .method = "Per GPU activity with its launch call: duration of both, and the delay "
	                  "from the end of the call to the start of the work.",
	        .hta = "get_cuda_kernel_launch_stats",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1 },
	.facts = { { "launches", of_launches, HT_COUNT(of_launches) },
	        { "linked", counts, HT_COUNT(counts) },
	        { "groups", group_columns, HT_COUNT(group_columns) },
	        { "graphs", of_graphs, HT_COUNT(of_graphs) } },
	.choose = choose,
	.per_rank = list_launches,
	.of = "GPU activity with its launch call",
	.finish = finish,
};

enum view { VIEW_SUMMARY, VIEW_ALL, VIEW_SHORT, VIEW_RUNTIME, VIEW_DELAY, VIEW_GRAPHS };

static enum ht_status choose(struct ht_run *run)
{
	if (run->policy->single_pieces && ht_run_is(run, "view", "summary"))
		ht_run_set(run, "view", "all");
	return HT_OK;
}

struct options {
	enum view view;
	int64_t runtime_cutoff_ns, delay_cutoff_ns;
	bool include_memory;
};

struct pair {
	uint32_t launch, gpu; /* row; index into trace->gpu */
};

static int compare(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;
	if (a->launch != b->launch)
		return a->launch < b->launch ? -1 : 1;
	return a->gpu < b->gpu ? -1 : a->gpu > b->gpu;
}

static int64_t delay_of(const struct ht_trace *trace, const struct ht_gpu *gpu)
{
	int64_t delay_ns = trace->ts_ns[gpu->row] - ht_end_ns(trace, gpu->launch);
	return delay_ns > 0 ? delay_ns : 0;
}

static bool is_shown(
        const struct options *options, const struct ht_trace *trace, const struct ht_gpu *gpu)
{
	int64_t cpu_ns = trace->dur_ns[gpu->launch], gpu_ns = trace->dur_ns[gpu->row];
	switch (options->view) {
	case VIEW_SUMMARY:
	case VIEW_GRAPHS:
	case VIEW_ALL: return true;
	case VIEW_SHORT: return cpu_ns <= options->runtime_cutoff_ns && gpu_ns < cpu_ns;
	case VIEW_RUNTIME: return cpu_ns > options->runtime_cutoff_ns;
	case VIEW_DELAY: return delay_of(trace, gpu) > options->delay_cutoff_ns;
	}
	return false;
}

static size_t collect(const struct ht_run *run, const struct ht_frame *frame,
        const struct options *options, struct pair *pairs)
{
	const struct ht_trace *trace = frame->trace;
	size_t n = 0;
	for (size_t i = 0; i < frame->n_gpu; i++) {
		const struct ht_gpu *gpu = &trace->gpu[frame->gpu[i]];
		if (gpu->launch == HT_NONE)
			continue;
		if (run->policy->counts_launch) {
			const char *launch = ht_str(trace, trace->name[gpu->launch]);
			if (!run->policy->counts_launch(launch, options->include_memory))
				continue;
		} else if (!options->include_memory && trace->kind[gpu->row] != HT_KIND_KERNEL) {
			continue;
		}
		if (is_shown(options, trace, gpu))
			pairs[n++] = (struct pair){ gpu->launch, frame->gpu[i] };
	}
	ht_sort_items(run->ctx->mem, pairs, n, sizeof *pairs, compare);
	return n;
}

static void put_row(
        ht_table *table, const struct ht_frame *frame, const struct pair *pair, int64_t correlation)
{
	const struct ht_trace *trace = frame->trace;
	const struct ht_gpu *gpu = &trace->gpu[pair->gpu];
	ht_table_row(table);
	ht_table_put_i64(table, LAUNCHES_RANK, frame->rank);
	ht_table_put_known(table, LAUNCHES_CORRELATION, correlation, HT_NO_I64);
	ht_table_put_i64(table, LAUNCHES_CPU_NS, trace->dur_ns[gpu->launch]);
	ht_table_put_i64(table, LAUNCHES_GPU_NS, trace->dur_ns[gpu->row]);
	ht_table_put_i64(table, LAUNCHES_LAUNCH_DELAY_NS, delay_of(trace, gpu));
	ht_table_put_str(table, LAUNCHES_NAME, ht_str(trace, trace->name[gpu->row]));
	ht_table_put_str(table, LAUNCHES_LAUNCH, ht_str(trace, trace->name[gpu->launch]));
	ht_put_index(table, LAUNCHES_DEVICE, gpu->device);
	ht_table_put_i64(table, LAUNCHES_STREAM, gpu->stream);
	ht_table_put_i64(table, LAUNCHES_INDEX_LAUNCH, gpu->launch);
	ht_table_put_i64(table, LAUNCHES_INDEX_GPU, gpu->row);
}

static struct options read_options(const struct ht_run *run)
{
	static const char *const names[] = { "summary", "all", "short", "runtime-outliers",
		"delay-outliers", "graphs" };
	struct options options = { .runtime_cutoff_ns = ht_run_duration_ns(run, "runtime-cutoff"),
		.delay_cutoff_ns = ht_run_duration_ns(run, "launch-delay-cutoff"),
		.include_memory = ht_run_bool(run, "include-memory") };
	for (size_t i = 0; i < HT_COUNT(names); i++)
		if (strcmp(ht_run_str(run, "view"), names[i]) == 0)
			options.view = (enum view)i;
	return options;
}

/* ---- summary ---- */

/* Launches of one name. */
struct group {
	const char *name;
	int64_t count, n_short;
	int64_t sum_ns[3], max_ns[3]; /* delay, cpu, gpu */
};

static void add_launch(struct group *group, const int64_t *ns, bool alone)
{
	group->count++;
	group->n_short += alone && ns[2] < ns[1];
	for (size_t k = 0; k < 3; k++) {
		ht_sum(&group->sum_ns[k], ns[k]);
		group->max_ns[k] = ns[k] > group->max_ns[k] ? ns[k] : group->max_ns[k];
	}
}

static void put_group(ht_table *table, const struct group *group)
{
	ht_table_row(table);
	ht_table_put_str(table, GROUP_NAME, group->name);
	ht_table_put_i64(table, GROUP_COUNT, group->count);
	ht_table_put_i64(table, GROUP_N_SHORT, group->n_short);
	for (size_t k = 0; k < 3; k++) {
		ht_table_put_i64(table, GROUP_DELAY_NS + 2 * k, group->sum_ns[k]);
		ht_table_put_i64(table, GROUP_DELAY_MAX_NS + 2 * k, group->max_ns[k]);
	}
}

/* Whether a call launched this only: the call of a graph is long because it launches many. */
static bool is_alone(const struct pair *pairs, size_t n, size_t i)
{
	return (!i || pairs[i - 1].launch != pairs[i].launch) &&
	       (i + 1 == n || pairs[i + 1].launch != pairs[i].launch);
}

/* By string id; the last for work without a name. */
static enum ht_status sum_names(struct ht_run *run, const struct ht_frame *frame,
        const struct pair *pairs, size_t n, ht_table *table)
{
	const struct ht_trace *trace = frame->trace;
	size_t n_names = trace->n_string_offsets + 1;
	struct group *groups = ht_arena_alloc(run->scratch, n_names * sizeof *groups);
	if (!groups)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++) {
		const struct ht_gpu *gpu = &trace->gpu[pairs[i].gpu];
		uint32_t id = trace->name[gpu->row];
		struct group *group = &groups[id == HT_NO_STR ? n_names - 1 : id];
		int64_t ns[3] = { delay_of(trace, gpu), trace->dur_ns[gpu->launch],
			trace->dur_ns[gpu->row] };
		group->name = ht_str(trace, id);
		add_launch(group, ns, is_alone(pairs, n, i));
	}
	for (size_t i = 0; i < n_names; i++)
		if (groups[i].count)
			put_group(table, &groups[i]);
	return HT_OK;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct group *)left)->name, ((const struct group *)right)->name);
}

static int by_delay(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	if (a->sum_ns[0] != b->sum_ns[0])
		return a->sum_ns[0] > b->sum_ns[0] ? -1 : 1;
	return by_name(left, right);
}

static struct group get_group(const ht_table *facts, size_t row)
{
	struct group group = { ht_table_str(facts, row, GROUP_NAME),
		ht_table_i64(facts, row, GROUP_COUNT), ht_table_i64(facts, row, GROUP_N_SHORT),
		{ 0 }, { 0 } };
	for (size_t k = 0; k < 3; k++) {
		group.sum_ns[k] = ht_table_i64(facts, row, GROUP_DELAY_NS + 2 * k);
		group.max_ns[k] = ht_table_i64(facts, row, GROUP_DELAY_MAX_NS + 2 * k);
	}
	return group;
}

static void pool(struct group *into, const struct group *from)
{
	ht_sum(&into->count, from->count);
	ht_sum(&into->n_short, from->n_short);
	for (size_t k = 0; k < 3; k++) {
		ht_sum(&into->sum_ns[k], from->sum_ns[k]);
		if (from->max_ns[k] > into->max_ns[k])
			into->max_ns[k] = from->max_ns[k];
	}
}

static void put_summary(ht_table *table, const struct group *group)
{
	ht_table_row(table);
	ht_table_put_str(table, SUMMARY_NAME, group->name);
	ht_table_put_i64(table, SUMMARY_COUNT, group->count);
	for (size_t k = 0; k < 3; k++) {
		ht_table_put_f64(table, SUMMARY_LAUNCH_DELAY_MEAN_NS + 2 * k,
		        (double)group->sum_ns[k] / (double)group->count);
		ht_table_put_i64(table, SUMMARY_LAUNCH_DELAY_MAX_NS + 2 * k, group->max_ns[k]);
	}
	ht_table_put_i64(table, SUMMARY_N_SHORT, group->n_short);
	for (size_t k = 0; k < 3; k++)
		ht_table_put_i64(table, SUMMARY_LAUNCH_DELAY_NS + k, group->sum_ns[k]);
}

/* The groups of all ranks, one of each name. Found by hash: sorting the names of thousands of ranks takes longer for each
 * rank the more there are. */
struct pooled {
	struct group *groups;
	size_t n;
	struct ht_text_table at; /* by name, with the place as id */
};

static bool pool_group(struct ht_mem *mem, struct pooled *pooled, const struct group *group)
{
	struct ht_text text = { group->name, 0, (uint32_t)strlen(group->name), 0 };
	text.hash = ht_hash(text.bytes, text.n);
	const struct ht_text *known =
	        ht_text_table_find(&pooled->at, text.bytes, text.n, text.hash);
	if (known) {
		pool(&pooled->groups[known->id], group);
		return true;
	}
	text.id = (uint32_t)pooled->n;
	pooled->groups[pooled->n++] = *group;
	return ht_text_table_put(mem, &pooled->at, &text);
}

static enum ht_status summarize(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct ht_mem *mem = run->scratch->mem;
	struct pooled pooled = { 0 };
	bool ok = true;
	pooled.groups = ht_arena_room(
	        run->scratch, (ht_parts_n_rows(parts, 2) + 1) * sizeof *pooled.groups);
	if (!pooled.groups)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < parts->n; i++)
		for (size_t row = 0; ok && row < ht_table_n_rows(parts->list[i].facts[2]); row++) {
			struct group group = get_group(parts->list[i].facts[2], row);
			ok = pool_group(mem, &pooled, &group);
		}
	if (pooled.at.slots)
		ht_mem_free(mem, pooled.at.slots, pooled.at.cap * sizeof *pooled.at.slots);
	if (!ok)
		return ht_fail_nomem(run->ctx);
	qsort(pooled.groups, pooled.n, sizeof *pooled.groups, by_delay);
	for (size_t i = 0; i < pooled.n; i++)
		put_summary(table, &pooled.groups[i]);
	return HT_OK;
}

/* ---- graph launches ---- */

static enum ht_status list_graphs(struct ht_run *run, const struct ht_frame *frame, ht_table *table)
{
	const struct ht_graph_launches *list;
	size_t n;
	HT_TRY(ht_graph_launches_find(run, frame, &list, &n));
	for (size_t i = 0; i < n; i++) {
		ht_table_row(table);
		ht_table_put_i64(table, GRAPHS_RANK, frame->rank);
		ht_put_index(table, GRAPHS_DEVICE, list[i].device);
		ht_table_put_str(table, GRAPHS_LAUNCH, list[i].call);
		ht_table_put_i64(table, GRAPHS_LAUNCHES, list[i].n);
		ht_table_put_f64(
		        table, GRAPHS_KERNELS, (double)list[i].n_kernels / (double)list[i].n);
		ht_table_put_i64(table, GRAPHS_LEAST, list[i].least);
		ht_table_put_i64(table, GRAPHS_MOST, list[i].most);
		ht_table_put_i64(table, GRAPHS_CPU_NS, list[i].cpu_ns);
		ht_table_put_i64(table, GRAPHS_GPU_NS, list[i].gpu_ns);
		ht_table_put_i64(table, GRAPHS_SPAN_NS, list[i].span_ns);
		ht_table_put_i64(table, GRAPHS_INSIDE_NS, list[i].inside_ns);
		ht_table_put_i64(table, GRAPHS_BETWEEN_NS, list[i].between_ns);
	}
	return HT_OK;
}

/* ---- rows ---- */

static enum ht_status list_launches(struct ht_run *run, struct ht_part *part)
{
	struct options options = read_options(run);
	struct ht_frame frame;
	HT_TRY(ht_frame_make_gpu(run, &frame));
	struct pair *pairs = ht_arena_alloc(run->scratch, frame.n_gpu * sizeof *pairs + 1);
	if (!pairs)
		return ht_fail_nomem(run->ctx);
	size_t n = collect(run, &frame, &options, pairs), n_linked = 0;
	for (size_t g = 0; g < frame.n_gpu; g++)
		n_linked += frame.trace->gpu[frame.gpu[g]].launch != HT_NONE;
	ht_table_row(part->facts[1]);
	ht_table_put_i64(part->facts[1], COUNTS_N_LINKED, (int64_t)n_linked);
	if (options.view == VIEW_GRAPHS)
		return list_graphs(run, &frame, part->facts[3]);
	if (options.view == VIEW_SUMMARY)
		return sum_names(run, &frame, pairs, n, part->facts[2]);
	int64_t *correlation;
	HT_TRY(ht_arg_dense_i64(
	        run->ctx, frame.trace, "correlation", HT_NO_I64, run->scratch, &correlation));
	for (size_t p = 0; p < n; p++)
		put_row(part->facts[0], &frame, &pairs[p],
		        correlation[frame.trace->gpu[pairs[p].gpu].row]);
	return HT_OK;
}

static enum ht_status add_hint(struct ht_arena *arena, ht_table *table)
{
	double all = ht_hint_total(table, "count"), n_short = ht_hint_total(table, "n_short");
	if (!(n_short > all / 2))
		return HT_OK;
	struct ht_finding f = ht_finding("short-activity", HT_STATE_FOUND);
	ht_finding_share(&f, n_short / all, "of.gpu_activities", HT_NO_I64);
	ht_finding_next(&f, "kernel-sequences");
	return ht_finding_note(arena, &f, table);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	static const char *const order[VIEW_GRAPHS + 1] = { [VIEW_SHORT] = "-cpu_ns",
		[VIEW_RUNTIME] = "-cpu_ns",
		[VIEW_DELAY] = "-launch_delay_ns" };
	enum view view = read_options(run).view;
	int64_t n_linked = 0;
	if (view == VIEW_SUMMARY)
		HT_TRY(summarize(run, parts, table));
	else
		HT_TRY(ht_parts_rows(run, parts, view == VIEW_GRAPHS ? 3 : 0, 0, table));
	if (order[view] && !run->policy->by_name)
		HT_TRY(ht_table_sort(run->ctx, table, order[view]));
	for (size_t i = 0; i < parts->n; i++)
		ht_sum(&n_linked, ht_table_i64(parts->list[i].facts[1], 0, COUNTS_N_LINKED));
	if (!n_linked)
		return ht_table_add_note(
		        table, "no GPU activity with its launch call in the selection");
	if (!ht_table_n_rows(table))
		return ht_table_add_note(
		        table, "none of %lld launches is of this kind", (long long)n_linked);
	return view == VIEW_SUMMARY ? add_hint(run->scratch, table) : HT_OK;
}
