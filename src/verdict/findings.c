/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.c - see findings.h.
 */
#include "verdict/findings.h"

#include "verdict/found_path.h"
#include "verdict/slow_steps.h"
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
enum { GPU_DEVICE, GPU_WINDOW, GPU_BUSY, GPU_KERNEL, GPU_TC, GPU_UNCLEAR, GPU_MAJOR };
enum { IDLE_CATEGORY, IDLE_NS, IDLE_ROW, IDLE_ROW_NS };

static const struct ht_straggler_facts straggler_facts = { HT_FOUND_CALLS, HT_FOUND_PROFILES,
	HT_FOUND_STEP_WORK, HT_FOUND_EXPOSED, HT_FOUND_GAPS };

/* ---- one rank: steps, idle time ---- */

bool ht_findings_is_alone(const struct ht_run *run)
{
	return run->rosters[0]->n < 2 && !run->is_partial;
}

enum ht_status ht_findings_bounds(struct ht_run *run, struct ht_bounds *ret_bounds)
{
	HT_TRY(ht_bounds_make(run, ret_bounds));
	return ht_bounds_choose(run, ret_bounds);
}

/* First number of a capability, HT_NO_I64: the file does not say. */
static int64_t major_of(struct ht_run *run, const struct ht_device *device)
{
	const char *text = ht_gpu_capability(run, run->trace, device);
	return text ? strtoll(text, NULL, 10) : HT_NO_I64;
}

static enum ht_status put_gpus(struct ht_run *run, const struct ht_bounds *bounds, ht_table *table)
{
	struct ht_run whole = *run;
	struct ht_gpu_summary *list = NULL;
	struct ht_traits traits;
	struct ht_frame frame;
	size_t n = 0;
	if (!bounds->n)
		return HT_OK;
	/* any kernel may run in a step, whoever launched it */
	whole.step = "all";
	HT_TRY(ht_frame_make_gpu(&whole, &frame));
	HT_TRY(ht_traits_init(run, run->trace, &traits));
	const struct ht_gpu_window window = { bounds->list[0].start,
		bounds->list[bounds->n - 1].end, true };
	HT_TRY(ht_gpu_summary_make(run, &frame, &traits, &window, &list, &n));
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
	return ht_stragglers_put(run, &chosen->frame, &straggler_facts, part);
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

const struct ht_common_facts ht_findings_common = { HT_N_FOUND, put_findings };

bool ht_findings_are_sound(const struct ht_part *part)
{
	return ht_cp_chains_are_sound(part) &&
	       ht_facts_below(part->facts[HT_FOUND_IDLE], IDLE_CATEGORY, HT_IDLE_N) &&
	       ht_facts_below(part->facts[HT_FOUND_TOPS], HT_TOP_KIND, HT_N_TOP_KINDS);
}

/* ---- all ranks: steps, devices ---- */

static void add_step(struct ht_step_times *times, int64_t *values, int64_t rank, const ht_table *f,
        size_t row, int64_t ns)
{
	if (ns == HT_NO_I64)
		return;
	if (!times->n || ns < times->least_ns)
		times->least_ns = ns;
	if (!times->n || ns > times->most_ns) {
		times->most_ns = ns;
		times->rank = rank;
		times->row = ht_table_i64_or(f, row, HT_FOUND_STEP_ROW, HT_NO_I64);
		times->number = ht_table_i64_or(f, row, HT_FOUND_STEP_NUMBER, HT_NO_I64);
	}
	ht_sum(&times->sum_ns, ns);
	values[times->n++] = ns;
	times->n_mean = times->n;
}

static void add_told(struct ht_told_steps *told, const ht_table *steps, size_t row)
{
	if (ht_table_is_null(steps, row, HT_FOUND_STEP_COMPUTING_NS))
		return;
	ht_sum(&told->ns, ht_table_i64(steps, row, HT_FOUND_STEP_TIME_NS));
	ht_sum(&told->computing_ns, ht_table_i64(steps, row, HT_FOUND_STEP_COMPUTING_NS));
	ht_sum(&told->exposed_ns, ht_table_i64(steps, row, HT_FOUND_STEP_EXPOSED_NS));
	ht_sum(&told->free_ns, ht_table_i64(steps, row, HT_FOUND_STEP_FREE_NS));
}

/* Row of a step of a rank, HT_NO_I64: it has none such. */
static int64_t row_of_step(const struct ht_findings *f, int64_t rank, int64_t number)
{
	for (size_t p = 0; p < f->parts->n; p++) {
		const ht_table *steps = f->parts->list[p].facts[HT_FOUND_STEPS];
		for (size_t i = 0; f->parts->list[p].rank == rank && i < ht_table_n_rows(steps);
		        i++)
			if (ht_table_i64_or(steps, i, HT_FOUND_STEP_NUMBER, HT_NO_I64) == number)
				return ht_table_i64_or(steps, i, HT_FOUND_STEP_ROW, HT_NO_I64);
	}
	return HT_NO_I64;
}

/* Where ranks have steps, the median and what is beside it are of the job's step times; means are over steps and ranks. */
static enum ht_status time_job(struct ht_findings *f)
{
	const struct ht_job_step *longest = NULL;
	HT_TRY(ht_job_steps_make(f->run, 0, &f->job));
	if (!f->job.n_median || !f->has_steps)
		return HT_OK;
	for (size_t i = 0; i < f->job.n; i++) {
		const struct ht_job_step *step = &f->job.list[i];
		if (!step->is_left_out && (!longest || step->time_ns > longest->time_ns))
			longest = step;
	}
	f->device = (struct ht_step_times){ .n = f->job.n_median,
		.median_ns = f->job.median_ns,
		.least_ns = f->job.least_ns,
		.most_ns = f->job.most_ns,
		.n_mean = f->device.n_mean,
		.sum_ns = f->device.sum_ns,
		.rank = longest->rank,
		.row = row_of_step(f, longest->rank, longest->number),
		.number = longest->number };
	return HT_OK;
}

static enum ht_status find_steps(struct ht_findings *f)
{
	size_t n = ht_parts_n_rows(f->parts, HT_FOUND_STEPS), n_numbers = 0;
	int64_t *host = ht_arena_alloc(f->run->scratch, (n + 1) * sizeof *host);
	int64_t *device = ht_arena_alloc(f->run->scratch, (n + 1) * sizeof *device);
	int64_t *numbers = ht_arena_alloc(f->run->scratch, (n + 1) * sizeof *numbers);
	if (!host || !device || !numbers)
		return ht_fail_nomem(f->run->ctx);
	f->host.row = f->device.row = HT_NO_I64;
	for (size_t p = 0; p < f->parts->n; p++) {
		const ht_table *steps = f->parts->list[p].facts[HT_FOUND_STEPS];
		int64_t rank = f->parts->list[p].rank;
		for (size_t i = 0; i < ht_table_n_rows(steps); i++) {
			int64_t number = ht_table_i64_or(steps, i, HT_FOUND_STEP_NUMBER, HT_NO_I64);
			add_step(&f->host, host, rank, steps, i,
			        ht_table_i64_or(steps, i, HT_FOUND_STEP_HOST_NS, HT_NO_I64));
			add_step(&f->device, device, rank, steps, i,
			        ht_table_i64_or(steps, i, HT_FOUND_STEP_TIME_NS, HT_NO_I64));
			if (number != HT_NO_I64)
				numbers[n_numbers++] = number;
			add_told(&f->told, steps, i);
			for (size_t k = 0; k < HT_N_HOST_ROLES; k++)
				if (!ht_table_is_null(steps, i, HT_FOUND_STEP_ROLES + k))
					ht_sum(&f->roles[ht_found_host_roles[k]],
					        ht_table_i64(steps, i, HT_FOUND_STEP_ROLES + k));
		}
	}
	f->has_steps = n_numbers > 0;
	ht_sort_i64(numbers, n_numbers);
	for (size_t i = 0; i < n_numbers; i++)
		f->n_steps += !i || numbers[i] != numbers[i - 1];
	f->n_steps += !n_numbers;
	if (f->host.n)
		f->host.median_ns = ht_middle_i64(host, f->host.n);
	if (f->device.n)
		f->device.median_ns = ht_middle_i64(device, f->device.n);
	return time_job(f);
}

static void add_idle(struct ht_findings *f, int64_t rank, const ht_table *facts, size_t i)
{
	int64_t category = ht_table_i64(facts, i, IDLE_CATEGORY);
	int64_t longest = ht_table_i64(facts, i, IDLE_ROW_NS);
	struct ht_idle_time *idle = &f->idle[category];
	ht_sum(&idle->ns, ht_table_i64(facts, i, IDLE_NS));
	if (longest <= idle->row_ns)
		return;
	idle->row_ns = longest;
	idle->rank = rank;
	idle->row = ht_table_i64_or(facts, i, IDLE_ROW, HT_NO_I64);
}

static void add_gpu(struct ht_gpu_use *use, int64_t rank, const ht_table *facts, size_t i)
{
	int64_t window = ht_table_i64(facts, i, GPU_WINDOW);
	int64_t busy = ht_table_i64(facts, i, GPU_BUSY);
	double share = window > 0 ? (double)busy / (double)window : 0;
	int64_t major = ht_table_i64_or(facts, i, GPU_MAJOR, HT_NO_I64);
	if (!use->window_ns || major < use->major)
		use->major = major;
	if (!use->window_ns || share < use->least) {
		use->least = share;
		use->least_rank = rank;
		use->least_device = ht_table_n_rows(facts) > 1
		                            ? ht_table_i64_or(facts, i, GPU_DEVICE, HT_NO_I64)
		                            : HT_NO_I64;
	}
	ht_sum(&use->window_ns, window);
	ht_sum(&use->busy_ns, busy);
	ht_sum(&use->kernel_ns, ht_table_i64(facts, i, GPU_KERNEL));
	ht_sum(&use->tc_ns, ht_table_i64(facts, i, GPU_TC));
	ht_sum(&use->unclear_ns, ht_table_i64(facts, i, GPU_UNCLEAR));
}

/* Rows are by part. */
static void add_up_waits(struct ht_findings *f, const ht_table *rows)
{
	size_t p = 0, lacking = SIZE_MAX;
	for (size_t k = 0; k < f->parts->n; k++)
		f->waits_ns[k] = HT_NO_I64;
	for (size_t i = 0; i < ht_table_n_rows(rows); i++) {
		if (ht_table_is_null(rows, i, HT_BREAKDOWN_SPAN))
			continue;
		while (p < f->parts->n &&
		        f->parts->list[p].rank != ht_table_i64(rows, i, HT_BREAKDOWN_RANK))
			p++;
		if (p == f->parts->n)
			return;
		int64_t *sum = &f->waits_ns[p];
		if (ht_table_is_null(rows, i, HT_BREAKDOWN_WAIT))
			lacking = p;
		*sum = lacking == p ? HT_NO_I64
		                    : ht_add_sat(*sum == HT_NO_I64 ? 0 : *sum,
		                              ht_table_i64(rows, i, HT_BREAKDOWN_WAIT));
	}
}

static enum ht_status add_up_devices(struct ht_findings *f, ht_table *rows)
{
	f->waits_ns = ht_arena_alloc(f->run->scratch, (f->parts->n + 1) * sizeof *f->waits_ns);
	if (!f->waits_ns)
		return ht_fail_nomem(f->run->ctx);
	for (size_t p = 0; p < f->parts->n; p++) {
		const ht_table *idle = f->parts->list[p].facts[HT_FOUND_IDLE];
		HT_TRY(ht_breakdown_rows(
		        f->run, &f->parts->list[p], HT_FOUND_EXPOSED, HT_FOUND_GAPS, rows));
		for (size_t i = 0; i < ht_table_n_rows(idle); i++)
			add_idle(f, f->parts->list[p].rank, idle, i);
		const ht_table *gpus = f->parts->list[p].facts[HT_FOUND_GPUS];
		for (size_t i = 0; i < ht_table_n_rows(gpus); i++)
			add_gpu(&f->gpu, f->parts->list[p].rank, gpus, i);
	}
	HT_TRY(ht_table_finish(f->run->ctx, rows));
	add_up_waits(f, rows);
	f->knows_waits = true;
	for (size_t i = 0; i < ht_table_n_rows(rows); i++) {
		if (ht_table_is_null(rows, i, HT_BREAKDOWN_SPAN))
			continue;
		f->n_devices++;
		f->knows_waits &= !ht_table_is_null(rows, i, HT_BREAKDOWN_WAIT);
		for (size_t c = HT_BREAKDOWN_SPAN; c <= HT_BREAKDOWN_OTHER; c++)
			if (!ht_table_is_null(rows, i, c))
				ht_sum(&f->breakdown[c], ht_table_i64(rows, i, c));
	}
	return HT_OK;
}

static enum ht_status find_devices(struct ht_findings *f)
{
	ht_table *rows = NULL;
	HT_TRY(ht_table_new(
	        f->run->ctx, NULL, ht_breakdown_columns, HT_N_BREAKDOWN_COLUMNS, &rows));
	enum ht_status status = add_up_devices(f, rows);
	ht_table_free(rows);
	return status;
}

/* ---- all ranks: stragglers, tops ---- */

/* A call of the host has no launch, and a trace that has such calls has no kernels that communicate. */
static bool waits_on_host(const struct ht_findings *f, const struct ht_comm_call *call)
{
	return call->wait_ns != HT_NO_I64 && call->launch_ns == HT_NO_I64 &&
	       f->breakdown[HT_BREAKDOWN_COMM] == 0;
}

/* Ranks that communicate by calls of the host wait there; calls side by side wait at the same time. */
static enum ht_status find_host_waits(struct ht_findings *f)
{
	const struct ht_lateness *lateness = &f->stragglers.lateness;
	size_t n_parts = f->parts->n;
	size_t *first = ht_arena_alloc(f->run->scratch, (n_parts + 2) * sizeof *first);
	struct ht_interval *waits =
	        ht_arena_alloc(f->run->scratch, (lateness->n_calls + 1) * sizeof *waits);
	if (!first || !waits)
		return ht_fail_nomem(f->run->ctx);
	for (size_t i = 0; i < lateness->n_calls; i++)
		if (waits_on_host(f, lateness->calls[i].call))
			first[lateness->calls[i].i_part + 2]++;
	for (size_t p = 0; p < n_parts; p++)
		first[p + 2] += first[p + 1];
	for (size_t i = 0; i < lateness->n_calls; i++) {
		const struct ht_comm_call *call = lateness->calls[i].call;
		if (waits_on_host(f, call))
			waits[first[lateness->calls[i].i_part + 1]++] =
			        (struct ht_interval){ call->start_ns,
				        ht_add_sat(call->start_ns, call->wait_ns) };
	}
	for (size_t p = 0; p < n_parts; p++) {
		size_t n = first[p + 1] - first[p];
		if (!n)
			continue;
		f->calls_host = true;
		n = ht_interval_merge(f->run->ctx->mem, waits + first[p], n);
		f->waits_ns[p] = ht_interval_length(waits + first[p], n);
	}
	return HT_OK;
}

static enum ht_status find_stragglers(struct ht_findings *f)
{
	if (!f->run->clocks[0])
		return HT_OK;
	HT_TRY(ht_stragglers_find(f->run, f->parts, &straggler_facts, &f->stragglers));
	f->compares = f->stragglers.lateness.n > 0;
	if (f->compares)
		HT_TRY(find_host_waits(f));
	for (size_t i = 0; f->compares && i < f->parts->n; i++) {
		const struct ht_late_rank *rank = &f->stragglers.lateness.ranks[i];
		if (!f->stragglers.verdicts[rank->i_part].is_candidate)
			continue;
		if (!f->latest || f->stragglers.verdicts[rank->i_part].late_steps_ns >
		                          f->stragglers.verdicts[f->latest->i_part].late_steps_ns)
			f->latest = rank;
	}
	return HT_OK;
}

struct top_row {
	int64_t kind;
	struct ht_top top;
};

static int by_name_of_kind(const void *left, const void *right)
{
	const struct top_row *a = left, *b = right;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	int by = strcmp(a->top.name, b->top.name);
	return by ? by : (a->top.rank > b->top.rank) - (a->top.rank < b->top.rank);
}

static int by_time(const void *left, const void *right)
{
	const struct ht_top *a = left, *b = right;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static enum ht_status find_tops(struct ht_findings *f)
{
	size_t n_most = ht_parts_n_rows(f->parts, HT_FOUND_TOPS), n = 0, n_tops = 0;
	struct top_row *rows = ht_arena_alloc(f->run->scratch, (n_most + 1) * sizeof *rows);
	struct ht_top *tops = ht_arena_alloc(f->run->scratch, (n_most + 1) * sizeof *tops);
	if (!rows || !tops)
		return ht_fail_nomem(f->run->ctx);
	for (size_t p = 0; p < f->parts->n; p++) {
		const ht_table *facts = f->parts->list[p].facts[HT_FOUND_TOPS];
		for (size_t i = 0; i < ht_table_n_rows(facts); i++) {
			uint64_t kind = ht_table_u64(facts, i, HT_TOP_KIND);
			int64_t ns = ht_table_i64(facts, i, HT_TOP_NS);
			ht_sum(&f->tops[kind].total_ns, ns);
			if (!ht_table_is_null(facts, i, HT_TOP_NAME))
				rows[n++] = (struct top_row){ (int64_t)kind,
					{ ht_table_str(facts, i, HT_TOP_NAME), ns,
					        ht_table_i64(facts, i, HT_TOP_COUNT),
					        f->parts->list[p].rank,
					        ht_table_is_null(facts, i, HT_TOP_ROW)
					                ? HT_NO_I64
					                : ht_table_i64(facts, i, HT_TOP_ROW),
					        ht_table_i64(facts, i, HT_TOP_ROW_NS) } };
		}
	}
	qsort(rows, n, sizeof *rows, by_name_of_kind);
	for (size_t i = 0; i < n; i++) {
		struct ht_tops *of = &f->tops[rows[i].kind];
		of->list = of->n ? of->list : &tops[n_tops];
		struct ht_top *last = of->n ? &of->list[of->n - 1] : NULL;
		if (!last || strcmp(last->name, rows[i].top.name) != 0) {
			of->list[of->n++] = rows[i].top;
			n_tops++;
			continue;
		}
		ht_sum(&last->ns, rows[i].top.ns);
		ht_sum(&last->count, rows[i].top.count);
		if (rows[i].top.row_ns > last->row_ns) {
			last->row_ns = rows[i].top.row_ns;
			last->row = rows[i].top.row;
			last->rank = rows[i].top.rank;
		}
	}
	for (int k = 0; k < HT_N_TOP_KINDS; k++) {
		struct ht_tops *of = &f->tops[k];
		if (of->n)
			qsort(of->list, of->n, sizeof *tops, by_time);
		while (of->n && of->list[of->n - 1].ns <= 0)
			of->n--;
	}
	return HT_OK;
}

enum ht_status ht_findings_make(
        struct ht_run *run, const struct ht_parts *parts, struct ht_findings *ret)
{
	*ret = (struct ht_findings){ .run = run, .parts = parts };
	for (int k = 0; k < HT_IDLE_N; k++)
		ret->idle[k].row = HT_NO_I64;
	for (int k = 0; k < HT_CP_N_BOUNDS; k++)
		ret->path[k].most.row = ret->path[k].slow.row = HT_NO_I64;
	HT_TRY(find_steps(ret));
	HT_TRY(ht_found_slow_steps(ret));
	HT_TRY(find_devices(ret));
	HT_TRY(find_stragglers(ret));
	HT_TRY(ht_found_path(ret));
	HT_TRY(find_tops(ret));
	ht_found_path_host_calls(ret);
	return HT_OK;
}

int64_t ht_findings_of_rank(
        const struct ht_findings *f, size_t i_part, size_t column, int64_t *ret_n_devices)
{
	const ht_table *rows = f->parts->list[i_part].facts[HT_FOUND_BREAKDOWN];
	int64_t sum = 0, n = 0;
	for (size_t i = 0; i < ht_table_n_rows(rows); i++)
		if (!ht_table_is_null(rows, i, column)) {
			ht_sum(&sum, ht_table_i64(rows, i, column));
			n++;
		}
	*ret_n_devices = n;
	return n ? sum : HT_NO_I64;
}

/* Communication of a rank that nothing hides, of its devices the mean; HT_NO_I64: no GPU work. */
static int64_t exposed_of(const struct ht_findings *f, size_t p)
{
	int64_t n, sum = ht_findings_of_rank(f, p, HT_BREAKDOWN_COMM, &n);
	return n ? sum / n : HT_NO_I64;
}

int64_t ht_findings_late_cost(const struct ht_findings *f, size_t i_part, int64_t late_ns)
{
	const struct ht_verdict *late =
	        f->stragglers.verdicts ? &f->stragglers.verdicts[i_part] : NULL;
	int64_t own = exposed_of(f, i_part), least = INT64_MAX;
	for (size_t i = 0; late && i < late->n_members; i++) {
		size_t p = late->members[i];
		int64_t ns = p == i_part ? HT_NO_I64 : exposed_of(f, p);
		least = ns != HT_NO_I64 && ns < least ? ns : least;
	}
	if (own == HT_NO_I64 || least == INT64_MAX || !f->n_steps)
		return late_ns;
	int64_t more_ns = least > own ? (least - own) / (int64_t)f->n_steps : 0;
	return more_ns < late_ns ? more_ns : late_ns;
}

int64_t ht_findings_mean_step(const struct ht_findings *findings)
{
	const struct ht_step_times *steps = &findings->device;
	return steps->n_mean ? steps->sum_ns / (int64_t)steps->n_mean : 0;
}

int64_t ht_findings_per_step(const struct ht_findings *findings, int64_t path_ns)
{
	int64_t whole_ns = ht_add_sat(findings->path_ns, findings->between_ns);
	if (whole_ns <= 0)
		return 0;
	return (int64_t)((__int128)path_ns * ht_findings_mean_step(findings) / whole_ns);
}

enum ht_status ht_findings_note(struct ht_run *run, ht_table *table)
{
	const struct ht_roster *roster = run->rosters[0];
	if (!roster->n_notes)
		return HT_OK;
	if (roster->n_notes == 1)
		return ht_table_add_note(table, "%s: see health", roster->notes[0]);
	return ht_table_add_note(
	        table, "%s, and %zu more such: see health", roster->notes[0], roster->n_notes - 1);
}
