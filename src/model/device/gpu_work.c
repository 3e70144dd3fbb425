/*
 * gpu_work.c - see gpu_work.h.
 */
#include "model/device/gpu_work.h"
#include "base/sort.h"

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
	if (run->policy.collect_work)
		return run->policy.collect_work(run, frame, ret_work);
	work.items = ht_arena_alloc(run->scratch, (frame->n_gpu + 1) * sizeof *work.items);
	if (!work.items)
		return ht_fail_nomem(run->ctx);
	for (; work.n < frame->n_gpu; work.n++)
		work.items[work.n] =
		        work_of_gpu(frame->trace, &frame->trace->gpu[frame->gpu[work.n]]);
	*ret_work = work;
	return HT_OK;
}

enum ht_status ht_work_sort(struct ht_run *run, struct ht_work_list *work)
{
	size_t n = work->n, i = 1;
	while (i < n && work->items[i - 1].start <= work->items[i].start)
		i++;
	if (i >= n)
		return HT_OK;
	uint64_t *keys = ht_arena_alloc(run->scratch, n * sizeof *keys);
	uint32_t *order = ht_arena_alloc(run->scratch, n * sizeof *order);
	struct ht_work *sorted = ht_arena_alloc(run->scratch, n * sizeof *sorted);
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
	struct ht_interval *list = ht_arena_alloc(run->scratch, (work->n + 1) * sizeof *list);
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
	int32_t *numbers = ht_arena_alloc(run->scratch, (work->n + 1) * sizeof *numbers);
	size_t n = 0;
	if (!numbers)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < work->n; i++) {
		int32_t device = run->policy.one_device ? -1 : work->items[i].device;
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

static enum ht_status fill_device(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_work_list *work, struct ht_device_work *d)
{
	const struct ht_trace *t = frame->trace;
	bool every = run->policy.one_device;
	struct ht_interval *all = ht_arena_alloc(run->scratch, (t->n_gpu + 1) * sizeof *all);
	d->work.items = ht_arena_alloc(run->scratch, (work->n + 1) * sizeof *d->work.items);
	if (!all || !d->work.items)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < work->n; i++) {
		const struct ht_work *w = &work->items[i];
		if (!every && w->device != d->device)
			continue;
		d->work.items[d->work.n++] = *w;
	}
	for (size_t i = 0; i < t->n_gpu; i++) {
		uint32_t row = t->gpu[i].row, launch = t->gpu[i].launch;
		if (!every && t->gpu[i].device != d->device)
			continue;
		if (launch != HT_NONE && t->ts_ns[launch] < d->first_launch_ns)
			d->first_launch_ns = t->ts_ns[launch];
		if (ht_is_span(t, row))
			all[d->n_all++] = (struct ht_interval){ t->ts_ns[row], ht_end_ns(t, row) };
	}
	d->n_all = ht_interval_merge(run->ctx->mem, all, d->n_all);
	d->all = all;
	return HT_OK;
}

enum ht_status ht_work_by_device(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_work_list *work, struct ht_device_work **ret_devices, size_t *ret_n)
{
	HT_TRY(list_devices(run, work, ret_devices, ret_n));
	for (size_t i = 0; i < *ret_n; i++)
		HT_TRY(fill_device(run, frame, work, &(*ret_devices)[i]));
	return HT_OK;
}

int64_t ht_device_busy_ns(const struct ht_device_work *device, int64_t from, int64_t to)
{
	struct ht_interval window = { from, to };
	return from < to ? ht_interval_overlap(device->all, device->n_all, &window, 1) : 0;
}
