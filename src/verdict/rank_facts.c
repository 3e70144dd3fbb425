/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_facts.c - see rank_facts.h.
 */
#include "verdict/rank_facts.h"

#include "base/memo.h"
#include "verdict/step_facts.h"
#include "model/device/gpu_summary.h"
#include "model/snapshot/mem_view.h"
#include "model/rows/row_names.h"
#include "model/numbers/stats.h"
#include "model/steps/step_roles.h"
#include "base/sort.h"
#include "model/rows/work_names.h"
#include "table/optional.h"

#include <stdlib.h>
#include <string.h>

const struct ht_column ht_found_idle_columns[HT_N_FOUND_IDLE_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_FOUND_IDLE_COLUMNS);
const struct ht_column ht_found_gpu_columns[HT_N_FOUND_GPU_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_FOUND_GPU_COLUMNS);

const struct ht_straggler_facts ht_found_straggler_facts = { HT_FOUND_CALLS, HT_FOUND_PROFILES,
	HT_FOUND_STEP_WORK, HT_FOUND_EXPOSED, HT_FOUND_GAPS };

/* ---- one rank: steps, idle time ---- */

/* First number of a capability, HT_NO_I64: the file does not say. */
static int64_t major_of(struct ht_run *run, const struct ht_device *device)
{
	const char *text = ht_gpu_capability(run, run->trace, device);
	return text ? strtoll(text, NULL, 10) : HT_NO_I64;
}

static enum ht_status put_gpus(struct ht_run *run, const struct ht_bounds *bounds, ht_table *table)
{
	struct ht_gpu_summary *list = NULL;
	struct ht_traits traits;
	size_t n = 0;
	if (!bounds->n)
		return HT_OK;
	HT_TRY(ht_traits_init(run, run->trace, &traits));
	const struct ht_gpu_window window = { bounds->list[0].start,
		bounds->list[bounds->n - 1].end, true };
	HT_TRY(ht_gpu_summary_make(run, &traits, &window, &list, &n));
	for (size_t i = 0; i < n; i++) {
		ht_table_row(table);
		ht_table_put_known(table, HT_FOUND_GPU_DEVICE, list[i].device, -1);
		ht_table_put_i64(table, HT_FOUND_GPU_WINDOW_NS, list[i].window_ns);
		ht_table_put_i64(table, HT_FOUND_GPU_BUSY_NS, list[i].busy_ns);
		ht_table_put_i64(table, HT_FOUND_GPU_KERNEL_NS, list[i].kernel_ns);
		ht_table_put_i64(table, HT_FOUND_GPU_TC_NS, list[i].tc_ns);
		ht_table_put_i64(table, HT_FOUND_GPU_UNCLEAR_NS, list[i].unclear_ns);
		ht_table_put_known(
		        table, HT_FOUND_GPU_MAJOR, major_of(run, list[i].properties), HT_NO_I64);
	}
	return HT_OK;
}

static enum ht_status put_idle(struct ht_run *run, const struct ht_frame *frame, ht_table *table)
{
	const struct ht_idle_options options = { .threshold_ns = HT_IDLE_THRESHOLD_NS,
		.by_device = true };
	const struct ht_idle_stream *devices = NULL;
	size_t n = 0;
	int64_t ns[HT_IDLE_N] = { 0 };
	struct ht_idle_gap longest[HT_IDLE_N] = { 0 };
	HT_TRY(ht_idle_collect(run, frame, &options, &devices, &n));
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < devices[i].n; k++) {
			const struct ht_idle_gap *gap = &devices[i].gaps[k];
			ht_sum(&ns[gap->category], gap->length_ns);
			if (gap->length_ns > longest[gap->category].length_ns)
				longest[gap->category] = *gap;
		}
	for (int category = 0; category < HT_IDLE_N; category++) {
		if (!ns[category])
			continue;
		ht_table_row(table);
		ht_table_put_i64(table, HT_FOUND_IDLE_CATEGORY, category);
		ht_table_put_i64(table, HT_FOUND_IDLE_NS, ns[category]);
		ht_table_put_known(table, HT_FOUND_IDLE_ROW, longest[category].row, HT_NONE);
		ht_table_put_i64(table, HT_FOUND_IDLE_ROW_NS, longest[category].length_ns);
	}
	return HT_OK;
}

/* ---- one rank: all of it ---- */

/* What all pieces look at. */
struct chosen {
	struct ht_frame frame;
	struct ht_bounds bounds;
};

typedef enum ht_status (*put_fn)(
        struct ht_run *run, const struct chosen *chosen, struct ht_part *part);

static enum ht_status put_device_time(
        struct ht_run *run, const struct chosen *chosen, struct ht_part *part)
{
	(void)chosen;
	return ht_breakdown_put(run, false, part, HT_FOUND_EXPOSED, HT_FOUND_GAPS);
}

static enum ht_status put_path(
        struct ht_run *run, const struct chosen *chosen, struct ht_part *part)
{
	struct ht_cp_options options = ht_cp_options_default(run);
	options.only_names = true;
	(void)chosen;
	return ht_cp_chains_put(run, &options, part);
}

static enum ht_status put_savings(
        struct ht_run *run, const struct chosen *chosen, struct ht_part *part)
{
	struct ht_cp_options options = ht_cp_options_default(run);
	(void)chosen;
	/* ranks of a job do the same: of several the first stands for all, whoever else is in the same file of parts */
	if (!ht_findings_is_alone(run) && run->rank != 0)
		return HT_OK;
	options.only_on_path = true;
	return ht_cp_put_model(
	        run, &options, HT_CP_VIEW_WHAT_IF, NULL, part->facts[HT_FOUND_WHAT_IF]);
}

static enum ht_status put_waits(
        struct ht_run *run, const struct chosen *chosen, struct ht_part *part)
{
	return put_idle(run, &chosen->frame, part->facts[HT_FOUND_IDLE]);
}

static enum ht_status put_lateness(
        struct ht_run *run, const struct chosen *chosen, struct ht_part *part)
{
	if (ht_findings_is_alone(run))
		return HT_OK;
	return ht_stragglers_put(run, &chosen->frame, &ht_found_straggler_facts, part);
}

static enum ht_status put_use(struct ht_run *run, const struct chosen *chosen, struct ht_part *part)
{
	HT_TRY(ht_found_steps_put(run, &chosen->bounds, part->facts[HT_FOUND_STEPS]));
	return put_gpus(run, &chosen->bounds, part->facts[HT_FOUND_GPUS]);
}

static enum ht_status put_tops(
        struct ht_run *run, const struct chosen *chosen, struct ht_part *part)
{
	return ht_tops_put(run, &chosen->frame, part->facts[HT_FOUND_TOPS]);
}

/* The rows of memory-snapshot's summary. */
static enum ht_status put_memory(
        struct ht_run *run, const struct chosen *chosen, struct ht_part *part)
{
	(void)chosen;
	return ht_mem_summary_put(run, part->facts[HT_FOUND_MEMORY]);
}

/* The totals of efficiency. */
static enum ht_status put_utilisation(
        struct ht_run *run, const struct chosen *chosen, struct ht_part *part)
{
	(void)chosen;
	return ht_use_facts_put(run, false, part->facts[HT_FOUND_USE]);
}

/* The sums of iterations, and the recompilations of attribution. */
static enum ht_status put_runtime(
        struct ht_run *run, const struct chosen *chosen, struct ht_part *part)
{
	(void)chosen;
	HT_TRY(ht_found_serving_put(run, part->facts[HT_FOUND_SERVING]));
	return ht_found_compile_put(run, part->facts[HT_FOUND_COMPILE]);
}

/* With memory of its own, which it lets go of. */
static enum ht_status put_alone(
        struct ht_run *run, put_fn put, const struct chosen *chosen, struct ht_part *part)
{
	struct ht_arena *whole = run->scratch, own;
	ht_arena_init_like(&own, whole);
	run->scratch = &own;
	enum ht_status status = put(run, chosen, part);
	run->scratch = whole;
	ht_arena_done(&own);
	return status;
}

/* What looks at the chosen rows. */
static enum ht_status put_chosen(
        struct ht_run *run, const struct chosen *none, struct ht_part *part)
{
	static const put_fn pieces[] = { put_waits, put_lateness, put_use, put_tops };
	struct chosen chosen = *none;
	HT_TRY(ht_frame_make(run, &chosen.frame));
	HT_TRY(ht_findings_bounds(run, &chosen.bounds));
	for (size_t i = 0; i < HT_COUNT(pieces); i++)
		HT_TRY(put_alone(run, pieces[i], &chosen, part));
	return HT_OK;
}

/* Both walk the same model of the rank, which is made once; a run that shares the rank with others has it in their memo. */
static enum ht_status put_paths(struct ht_run *run, const struct chosen *none, struct ht_part *part)
{
	struct ht_run shared = *run;
	struct ht_memo memo;
	ht_memo_init(&memo, run->ctx->mem);
	if (!run->shares_rank) {
		shared.memo = &memo;
		shared.shares_rank = true;
	}
	enum ht_status status = put_alone(&shared, put_savings, none, part);
	if (status == HT_OK)
		status = put_alone(&shared, put_path, none, part);
	ht_memo_done(&memo);
	return status;
}

/* Each piece lets go of its memory before the next: the largest counts, not their sum. The path comes last, because what it
 * leaves behind is as large as what it needs. */
static enum ht_status put_findings(struct ht_run *run, struct ht_part *part)
{
	static const put_fn pieces[] = { put_memory, put_utilisation, put_runtime, put_device_time,
		put_chosen };
	static const struct chosen none;
	for (size_t i = 0; i < HT_COUNT(pieces); i++)
		HT_TRY(put_alone(run, pieces[i], &none, part));
	return put_paths(run, &none, part);
}

bool ht_findings_are_sound(const struct ht_part *part)
{
	return ht_cp_chains_are_sound(part) &&
	       ht_facts_below(part->facts[HT_FOUND_IDLE], HT_FOUND_IDLE_CATEGORY, HT_IDLE_N) &&
	       ht_facts_below(part->facts[HT_FOUND_TOPS], HT_TOP_KIND, HT_N_TOP_KINDS);
}

const struct ht_common_facts ht_findings_common = { "findings", HT_N_FOUND, put_findings,
	ht_findings_are_sound };
