/* SPDX-License-Identifier: Apache-2.0 */
/*
 * critical_path.c - what the time of each step was spent on, and what would make it shorter.
 *
 * A window lasts from the start of a step on the host to its end or that of its last GPU work. Its critical
 * path is walked back from there (graph/cp_walk.h): every nanosecond belongs to the work, the host time or
 * the delay that what came after it waited for last. So
 *     sum of the pieces of a window = window_ns
 * What waited for what: work for the work before it on its stream, for other streams by events, for its
 * launch; host calls for the work that they wait for. Where the trace has no record of a wait, work that
 * starts when other work ends, within --tolerance, waited for it, and such time is counted in inferred_ns. Time
 * is the host's only while all GPU work that must be waited for is idle: on one stream, host time and
 * delays together are at most the idle time.
 *
 * With --across the path goes from rank to rank: in a collective to the rank that came last (cp_across.h); the
 * sum over ranks is the window of the job, and "collectives" says what each one waited for.
 *
 * Views: "summary" time by what bounds it; "graph" sizes; "path" its pieces in order; "edges" what waits for
 * what; "events" time on the path and slack of every event; "what-if" the length with other durations
 * of the step's own events, --scale "nccl=0.5,aten::copy_=0", or with each kind of bound at no cost.
 *
 * Reads host events, GPU work, cuda_sync rows. Blind to dependencies through data between threads (other
 * than the autograd threads). O(n log n) time, O(n) memory per rank.
 *
 * Example: op [0,10) us calls launch [2,4), its kernel runs [7,20), the step ends at 15: window 20 us;
 * 2 us cpu_bound, 5 us launch overhead, 13 us gpu_compute_bound.
 */
#include "analysis/analysis.h"
#include "model/policy.h"
#include "model/rows/frame.h"
#include "table/optional.h"
#include "graph/cp_across.h"
#include "graph/cp_overlay.h"
#include "model/finding/hint.h"
#include "model/clocks/clocks.h"
#include "model/communication/collective_match.h"

#include <string.h>

static enum ht_status check(struct ht_run *run);
static enum ht_status find_path(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

static const struct ht_column summary_columns[] = HT_COLUMN_ENTRIES(HT_CP_SUMMARY_COLUMNS);
static const struct ht_column graph_columns[] = HT_COLUMN_ENTRIES(HT_CP_GRAPH_COLUMNS);
static const struct ht_column edge_columns[] = HT_COLUMN_ENTRIES(HT_CP_EDGE_COLUMNS);
static const struct ht_column event_columns[] = HT_COLUMN_ENTRIES(HT_CP_EVENT_COLUMNS);
static const struct ht_column collective_columns[] = HT_COLUMN_ENTRIES(HT_CP_COLLECTIVE_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "summary", summary_columns, HT_COUNT(summary_columns) },
	{ "graph", graph_columns, HT_COUNT(graph_columns) },
	{ "path", ht_cp_path_columns, HT_CP_N_PATH_COLUMNS },
	{ "edges", edge_columns, HT_COUNT(edge_columns) },
	{ "events", event_columns, HT_COUNT(event_columns) },
	{ "what-if", ht_cp_what_if_columns, HT_CP_N_WHAT_IF_COLUMNS },
	{ "collectives", collective_columns, HT_COUNT(collective_columns) },
};

static const struct ht_param params[] = {
	{ "view", HT_STR, "summary", "which table",
	        "summary|graph|path|edges|events|what-if|collectives" },
	{ "across", HT_BOOL, "false",
	        "one path through all ranks, from rank to rank at collectives: summary, path or "
	        "collectives",
	        NULL },
	{ "instance", HT_STR, NULL,
	        "which steps or annotations, from 0 in time order: 0,2-3; all, with hta-compat the "
	        "first, a-b as one window",
	        NULL },
	{ "tolerance", HT_DURATION, HT_CP_TOLERANCE_TEXT,
	        "work that starts later than this after all it is known to wait for has waited for "
	        "other work, that ended at most this long before it",
	        NULL },
	{ "data-load-events", HT_STR, NULL,
	        "expression for names of host events that load data: time in them is data_loading; by "
	        "default those of PyTorch's data loaders",
	        NULL },
	{ "scale", HT_STR, NULL,
	        "what-if rules, name expression or word = factor: 'nccl=0.5,cpu_bound=0'", NULL },
	{ "zero-weight-launch-edges", HT_BOOL, NULL,
	        "with hta-compat: order work after its launch also where the launch cost no time",
	        NULL },
	{ "only-critical", HT_BOOL, "true", "saved trace: drop events that are not on the path",
	        NULL },
	{ "all-edges", HT_BOOL, "false",
	        "saved trace: draw every edge of the graph; needs only-critical off", NULL },
};

static const struct ht_over_time over_time = { .view = "path",
	.columns = "ts_ns,duration_ns,bound_by,name,index" };

const struct ht_analysis ht_analysis_critical_path = {
	.info = { .name = "critical-path",
	        .group = "dependencies",
	        .page_view = "critical-path",
	        .title = "Critical path",
	        .question = "What is the time of each step spent on, and what would shorten it?",
	        .method = "Walked back from the end of a step: each nanosecond belongs to what was "
	                  "waited for last. Host time counts only while the GPU activity that must be "
	                  "waited for is idle.",
	        .hta = "critical_path_analysis",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .over_time = &over_time,
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1, .draws = true, },
	.facts = { [HT_CP_FACTS_PIECES] = { "pieces", ht_cp_piece_columns, HT_CP_N_PIECE_COLUMNS },
	        [HT_CP_FACTS_CHAINS] = { "chains", ht_cp_chain_columns,
	                HT_CP_N_CHAIN_COLUMNS } },
	.choose = check,
	.per_rank = find_path,
	.draw = ht_cp_overlay_make,
	.is_sound = ht_cp_chains_are_sound,
	.of = "each moment belongs to what was waited for last",
	.finish = finish,
};

static enum ht_cp_view_kind view_of(const struct ht_run *run)
{
	return ht_cp_view_find(ht_run_str(run, "view"));
}

static bool is_across(const struct ht_run *run)
{
	return ht_run_bool(run, "across") || view_of(run) == HT_CP_VIEW_COLLECTIVES;
}

static enum ht_status check(struct ht_run *run)
{
	struct ht_cp_options options;
	HT_TRY(ht_cp_options_read(run, &options));
	run->across = is_across(run);
	if (!run->across)
		return HT_OK;
	enum ht_cp_view_kind view = view_of(run);
	if (view != HT_CP_VIEW_SUMMARY && view != HT_CP_VIEW_PATH && view != HT_CP_VIEW_COLLECTIVES)
		return ht_fail(run->ctx, HT_USAGE, NULL, -1,
		        "across has the views summary, path and collectives",
		        "there is no view %s across ranks", ht_run_str(run, "view"));
	return run->policy->refuse ? run->policy->refuse(run, "path across ranks") : HT_OK;
}

static enum ht_status find_path(struct ht_run *run, struct ht_part *part)
{
	struct ht_cp_options options;
	HT_TRY(ht_cp_options_read(run, &options));
	options.with_origins = view_of(run) == HT_CP_VIEW_PATH;
	if (is_across(run))
		return ht_cp_chains_put(run, &options, part);
	enum ht_cp_view_kind view = view_of(run);
	const char *scale = ht_run_str(run, "scale");
	if (run->policy->put_path)
		return run->policy->put_path(run, &options, view, scale, part->facts[0]);
	return ht_cp_put_model(run, &options, view, scale, part->facts[0]);
}

/* ---- all ranks ---- */

/* A rule that fits nothing anywhere is a slip of the pen. */
static enum ht_status warn(struct ht_run *run, ht_table *table)
{
	size_t n = ht_run_str(run, "scale") ? ht_table_n_rows(table) : 0, n_rules = 0;
	struct {
		const char *text;
		bool fits;
	} *rules = ht_arena_alloc(run->scratch, (n + 1) * sizeof *rules);
	if (!rules)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++) {
		const char *text = ht_table_str(table, i, HT_CP_WHAT_IF_SCALE);
		size_t k = 0;
		while (k < n_rules && strcmp(rules[k].text, text))
			k++;
		if (k == n_rules)
			rules[n_rules++].text = text;
		rules[k].fits |= ht_table_i64(table, i, HT_CP_WHAT_IF_N_EDGES) > 0;
	}
	for (size_t k = 0; k < n_rules; k++)
		if (!rules[k].fits)
			HT_TRY(ht_table_add_warning(table, "nothing fits '%s'", rules[k].text));
	return HT_OK;
}

/* How much of it all is inferred. */
static enum ht_status note_inferred(struct ht_run *run, ht_table *table)
{
	double sum = 0, part = 0;
	for (size_t i = 0; i < ht_table_n_rows(table); i++) {
		sum += (double)ht_table_i64(table, i, HT_CP_SUMMARY_DURATION_NS);
		part += (double)ht_table_i64(table, i, HT_CP_SUMMARY_INFERRED_NS);
	}
	if (part == 0)
		return HT_OK;
	return ht_table_add_note(table,
	        "%s of the paths relies on inferred dependencies (tolerance %s)",
	        ht_share_text(part / sum).text, ht_run_str(run, "tolerance"));
}

static const struct ht_hint hints[] = {
	{ "gpu_compute_bound", "GPU compute", "kernel-breakdown" },
	{ "gpu_communication_bound", "communication", "collectives" },
	{ "gpu_memory_bound", "memcpy and memset", "memory-bandwidth" },
	{ "cpu_bound", "CPU time", "op-launch-delay" },
	{ "gpu_kernel_launch_overhead", "launch latency", "launch-stats" },
	{ "gpu_kernel_kernel_overhead", "gaps between kernels in a stream", "idle-breakdown" },
	{ "queued_before_recording", "queue from before the recording", "health" },
	{ "host_unrecorded", "idle time, cause n/a: no CPU activity recorded", "health" },
};

/* Without GPU work nothing is launched. */
static const struct ht_hint host_hints[] = {
	{ "cpu_bound", "CPU time", "stacks" },
	{ "data_loading", "data loading", "steps" },
};

static bool has_gpu_time(const ht_table *table)
{
	for (size_t i = 0; i < ht_table_n_rows(table); i++)
		if (!ht_table_is_null(table, i, HT_CP_SUMMARY_IDLE_NS))
			return true;
	return false;
}

/* A window that is longer than its step takes begins before the one before it is over. */
static bool windows_overlap(const ht_table *table)
{
	for (size_t i = 0; i < ht_table_n_rows(table); i++)
		if (ht_table_i64(table, i, HT_CP_SUMMARY_WINDOW_NS) >
		        ht_table_i64_or(table, i, HT_CP_SUMMARY_STEP_TIME_NS, INT64_MAX))
			return true;
	return false;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	enum ht_cp_view_kind view = view_of(run);
	if (view == HT_CP_VIEW_SUMMARY)
		ht_table_set_bar(table, HT_CP_SUMMARY_SHARE);
	HT_TRY(ht_parts_rows(run, parts, 0, 0, table));
	if (is_across(run)) {
		HT_TRY(ht_cp_across_put(run, parts, view, table));
		HT_TRY(ht_clocks_note(run, table));
	}
	if (view == HT_CP_VIEW_WHAT_IF)
		return warn(run, table);
	if (view != HT_CP_VIEW_SUMMARY)
		return HT_OK;
	if (windows_overlap(table))
		HT_TRY(ht_frame_set_method(run, table,
		        "shares are of the window; windows overlap, as the CPU runs ahead: a step "
		        "takes step_time"));
	bool gpu = has_gpu_time(table);
	HT_TRY(ht_hint_largest(run->scratch, table, "duration_ns", "bound_by", "of.critical_path",
	        gpu ? hints : host_hints, gpu ? HT_COUNT(hints) : HT_COUNT(host_hints)));
	HT_TRY(note_inferred(run, table));
	return HT_OK;
}
