/*
 * queue_series.c - launches that wait, per stream. See series.h.
 */
#include "model/device/series.h"
#include "base/sort.h"

struct event {
	int64_t stream, ts_ns;
	int32_t device;
	int32_t delta; /* +1 launch, -1 start */
	uint32_t row, gpu;
	bool chosen; /* of work that the frame has */
};

/* Both events of a piece of work; a launch from before the recording stands before all else. Where the clocks
 * disagree work is launched when it starts at the latest, or the queue would hold less than nothing. */
static struct event *put(const struct ht_run *run, const struct ht_trace *trace, uint32_t i_gpu,
        bool chosen, struct event *at)
{
	const struct ht_gpu *gpu = &trace->gpu[i_gpu];
	bool known = gpu->launch != HT_NONE;
	struct event event = { .stream = gpu->stream,
		.ts_ns = known ? trace->ts_ns[gpu->launch] : INT64_MIN,
		.device = run->policy.streams_by_number ? -1 : gpu->device,
		.delta = 1,
		.row = known ? gpu->launch : gpu->row,
		.gpu = i_gpu,
		.chosen = chosen && known };
	*at++ = event;
	if (!run->policy.is_launch && event.ts_ns > trace->ts_ns[gpu->row])
		at[-1].ts_ns = trace->ts_ns[gpu->row];
	event.ts_ns = trace->ts_ns[gpu->row];
	event.row = gpu->row;
	event.delta = -1;
	*at++ = event;
	return at;
}

static bool is_counted(
        const struct ht_run *run, const struct ht_trace *trace, const struct ht_gpu *gpu)
{
	if (gpu->launch == HT_NONE || !ht_is_span(trace, gpu->launch))
		return false;
	return !run->policy.is_launch ||
	       run->policy.is_launch(ht_str(trace, trace->name[gpu->launch]));
}

static size_t collect_chosen(
        const struct ht_run *run, const struct ht_frame *frame, struct event *events)
{
	struct event *at = events;
	for (size_t i = 0; i < frame->n_gpu; i++)
		if (is_counted(run, frame->trace, &frame->trace->gpu[frame->gpu[i]]))
			at = put(run, frame->trace, frame->gpu[i], true, at);
	return (size_t)(at - events);
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
        struct ht_run *run, const struct ht_frame *frame, struct event *events, size_t *ret_n)
{
	const struct ht_trace *t = frame->trace;
	struct event *at = events;
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
			at = put(run, t, i, chosen, at);
	}
	*ret_n = (size_t)(at - events);
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
	uint64_t *keys = ht_arena_alloc(run->scratch, (n + 1) * sizeof *keys);
	uint32_t *order = ht_arena_alloc(run->scratch, (n + 1) * sizeof *order);
	struct event *sorted = ht_arena_alloc(run->scratch, (n + 1) * sizeof *sorted);
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

enum ht_status ht_queue_series_make(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_queue_series **ret_series, size_t *ret_n)
{
	size_t n_work = run->policy.only_chosen ? frame->n_gpu : frame->trace->n_gpu, n = 0;
	struct event *events = ht_arena_alloc(run->scratch, 2 * n_work * sizeof *events + 1);
	if (!events)
		return ht_fail_nomem(run->ctx);
	if (run->policy.only_chosen)
		n = collect_chosen(run, frame, events);
	else
		HT_TRY(collect_all(run, frame, events, &n));
	HT_TRY(sort_events(run, &events, n));

	size_t *starts = NULL, n_series = 0, n_shown = 0;
	HT_TRY(ht_series_starts(run, events, n, sizeof *events, same_series, &starts, &n_series));
	struct ht_queue_series *series =
	        ht_arena_alloc(run->scratch, n_series * sizeof *series + 1);
	struct ht_queue_point *points = ht_arena_alloc(run->scratch, n * sizeof *points + 1);
	if (!series || !points)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n_series; i++) {
		const struct event *first = &events[starts[i]];
		size_t n_points = accumulate(first, starts[i + 1] - starts[i], points);
		if (n_points)
			series[n_shown++] = (struct ht_queue_series){ .device = first->device,
				.stream = first->stream,
				.points = points,
				.n = n_points };
		points += n_points;
	}
	*ret_series = series;
	*ret_n = n_shown;
	return HT_OK;
}
