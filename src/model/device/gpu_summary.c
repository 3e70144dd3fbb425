/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_summary.c - see gpu_summary.h.
 *
 * Blocks per SM are counted in millionths, which is what the profiler writes: a sum that goes up and down again comes
 * back to 0 exactly.
 */
#include "model/device/gpu_summary.h"

#include "base/checked.h"
#include "base/sort.h"
#include "json/json_text.h"
#include "model/device/gpu_work.h"
#include "model/device/launch.h"
#include "base/search.h"
#include "store/trace_meta.h"

#include <math.h>

#define ONE         1000000
#define MAX_PER_SM  1e6
#define MAX_PERCENT 1e6

/* A kernel starts or ends to run. */
struct change {
	int64_t time, per_sm;
};

static int compare_time(const void *left, const void *right)
{
	const struct change *a = left, *b = right;
	return (a->time > b->time) - (a->time < b->time);
}

static int64_t per_sm_of(struct ht_arg_cursor *blocks, uint32_t row)
{
	double value = ht_arg_cursor_f64(blocks, row, 0);
	return value > 0 && value < MAX_PER_SM ? ht_round_sat(value * ONE) : 0;
}

/* What kernels say of themselves, on the way to the estimates. */
struct estimates {
	struct ht_arg_cursor blocks, occupied;
	struct change *changes;
	size_t n_changes;
	double weighted, weight;
};

static enum ht_status estimates_init(
        struct ht_run *run, const struct ht_trace *t, size_t n_work, struct estimates *e)
{
	*e = (struct estimates){ .blocks = ht_arg_cursor(t, "blocks per SM"),
		.occupied = ht_arg_cursor(t, "est. achieved occupancy %"),
		.changes = ht_arena_room(run->scratch, (2 * n_work + 1) * sizeof *e->changes) };
	return e->changes ? HT_OK : ht_fail_nomem(run->ctx);
}

/* The part of a kernel inside the window. */
static void estimate(struct estimates *e, uint32_t row, struct ht_interval in)
{
	double occupancy = ht_arg_cursor_f64(&e->occupied, row, -1);
	int64_t per_sm = per_sm_of(&e->blocks, row);
	if (per_sm) {
		e->changes[e->n_changes++] = (struct change){ in.start, per_sm };
		e->changes[e->n_changes++] = (struct change){ in.end, -per_sm };
	}
	if (occupancy >= 0 && occupancy < MAX_PERCENT) {
		double inside_ns = (double)ht_sub_sat(in.end, in.start);
		e->weighted += occupancy * inside_ns;
		e->weight += inside_ns;
	}
}

/* The integral over time of what runs, at most 1. */
static double integrate(struct ht_run *run, struct change *changes, size_t n)
{
	__int128 area = 0;
	int64_t now = 0;
	ht_sort_items(run->ctx->mem, changes, n, sizeof *changes, compare_time);
	for (size_t i = 0; i + 1 < n; i++) {
		now += changes[i].per_sm;
		area += (__int128)(now < ONE ? now : ONE) *
		        ht_sub_sat(changes[i + 1].time, changes[i].time);
	}
	return (double)area / ONE;
}

static struct ht_interval clip(const struct ht_work *w, const struct ht_gpu_window *window)
{
	struct ht_interval in = { w->start > window->start ? w->start : window->start,
		w->end < window->end ? w->end : window->end };
	if (in.end < in.start)
		in.end = in.start;
	return in;
}

static bool is_kernel(const struct ht_trace *t, const struct ht_work *w)
{
	return t->kind[w->row] == HT_KIND_KERNEL &&
	       (w->class_ == HT_CLASS_COMPUTE || w->class_ == HT_CLASS_COMM);
}

static enum ht_status summarise(struct ht_run *run, const struct ht_device_work *device,
        const struct ht_gpu_window *window, struct ht_gpu_summary *s)
{
	const struct ht_trace *t = run->trace;
	size_t n = 0;
	struct ht_interval *busy = ht_arena_room(run->scratch, (device->work.n + 1) * sizeof *busy);
	struct estimates e = { 0 };
	*s = (struct ht_gpu_summary){ .device = device->device };
	if (!busy)
		return ht_fail_nomem(run->ctx);
	if (!window->only_times)
		HT_TRY(estimates_init(run, t, device->work.n, &e));
	for (size_t i = 0; i < device->work.n; i++) {
		const struct ht_work *w = &device->work.items[i];
		if (!is_kernel(t, w))
			continue;
		struct ht_interval in = clip(w, window);
		if (in.end <= in.start)
			continue;
		busy[n++] = in;
		if (!window->only_times)
			estimate(&e, w->row, in);
	}
	n = ht_interval_merge(run->ctx->mem, busy, n);
	s->window_ns = ht_sub_sat(window->end, window->start);
	s->busy_ns = ht_interval_length(busy, n);
	s->occupancy_pct = e.weight > 0 ? e.weighted / e.weight : NAN;
	s->sm_efficiency = e.n_changes && s->window_ns > 0
	                           ? integrate(run, e.changes, e.n_changes) / (double)s->window_ns
	                           : NAN;
	s->properties = ht_trace_device(t, s->device);
	return HT_OK;
}

/* The kernels of the chosen steps, as the list of kernels has them; devices ascend. */
static enum ht_status count_kernels(
        struct ht_run *run, struct ht_traits *traits, struct ht_gpu_summary *list, size_t n)
{
	const struct ht_trace *t = run->trace;
	struct ht_frame frame;
	HT_TRY(ht_frame_make_gpu(run, &frame));
	for (size_t i = 0; i < frame.n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[frame.gpu[i]];
		size_t at = HT_LOWER_BOUND(k, n, list[k].device < gpu->device);
		if (!ht_is_counted_kernel(t, gpu) || at == n)
			continue;
		int64_t ns = t->dur_ns[gpu->row];
		enum ht_core core = ht_traits_runs_on(traits, gpu->row, false);
		list[at].n_kernels++;
		ht_sum(&list[at].kernel_ns, ns);
		ht_sum(&list[at].tc_ns, core == HT_CORE_TENSOR ? ns : 0);
		ht_sum(&list[at].unclear_ns, core == HT_CORE_UNKNOWN ? ns : 0);
	}
	return HT_OK;
}

enum ht_status ht_gpu_summary_make(struct ht_run *run, struct ht_traits *traits,
        const struct ht_gpu_window *window, struct ht_gpu_summary **ret_list, size_t *ret_n)
{
	struct ht_run whole = *run;
	struct ht_frame frame;
	struct ht_devices devices = { 0 };
	size_t n = 0;
	/* any kernel may run in a step, whoever launched it */
	whole.step = "all";
	HT_TRY(ht_frame_make_gpu(&whole, &frame));
	HT_TRY(ht_devices_find(run, &frame, &devices));
	struct ht_gpu_summary *list = ht_arena_alloc(run->scratch, (devices.n + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < devices.n; i++)
		HT_TRY(summarise(run, &devices.list[i], window, &list[i]));
	HT_TRY(count_kernels(run, traits, list, devices.n));
	for (size_t i = 0; i < devices.n; i++)
		if (list[i].n_kernels || list[i].busy_ns)
			list[n++] = list[i];
	*ret_list = list;
	*ret_n = n;
	return HT_OK;
}

const char *ht_gpu_capability(
        struct ht_run *run, const struct ht_trace *trace, const struct ht_device *device)
{
	if (!device || device->properties == HT_NO_STR)
		return NULL;
	struct ht_json reader = { ht_str(trace, device->properties) };
	struct ht_json_value object = ht_json_next(&reader);
	struct ht_json_value major = ht_json_get(&object, "computeMajor"),
	                     minor = ht_json_get(&object, "computeMinor");
	int64_t numbers[2];
	if (!ht_json_i64(&major, &numbers[0]) || !ht_json_i64(&minor, &numbers[1]))
		return NULL;
	return ht_arena_printf(
	        run->scratch, "%lld.%lld", (long long)numbers[0], (long long)numbers[1]);
}
