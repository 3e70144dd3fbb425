/*
 * queue_series.c - launches that wait, per stream. See series.h.
 */
#include "analysis/common/series.h"
#include "analysis/common/hta_names.h"

#include <stdlib.h>

struct event {
	int64_t stream, ts_ns;
	int32_t device;
	int32_t delta; /* +1 launch, -1 start */
	uint32_t row, gpu;
};

static int compare(const void *left, const void *right)
{
	const struct event *a = left, *b = right;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	if (a->delta != b->delta)
		return a->delta > b->delta ? -1 : 1;
	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return a->gpu < b->gpu ? -1 : a->gpu > b->gpu;
}

static size_t collect(const struct ht_frame *frame, bool hta, struct event *events)
{
	const struct ht_trace *trace = frame->trace;
	size_t n = 0;
	for (size_t i = 0; i < frame->n_gpu; i++) {
		const struct ht_gpu *gpu = &trace->gpu[frame->gpu[i]];
		if (gpu->launch == HT_NONE || !ht_is_span(trace, gpu->launch))
			continue;
		if (hta && !ht_hta_is_launch(ht_str(trace, trace->name[gpu->launch])))
			continue;
		struct event event = { .stream = gpu->stream,
			.device = hta ? -1 : gpu->device,
			.gpu = frame->gpu[i] };
		event.ts_ns = trace->ts_ns[gpu->launch];
		event.row = gpu->launch;
		event.delta = 1;
		events[n++] = event;
		event.ts_ns = trace->ts_ns[gpu->row];
		event.row = gpu->row;
		event.delta = -1;
		events[n++] = event;
	}
	return n;
}

static bool same_series(const struct event *a, const struct event *b)
{
	return a->stream == b->stream && a->device == b->device;
}

/* Points of one series; a launch of several kernels becomes one point. */
static size_t accumulate(const struct event *events, size_t n, struct ht_queue_point *points)
{
	size_t n_points = 0;
	int64_t length = 0;
	for (size_t i = 0; i < n; i++) {
		length += events[i].delta;
		bool joins = i > 0 && events[i].delta > 0 && events[i - 1].delta > 0 &&
		             events[i - 1].row == events[i].row;
		if (joins) {
			points[n_points - 1].length = length;
			continue;
		}
		points[n_points++] = (struct ht_queue_point){ .ts_ns = events[i].ts_ns,
			.length = length,
			.row = events[i].row,
			.gpu = events[i].gpu };
	}
	return n_points;
}

enum ht_status ht_queue_series_make(struct ht_run *run, const struct ht_frame *frame, bool hta,
        const struct ht_queue_series **ret_series, size_t *ret_n)
{
	struct event *events = ht_arena_alloc(run->scratch, 2 * frame->n_gpu * sizeof *events + 1);
	if (!events)
		return ht_fail_nomem(run->ctx);
	size_t n = collect(frame, hta, events);
	qsort(events, n, sizeof *events, compare);

	size_t n_series = 0;
	for (size_t i = 0; i < n; i++)
		n_series += i == 0 || !same_series(&events[i - 1], &events[i]);
	struct ht_queue_series *series =
	        ht_arena_alloc(run->scratch, n_series * sizeof *series + 1);
	struct ht_queue_point *points = ht_arena_alloc(run->scratch, n * sizeof *points + 1);
	if (!series || !points)
		return ht_fail_nomem(run->ctx);

	size_t i_series = 0;
	for (size_t start = 0; start < n;) {
		size_t end = start + 1;
		while (end < n && same_series(&events[start], &events[end]))
			end++;
		size_t n_points = accumulate(events + start, end - start, points);
		series[i_series++] = (struct ht_queue_series){ .device = events[start].device,
			.stream = events[start].stream,
			.points = points,
			.n = n_points };
		points += n_points;
		start = end;
	}
	*ret_series = series;
	*ret_n = n_series;
	return HT_OK;
}

int64_t ht_hta_zero_ns(const struct ht_set *set)
{
	int64_t zero_ns = INT64_MAX;
	for (size_t i = 0; i < set->n; i++) {
		const struct ht_trace *trace = set->traces[i];
		for (uint32_t row = 0; row < trace->n_kind; row++) {
			int64_t ts_ns = trace->ts_ns[row] + set->offset_ns[i];
			if (ts_ns < zero_ns && ht_is_span(trace, row) &&
			        trace->categories[trace->cat[row]].name != HT_NO_STR &&
			        trace->kind[row] != HT_KIND_TRACE_SPAN)
				zero_ns = ts_ns;
		}
	}
	return zero_ns == INT64_MAX ? 0 : zero_ns;
}
