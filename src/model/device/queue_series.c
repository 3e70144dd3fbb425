/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_series.c - launches that wait, per stream. See series.h.
 */
#include "model/device/series.h"
#include "base/sort.h"
#include "model/policy.h"
#include "store/columns.h"

#include <string.h>

struct event {
	int64_t stream, ts_ns;
	int32_t device;
	int32_t delta; /* +1 launch, -1 start */
	uint32_t row, gpu;
	bool chosen; /* of work that the frame has */
};

/* Launches and starts, each in the order of the work: by row they are nearly sorted. */
struct events {
	struct event *launches, *starts;
	size_t n; /* of either */
};

/* Both events of a piece of work; a launch from before the recording stands before all else. Where the clocks
 * disagree work is launched when it starts at the latest, or the queue would hold less than nothing. */
static void put(const struct ht_run *run, const struct ht_trace *trace, uint32_t i_gpu, bool chosen,
        struct events *events)
{
	const struct ht_gpu *gpu = &trace->gpu[i_gpu];
	bool known = gpu->launch != HT_NONE;
	struct event event = { .stream = gpu->stream,
		.ts_ns = known ? trace->ts_ns[gpu->launch] : INT64_MIN,
		.device = run->policy->streams_by_number ? -1 : gpu->device,
		.delta = 1,
		.row = known ? gpu->launch : gpu->row,
		.gpu = i_gpu,
		.chosen = chosen && known };
	if (!run->policy->is_launch && event.ts_ns > trace->ts_ns[gpu->row])
		event.ts_ns = trace->ts_ns[gpu->row];
	events->launches[events->n] = event;
	event.ts_ns = trace->ts_ns[gpu->row];
	event.row = gpu->row;
	event.delta = -1;
	events->starts[events->n++] = event;
}

static bool is_counted(
        const struct ht_run *run, const struct ht_trace *trace, const struct ht_gpu *gpu)
{
	if (gpu->launch == HT_NONE || !ht_is_span(trace, gpu->launch))
		return false;
	return !run->policy->is_launch ||
	       run->policy->is_launch(ht_str(trace, trace->name[gpu->launch]));
}

static void collect_chosen(
        const struct ht_run *run, const struct ht_frame *frame, struct events *events)
{
	for (size_t i = 0; i < frame->n_gpu; i++)
		if (is_counted(run, frame->trace, &frame->trace->gpu[frame->gpu[i]]))
			put(run, frame->trace, frame->gpu[i], true, events);
}

/* By track: start of its first work whose launch is in the file. */
static enum ht_status find_first_launched(
        struct ht_run *run, const struct ht_trace *t, int64_t **ret_first)
{
	int64_t *first = ht_arena_alloc(run->scratch, (t->n_tracks + 1) * sizeof *first);
	if (!first)
		return ht_fail_nomem(run->ctx);
	for (size_t k = 0; k < t->n_tracks; k++)
		first[k] = INT64_MAX;
	for (size_t i = 0; i < t->n_gpu; i++) {
		uint32_t row = t->gpu[i].row;
		if (is_counted(run, t, &t->gpu[i]) && t->ts_ns[row] < first[t->track[row]])
			first[t->track[row]] = t->ts_ns[row];
	}
	*ret_first = first;
	return HT_OK;
}

static enum ht_status collect_all(
        struct ht_run *run, const struct ht_frame *frame, struct events *events)
{
	const struct ht_trace *t = frame->trace;
	int64_t *first = NULL;
	HT_TRY(find_first_launched(run, t, &first));
	for (uint32_t i = 0, k = 0; i < t->n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		while (k < frame->n_gpu && frame->gpu[k] < i)
			k++;
		bool chosen = k < frame->n_gpu && frame->gpu[k] == i;
		bool from_before = gpu->launch == HT_NONE && ht_is_span(t, gpu->row) &&
		                   first[t->track[gpu->row]] != INT64_MAX &&
		                   t->ts_ns[gpu->row] < first[t->track[gpu->row]];
		if (is_counted(run, t, gpu) || from_before)
			put(run, t, i, chosen, events);
	}
	return HT_OK;
}

static bool same_series(const void *left, const void *right)
{
	const struct event *a = left, *b = right;
	return a->stream == b->stream && a->device == b->device;
}

/* Points of one series, from the first to the last event of chosen work; a launch of several kernels becomes one
 * point. */
static size_t accumulate(const struct event *events, size_t n, struct ht_queue_point *points)
{
	size_t n_points = 0, first = 0, end = n;
	int64_t length = 0;
	while (first < n && !events[first].chosen)
		length += events[first++].delta;
	while (end > first && !events[end - 1].chosen)
		end--;
	for (size_t i = first; i < end; i++) {
		length += events[i].delta;
		bool joins = i > first && events[i].delta > 0 && events[i - 1].delta > 0 &&
		             events[i - 1].row == events[i].row;
		if (joins) {
			points[n_points - 1].length = length;
			continue;
		}
		points[n_points++] = (struct ht_queue_point){ .ts_ns = events[i].ts_ns,
			.length = length,
			.row = events[i].row,
			.is_launch = events[i].delta > 0,
			.gpu = events[i].gpu };
	}
	return n_points;
}

/* One key of the order below; the sort is stable, so keys are applied from the last to the first. */
enum { KEY_ROW, KEY_TIME, KEY_DEVICE, KEY_STREAM, N_KEYS };

static uint64_t key_of(const struct event *event, int key)
{
	switch (key) {
	case KEY_ROW: return (uint64_t)(event->delta < 0) << 32 | event->row;
	case KEY_TIME: return ht_sort_key_i64(event->ts_ns);
	case KEY_DEVICE: return ht_sort_key_i64(event->device);
	default: return ht_sort_key_i64(event->stream);
	}
}

/* By stream, device and time; at equal times launches come first, then by row and piece of work. */
static enum ht_status sort_events(struct ht_run *run, struct event **events, size_t n)
{
	uint64_t *keys = ht_arena_room(run->scratch, (n + 1) * sizeof *keys);
	uint32_t *order = ht_arena_room(run->scratch, (n + 1) * sizeof *order);
	struct event *sorted = ht_arena_room(run->scratch, (n + 1) * sizeof *sorted);
	if (!keys || !order || !sorted)
		return ht_fail_nomem(run->ctx);
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (int key = 0; key < N_KEYS; key++) {
		for (size_t i = 0; i < n; i++)
			keys[i] = key_of(&(*events)[order[i]], key);
		if (!ht_sort_keys(run->ctx->mem, keys, order, n))
			return ht_fail_nomem(run->ctx);
	}
	for (size_t i = 0; i < n; i++)
		sorted[i] = (*events)[order[i]];
	*events = sorted;
	return HT_OK;
}

struct answer {
	const struct ht_queue_series *series;
	size_t n;
};

static enum ht_status put_series(struct ht_run *run, const struct event *events, size_t n,
        struct ht_queue_point *points, struct answer *answer)
{
	size_t *starts = NULL, n_series = 0;
	HT_TRY(ht_series_starts(run, events, n, sizeof *events, same_series, &starts, &n_series));
	struct ht_queue_series *series =
	        ht_arena_alloc(run->scratch, n_series * sizeof *series + 1);
	if (!series)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n_series; i++) {
		const struct event *first = &events[starts[i]];
		size_t n_points = accumulate(first, starts[i + 1] - starts[i], points);
		if (n_points)
			series[answer->n++] = (struct ht_queue_series){ .device = first->device,
				.stream = first->stream,
				.points = points,
				.n = n_points };
		points += n_points;
	}
	answer->series = series;
	return HT_OK;
}

/* The events are let go. */
static enum ht_status make(struct ht_run *run, const void *of, void *ret_value)
{
	const struct ht_frame *frame = of;
	size_t n_work = run->policy->only_chosen ? frame->n_gpu : frame->trace->n_gpu;
	struct ht_queue_point *points =
	        ht_arena_room(run->scratch, 2 * n_work * sizeof *points + 1);
	struct ht_run own = *run;
	struct ht_arena scratch;
	ht_arena_init_like(&scratch, run->scratch);
	own.scratch = &scratch;
	struct event *all = ht_arena_room(&scratch, 2 * n_work * sizeof *all + 1);
	struct events events = { all, all + n_work, 0 };
	enum ht_status status = points && all ? HT_OK : ht_fail_nomem(run->ctx);
	if (status == HT_OK && run->policy->only_chosen)
		collect_chosen(&own, frame, &events);
	else if (status == HT_OK)
		status = collect_all(&own, frame, &events);
	if (status == HT_OK) {
		memmove(all + events.n, events.starts, events.n * sizeof *all);
		status = sort_events(&own, &all, 2 * events.n);
	}
	if (status == HT_OK)
		status = put_series(run, all, 2 * events.n, points, ret_value);
	ht_arena_done(&scratch);
	return status;
}

enum ht_status ht_queue_series_make(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_queue_series **ret_series, size_t *ret_n)
{
	static const char kind;
	const struct ht_memoized how = { &kind, 0, make, sizeof(struct answer) };
	struct answer answer = { 0 };
	HT_TRY(ht_frame_share_gpu(run, frame, &how, frame, &answer));
	*ret_series = answer.series;
	*ret_n = answer.n;
	return HT_OK;
}
