/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporal_breakdown.c - how much of a GPU's time is idle, computing, or neither.
 *
 * Per rank and device (or per rank, device and step), over the chosen GPU work:
 *   span        = last end - first start
 *   busy        = |union of all GPU work|
 *   outside     = time within the span with only other work on the device: of steps that were not chosen
 *   idle        = span - busy - outside: nothing runs on the device at all; leading is the part of it before the
 *                 first launch call in the file, where the recording shows nobody at work yet
 *   compute     = |union of compute kernels|
 *   non-compute = busy - compute, split so that the parts add up: communication that no compute
 *                 hides, then copies that neither hides, then sets, then the rest. When all ranks of all
 *                 its collectives are there, communication is waiting for the last rank, and transfer
 *                 (exposed.h)
 * Reads kernels, copies and sets. GPU work belongs to the step that launched it. Blind to time before
 * the first and after the last piece of work, and to other processes on the GPU. O(n log n).
 * Example: compute [0,4), communication [2,6), copy [5,7), next kernel [9,10) us: span 10, busy 8,
 * idle 2, compute 5, communication 2, copies 1.
 * Definition: HTA get_temporal_breakdown.
 */
#include "analysis/analysis.h"
#include "model/clocks/clocks.h"
#include "model/communication/breakdown.h"
#include "model/rows/frame.h"
#include "model/finding/finding.h"
#include "model/finding/hint.h"

static enum ht_status break_down(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

enum { CALLS = 1, GAPS };

static const struct ht_param params[] = {
	{ "by", HT_STR, "rank", "one row per rank, or per rank and step", "rank|step" },
};

const struct ht_analysis ht_analysis_temporal_breakdown = {
	.info = {
		.name = "temporal-breakdown",
		.group = "gpu",
		.page_view = "temporal",
		.title = "Temporal breakdown",
		.question = "How much of the GPU's time is idle, computing, or spent on anything else?",
		.method = "Per device. Span is first start to last end of the chosen GPU activity, idle is when "
			  "nothing at all runs on the device, compute is the union of compute kernels, non-compute is the rest of "
			  "the busy time; its parts count only what no earlier class hides.",
		.hta = "get_temporal_breakdown",
		.schemas = (const struct ht_schema[]){ { "", ht_breakdown_columns, HT_N_BREAKDOWN_COLUMNS } },
		.n_schemas = 1,
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
	},
	.facts = { [CALLS] = { "calls", ht_exposed_call_columns, HT_N_EXPOSED_CALL_COLUMNS },
	        [GAPS] = { "gaps", ht_exposed_gap_columns, HT_N_EXPOSED_GAP_COLUMNS } },
	.across = true,
	.per_rank = break_down,
	.finish = finish,
};

static enum ht_status add_share(struct ht_arena *arena, ht_table *table, const char *kind,
        const char *variant, double share, const char *next)
{
	struct ht_finding f = ht_finding(kind, HT_STATE_FOUND);
	f.variant = variant;
	ht_finding_share(&f, share, "of.gpu_span", HT_NO_I64);
	ht_finding_next(&f, next);
	return ht_finding_note(arena, &f, table);
}

/* Where to look next, when something other than compute takes a good part of the time. */
static enum ht_status add_hint(struct ht_arena *arena, ht_table *table)
{
	double span = ht_hint_total(table, "span_ns"), idle = ht_hint_total(table, "idle_ns");
	double communication = ht_hint_total(table, "exposed_ns"),
	       leading = ht_hint_total(table, "leading_ns");
	if (leading > idle / 2 && leading > HT_WORTH_A_HINT * span)
		return add_share(arena, table, "leading-idle", "", leading / span, NULL);
	if (idle > communication && idle > HT_WORTH_A_HINT * span)
		return add_share(arena, table, "gpu-idle", "", idle / span, "idle-breakdown");
	if (communication > HT_WORTH_A_HINT * span &&
	        ht_hint_total(table, "exposed_wait_ns") > communication / 2)
		return add_share(arena, table, "exposed-communication", "waiting",
		        communication / span, "stragglers");
	if (communication > HT_WORTH_A_HINT * span)
		return add_share(arena, table, "exposed-communication", "", communication / span,
		        "comm-overlap");
	return HT_OK;
}

static enum ht_status break_down(struct ht_run *run, struct ht_part *part)
{
	return ht_breakdown_put(run, ht_run_is(run, "by", "step"), part, CALLS, GAPS);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	size_t n_without = 0;
	HT_TRY(ht_frame_set_method(run, table, "share of GPU span"));
	for (size_t i = 0; i < parts->n; i++)
		HT_TRY(ht_breakdown_rows(run, &parts->list[i], CALLS, GAPS, table));
	for (size_t row = 0; row < ht_table_n_rows(table); row++)
		n_without += ht_table_is_null(table, row, HT_BREAKDOWN_SPAN);
	if (n_without)
		HT_TRY(ht_table_add_note(table,
		        "%zu of %zu ranks have no GPU activity in the selection", n_without,
		        parts->n));
	ht_table_set_bar(table, HT_BREAKDOWN_COMPUTE_SHARE);
	HT_TRY(add_hint(run->scratch, table));
	return ht_clocks_note(run, table);
}
