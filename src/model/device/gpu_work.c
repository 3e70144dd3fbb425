/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_work.c - see gpu_work.h.
 */
#include "model/device/gpu_work.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/sort.h"
#include "model/policy.h"
#include "store/columns.h"

#include <stdlib.h>

static struct ht_work work_of_gpu(const struct ht_trace *t, const struct ht_gpu *gpu)
{
	return (struct ht_work){
		.start = t->ts_ns[gpu->row],
		.end = ht_end_ns(t, gpu->row),
		.stream = gpu->stream,
		.row = gpu->row,
		.launch = gpu->launch,
		.device = gpu->device,
		.class_ = gpu->class_,
	};
}

enum ht_status ht_work_collect(
        struct ht_run *run, const struct ht_frame *frame, struct ht_work_list *ret_work)
{
	struct ht_work_list work = { 0 };
	if (run->policy->collect_work)
		return run->policy->collect_work(run, frame, ret_work);
	work.items = ht_arena_room(run->scratch, (frame->n_gpu + 1) * sizeof *work.items);
	if (!work.items)
		return ht_fail_nomem(run->ctx);
	for (; work.n < frame->n_gpu; work.n++)
		work.items[work.n] =
		        work_of_gpu(frame->trace, &frame->trace->gpu[frame->gpu[work.n]]);
	*ret_work = work;
	return HT_OK;
}

/* ---- orders ---- */

enum order { BY_START, BY_DEVICE, BY_STREAM };

/* What one sort is by; it is stable, so the last sort is by what counts first. */
static uint64_t key_of(const struct ht_trace *t, const struct ht_gpu *gpu, enum order key)
{
	return ht_sort_key_i64(key == BY_START    ? t->ts_ns[gpu->row]
	                       : key == BY_DEVICE ? gpu->device
	                                          : gpu->stream);
}

static bool sort_by(const struct ht_run *run, enum order key, uint64_t *keys, uint32_t *order)
{
	const struct ht_trace *t = run->trace;
	for (size_t i = 0; i < t->n_gpu; i++)
		keys[i] = key_of(t, &t->gpu[order[i]], key);
	return ht_sort_keys(run->ctx->mem, keys, order, t->n_gpu);
}

static enum ht_status find_order(struct ht_run *run, enum order by, const uint32_t **ret_order);

static enum ht_status make_order(struct ht_run *run, const void *of, void *ret_value)
{
	enum order by = *(const enum order *)of;
	size_t n = run->trace->n_gpu, n_keys = (n + 1) * sizeof(uint64_t);
	uint32_t *order = ht_arena_room(run->scratch, (n + 1) * sizeof *order);
	const uint32_t *by_start = NULL;
	if (by != BY_START)
		HT_TRY(find_order(run, BY_START, &by_start));
	uint64_t *keys = order ? ht_mem_alloc(run->ctx->mem, n_keys) : NULL;
	if (!keys)
		return ht_fail_nomem(run->ctx);
	for (uint32_t i = 0; i < n; i++)
		order[i] = by_start ? by_start[i] : i;
	bool ok = by == BY_START ? sort_by(run, BY_START, keys, order)
	                         : (by == BY_DEVICE || sort_by(run, BY_STREAM, keys, order)) &&
	                                   sort_by(run, BY_DEVICE, keys, order);
	ht_mem_free(run->ctx->mem, keys, n_keys);
	*(const uint32_t **)ret_value = order;
	return ok ? HT_OK : ht_fail_nomem(run->ctx);
}

static enum ht_status find_order(struct ht_run *run, enum order by, const uint32_t **ret_order)
{
	static const char kind;
	const struct ht_memoized how = { &kind, by, make_order, sizeof *ret_order };
	return ht_run_memoize(run, &how, &by, ret_order);
}

enum ht_status ht_gpu_by_stream(struct ht_run *run, const uint32_t **ret_order)
{
	return find_order(run, BY_STREAM, ret_order);
}

enum ht_status ht_gpu_by_device(struct ht_run *run, const uint32_t **ret_order)
{
	return find_order(run, BY_DEVICE, ret_order);
}

void ht_gpu_of_device(const struct ht_trace *t, const uint32_t *by_device, int32_t device,
        size_t *ret_first, size_t *ret_end)
{
	*ret_first = HT_LOWER_BOUND(i, t->n_gpu, t->gpu[by_device[i]].device < device);
	*ret_end = HT_LOWER_BOUND(i, t->n_gpu, t->gpu[by_device[i]].device <= device);
}

enum ht_status ht_work_sort(struct ht_run *run, struct ht_work_list *work)
{
	size_t n = work->n, i = 1;
	while (i < n && work->items[i - 1].start <= work->items[i].start)
		i++;
	if (i >= n)
		return HT_OK;
	uint64_t *keys = ht_arena_room(run->scratch, n * sizeof *keys);
	uint32_t *order = ht_arena_room(run->scratch, n * sizeof *order);
	struct ht_work *sorted = ht_arena_room(run->scratch, n * sizeof *sorted);
	if (!keys || !order || !sorted)
		return ht_fail_nomem(run->ctx);
	for (i = 0; i < n; i++) {
		keys[i] = ht_sort_key_i64(work->items[i].start);
		order[i] = (uint32_t)i;
	}
	if (!ht_sort_keys(run->ctx->mem, keys, order, n))
		return ht_fail_nomem(run->ctx);
	for (i = 0; i < n; i++)
		sorted[i] = work->items[order[i]];
	work->items = sorted;
	return HT_OK;
}

enum ht_status ht_work_union(struct ht_run *run, const struct ht_work_list *work, unsigned classes,
        struct ht_interval **ret_merged, size_t *ret_n)
{
	struct ht_interval *list = ht_arena_room(run->scratch, (work->n + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(run->ctx);
	size_t n = 0;
	for (size_t i = 0; i < work->n; i++) {
		const struct ht_work *w = &work->items[i];
		if (classes & ht_class_bit(w->class_))
			list[n++] = (struct ht_interval){ w->start, w->end };
	}
	*ret_n = ht_interval_merge(run->ctx->mem, list, n);
	*ret_merged = list;
	return HT_OK;
}

/* ---- devices ---- */

static int compare_devices(const void *left, const void *right)
{
	int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
	return (a > b) - (a < b);
}

/* The devices of the work, ascending, each once. */
static enum ht_status list_devices(struct ht_run *run, const struct ht_work_list *work,
        struct ht_device_work **ret_devices, size_t *ret_n)
{
	int32_t *numbers = ht_arena_room(run->scratch, (work->n + 1) * sizeof *numbers);
	size_t n = 0;
	if (!numbers)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < work->n; i++) {
		int32_t device = run->policy->one_device ? -1 : work->items[i].device;
		if (!n || numbers[n - 1] != device)
			numbers[n++] = device;
	}
	qsort(numbers, n, sizeof *numbers, compare_devices);
	struct ht_device_work *devices = ht_arena_alloc(run->scratch, (n + 1) * sizeof *devices);
	if (!devices)
		return ht_fail_nomem(run->ctx);
	*ret_n = 0;
	for (size_t i = 0; i < n; i++)
		if (!i || numbers[i] != numbers[i - 1])
			devices[(*ret_n)++] = (struct ht_device_work){ .device = numbers[i],
				.first_launch_ns = INT64_MAX };
	*ret_devices = devices;
	return HT_OK;
}

/* Where the device stands in the list, n_devices when it is not there. */
static size_t place_of(const struct ht_device_work *devices, size_t n_devices, int32_t device)
{
	size_t at = HT_LOWER_BOUND(i, n_devices, devices[i].device < device);
	return at < n_devices && devices[at].device == device ? at : n_devices;
}

/* Whatever runs on the device: its part of all GPU rows, by start, into room for as many, and one sum more. */
static void fill_all(struct ht_run *run, const uint32_t *rows, size_t n_rows,
        struct ht_interval *all, int64_t *sums, struct ht_device_work *d)
{
	const struct ht_trace *t = run->trace;
	for (size_t i = 0; i < n_rows; i++) {
		const struct ht_gpu *gpu = &t->gpu[rows[i]];
		if (gpu->launch != HT_NONE && t->ts_ns[gpu->launch] < d->first_launch_ns)
			d->first_launch_ns = t->ts_ns[gpu->launch];
		if (ht_is_span(t, gpu->row))
			all[d->n_all++] =
			        (struct ht_interval){ t->ts_ns[gpu->row], ht_end_ns(t, gpu->row) };
	}
	d->n_all = ht_interval_merge(run->ctx->mem, all, d->n_all);
	d->all = all;
	d->all_sums = sums;
	ht_interval_sums(all, d->n_all, sums);
}

/* All GPU rows of each device, which follow each other in one order. */
static enum ht_status fill_devices(
        struct ht_run *run, struct ht_device_work *devices, size_t n_devices)
{
	const struct ht_trace *t = run->trace;
	size_t n = t->n_gpu, end = 0, n_sums = 0;
	const uint32_t *order;
	bool is_one = run->policy->one_device;
	struct ht_interval *all = ht_arena_room(run->scratch, (n + 1) * sizeof *all);
	int64_t *sums = ht_arena_room(run->scratch, (n + n_devices + 1) * sizeof *sums);
	if (!all || !sums)
		return ht_fail_nomem(run->ctx);
	HT_TRY(find_order(run, is_one ? BY_START : BY_DEVICE, &order));
	for (size_t first = 0; first < n; first = end) {
		int32_t device = is_one ? -1 : t->gpu[order[first]].device;
		end = is_one ? n : first + 1;
		while (end < n && t->gpu[order[end]].device == device)
			end++;
		size_t at = place_of(devices, n_devices, device);
		if (at == n_devices)
			continue;
		fill_all(run, order + first, end - first, all + first, sums + n_sums, &devices[at]);
		n_sums += end - first + 1;
	}
	return HT_OK;
}

/* The work of each device out of that of several, in the same order, one device's behind the other's. */
static enum ht_status deal_work(struct ht_run *run, const struct ht_work_list *work,
        struct ht_device_work *devices, size_t n_devices)
{
	struct ht_work *items = ht_arena_room(run->scratch, (work->n + 1) * sizeof *items);
	uint32_t *of = ht_arena_room(run->scratch, (work->n + 1) * sizeof *of);
	if (!items || !of)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < work->n; i++) {
		of[i] = (uint32_t)place_of(devices, n_devices, work->items[i].device);
		devices[of[i]].work.n++;
	}
	for (size_t i = 0, first = 0; i < n_devices; i++) {
		struct ht_work_list *own = &devices[i].work;
		own->items = items + first;
		first += own->n;
		own->n = 0;
	}
	for (size_t i = 0; i < work->n; i++) {
		struct ht_work_list *own = &devices[of[i]].work;
		own->items[own->n++] = work->items[i];
	}
	return HT_OK;
}

/* Collected by start where we collect ourselves. */
static enum ht_status collect_sorted(struct ht_run *run, const struct ht_frame *frame,
        const uint32_t *by_start, struct ht_work_list *ret_work)
{
	const struct ht_trace *t = frame->trace;
	struct ht_work_list work = { 0 };
	bool *in = NULL;
	if (run->policy->collect_work) {
		HT_TRY(run->policy->collect_work(run, frame, ret_work));
		return ht_work_sort(run, ret_work);
	}
	HT_TRY(ht_frame_gpu_marks(run, frame, &in));
	work.items = ht_arena_room(run->scratch, (frame->n_gpu + 1) * sizeof *work.items);
	if (!work.items)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < t->n_gpu; i++)
		if (in[by_start[i]])
			work.items[work.n++] = work_of_gpu(t, &t->gpu[by_start[i]]);
	*ret_work = work;
	return HT_OK;
}

static enum ht_status make_devices(struct ht_run *run, const void *of, void *ret_value)
{
	const struct ht_frame *frame = of;
	const uint32_t *by_start = NULL;
	struct ht_work_list work = { 0 };
	struct ht_device_work *list = NULL;
	struct ht_devices *ret = ret_value;
	HT_TRY(find_order(run, BY_START, &by_start));
	HT_TRY(collect_sorted(run, frame, by_start, &work));
	HT_TRY(list_devices(run, &work, &list, &ret->n));
	ret->list = list;
	if (ret->n == 1)
		list[0].work = work;
	else
		HT_TRY(deal_work(run, &work, list, ret->n));
	return fill_devices(run, list, ret->n);
}

enum ht_status ht_devices_find(
        struct ht_run *run, const struct ht_frame *frame, struct ht_devices *ret_devices)
{
	static const char kind;
	const struct ht_memoized how = { &kind, 0, make_devices, sizeof *ret_devices };
	return ht_frame_share_gpu(run, frame, &how, frame, ret_devices);
}

int64_t ht_device_busy_ns(const struct ht_device_work *device, int64_t from, int64_t to)
{
	return ht_interval_between(device->all, device->all_sums, device->n_all, from, to);
}
