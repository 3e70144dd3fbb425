/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_findings.c - see make_findings.h.
 */
#include "verdict/make_findings.h"

#include "verdict/found_path.h"
#include "verdict/rank_facts.h"
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

static void add_exported(struct ht_exported_times *exported, const ht_table *steps, size_t row)
{
	if (ht_table_is_null(steps, row, HT_FOUND_STEP_COMPUTING_NS))
		return;
	ht_sum(&exported->ns, ht_table_i64(steps, row, HT_FOUND_STEP_TIME_NS));
	ht_sum(&exported->computing_ns, ht_table_i64(steps, row, HT_FOUND_STEP_COMPUTING_NS));
	ht_sum(&exported->exposed_ns, ht_table_i64(steps, row, HT_FOUND_STEP_EXPOSED_NS));
	ht_sum(&exported->free_ns, ht_table_i64(steps, row, HT_FOUND_STEP_FREE_NS));
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

/* The CPU spans of the steps that the median is of, as long as that of the slowest rank. */
static enum ht_status time_hosts(struct ht_findings *f)
{
	int64_t *spans = ht_arena_room(f->run->scratch, (f->job.n + 1) * sizeof *spans);
	size_t n = 0;
	if (!spans)
		return ht_fail_nomem(f->run->ctx);
	for (size_t i = 0; i < f->job.n; i++)
		spans[i] = HT_NO_I64;
	for (size_t p = 0; p < f->parts->n; p++) {
		const ht_table *steps = f->parts->list[p].facts[HT_FOUND_STEPS];
		for (size_t i = 0; i < ht_table_n_rows(steps); i++) {
			int64_t number = ht_table_i64_or(steps, i, HT_FOUND_STEP_NUMBER, HT_NO_I64);
			int64_t ns = ht_table_i64_or(steps, i, HT_FOUND_STEP_HOST_NS, HT_NO_I64);
			size_t at = ht_job_steps_find(&f->job, number);
			if (at < f->job.n && ns > spans[at])
				spans[at] = ns;
		}
	}
	for (size_t i = 0; i < f->job.n; i++)
		if (!f->job.list[i].is_left_out && spans[i] != HT_NO_I64)
			spans[n++] = spans[i];
	f->host.n = n;
	f->host.median_ns = n ? ht_middle_i64(spans, n) : 0;
	return HT_OK;
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
	return time_hosts(f);
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
			add_exported(&f->exported, steps, i);
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
	int64_t category = ht_table_i64(facts, i, HT_FOUND_IDLE_CATEGORY);
	int64_t longest = ht_table_i64(facts, i, HT_FOUND_IDLE_ROW_NS);
	struct ht_idle_time *idle = &f->idle[category];
	ht_sum(&idle->ns, ht_table_i64(facts, i, HT_FOUND_IDLE_NS));
	if (longest <= idle->row_ns)
		return;
	idle->row_ns = longest;
	idle->rank = rank;
	idle->row = ht_table_i64_or(facts, i, HT_FOUND_IDLE_ROW, HT_NO_I64);
}

static void add_gpu(struct ht_gpu_use *use, int64_t rank, const ht_table *facts, size_t i)
{
	int64_t window = ht_table_i64(facts, i, HT_FOUND_GPU_WINDOW_NS);
	int64_t busy = ht_table_i64(facts, i, HT_FOUND_GPU_BUSY_NS);
	double share = window > 0 ? (double)busy / (double)window : 0;
	int64_t major = ht_table_i64_or(facts, i, HT_FOUND_GPU_MAJOR, HT_NO_I64);
	if (!use->window_ns || major < use->major)
		use->major = major;
	if (!use->window_ns || share < use->least) {
		use->least = share;
		use->least_rank = rank;
		use->least_device =
		        ht_table_n_rows(facts) > 1
		                ? ht_table_i64_or(facts, i, HT_FOUND_GPU_DEVICE, HT_NO_I64)
		                : HT_NO_I64;
	}
	ht_sum(&use->window_ns, window);
	ht_sum(&use->busy_ns, busy);
	ht_sum(&use->kernel_ns, ht_table_i64(facts, i, HT_FOUND_GPU_KERNEL_NS));
	ht_sum(&use->tc_ns, ht_table_i64(facts, i, HT_FOUND_GPU_TC_NS));
	ht_sum(&use->unclear_ns, ht_table_i64(facts, i, HT_FOUND_GPU_UNCLEAR_NS));
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
	f->calls_host = f->roles[HT_BUSY_COMM] > 0 && f->breakdown[HT_BREAKDOWN_COMM] == 0;
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
		n = ht_interval_merge(f->run->ctx->mem, waits + first[p], n);
		f->waits_ns[p] = ht_interval_length(waits + first[p], n);
	}
	return HT_OK;
}

static enum ht_status find_stragglers(struct ht_findings *f)
{
	if (!f->run->clocks[0])
		return HT_OK;
	HT_TRY(ht_stragglers_find(f->run, f->parts, &ht_found_straggler_facts, &f->stragglers));
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
