/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bandwidth_series.c - copy bandwidth per kind. See series.h.
 */
#include "model/device/series.h"
#include "base/sort.h"
#include "model/policy.h"
#include "model/rows/work_names.h"
#include "store/args.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef __int128 fixed; /* GB/s in units of 2^-60: exact for every rate above 2^-8 GB/s */

enum { FIXED_BITS = 60 };

struct event {
	fixed rate;
	int64_t ts_ns;
	const char *kind, *memory;
	int32_t device;
	uint32_t row;
	bool is_end;
};

static int compare(const void *left, const void *right)
{
	const struct event *a = left, *b = right;
	int by_kind = a->kind == b->kind ? 0 : strcmp(a->kind, b->kind);
	if (by_kind)
		return by_kind;
	int by_memory = strcmp(a->memory, b->memory);
	if (by_memory)
		return by_memory;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	if (a->is_end != b->is_end)
		return a->is_end ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* AMD names its copies after the direction only. */
static const char *amd_kind(const char *name)
{
	static const char *const pairs[][2] = {
		{ "DeviceToDevice", "Memcpy DtoD" },
		{ "HostToDevice", "Memcpy HtoD" },
		{ "DeviceToHost", "Memcpy DtoH" },
		{ "PeerToPeer", "Memcpy PtoP" },
	};
	for (size_t i = 0; i < HT_COUNT(pairs); i++)
		if (strstr(name, pairs[i][0]))
			return pairs[i][1];
	return "Memcpy Unknown";
}

static const char *kind_of(
        const struct ht_trace *trace, const struct ht_gpu *gpu, struct ht_arena *arena)
{
	const char *name = ht_str(trace, trace->name[gpu->row]);
	if (gpu->class_ == HT_CLASS_MEMSET)
		return "Memset";
	if (strncmp(name, "Memcpy", 6) != 0 && strncmp(name, "Memset", 6) != 0)
		return amd_kind(name);
	return ht_copy_kind(arena, name);
}

/* What stands in brackets behind the direction; "" when nothing does. */
static const char *memory_of(
        const struct ht_trace *trace, const struct ht_gpu *gpu, struct ht_arena *arena)
{
	const char *name = ht_str(trace, trace->name[gpu->row]);
	const char *open = gpu->class_ == HT_CLASS_MEMCPY ? strchr(name, '(') : NULL;
	const char *close = open ? strchr(open, ')') : NULL;
	if (!close || !strstr(open, "->"))
		return "";
	return ht_arena_strndup(arena, open + 1, (size_t)(close - open - 1));
}

static double rate_of(
        const struct ht_trace *trace, struct ht_arg_cursor *rates, uint32_t row, int64_t bytes)
{
	double rate = ht_arg_cursor_f64(rates, row, -1);
	if (isfinite(rate) && rate >= 0)
		return rate < 1e12 ? rate : 1e12;
	if (bytes <= 0)
		return 0;
	return (double)bytes / (double)(trace->dur_ns[row] ? trace->dur_ns[row] : 1);
}

static enum ht_status collect(struct ht_run *run, const struct ht_frame *frame, bool by_memory,
        struct event *events, size_t *ret_n)
{
	const struct ht_trace *trace = frame->trace;
	/* a copy has a rate only if it takes time: one unit of the clock */
	int64_t shortest_ns = run->policy->shortest_copy_ns ? run->policy->shortest_copy_ns : 1;
	struct ht_arg_cursor sizes = ht_arg_cursor(trace, "bytes"),
	                     rates = ht_arg_cursor(trace, "memory bandwidth (GB/s)");
	size_t n = 0;
	for (size_t i = 0; i < frame->n_gpu; i++) {
		const struct ht_gpu *gpu = &trace->gpu[frame->gpu[i]];
		if (gpu->class_ != HT_CLASS_MEMCPY && gpu->class_ != HT_CLASS_MEMSET)
			continue;
		int64_t bytes = ht_arg_cursor_i64(&sizes, gpu->row, 0);
		struct event event = { .kind = kind_of(trace, gpu, run->scratch),
			.memory = by_memory ? memory_of(trace, gpu, run->scratch) : "",
			.rate = (fixed)ldexp(rate_of(trace, &rates, gpu->row, bytes), FIXED_BITS),
			.device = run->policy->streams_by_number ? -1 : gpu->device,
			.ts_ns = trace->ts_ns[gpu->row],
			.row = gpu->row };
		if (!event.kind || !event.memory)
			return ht_fail_nomem(run->ctx);
		events[n++] = event;
		int64_t dur_ns = trace->dur_ns[gpu->row];
		event.ts_ns += dur_ns > 0 ? dur_ns : shortest_ns;
		event.is_end = true;
		events[n++] = event;
	}
	*ret_n = n;
	return HT_OK;
}

static bool same_series(const void *left, const void *right)
{
	const struct event *a = left, *b = right;
	return a->device == b->device && !strcmp(a->kind, b->kind) && !strcmp(a->memory, b->memory);
}

static struct ht_bandwidth_series accumulate(const struct ht_trace *trace,
        const struct event *events, size_t n, struct ht_bandwidth_point *points)
{
	struct ht_bandwidth_series series = { .device = events[0].device,
		.kind = events[0].kind,
		.memory = events[0].memory,
		.points = points,
		.n = n };
	struct ht_arg_cursor sizes = ht_arg_cursor(trace, "bytes");
	fixed sum = 0;
	for (size_t i = 0; i < n; i++) {
		sum += events[i].is_end ? -events[i].rate : events[i].rate;
		points[i] = (struct ht_bandwidth_point){ .ts_ns = events[i].ts_ns,
			.gbps = ldexp((double)sum, -FIXED_BITS),
			.row = events[i].row,
			.is_end = events[i].is_end };
		if (events[i].is_end)
			continue;
		series.n_copies++;
		int64_t bytes = ht_arg_cursor_i64(&sizes, events[i].row, 0);
		if (bytes > 0 && series.bytes <= INT64_MAX - bytes)
			series.bytes += bytes;
	}
	return series;
}

enum ht_status ht_bandwidth_series_make(struct ht_run *run, const struct ht_frame *frame,
        bool by_memory, const struct ht_bandwidth_series **ret_series, size_t *ret_n)
{
	const struct ht_trace *trace = frame->trace;
	size_t *starts = NULL, n = 0, n_series = 0;
	for (size_t i = 0; i < frame->n_gpu; i++) {
		uint8_t class_ = trace->gpu[frame->gpu[i]].class_;
		n += class_ == HT_CLASS_MEMCPY || class_ == HT_CLASS_MEMSET;
	}
	struct event *events = ht_arena_alloc(run->scratch, 2 * n * sizeof *events + 1);
	if (!events)
		return ht_fail_nomem(run->ctx);
	HT_TRY(collect(run, frame, by_memory, events, &n));
	ht_sort_items(run->ctx->mem, events, n, sizeof *events, compare);
	HT_TRY(ht_series_starts(run, events, n, sizeof *events, same_series, &starts, &n_series));
	struct ht_bandwidth_series *series =
	        ht_arena_alloc(run->scratch, n_series * sizeof *series + 1);
	struct ht_bandwidth_point *points = ht_arena_alloc(run->scratch, n * sizeof *points + 1);
	if (!series || !points)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n_series; i++)
		series[i] = accumulate(
		        trace, events + starts[i], starts[i + 1] - starts[i], points + starts[i]);
	*ret_series = series;
	*ret_n = n_series;
	return HT_OK;
}
