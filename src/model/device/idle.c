/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.c - see idle.h.
 */
#include "model/device/idle.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/list.h"
#include "model/policy.h"
#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

/* A gap is leading, then host wait, then communication and other. */
#define MAX_PARTS 4

const char *ht_idle_category_name(enum ht_idle_category category)
{
	static const char *const names[HT_IDLE_N] = { "host_wait", "kernel_wait",
		"communication_wait", "other", "leading" };
	return names[category];
}

enum ht_status ht_idle_options(struct ht_run *run, struct ht_idle_options *ret_options)
{
	struct ht_idle_options options = {
		.threshold_ns = ht_run_duration_ns(run, "threshold"),
		.streams = ht_run_str(run, "streams"),
		.by_device = !strcmp(ht_run_str(run, "by"), "device"),
	};
	struct ht_list streams;
	HT_TRY(ht_list_parse(run->ctx, "--streams", options.streams, &streams));
	ht_list_done(run->ctx, &streams);
	*ret_options = options;
	return HT_OK;
}

/* A piece of work in its group. */
struct piece {
	int64_t stream, start, end;
	int64_t launch_ns; /* HT_NO_I64: unknown */
	int32_t device;
	uint32_t row;
	bool chosen; /* in the frame; other work only shows that the stream was not idle */
};

struct pieces {
	struct piece *items;
	size_t n;
	const uint32_t *by_device; /* GPU rows, by device and start */
};

static bool same_start(const struct piece *a, const struct piece *b)
{
	return a->device == b->device && a->stream == b->stream && a->start == b->start;
}

/* Of what starts at once, the gap before waited for what was launched first; unknown is before all. */
static int compare_launch(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	if (a->launch_ns != b->launch_ns)
		return a->launch_ns < b->launch_ns ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* All work, or only what was chosen, by device, stream (unless by device) and start. */
static enum ht_status collect(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_idle_options *options, struct pieces *pieces)
{
	const struct ht_trace *t = frame->trace;
	const uint32_t *order = pieces->by_device;
	bool *in = NULL;
	if (!options->by_device)
		HT_TRY(ht_gpu_by_stream(run, &order));
	HT_TRY(ht_frame_gpu_marks(run, frame, &in));
	for (uint32_t i = 0; i < t->n_gpu; i++) {
		const struct ht_gpu *g = &t->gpu[order[i]];
		bool chosen = in[order[i]];
		if (!ht_is_span(t, g->row) || !ht_list_text_has(options->streams, g->stream) ||
		        (run->policy->only_chosen && !chosen))
			continue;
		pieces->items[pieces->n++] = (struct piece){
			.stream = options->by_device ? HT_NO_I64 : g->stream,
			.start = t->ts_ns[g->row],
			.end = ht_end_ns(t, g->row),
			.launch_ns = g->launch == HT_NONE ? HT_NO_I64 : t->ts_ns[g->launch],
			.device = g->device,
			.row = g->row,
			.chosen = chosen,
		};
	}
	for (size_t i = 0, n; i < pieces->n; i += n) {
		struct piece *first = &pieces->items[i];
		for (n = 1; i + n < pieces->n && same_start(first, &first[n]);)
			n++;
		if (n > 1)
			qsort(first, n, sizeof *first, compare_launch);
	}
	return HT_OK;
}

static void push(struct ht_idle_stream *stream, int64_t length_ns, enum ht_idle_category category)
{
	if (length_ns > 0)
		stream->gaps[stream->n++] =
		        (struct ht_idle_gap){ length_ns, (uint8_t)category, false, HT_NONE };
}

/* What there is of a device on whatever streams, also on those that are not looked at. */
struct traffic {
	int64_t first_launch_ns; /* first launch call in the file for it; INT64_MIN: none is known */
	const struct ht_interval *list; /* when communication runs, merged */
	const int64_t *sums;
	size_t n;
};

/* How much of [from, to) communication covers. */
static int64_t covered(const struct traffic *traffic, int64_t from, int64_t to)
{
	return traffic->n ? ht_interval_between(traffic->list, traffic->sums, traffic->n, from, to)
	                  : 0;
}

/* What is left of a gap once the work was launched. */
static void push_rest(struct ht_idle_stream *stream, int64_t from, int64_t to, int64_t threshold_ns,
        const struct traffic *traffic)
{
	if (to - from < threshold_ns) {
		push(stream, to - from, HT_IDLE_KERNEL_WAIT);
		return;
	}
	int64_t communication = covered(traffic, from, to);
	push(stream, communication, HT_IDLE_COMMUNICATION);
	push(stream, to - from - communication, HT_IDLE_OTHER);
}

/* Before the first launch call for the device the gaps are leading. */
static void find_gaps(const struct piece *items, size_t n, int64_t threshold_ns,
        const struct traffic *traffic, struct ht_idle_stream *stream)
{
	int64_t leads_to = traffic->first_launch_ns;
	size_t first = 0;
	while (first < n && !items[first].chosen)
		first++;
	while (n > first && !items[n - 1].chosen)
		n--;
	if (first == n)
		return;
	/* work from before the first chosen piece may still be running */
	int64_t end = items[first].end;
	for (size_t i = 0; i < first; i++)
		end = items[i].end > end ? items[i].end : end;
	int64_t last = items[first].end;
	for (size_t i = first + 1; i < n; i++) {
		int64_t from = end, start = items[i].start, launch = items[i].launch_ns;
		if (items[i].end > end)
			end = items[i].end;
		if (items[i].chosen && items[i].end > last)
			last = items[i].end;
		if (start <= from)
			continue;
		size_t n_before = stream->n;
		if (leads_to > from) {
			int64_t lead = leads_to < start ? leads_to : start;
			push(stream, lead - from, HT_IDLE_LEADING);
			from = lead;
		}
		if (launch != HT_NO_I64 && launch > from) {
			int64_t launched = launch < start ? launch : start;
			push(stream, launched - from, HT_IDLE_HOST_WAIT);
			from = launched;
		}
		push_rest(stream, from, start, threshold_ns, traffic);
		for (size_t k = n_before; k < stream->n; k++)
			stream->gaps[k].row = items[i].row;
	}
	stream->span_ns = last - items[first].start;
}

static enum ht_status find_traffic(
        struct ht_run *run, const uint32_t *order, int32_t device, struct traffic *ret)
{
	const struct ht_trace *t = run->trace;
	size_t first, end, n = 0;
	int64_t launch = INT64_MIN;
	ht_gpu_of_device(t, order, device, &first, &end);
	struct ht_interval *list = ht_arena_room(run->scratch, (end - first + 1) * sizeof *list);
	int64_t *sums = ht_arena_room(run->scratch, (end - first + 1) * sizeof *sums);
	if (!list || !sums)
		return ht_fail_nomem(run->ctx);
	for (size_t i = first; i < end; i++) {
		const struct ht_gpu *g = &t->gpu[order[i]];
		if (g->launch != HT_NONE && (launch == INT64_MIN || t->ts_ns[g->launch] < launch))
			launch = t->ts_ns[g->launch];
		if (g->class_ == HT_CLASS_COMM && ht_is_span(t, g->row))
			list[n++] = (struct ht_interval){ t->ts_ns[g->row], ht_end_ns(t, g->row) };
	}
	n = ht_interval_merge(run->ctx->mem, list, n);
	ht_interval_sums(list, n, sums);
	*ret = (struct traffic){ launch, list, sums, n };
	return HT_OK;
}

/* What a device idles before its first launch call; pieces are those of the device. */
static enum ht_status find_leading(struct ht_run *run, const struct piece *items, size_t n,
        int64_t launch, struct ht_idle_stream *ret_stream)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	struct ht_interval *busy = ht_arena_room(run->scratch, (n + 1) * sizeof *busy);
	struct ht_idle_gap *gaps = ht_arena_room(run->scratch, (n + 1) * sizeof *gaps);
	if (!busy || !gaps)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++) {
		busy[i] = (struct ht_interval){ items[i].start, items[i].end };
		if (!items[i].chosen)
			continue;
		first = items[i].start < first ? items[i].start : first;
		last = items[i].end > last ? items[i].end : last;
	}
	*ret_stream = (struct ht_idle_stream){
		.device = items[0].device, .stream = HT_NO_I64, .gaps = gaps, .is_leading = true
	};
	if (first > last)
		return HT_OK;
	ret_stream->span_ns = last - first;
	int64_t end = launch < last ? launch : last;
	size_t n_busy = ht_interval_merge(run->ctx->mem, busy, n);
	for (size_t i = 0; i + 1 < n_busy && busy[i].end < end; i++) {
		int64_t from = busy[i].end > first ? busy[i].end : first;
		int64_t to = busy[i + 1].start < end ? busy[i + 1].start : end;
		push(ret_stream, to - from, HT_IDLE_LEADING);
	}
	return HT_OK;
}

/* After the streams of each device, its leading gap. */
static enum ht_status add_leading(struct ht_run *run, const struct pieces *pieces,
        struct ht_idle_stream *streams, size_t *n_streams)
{
	for (size_t i = 0, n; i < pieces->n; i += n) {
		struct ht_idle_stream *stream = &streams[*n_streams];
		for (n = 1; i + n < pieces->n &&
		            pieces->items[i + n].device == pieces->items[i].device;)
			n++;
		struct traffic traffic;
		HT_TRY(find_traffic(run, pieces->by_device, pieces->items[i].device, &traffic));
		HT_TRY(find_leading(run, pieces->items + i, n, traffic.first_launch_ns, stream));
		*n_streams += stream->n > 0;
	}
	return HT_OK;
}

static enum ht_status find_streams(struct ht_run *run, const struct pieces *pieces,
        const struct ht_idle_options *options, struct ht_idle_gap *gaps,
        struct ht_idle_stream *streams, size_t *ret_n)
{
	struct traffic traffic = { .first_launch_ns = INT64_MIN };
	size_t n_streams = 0;
	for (size_t i = 0, n; i < pieces->n; i += n) {
		const struct piece *first = &pieces->items[i];
		bool any = first->chosen;
		if (!run->policy->only_chosen && (!i || first[-1].device != first->device))
			HT_TRY(find_traffic(run, pieces->by_device, first->device, &traffic));
		for (n = 1; i + n < pieces->n && first[n].device == first->device &&
		            first[n].stream == first->stream;
		        n++)
			any |= first[n].chosen;
		if (!any)
			continue;
		struct ht_idle_stream *stream = &streams[n_streams++];
		*stream = (struct ht_idle_stream){ .device = first->device,
			.stream = first->stream,
			.gaps = gaps + MAX_PARTS * i };
		find_gaps(first, n, options->threshold_ns, &traffic, stream);
	}
	*ret_n = n_streams;
	return HT_OK;
}

/* What gaps are found for. */
struct question {
	const struct ht_frame *frame;
	const struct ht_idle_options *options;
};

struct answer {
	struct ht_idle_stream *streams;
	size_t n;
};

static enum ht_status find_all(
        struct ht_run *run, const struct question *q, struct pieces *pieces, struct answer *answer)
{
	size_t n_room = q->frame->trace->n_gpu + 1, n_streams = 0;
	struct ht_idle_gap *gaps = ht_arena_room(run->scratch, MAX_PARTS * n_room * sizeof *gaps);
	pieces->items = ht_mem_alloc(run->ctx->mem, n_room * sizeof *pieces->items);
	if (!pieces->items || !gaps)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_gpu_by_device(run, &pieces->by_device));
	HT_TRY(collect(run, q->frame, q->options, pieces));
	for (size_t i = 0; i < pieces->n; i++)
		n_streams += !i || pieces->items[i].device != pieces->items[i - 1].device ||
		             pieces->items[i].stream != pieces->items[i - 1].stream;
	/* every device may have a leading gap too */
	answer->streams =
	        ht_arena_alloc(run->scratch, (2 * n_streams + 1) * sizeof *answer->streams);
	if (!answer->streams)
		return ht_fail_nomem(run->ctx);
	HT_TRY(find_streams(run, pieces, q->options, gaps, answer->streams, &answer->n));
	if (run->policy->only_chosen || q->options->by_device || q->options->streams)
		return HT_OK;
	return add_leading(run, pieces, answer->streams, &answer->n);
}

static enum ht_status make(struct ht_run *run, const void *of, void *ret_value)
{
	const struct question *q = of;
	struct pieces pieces = { 0 };
	enum ht_status status = find_all(run, q, &pieces, ret_value);
	ht_mem_free(run->ctx->mem, pieces.items,
	        pieces.items ? (q->frame->trace->n_gpu + 1) * sizeof *pieces.items : 0);
	return status;
}

/* What is not asked for by default is found for this run alone. */
enum ht_status ht_idle_collect(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_idle_options *options, const struct ht_idle_stream **ret_streams,
        size_t *ret_n)
{
	static const char kind;
	const struct question q = { frame, options };
	const struct ht_memoized how = { &kind, options->by_device, make, sizeof(struct answer) };
	struct answer answer = { 0 };
	if (run->policy->collect_idle)
		return run->policy->collect_idle(run, frame, options, ret_streams, ret_n);
	if (options->threshold_ns == HT_IDLE_THRESHOLD_NS && !options->streams)
		HT_TRY(ht_frame_share_gpu(run, frame, &how, &q, &answer));
	else
		HT_TRY(make(run, &q, &answer));
	*ret_streams = answer.streams;
	*ret_n = answer.n;
	return HT_OK;
}

int64_t ht_idle_in_call_ns(
        const struct ht_trace *t, uint32_t launch, int64_t from_ns, int64_t start_ns)
{
	int64_t call_end = ht_end_ns(t, launch);
	int64_t until = call_end < start_ns ? call_end : start_ns;
	bool waited = ht_sub_sat(start_ns, call_end) <= HT_IDLE_THRESHOLD_NS;
	return waited && until > from_ns ? until - from_ns : 0;
}
