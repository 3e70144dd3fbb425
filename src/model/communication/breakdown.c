/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breakdown.c - see breakdown.h.
 */
#include "model/communication/breakdown.h"

#include "base/checked.h"
#include "base/sort.h"
#include "model/device/gpu_work.h"
#include "model/policy.h"
#include "store/columns.h"

#include <math.h>
#include <string.h>

const struct ht_column ht_breakdown_columns[HT_N_BREAKDOWN_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_BREAKDOWN_COLUMNS);

/* Where the rows of a rank go. */
struct facts {
	struct ht_run *run;
	ht_table *rows, *calls, *gaps;
};

/* Classes in the order in which they take time; sync and control come last. */
static const uint8_t order[] = { HT_CLASS_COMPUTE, HT_CLASS_COMM, HT_CLASS_MEMCPY, HT_CLASS_MEMSET,
	HT_CLASS_SYNC };

static void put_nothing(ht_table *table, int64_t rank)
{
	ht_table_row(table);
	ht_table_put_i64(table, HT_BREAKDOWN_RANK, rank);
	ht_table_put_nulls_to_end(table, HT_BREAKDOWN_DEVICE);
}

/* The communication of a row, to be split when all ranks are known. */
static enum ht_status put_exposed(
        const struct facts *facts, const struct ht_work_list *work, int64_t key)
{
	struct ht_run *run = facts->run;
	struct ht_interval *compute = NULL, *communication = NULL;
	size_t n_compute = 0, n_communication = 0, n = 0;
	struct ht_exposed_call *calls = ht_arena_room(run->scratch, (work->n + 1) * sizeof *calls);
	if (!calls)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_work_union(run, work, ht_class_bit(HT_CLASS_COMPUTE), &compute, &n_compute));
	HT_TRY(ht_work_union(
	        run, work, ht_class_bit(HT_CLASS_COMM), &communication, &n_communication));
	for (size_t i = 0; i < work->n; i++) {
		const struct ht_work *w = &work->items[i];
		if (w->class_ == HT_CLASS_COMM)
			calls[n++] = (struct ht_exposed_call){ w->row, { w->start, w->end } };
	}
	return ht_exposed_put(run, key, calls, n, communication, n_communication, compute,
	        n_compute, facts->calls, facts->gaps);
}

/* Idle time within the span before the first launch call. */
static int64_t leading_ns(const struct ht_device_work *device, int64_t first, int64_t last)
{
	int64_t end = device->first_launch_ns < last ? device->first_launch_ns : last;
	if (device->first_launch_ns == INT64_MAX || end <= first)
		return 0;
	return ht_sub_sat(end, first) - ht_device_busy_ns(device, first, end);
}

static enum ht_status put_breakdown(const struct facts *facts, const struct ht_device_work *device,
        int64_t step, const struct ht_work_list *work)
{
	struct ht_run *run = facts->run;
	ht_table *table = facts->rows;
	int64_t took[HT_COUNT(order)], before = 0;
	int64_t first = 0, last = 0;
	unsigned classes = 0;
	for (size_t k = 0; k < HT_COUNT(order); k++) {
		struct ht_interval *merged = NULL;
		size_t n = 0;
		classes |= ht_class_bit(order[k]);
		HT_TRY(ht_work_union(run, work, classes, &merged, &n));
		int64_t length = ht_interval_length(merged, n);
		took[k] = length - before;
		before = length;
		if (n) {
			first = merged[0].start;
			last = merged[n - 1].end;
		}
	}
	int64_t span = ht_sub_sat(last, first), non_compute = before - took[0];
	int64_t outside =
	        run->policy->only_chosen ? 0 : ht_device_busy_ns(device, first, last) - before;
	int64_t idle = span - before - outside;
	double whole = span ? (double)span : NAN;
	ht_table_row(table);
	ht_table_put_i64(table, HT_BREAKDOWN_RANK, run->rank);
	ht_table_put_known(table, HT_BREAKDOWN_DEVICE, device->device, -1);
	ht_table_put_known(table, HT_BREAKDOWN_STEP, step, HT_NO_I64);
	ht_table_put_i64(table, HT_BREAKDOWN_SPAN, span);
	ht_table_put_i64(table, HT_BREAKDOWN_IDLE, idle);
	ht_table_put_i64(table, HT_BREAKDOWN_OUTSIDE, outside);
	ht_table_put_i64(table, HT_BREAKDOWN_LEADING,
	        run->policy->only_chosen ? 0 : leading_ns(device, first, last));
	ht_table_put_i64(table, HT_BREAKDOWN_COMPUTE, took[0]);
	ht_table_put_i64(table, HT_BREAKDOWN_NON_COMPUTE, non_compute);
	ht_table_put_i64(table, HT_BREAKDOWN_COMM, took[1]);
	ht_table_put_null(table, HT_BREAKDOWN_WAIT);
	ht_table_put_null(table, HT_BREAKDOWN_TRANSFER);
	for (size_t k = 2; k < HT_COUNT(order); k++)
		ht_table_put_i64(table, HT_BREAKDOWN_MEMCPY + k - 2, took[k]);
	ht_table_put_f64(table, HT_BREAKDOWN_IDLE_SHARE, (double)idle / whole);
	ht_table_put_f64(table, HT_BREAKDOWN_COMPUTE_SHARE, (double)took[0] / whole);
	ht_table_put_f64(table, HT_BREAKDOWN_NON_COMPUTE_SHARE, (double)non_compute / whole);
	ht_table_put_f64(table, HT_BREAKDOWN_COMM_SHARE, (double)took[1] / whole);
	ht_table_put_f64(table, HT_BREAKDOWN_MEMORY_SHARE, (double)(took[2] + took[3]) / whole);
	ht_table_put_i64(table, HT_BREAKDOWN_N_WORK, (int64_t)work->n);
	return put_exposed(facts, work, (int64_t)ht_table_n_rows(facts->rows) - 1);
}

/* By step of the trace: the first with its number, as several threads may count alike; n_steps for none. NULL: no memory. */
static const uint32_t *group_steps(struct ht_run *run)
{
	const struct ht_trace *t = run->trace;
	uint64_t *keys = ht_arena_alloc(run->scratch, (t->n_steps + 1) * sizeof *keys);
	uint32_t *by_number = ht_arena_alloc(run->scratch, (t->n_steps + 1) * sizeof *by_number);
	uint32_t *group = ht_arena_alloc(run->scratch, (t->n_steps + 1) * sizeof *group);
	if (!keys || !by_number || !group)
		return NULL;
	for (uint32_t i = 0; i < t->n_steps; i++) {
		keys[i] = ht_sort_key_i64(t->steps[i].number);
		by_number[i] = i;
	}
	if (!ht_sort_keys(run->ctx->mem, keys, by_number, t->n_steps))
		return NULL;
	for (size_t i = 0; i < t->n_steps; i++)
		group[by_number[i]] =
		        i && t->steps[by_number[i]].number == t->steps[by_number[i - 1]].number
		                ? group[by_number[i - 1]]
		                : by_number[i];
	return group;
}

static size_t group_of(const struct ht_trace *t, const uint32_t *groups, uint32_t row)
{
	return ht_step_of(t, row) == HT_NONE ? t->n_steps : groups[ht_step_of(t, row)];
}

/* Work outside any step forms the group n_steps, shown last. */
static enum ht_status put_steps(const struct facts *facts, const struct ht_device_work *device)
{
	struct ht_run *run = facts->run;
	const struct ht_trace *t = run->trace;
	const struct ht_work_list *work = &device->work;
	size_t n_groups = t->n_steps + 1;
	size_t *first = ht_arena_alloc(run->scratch, (n_groups + 1) * sizeof *first);
	struct ht_work *sorted = ht_arena_room(run->scratch, (work->n + 1) * sizeof *sorted);
	const uint32_t *groups = group_steps(run);
	if (!first || !sorted || !groups)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < work->n; i++)
		first[group_of(t, groups, work->items[i].row) + 1]++;
	for (size_t g = 0; g < n_groups; g++)
		first[g + 1] += first[g];
	/* filled from the back, so that first[g + 1] ends as the start of group g */
	for (size_t i = work->n; i--;)
		sorted[--first[group_of(t, groups, work->items[i].row) + 1]] = work->items[i];
	for (size_t g = 0; g < n_groups; g++) {
		size_t end = g + 1 < n_groups ? first[g + 2] : work->n;
		struct ht_work_list part = { sorted + first[g + 1], end - first[g + 1] };
		if (part.n)
			HT_TRY(put_breakdown(facts, device,
			        g < t->n_steps ? t->steps[g].number : HT_NO_I64, &part));
	}
	return HT_OK;
}

enum ht_status ht_breakdown_put(
        struct ht_run *run, bool by_step, struct ht_part *part, size_t calls_k, size_t gaps_k)
{
	const struct facts facts = { run, part->facts[0], part->facts[calls_k],
		part->facts[gaps_k] };
	struct ht_frame frame = { 0 };
	struct ht_devices devices = { 0 };
	HT_TRY(ht_frame_make_gpu(run, &frame));
	HT_TRY(ht_devices_find(run, &frame, &devices));
	if (!devices.n)
		put_nothing(facts.rows, frame.rank);
	for (size_t i = 0; i < devices.n; i++) {
		const struct ht_device_work *device = &devices.list[i];
		if (by_step)
			HT_TRY(put_steps(&facts, device));
		else
			HT_TRY(put_breakdown(&facts, device, HT_NO_I64, &device->work));
	}
	return HT_OK;
}

enum ht_status ht_breakdown_put_exposed(
        struct ht_run *run, ht_table *call_facts, ht_table *gap_facts)
{
	const struct facts facts = { run, NULL, call_facts, gap_facts };
	struct ht_frame frame = { 0 };
	struct ht_devices devices = { 0 };
	HT_TRY(ht_frame_make_gpu(run, &frame));
	HT_TRY(ht_devices_find(run, &frame, &devices));
	for (size_t i = 0; i < devices.n; i++)
		HT_TRY(put_exposed(&facts, &devices.list[i].work, (int64_t)i));
	return HT_OK;
}

enum ht_status ht_breakdown_rows(struct ht_run *run, const struct ht_part *part, size_t calls_k,
        size_t gaps_k, ht_table *table)
{
	return ht_exposed_rows(run, part, calls_k, gaps_k, HT_BREAKDOWN_WAIT, table);
}
