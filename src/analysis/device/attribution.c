/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribution.c - whose GPU time it is, and how that is known.
 *
 * Every GPU activity (kernel, memcpy, memset) of the selection has exactly one method (model/origin/origin.h); gpu_ns sums durations, so the sum over
 * methods is that of all activities. Views:
 *   methods  per rank, method and confidence: activities, their time, share of the rank's summed GPU time
 *   origins  over all ranks by kernel, operator, module, source and method
 *   lines    over all ranks by line of the user's code: a kernel that was fused from several lines counts a part for each, by the bytes that
 *            the lines compute where these are known, else in equal parts; of a line's time that much is shared
 *   graphs   per rank and kind of graph launch: how often it ran, what it was read against, what matched, and why nothing did
 *
 *   compile  per rank and graph of torch.compile: calls, time, recompilations inside the window and their reason
 *   compile-timeline  what torch.compile did when, by its structured log; drawn into written traces and over the timeline
 *
 * Reads GPU activities, launches, annotations, and what is attached (capture traces, eager runs). O(activities), and
 * an alignment per kind of graph.
 *
 * Example: 10 launches of a graph of 5 kernels of 2 us, whose capture is attached, and one aten::mm of 20 us:
 * graph-capture 50 activities, 100 us, 83.3 %; op 1 activity, 20 us, 16.7 %.
 */
#include "analysis/analysis.h"
#include "base/checked.h"
#include "model/calls/row_owners.h"
#include "model/drawing.h"
#include "model/origin/compile_spans.h"
#include "model/origin/regions.h"
#include "model/device/gpu_work.h"
#include "model/numbers/pooled.h"
#include "model/origin/find_origins.h"
#include "model/origin/call_lines.h"
#include "model/policy.h"
#include "store/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static enum ht_status per_rank(struct ht_run *run, struct ht_part *part);
static enum ht_status draw_spans(struct ht_run *run, struct ht_drawing *ret_drawing);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define METHOD_COLUMNS(COLUMN)                                                                     \
	COLUMN(METHOD_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                     \
	COLUMN(METHOD_METHOD, "method", HT_STR, HT_KEY,                                            \
	        "how the origin is known: op, triton-op, graph-annotation, graph-capture, "        \
	        "graph-eager, graph-inductor, name-rule, none",                                    \
	        NULL)                                                                              \
	COLUMN(METHOD_CONFIDENCE, "confidence", HT_RATIO, HT_KEY,                                  \
	        "1: proven by ids or names; of a join by position, share of positions that "       \
	        "fit; 0: only the name is known, or nothing",                                      \
	        NULL)                                                                              \
	COLUMN(METHOD_KERNELS, "kernels", HT_I64, HT_MEASURE,                                      \
	        "GPU activities: kernels, memcpy, memset", NULL)                                   \
	COLUMN(METHOD_GPU_NS, "gpu_ns", HT_DURATION, HT_MEASURE, "their summed time", NULL)        \
	COLUMN(METHOD_SHARE, "share", HT_RATIO, HT_MEASURE, "of the summed GPU time of the rank",  \
	        NULL)                                                                              \
	COLUMN(METHOD_VIA, "via", HT_STR, HT_KEY,                                                  \
	        "of generated kernels, where their operators are known from: provenance, code "    \
	        "(comments of the generated code), name",                                          \
	        NULL)
HT_COLUMNS(method_columns, METHOD_COLUMNS);

#define ORIGIN_COLUMNS(COLUMN)                                                                     \
	COLUMN(ORIGIN_NAME, "name", HT_STR, HT_KEY, "name of the kernel, memcpy or memset", NULL)  \
	COLUMN(ORIGIN_OP, "op", HT_STR, HT_KEY, "operator that it belongs to", NULL)               \
	COLUMN(ORIGIN_MODULE, "module", HT_STR, HT_KEY,                                            \
	        "nn.Module calls around it, outermost first", NULL)                                \
	COLUMN(ORIGIN_SOURCE, "source", HT_STR, HT_KEY, "line of the user's code around it", NULL) \
	COLUMN(ORIGIN_METHOD, "method", HT_STR, HT_KEY, "how the origin is known", NULL)           \
	COLUMN(ORIGIN_COUNT, "count", HT_I64, HT_MEASURE, "GPU activities", NULL)                  \
	COLUMN(ORIGIN_GPU_NS, "gpu_ns", HT_DURATION, HT_MEASURE, "their summed time", NULL)        \
	COLUMN(ORIGIN_VIA, "via", HT_STR, HT_DETAIL,                                               \
	        "of generated kernels, where their operators are known from: provenance, code "    \
	        "(comments of the generated code), name",                                          \
	        NULL)                                                                              \
	COLUMN(ORIGIN_NODES, "nodes", HT_STR, HT_DETAIL,                                           \
	        "of compiled graphs, nodes of the FX graph", NULL)                                 \
	COLUMN(ORIGIN_MODULE_VIA, "module_via", HT_STR, HT_DETAIL,                                 \
	        "how the module is known: module_fqn, frames (calls of modules), hierarchy, "      \
	        "parameters (of generated code), neighbours (calls before and after), stack, "     \
	        "backward (of the forward operator), annotation",                                  \
	        NULL)                                                                              \
	COLUMN(ORIGIN_FORWARD_SOURCE, "forward_source", HT_STR, HT_DETAIL,                         \
	        "of the backward pass without a line of its own: the line of the forward "         \
	        "operator whose gradient it computes",                                             \
	        NULL)                                                                              \
	COLUMN(ORIGIN_MODULE_CONFIDENCE, "module_confidence", HT_RATIO, HT_DETAIL,                 \
	        "how sure the module is, 0 to 1; 1/n for one known by the parameters of a kernel " \
	        "that was fused from n lines, 0.5 by neighbours",                                  \
	        NULL)
HT_COLUMNS(origin_columns, ORIGIN_COLUMNS);

/* The same in a part. */
enum { FACTS_ORIGINS = 1 };
#define CONFIDENCE_UNITS 1e9 /* parts of 1 in a part */
#define ORIGIN_KEYS(KEY)                                                                           \
	KEY(BY_NAME, "name", HT_STR, HT_KEY, "kernel, memcpy or memset", NULL)                     \
	KEY(BY_OP, "op", HT_STR, HT_KEY, "operator", NULL)                                         \
	KEY(BY_MODULE, "module", HT_STR, HT_KEY, "modules", NULL)                                  \
	KEY(BY_SOURCE, "source", HT_STR, HT_KEY, "lines", NULL)                                    \
	KEY(BY_METHOD, "method", HT_STR, HT_KEY, "how that is known", NULL)                        \
	KEY(BY_VIA, "via", HT_STR, HT_KEY, "where operators are known from", NULL)                 \
	KEY(BY_NODES, "nodes", HT_STR, HT_KEY, "nodes of the FX graph", NULL)                      \
	KEY(BY_MODULE_VIA, "module_via", HT_STR, HT_KEY, "how modules are known", NULL)            \
	KEY(BY_FORWARD_SOURCE, "forward_source", HT_STR, HT_KEY, "line of the forward operator",   \
	        NULL)
#define ORIGIN_VALUES(VALUE)                                                                       \
	VALUE(OF_COUNT, SUM, "count", HT_I64, HT_MEASURE, "GPU activities", NULL)                  \
	VALUE(OF_GPU_NS, SUM, "gpu_ns", HT_DURATION, HT_MEASURE, "their summed time", NULL)        \
	VALUE(OF_MODULE_CONFIDENCE, MIN, "module_confidence", HT_I64, HT_MEASURE,                  \
	        "how sure the module is, at least", NULL)
HT_COLUMN_NUMBERS(ORIGIN_KEYS, N_ORIGIN_KEYS);
HT_COLUMN_NUMBERS(ORIGIN_VALUES, N_ORIGIN_VALUES);
static const uint8_t origin_rules[N_ORIGIN_VALUES] = HT_POOL_RULES(ORIGIN_VALUES);
static const struct ht_column origin_facts[] = HT_POOL_COLUMNS(ORIGIN_KEYS, ORIGIN_VALUES);

/* Both of parts and of the table. */
#define LINE_KEYS(KEY)                                                                             \
	KEY(LINE_SOURCE, "source", HT_STR, HT_KEY,                                                 \
	        "line of the user's code; null where none is known", NULL)                         \
	KEY(LINE_OP, "op", HT_STR, HT_KEY, "operator that the GPU activity belongs to", NULL)      \
	KEY(LINE_METHOD, "method", HT_STR, HT_KEY, "how the origin is known", NULL)                \
	KEY(LINE_VIA, "via", HT_STR, HT_KEY,                                                       \
	        "of generated kernels, where their operators are known from", NULL)                \
	KEY(LINE_SPLIT, "split", HT_STR, HT_KEY,                                                   \
	        "how time of several lines was split: bytes (of what the lines compute), evenly",  \
	        NULL)
#define LINE_VALUES(VALUE)                                                                         \
	VALUE(LINE_COUNT, SUM, "count", HT_I64, HT_MEASURE,                                        \
	        "GPU activities of the line; one fused from several lines counts for each", NULL)  \
	VALUE(LINE_GPU_NS, SUM, "gpu_ns", HT_DURATION, HT_MEASURE,                                 \
	        "their summed time; of one fused from several lines the part of the line", NULL)   \
	VALUE(LINE_SHARED_NS, SUM, "shared_ns", HT_DURATION, HT_MEASURE,                           \
	        "of it, parts of activities that were fused from several lines", NULL)
HT_COLUMN_NUMBERS(LINE_KEYS, N_LINE_KEYS);
HT_COLUMN_NUMBERS(LINE_VALUES, N_LINE_VALUES);
static const uint8_t line_rules[N_LINE_VALUES] = HT_POOL_RULES(LINE_VALUES);
static const struct ht_column line_columns[] = HT_POOL_COLUMNS(LINE_KEYS, LINE_VALUES);

#define GRAPH_COLUMNS(COLUMN)                                                                      \
	COLUMN(GRAPH_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                      \
	COLUMN(GRAPH_SIGNATURE, "signature", HT_STR, HT_KEY,                                       \
	        "hash of the names of its activities, in order", NULL)                             \
	COLUMN(GRAPH_SIZE, "size", HT_I64, HT_KEY,                                                 \
	        "batch size that the annotation around the launch says", NULL)                     \
	COLUMN(GRAPH_LAUNCHES, "launches", HT_I64, HT_MEASURE,                                     \
	        "launches of such a graph in the file", NULL)                                      \
	COLUMN(GRAPH_KERNELS_PER_LAUNCH, "kernels_per_launch", HT_I64, HT_MEASURE,                 \
	        "GPU activities of one launch", NULL)                                              \
	COLUMN(GRAPH_MATCHED_SHARE, "matched_share", HT_RATIO, HT_MEASURE,                         \
	        "of these activities, those with an origin in the recording", NULL)                \
	COLUMN(GRAPH_METHOD, "method", HT_STR, HT_MEASURE, "how their origin is known", NULL)      \
	COLUMN(GRAPH_CONFIDENCE, "confidence", HT_RATIO, HT_MEASURE,                               \
	        "of the join with the recording", NULL)                                            \
	COLUMN(GRAPH_GPU_NS, "gpu_ns", HT_DURATION, HT_MEASURE, "summed time of all launches",     \
	        NULL)                                                                              \
	COLUMN(GRAPH_FROM, "from", HT_STR, HT_DETAIL, "the recording that it was read against",    \
	        NULL)                                                                              \
	COLUMN(GRAPH_WHY, "why", HT_STR, HT_DETAIL, "why there is none", NULL)                     \
	COLUMN(GRAPH_NOTE, "note", HT_STR, HT_DETAIL, "what is doubtful about its choice", NULL)
HT_COLUMNS(graph_columns, GRAPH_COLUMNS);

#define COMPILE_COLUMNS(COLUMN)                                                                    \
	COLUMN(COMPILE_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                    \
	COLUMN(COMPILE_REGION, "region", HT_STR, HT_KEY, "compiled region that calls the graph",   \
	        NULL)                                                                              \
	COLUMN(COMPILE_ID, "compile_id", HT_STR, HT_KEY,                                           \
	        "frame and how often it had been compiled before: 0/1", NULL)                      \
	COLUMN(COMPILE_GRAPH_KEY, "graph_key", HT_STR, HT_KEY, "key of the compiled graph", NULL)  \
	COLUMN(COMPILE_PASS, "pass", HT_STR, HT_KEY, "forward or backward", NULL)                  \
	COLUMN(COMPILE_CALLS, "calls", HT_I64, HT_MEASURE, "calls of the graph in the file", NULL) \
	COLUMN(COMPILE_CPU_NS, "cpu_ns", HT_DURATION, HT_MEASURE, "their time on the CPU", NULL)   \
	COLUMN(COMPILE_GPU_NS, "gpu_ns", HT_DURATION, HT_MEASURE,                                  \
	        "summed GPU time launched inside them", NULL)                                      \
	COLUMN(COMPILE_RECOMPILATIONS, "recompilations", HT_I64, HT_MEASURE,                       \
	        "compilations of this id inside the window that were not the frame's first", NULL) \
	COLUMN(COMPILE_NS, "compile_ns", HT_DURATION, HT_MEASURE,                                  \
	        "time of compilations inside the window", NULL)                                    \
	COLUMN(COMPILE_REASON, "reason", HT_STR, HT_MEASURE,                                       \
	        "why it was compiled again: the guard that failed", NULL)
HT_COLUMNS(compile_columns, COMPILE_COLUMNS);

#define SPAN_COLUMNS(COLUMN)                                                                       \
	COLUMN(SPAN_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                       \
	COLUMN(SPAN_TS_NS, "ts_ns", HT_TIME, HT_MEASURE,                                           \
	        "start, from the first event of the set; before it, negative", NULL)               \
	COLUMN(SPAN_DURATION_NS, "duration_ns", HT_DURATION, HT_MEASURE, "how long it took", NULL) \
	COLUMN(SPAN_COMPILE_ID, "compile_id", HT_STR, HT_KEY, "what was compiled: 0/1", NULL)      \
	COLUMN(SPAN_NAME, "name", HT_STR, HT_KEY, "phase of the compilation", NULL)                \
	COLUMN(SPAN_INDEX, "index", HT_I64, HT_DETAIL,                                             \
	        "row of the trace's own event of it; null: it has none", NULL)                     \
	COLUMN(SPAN_DEPTH, "depth", HT_I64, HT_DETAIL, "phases around it", NULL)                   \
	COLUMN(SPAN_INSIDE, "inside", HT_BOOL, HT_DETAIL, "at a time that the trace has", NULL)
HT_COLUMNS(span_columns, SPAN_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "methods", method_columns, HT_COUNT(method_columns) },
	{ "origins", origin_columns, HT_COUNT(origin_columns) },
	{ "lines", line_columns, HT_COUNT(line_columns) },
	{ "graphs", graph_columns, HT_COUNT(graph_columns) },
	{ "compile", compile_columns, HT_COUNT(compile_columns) },
	{ "compile-timeline", span_columns, HT_COUNT(span_columns) },
};

static const struct ht_over_time over_time = { .view = "compile-timeline",
	.columns = "ts_ns,duration_ns,compile_id,name,index" };

static const struct ht_param params[] = {
	{ "view", HT_STR, "methods",
	        "GPU time by method, by kernel and origin, by line of code, kinds of graph launches, graphs of torch.compile, or what it did when",
	        "methods|origins|lines|graphs|compile|compile-timeline" },
};

const struct ht_analysis ht_analysis_attribution = {
	.info = {
		.name = "attribution",
		.group = "gpu",
		.title = "Attribution of GPU time",
		.question = "How much of the GPU time belongs to a known operator, module and line, and how is that known?",
		.method = "Every kernel, memcpy and memset has one method. op: an operator launched it. triton-op: a generated kernel. Kernels of graph "
			  "launches are read against what is attached: a capture trace (graph-capture, by names, or by position with a check of every "
			  "position) or an eager run of the same code (graph-eager). name-rule: only the name says what it computes. Times are summed, so "
			  "methods add up to the summed GPU time.",
		.schemas = schemas,
		.n_schemas = HT_COUNT(schemas),
		.chosen_by = "view",
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
		.details = "origins",
		.over_time = &over_time,
		.draws = true,
	},
	.draw = draw_spans,
	.facts = { [FACTS_ORIGINS] = { "origins", origin_facts, HT_COUNT(origin_facts) } },
	.per_rank = per_rank,
	.finish = finish,
};

/* The selected activities, each with its origin. */
struct activities {
	struct ht_run *run;
	struct ht_origins origins;
	struct ht_frame frame;
	struct ht_work_list
	        work; /* where the policy collects it; otherwise the GPU activities of the frame */
	size_t n;
	size_t near;
};

static enum ht_status collect(struct ht_run *run, bool with_modules, struct activities *ret)
{
	struct activities a = { .run = run };
	HT_TRY(ht_frame_make_gpu(run, &a.frame));
	if (run->policy->collect_work)
		HT_TRY(ht_work_collect(run, &a.frame, &a.work));
	a.n = run->policy->collect_work ? a.work.n : a.frame.n_gpu;
	HT_TRY(ht_origins_make(run, with_modules, &a.origins));
	*ret = a;
	return HT_OK;
}

static uint32_t row_of(const struct activities *a, size_t i)
{
	return a->work.items ? a->work.items[i].row : a->run->trace->gpu[a->frame.gpu[i]].row;
}

/* Its place among the GPU activities of the trace, SIZE_MAX: none. */
static size_t gpu_at(struct activities *a, size_t i)
{
	const struct ht_trace *t = a->run->trace;
	if (!a->work.items)
		return a->frame.gpu[i];
	const struct ht_gpu *gpu = ht_gpu_of_row_near(t, a->work.items[i].row, &a->near);
	return gpu ? (size_t)(gpu - t->gpu) : SIZE_MAX;
}

static int64_t length_of(const struct activities *a, size_t i)
{
	return a->work.items ? a->work.items[i].end - a->work.items[i].start
	                     : a->run->trace->dur_ns[row_of(a, i)];
}

static int64_t origin_at(struct activities *a, size_t i, struct ht_origin *ret_origin)
{
	size_t i_gpu = gpu_at(a, i);
	if (i_gpu == SIZE_MAX)
		*ret_origin = (struct ht_origin){ .method = HT_ORIGIN_NONE };
	else
		ht_origin_get(&a->origins, i_gpu, ret_origin);
	return length_of(a, i);
}

/* ---- methods ---- */

struct method_sum {
	enum ht_origin_method method;
	double confidence;
	enum ht_fused_via via;
	int64_t n, ns;
};

/* Activities of one site of a graph, which have the same name. */
struct site_sum {
	int64_t n, ns;
	size_t first; /* of them */
};

static int by_method(const void *left, const void *right)
{
	const struct method_sum *a = left, *b = right;
	if (a->method != b->method)
		return a->method < b->method ? -1 : 1;
	int order = (a->confidence < b->confidence) - (a->confidence > b->confidence);
	return order ? order : (int)a->via - (int)b->via;
}

static enum ht_status add_to(struct ht_run *run, struct ht_vec *sums,
        const struct ht_origin *origin, int64_t n, int64_t ns)
{
	struct method_sum *list = sums->data;
	size_t i = sums->n;
	/* the last ones are the likely ones */
	while (i-- > 0)
		if (list[i].method == origin->method && list[i].via == origin->via &&
		        !(list[i].confidence < origin->confidence) &&
		        !(list[i].confidence > origin->confidence))
			break;
	if (i == SIZE_MAX) {
		struct method_sum fresh = { origin->method, origin->confidence, origin->via, 0, 0 };
		if (!HT_VEC_PUSH(run->ctx->mem, sums, struct method_sum, fresh))
			return ht_fail_nomem(run->ctx);
		i = sums->n - 1;
	}
	list = sums->data;
	list[i].n += n;
	ht_sum(&list[i].ns, ns);
	return HT_OK;
}

static void put_methods(struct ht_run *run, struct ht_vec *sums, ht_table *table)
{
	struct method_sum *list = sums->data;
	int64_t total = 0;
	if (sums->n)
		qsort(list, sums->n, sizeof *list, by_method);
	for (size_t i = 0; i < sums->n; i++)
		ht_sum(&total, list[i].ns);
	for (size_t i = 0; i < sums->n; i++) {
		ht_table_row(table);
		ht_table_put_i64(table, METHOD_RANK, run->rank);
		ht_table_put_str(table, METHOD_METHOD, ht_origin_method_name(list[i].method));
		ht_table_put_f64(table, METHOD_CONFIDENCE, list[i].confidence);
		ht_table_put_i64(table, METHOD_KERNELS, list[i].n);
		ht_table_put_i64(table, METHOD_GPU_NS, list[i].ns);
		ht_table_put_f64(
		        table, METHOD_SHARE, total ? (double)list[i].ns / (double)total : 0);
		ht_table_put_str(table, METHOD_VIA, ht_fused_via_name(list[i].via));
	}
}

/* Replays share their sites, so these are added up first: a graph is replayed by the thousand. */
static enum ht_status add_activities(
        struct ht_run *run, struct activities *a, struct site_sum *sites, struct ht_vec *sums)
{
	const struct ht_trace *t = run->trace;
	const uint32_t *site = a->origins.site;
	bool is_frame = !a->work.items;
	struct ht_origin origin;
	for (size_t i = 0; i < a->n; i++) {
		size_t i_gpu = is_frame ? a->frame.gpu[i] : gpu_at(a, i);
		if (i_gpu != SIZE_MAX && site && site[i_gpu] != HT_NONE) {
			struct site_sum *sum = &sites[site[i_gpu]];
			if (!sum->n++)
				sum->first = i_gpu;
			ht_sum(&sum->ns, is_frame ? t->dur_ns[t->gpu[i_gpu].row] : length_of(a, i));
			continue;
		}
		int64_t ns = origin_at(a, i, &origin);
		HT_TRY(add_to(run, sums, &origin, 1, ns));
	}
	for (size_t k = 0; k < a->origins.n_sites; k++) {
		if (!sites[k].n)
			continue;
		ht_origin_get(&a->origins, sites[k].first, &origin);
		HT_TRY(add_to(run, sums, &origin, sites[k].n, sites[k].ns));
	}
	return HT_OK;
}

static enum ht_status sum_methods(struct ht_run *run, ht_table *table)
{
	struct activities a;
	struct ht_vec sums = { 0 };
	HT_TRY(collect(run, false, &a));
	struct site_sum *sites =
	        ht_arena_alloc(run->scratch, (a.origins.n_sites + 1) * sizeof *sites);
	enum ht_status status =
	        sites ? add_activities(run, &a, sites, &sums) : ht_fail_nomem(run->ctx);
	if (status == HT_OK)
		put_methods(run, &sums, table);
	ht_vec_free(run->ctx->mem, &sums, sizeof(struct method_sum));
	return status;
}

/* ---- origins ---- */

static enum ht_status pool_origin(struct ht_pooled *pooled, const char *name,
        const struct ht_origin *origin, const char *forward_source, int64_t ns)
{
	const char *method = ht_origin_method_name(origin->method);
	const char *via = ht_fused_via_name(origin->via);
	const char *module_via = ht_module_via_name(origin->module_via);
	size_t group;
	if (!ht_pooled_set_text(pooled, BY_NAME, name) ||
	        !ht_pooled_set_text(pooled, BY_OP, origin->op) ||
	        !ht_pooled_set_text(pooled, BY_MODULE, origin->module) ||
	        !ht_pooled_set_text(pooled, BY_SOURCE, origin->source) ||
	        !ht_pooled_set_text(pooled, BY_METHOD, method) ||
	        !ht_pooled_set_text(pooled, BY_VIA, via) ||
	        !ht_pooled_set_text(pooled, BY_NODES, origin->nodes) ||
	        !ht_pooled_set_text(pooled, BY_MODULE_VIA, module_via) ||
	        !ht_pooled_set_text(pooled, BY_FORWARD_SOURCE, forward_source) ||
	        !ht_pooled_group(pooled, &group))
		return ht_fail_nomem(pooled->run->ctx);
	ht_pooled_set(pooled, OF_COUNT, 1);
	ht_pooled_set(pooled, OF_GPU_NS, ns);
	ht_pooled_set(pooled, OF_MODULE_CONFIDENCE,
	        (int64_t)(origin->module_confidence * CONFIDENCE_UNITS));
	ht_pooled_add(pooled, group, 0);
	return HT_OK;
}

static enum ht_status pool_origins(struct ht_run *run, ht_table *table)
{
	const struct ht_trace *t = run->trace;
	struct activities a;
	struct ht_pooled pooled;
	struct ht_attribution attribution;
	HT_TRY(collect(run, true, &a));
	HT_TRY(ht_attribution_make(
	        run, t, a.origins.lines ? HT_ATTRIBUTE_FORWARD : 0, &attribution));
	ht_pooled_init(&pooled, run, N_ORIGIN_KEYS, 1, origin_rules, N_ORIGIN_VALUES);
	enum ht_status status = HT_OK;
	for (size_t i = 0; status == HT_OK && i < a.n; i++) {
		struct ht_origin origin;
		uint32_t row = row_of(&a, i);
		int64_t ns = origin_at(&a, i, &origin);
		status = pool_origin(&pooled, ht_str(t, t->name[row]), &origin,
		        origin.source ? NULL : ht_forward_line(&attribution, a.origins.lines, row),
		        ns);
	}
	if (status == HT_OK)
		status = ht_pooled_put(&pooled, table);
	ht_pooled_done(&pooled);
	return status;
}

/* ---- lines ---- */

static bool pool_line(struct ht_pooled *pooled, const struct ht_origin *origin, const char *line,
        int64_t ns, bool is_shared)
{
	const char *method = ht_origin_method_name(origin->method);
	const char *split = !is_shared ? NULL : origin->line_bytes ? "bytes" : "evenly";
	size_t group;
	if (!ht_pooled_set_text(pooled, LINE_SOURCE, line) ||
	        !ht_pooled_set_text(pooled, LINE_OP, origin->op) ||
	        !ht_pooled_set_text(pooled, LINE_METHOD, method) ||
	        !ht_pooled_set_text(pooled, LINE_VIA, ht_fused_via_name(origin->via)) ||
	        !ht_pooled_set_text(pooled, LINE_SPLIT, split) || !ht_pooled_group(pooled, &group))
		return false;
	ht_pooled_set(pooled, LINE_COUNT, 1);
	ht_pooled_set(pooled, LINE_GPU_NS, ns);
	ht_pooled_set(pooled, LINE_SHARED_NS, is_shared ? ns : 0);
	ht_pooled_add(pooled, group, 0);
	return true;
}

/* Parts add up to the whole: each ends where its share of the sum does. */
static bool split_lines(struct ht_pooled *pooled, const struct ht_origin *origin, int64_t ns)
{
	const char *at = origin->source;
	const int64_t *bytes = origin->line_bytes;
	struct ht_piece line;
	char text[HT_CALL_LINE_BYTES + 1];
	__int128 all = 0, until = 0;
	int64_t done = 0;
	if (origin->n_lines < 2)
		return pool_line(pooled, origin, at, ns, false);
	for (size_t k = 0; k < origin->n_lines; k++)
		all += bytes ? bytes[k] : 1;
	for (size_t i = 0; i < origin->n_lines && ht_call_line_next(&at, &line); i++) {
		until += bytes ? bytes[i] : 1;
		/* rounded up, so that of equal parts the first ones are longer */
		int64_t part = (int64_t)((ns * until + all - 1) / all) - done;
		done += part;
		memcpy(text, line.text, (size_t)line.n);
		text[line.n] = '\0';
		if (!pool_line(pooled, origin, text, part, true))
			return false;
	}
	return true;
}

static enum ht_status pool_lines(struct ht_run *run, ht_table *table)
{
	struct activities a;
	struct ht_pooled pooled;
	HT_TRY(collect(run, false, &a));
	ht_pooled_init(&pooled, run, N_LINE_KEYS, 1, line_rules, N_LINE_VALUES);
	enum ht_status status = HT_OK;
	for (size_t i = 0; status == HT_OK && i < a.n; i++) {
		struct ht_origin origin;
		int64_t ns = origin_at(&a, i, &origin);
		status = split_lines(&pooled, &origin, ns) ? HT_OK : ht_fail_nomem(run->ctx);
	}
	if (status == HT_OK)
		status = ht_pooled_put(&pooled, table);
	ht_pooled_done(&pooled);
	return status;
}

/* ---- graphs ---- */

static enum ht_status list_graphs(struct ht_run *run, ht_table *table)
{
	struct ht_origins origins;
	HT_TRY(ht_origins_make(run, false, &origins));
	for (size_t i = 0; i < origins.n_graphs; i++) {
		const struct ht_graph_use *g = &origins.graphs[i];
		char signature[20];
		snprintf(signature, sizeof signature, "%016" PRIx64, g->signature);
		ht_table_row(table);
		ht_table_put_i64(table, GRAPH_RANK, run->rank);
		ht_table_put_str(table, GRAPH_SIGNATURE, signature);
		ht_table_put_known(table, GRAPH_SIZE, g->size, -1);
		ht_table_put_i64(table, GRAPH_LAUNCHES, (int64_t)g->n_launches);
		ht_table_put_i64(table, GRAPH_KERNELS_PER_LAUNCH, (int64_t)g->n_activities);
		ht_table_put_f64(
		        table, GRAPH_MATCHED_SHARE, (double)g->n_matched / (double)g->n_activities);
		ht_table_put_str(table, GRAPH_METHOD, ht_origin_method_name(g->method));
		ht_table_put_f64(table, GRAPH_CONFIDENCE, g->confidence);
		ht_table_put_i64(table, GRAPH_GPU_NS, g->gpu_ns);
		ht_table_put_str(table, GRAPH_FROM, g->from);
		ht_table_put_str(table, GRAPH_WHY, g->why);
		ht_table_put_str(table, GRAPH_NOTE, g->note);
	}
	return HT_OK;
}

/* ---- compile ---- */

static enum ht_status list_regions(struct ht_run *run, ht_table *table)
{
	const struct ht_compiled_region *list;
	size_t n;
	HT_TRY(ht_regions_find(run, &list, &n));
	for (size_t i = 0; i < n; i++) {
		ht_table_row(table);
		ht_table_put_i64(table, COMPILE_RANK, run->rank);
		ht_table_put_str(table, COMPILE_REGION, list[i].region);
		ht_table_put_str(table, COMPILE_ID, list[i].compile_id);
		ht_table_put_str(table, COMPILE_GRAPH_KEY, list[i].key);
		ht_table_put_str(table, COMPILE_PASS, list[i].is_backward ? "backward" : "forward");
		ht_table_put_i64(table, COMPILE_CALLS, list[i].n_calls);
		ht_table_put_i64(table, COMPILE_CPU_NS, list[i].cpu_ns);
		ht_table_put_i64(table, COMPILE_GPU_NS, list[i].gpu_ns);
		ht_table_put_i64(table, COMPILE_RECOMPILATIONS, list[i].n_recompiled);
		ht_table_put_i64(table, COMPILE_NS, list[i].compile_ns);
		ht_table_put_str(table, COMPILE_REASON, list[i].reason);
	}
	return HT_OK;
}

/* ---- compile-timeline ---- */

static enum ht_status list_spans(struct ht_run *run, ht_table *table)
{
	struct ht_compile_span *list;
	size_t n;
	HT_TRY(ht_compile_spans_find(run, &list, &n));
	for (size_t i = 0; i < n; i++) {
		ht_table_row(table);
		ht_table_put_i64(table, SPAN_RANK, run->rank);
		ht_table_put_i64(table, SPAN_TS_NS, list[i].ts_ns);
		ht_table_put_i64(table, SPAN_DURATION_NS, list[i].dur_ns);
		ht_table_put_str(table, SPAN_COMPILE_ID, list[i].compile_id);
		ht_table_put_str(table, SPAN_NAME, list[i].name);
		ht_table_put_known(table, SPAN_INDEX, list[i].row, HT_NONE);
		ht_table_put_i64(table, SPAN_DEPTH, list[i].depth);
		ht_table_put_i64(
		        table, SPAN_INSIDE, ht_compile_span_is_inside(run->trace, &list[i]));
	}
	return HT_OK;
}

/* Those that the trace has a time for: the others would stretch it. */
static enum ht_status draw_spans(struct ht_run *run, struct ht_drawing *ret_drawing)
{
	struct ht_compile_span *list;
	size_t n, n_drawn = 0;
	HT_TRY(ht_compile_spans_find(run, &list, &n));
	struct ht_drawn_span *spans = ht_arena_alloc(run->scratch, (n + 1) * sizeof *spans);
	if (!spans)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++)
		if (ht_compile_span_is_inside(run->trace, &list[i]))
			spans[n_drawn++] = (struct ht_drawn_span){ list[i].name, list[i].compile_id,
				list[i].ts_ns, list[i].dur_ns };
	*ret_drawing = (struct ht_drawing){ .spans = spans,
		.n_spans = n_drawn,
		.spans_track = "torch.compile",
		.spans_key = "compile_id" };
	return HT_OK;
}

/* A recompilation costs a step: it is said, with the log that would tell why. */
static enum ht_status tell_recompiled(ht_table *table)
{
	for (size_t row = 0; row < ht_table_n_rows(table); row++) {
		if (!ht_table_i64(table, row, COMPILE_RECOMPILATIONS))
			continue;
		bool is_known = !ht_table_is_null(table, row, COMPILE_REASON);
		HT_TRY(ht_table_add_warning(table,
		        "recompilation %s on rank %" PRId64 " took %.1f ms: %s",
		        ht_table_str(table, row, COMPILE_ID),
		        ht_table_i64(table, row, COMPILE_RANK),
		        (double)ht_table_i64(table, row, COMPILE_NS) / 1e6,
		        is_known ? ht_table_str(table, row, COMPILE_REASON)
		                 : "attach the structured log (TORCH_TRACE) for the reason"));
	}
	return HT_OK;
}

static enum ht_status tell_doubts(ht_table *table)
{
	for (size_t row = 0; row < ht_table_n_rows(table); row++)
		if (!ht_table_is_null(table, row, GRAPH_NOTE))
			HT_TRY(ht_table_add_warning(table, "graph %s on rank %" PRId64 ": %s",
			        ht_table_str(table, row, GRAPH_SIGNATURE),
			        ht_table_i64(table, row, GRAPH_RANK),
			        ht_table_str(table, row, GRAPH_NOTE)));
	return HT_OK;
}

/* The kernels' own files are on another machine, or gone: what was generated has to be attached. */
static enum ht_status tell_names(ht_table *table)
{
	int64_t n = 0;
	for (size_t row = 0; row < ht_table_n_rows(table); row++)
		if (!ht_table_is_null(table, row, METHOD_VIA) &&
		        !strcmp(ht_table_str(table, row, METHOD_VIA),
		                ht_fused_via_name(HT_VIA_NAME)))
			ht_sum(&n, ht_table_i64(table, row, METHOD_KERNELS));
	if (!n)
		return HT_OK;
	return ht_table_add_note(table,
	        "%" PRId64
	        " generated kernel%s known by name alone: attach the structured log (TORCH_TRACE) or Inductor's cache for operators and lines",
	        n, n == 1 ? " is" : "s are");
}

static enum ht_status per_rank(struct ht_run *run, struct ht_part *part)
{
	ht_table *table = part->facts[0];
	return ht_run_is(run, "view", "origins")   ? pool_origins(run, part->facts[FACTS_ORIGINS])
	       : ht_run_is(run, "view", "lines")   ? pool_lines(run, table)
	       : ht_run_is(run, "view", "graphs")  ? list_graphs(run, table)
	       : ht_run_is(run, "view", "compile") ? list_regions(run, table)
	       : ht_run_is(run, "view", "compile-timeline") ? list_spans(run, table)
	                                                    : sum_methods(run, table);
}

/* ---- over ranks ---- */

struct group_order {
	int64_t ns;
	size_t at; /* in the order of the texts */
	size_t group;
};

static int longest_first(const void *left, const void *right)
{
	const struct group_order *a = left, *b = right;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

/* Groups by their time, which is one of their values. */
static enum ht_status order_groups(
        const struct ht_pooled *pooled, size_t value, struct group_order **ret_order)
{
	struct ht_run *run = pooled->run;
	size_t n = ht_pooled_n(pooled), *by_text = ht_pooled_order(pooled);
	struct group_order *order = ht_arena_alloc(run->scratch, (n + 1) * sizeof *order);
	if (!by_text || !order)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++)
		order[i] = (struct group_order){ ht_pooled_i64(pooled, by_text[i], 0, value), i,
			by_text[i] };
	qsort(order, n, sizeof *order, longest_first);
	*ret_order = order;
	return HT_OK;
}

static void put_origin(const struct ht_pooled *p, size_t group, ht_table *table)
{
	int64_t units = ht_pooled_i64(p, group, 0, OF_MODULE_CONFIDENCE);
	ht_table_row(table);
	ht_table_put_str(table, ORIGIN_NAME, ht_pooled_key(p, group, BY_NAME));
	ht_table_put_str(table, ORIGIN_OP, ht_pooled_key(p, group, BY_OP));
	ht_table_put_str(table, ORIGIN_MODULE, ht_pooled_key(p, group, BY_MODULE));
	ht_table_put_str(table, ORIGIN_SOURCE, ht_pooled_key(p, group, BY_SOURCE));
	ht_table_put_str(table, ORIGIN_METHOD, ht_pooled_key(p, group, BY_METHOD));
	ht_table_put_i64(table, ORIGIN_COUNT, ht_pooled_i64(p, group, 0, OF_COUNT));
	ht_table_put_i64(table, ORIGIN_GPU_NS, ht_pooled_i64(p, group, 0, OF_GPU_NS));
	ht_table_put_str(table, ORIGIN_VIA, ht_pooled_key(p, group, BY_VIA));
	ht_table_put_str(table, ORIGIN_NODES, ht_pooled_key(p, group, BY_NODES));
	ht_table_put_str(table, ORIGIN_MODULE_VIA, ht_pooled_key(p, group, BY_MODULE_VIA));
	ht_table_put_str(table, ORIGIN_FORWARD_SOURCE, ht_pooled_key(p, group, BY_FORWARD_SOURCE));
	ht_table_put_f64(
	        table, ORIGIN_MODULE_CONFIDENCE, units ? (double)units / CONFIDENCE_UNITS : NAN);
}

static enum ht_status put_pooled(
        struct ht_pooled *pooled, const struct ht_parts *parts, bool is_lines, ht_table *table)
{
	struct group_order *order = NULL;
	HT_TRY(ht_pooled_parts(pooled, parts, is_lines ? 0 : FACTS_ORIGINS));
	HT_TRY(order_groups(pooled, is_lines ? LINE_GPU_NS : OF_GPU_NS, &order));
	for (size_t i = 0; i < ht_pooled_n(pooled); i++)
		if (is_lines)
			ht_pooled_put_group(pooled, order[i].group, table);
		else
			put_origin(pooled, order[i].group, table);
	return HT_OK;
}

static enum ht_status finish_pooled(
        struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct ht_pooled pooled;
	bool is_lines = ht_run_is(run, "view", "lines");
	if (is_lines)
		ht_pooled_init(&pooled, run, N_LINE_KEYS, 1, line_rules, N_LINE_VALUES);
	else
		ht_pooled_init(&pooled, run, N_ORIGIN_KEYS, 1, origin_rules, N_ORIGIN_VALUES);
	enum ht_status status = put_pooled(&pooled, parts, is_lines, table);
	ht_pooled_done(&pooled);
	return status;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	if (ht_run_is(run, "view", "graphs")) {
		HT_TRY(ht_parts_rows_or(run, parts, table, "no graph launches in the traces"));
		return tell_doubts(table);
	}
	if (ht_run_is(run, "view", "compile")) {
		HT_TRY(ht_parts_rows_or(
		        run, parts, table, "no graphs of torch.compile in the traces"));
		return tell_recompiled(table);
	}
	if (ht_run_is(run, "view", "compile-timeline"))
		return ht_parts_rows_or(run, parts, table,
		        "no structured log of torch.compile (TORCH_TRACE) is attached, or it has no times");
	HT_TRY(ht_frame_set_method(run, table, "summed GPU time"));
	bool is_methods = ht_run_is(run, "view", "methods");
	HT_TRY(is_methods ? ht_parts_rows(run, parts, 0, 0, table)
	                  : finish_pooled(run, parts, table));
	if (is_methods) {
		ht_table_set_bar(table, METHOD_SHARE);
		HT_TRY(tell_names(table));
	}
	return ht_table_n_rows(table)
	               ? HT_OK
	               : ht_table_add_note(table, "no GPU activities in the selection");
}
