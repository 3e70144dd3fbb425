/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_view_peak.c - composition of a moment, leaks and out-of-memory errors of a snapshot. See mem_view.h.
 */
#include "model/snapshot/mem_oom.h"
#include "model/snapshot/mem_steps.h"
#include "model/snapshot/mem_columns.h"
#include "model/snapshot/mem_view.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"

#include <string.h>

enum ht_status ht_mem_view_peak(struct ht_mem_view *v)
{
	ht_table *table = v->table;
	v->by_source = true;
	for (size_t i = 0; i < v->history->n_devices; i++) {
		const struct ht_mem_device *d = &v->history->devices[i];
		struct ht_mem_group *groups;
		size_t n;
		int64_t event, total = 0;
		if (!ht_mem_view_moment(v, d, &event))
			continue;
		HT_TRY(ht_mem_groups_find(v, d, event, &groups, &n));
		for (size_t k = 0; k < n; k++)
			total += groups[k].bytes;
		for (size_t k = 0; k < n; k++) {
			ht_table_row(table);
			ht_table_put_i64(table, PEAK_RANK, v->run->rank);
			ht_table_put_i64(table, PEAK_DEVICE, d->device);
			ht_table_put_str(table, PEAK_KEY, groups[k].key);
			ht_table_put_i64(table, PEAK_BYTES, groups[k].bytes);
			ht_table_put_f64(
			        table, PEAK_SHARE, (double)groups[k].bytes / (double)total);
			ht_table_put_i64(table, PEAK_BLOCKS, groups[k].blocks);
			ht_table_put_i64(table, PEAK_REQUESTED_BYTES, groups[k].requested);
			ht_table_put_str(table, PEAK_SOURCE, groups[k].source);
		}
	}
	return HT_OK;
}

/* ---- leaks ---- */

/* Steps until the device is full at this growth; negative: unknown. */
static double steps_left(
        const struct ht_mem_view *v, const struct ht_mem_device *d, double bytes_per_step)
{
	int64_t capacity = ht_mem_capacity(v->kineto, d->device);
	return capacity == HT_NO_I64 || bytes_per_step <= 0
	               ? -1
	               : (double)(capacity - d->reserved) / bytes_per_step;
}

static double step_ns(const struct ht_mem_steps *steps)
{
	return steps->n < 2 ? 0
	                    : (double)(steps->list[steps->n - 1].end_ns - steps->list[0].end_ns) /
	                              (double)(steps->n - 1);
}

static void put_leak(struct ht_mem_view *v, const struct ht_mem_device *d,
        const struct ht_mem_steps *steps, const struct ht_mem_leak *leak)
{
	ht_table *table = v->table;
	double left = steps_left(v, d, leak->bytes_per_step);
	ht_table_row(table);
	ht_table_put_i64(table, LEAK_RANK, v->run->rank);
	ht_table_put_i64(table, LEAK_DEVICE, d->device);
	ht_table_put_str(table, LEAK_KEY, ht_mem_user_text(v->run, leak->stack));
	ht_table_put_f64(table, LEAK_BYTES_PER_STEP, leak->bytes_per_step);
	ht_table_put_i64(table, LEAK_STEPS, leak->n_steps);
	ht_table_put_i64(table, LEAK_GROWING_STEPS, leak->n_growing);
	ht_table_put_i64(table, LEAK_FIRST_BYTES, leak->first_bytes);
	ht_table_put_i64(table, LEAK_LAST_BYTES, leak->last_bytes);
	ht_table_put_i64(table, LEAK_BLOCKS, leak->blocks);
	if (left < 0) {
		ht_table_put_nulls(table, LEAK_STEPS_TO_OOM, LEAK_STACK);
	} else {
		ht_table_put_f64(table, LEAK_STEPS_TO_OOM, left);
		ht_table_put_f64(table, LEAK_TIME_TO_OOM_NS, left * step_ns(steps));
	}
	ht_table_put_str(table, LEAK_STACK, ht_mem_stack_text(v->run, leak->stack));
}

enum ht_status ht_mem_view_leaks(struct ht_mem_view *v)
{
	for (size_t i = 0; i < v->history->n_devices; i++) {
		const struct ht_mem_device *d = &v->history->devices[i];
		struct ht_mem_steps steps;
		struct ht_mem_leak *leaks;
		size_t n;
		HT_TRY(ht_mem_view_steps(v, d, &steps));
		HT_TRY(ht_mem_leaks_find(v->run, d, &steps, &leaks, &n));
		for (size_t k = 0; k < n; k++)
			put_leak(v, d, &steps, &leaks[k]);
	}
	return HT_OK;
}

/* ---- out of memory ---- */

static void put_oom(
        struct ht_mem_view *v, const struct ht_mem_device *d, const struct ht_mem_oom *oom)
{
	ht_table *table = v->table;
	ht_table_row(table);
	ht_table_put_i64(table, OOM_RANK, v->run->rank);
	ht_table_put_i64(table, OOM_DEVICE, d->device);
	ht_table_put_i64(table, OOM_EVENT, oom->event - d->first);
	ht_table_put_known(table, OOM_TIME_NS, ht_mem_view_time(v, d, oom->event), HT_NO_I64);
	ht_table_put_str(table, OOM_CLASS, ht_mem_oom_name(oom->class_));
	ht_table_put_i64(table, OOM_REQUESTED_BYTES, oom->requested);
	ht_table_put_i64(table, OOM_DRIVER_FREE_BYTES, oom->driver_free);
	ht_table_put_i64(table, OOM_ALLOCATED_BYTES, oom->allocated);
	ht_table_put_i64(table, OOM_RESERVED_BYTES, oom->reserved);
	ht_table_put_i64(table, OOM_FREE_BYTES, oom->pool_free);
	ht_table_put_i64(table, OOM_LARGEST_FREE_BYTES, oom->pool_largest);
	ht_table_put_i64(table, OOM_OTHER_POOLS_FREE_BYTES, oom->all_free - oom->pool_free);
	ht_table_put_known(table, OOM_CAPACITY_BYTES, oom->capacity, HT_NO_I64);
	ht_table_put_known(table, OOM_OUTSIDE_BYTES, oom->outside, HT_NO_I64);
	ht_table_put_str(table, OOM_KEY, ht_mem_user_text(v->run, oom->stack));
	ht_table_put_str(table, OOM_HELP,
	        ht_mem_oom_help(ht_mem_oom_name(oom->class_),
	                v->run->trace->more->mem_about->is_expandable));
}

enum ht_status ht_mem_view_oom(struct ht_mem_view *v)
{
	for (size_t i = 0; i < v->history->n_devices; i++) {
		const struct ht_mem_device *d = &v->history->devices[i];
		const struct ht_mem_span span = ht_mem_view_span(v, d);
		struct ht_mem_oom *list;
		size_t n;
		HT_TRY(ht_mem_ooms_judge(
		        v->run, v->history, d, ht_mem_capacity(v->kineto, d->device), &list, &n));
		for (size_t k = 0; k < n; k++)
			if (list[k].event >= span.first && list[k].event < span.end)
				put_oom(v, d, &list[k]);
	}
	return HT_OK;
}
