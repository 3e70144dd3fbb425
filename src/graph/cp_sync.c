/*
 * cp_sync.c - which GPU work a wait for a CUDA event is about. See cp_graph.h.
 *
 * A wait row names the record call (by correlation id) and the stream on which it was recorded. The
 * work before it is the latest work launched on that stream before the record. A stream wait holds back
 * the first work that its thread launches on the waiting stream afterwards.
 *
 *   thread   launch A │ record e │ stream wait e on 2 │ launch B
 *   stream 1    [ A ]                                            source: A
 *   stream 2                                             [ B ]   target: B
 */
#include "graph/cp_build.h"

#include <stdlib.h>
#include <string.h>

bool ht_cp_wait_kind(const struct ht_trace *trace, uint32_t row, uint8_t *ret_kind)
{
	static const char *const names[] = {
		[HT_CP_WAIT_STREAM] = "Stream Sync",
		[HT_CP_WAIT_CONTEXT] = "Context Sync",
		[HT_CP_WAIT_EVENT] = "Event Sync",
		[HT_CP_WAIT_STREAM_EVENT] = "Stream Wait Event",
	};
	if (trace->kind[row] != HT_KIND_SYNC)
		return false;
	const char *name = ht_str(trace, trace->name[row]);
	for (uint8_t k = 0; k < HT_COUNT(names); k++) {
		if (!strcmp(name, names[k])) {
			*ret_kind = k;
			return true;
		}
	}
	return false;
}

/* ---- streams as small numbers ---- */

static int compare_lane(const void *left, const void *right)
{
	const struct ht_cp_lane *a = left, *b = right;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->stream > b->stream) - (a->stream < b->stream);
}

static bool has_lane(const struct ht_cp_builder *b, const struct ht_cp_event *event)
{
	return b->g->options.hta ? b->columns.stream[event->row] != -1 : event->gpu != HT_NONE;
}

enum ht_status ht_cp_lanes_make(struct ht_cp_builder *b, struct ht_cp_lanes *ret_lanes)
{
	const struct ht_cp_graph *g = b->g;
	size_t n = 0, n_distinct = 0;
	struct ht_cp_lane *lanes = ht_cp_alloc(b, g->n_events, sizeof *lanes);
	/* what was last seen on a track: 1 + its number in the list */
	uint32_t *last = ht_cp_alloc(b, b->trace->n_tracks, sizeof *last);
	if (b->no_memory)
		return ht_fail_nomem(b->run->ctx);
	for (size_t e = 0; e < g->n_events; e++) {
		if (!has_lane(b, &g->events[e]))
			continue;
		struct ht_cp_lane lane = ht_cp_lane_of(b, (uint32_t)e);
		uint32_t track = b->trace->track[g->events[e].row];
		if (last[track] && !compare_lane(&lanes[last[track] - 1], &lane))
			continue;
		lanes[n] = lane;
		last[track] = (uint32_t)++n;
	}
	qsort(lanes, n, sizeof *lanes, compare_lane);
	for (size_t i = 0; i < n; i++) {
		if (!n_distinct || compare_lane(&lanes[i], &lanes[n_distinct - 1]))
			lanes[n_distinct++] = lanes[i];
	}
	*ret_lanes = (struct ht_cp_lanes){ lanes, n_distinct };
	return HT_OK;
}

struct ht_cp_lane ht_cp_lane_of(const struct ht_cp_builder *b, uint32_t event)
{
	const struct ht_cp_event *e = &b->g->events[event];
	if (b->g->options.hta)
		return (struct ht_cp_lane){ 0, b->columns.stream[e->row] };
	const struct ht_gpu *gpu = &b->trace->gpu[e->gpu];
	return (struct ht_cp_lane){ gpu->device, gpu->stream };
}

size_t ht_cp_lane_find(const struct ht_cp_lanes *lanes, struct ht_cp_lane lane)
{
	size_t low = 0, high = lanes->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare_lane(&lanes->list[middle], &lane) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < lanes->n && !compare_lane(&lanes->list[low], &lane) ? low : SIZE_MAX;
}

/* ---- event waits ---- */

struct record {
	int64_t correlation;
	uint32_t row;
};

static int compare_record(const void *left, const void *right)
{
	const struct record *a = left, *b = right;
	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Calls that record an event, by correlation. */
static struct record *find_records(struct ht_cp_builder *b, size_t *ret_n)
{
	const struct ht_trace *t = b->trace;
	size_t n = 0;
	struct record *records = NULL;
	for (int fill = 0; fill < 2; fill++) {
		if (fill)
			records = ht_cp_alloc(b, n, sizeof *records);
		if (fill && !records)
			break;
		n = 0;
		for (uint32_t row = 0; row < t->n_kind; row++) {
			bool call =
			        t->kind[row] == HT_KIND_RUNTIME || t->kind[row] == HT_KIND_DRIVER;
			if (!call || (b->in_frame && !b->in_frame[row]) ||
			        !(ht_cp_name_bits(b, row) & HT_CP_NAME_RECORDS))
				continue;
			if (fill)
				records[n] = (struct record){ b->correlation[row], row };
			n++;
		}
	}
	if (records)
		qsort(records, n, sizeof *records, compare_record);
	*ret_n = n;
	return records;
}

static uint32_t find_record(const struct record *records, size_t n, int64_t correlation)
{
	size_t low = 0, high = n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (records[middle].correlation < correlation)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && records[low].correlation == correlation ? records[low].row : HT_NONE;
}

/* By stream and time of the launch; of one launch, by its work. */
static int compare_by_stream(const void *left, const void *right)
{
	const struct ht_cp_launch *a = left, *b = right;
	struct ht_cp_lane x = { a->device, a->stream }, y = { b->device, b->stream };
	int order = compare_lane(&x, &y);
	if (order)
		return order;
	if (a->launch_ns != b->launch_ns)
		return a->launch_ns < b->launch_ns ? -1 : 1;
	if (a->work_ns != b->work_ns)
		return a->work_ns < b->work_ns ? -1 : 1;
	return (a->work > b->work) - (a->work < b->work);
}

static int compare_by_thread(const void *left, const void *right)
{
	const struct ht_cp_launch *a = left, *b = right;
	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	return compare_by_stream(left, right);
}

/* The first entry that is not before the key. */
static size_t lower_bound(const struct ht_cp_launch *sorted, size_t n,
        const struct ht_cp_launch *key, int (*compare)(const void *, const void *))
{
	size_t low = 0, high = n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare(&sorted[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Work of the latest launch on the stream at or before the time. */
static uint32_t work_before(
        const struct ht_cp_launch *launches, size_t n, int64_t device, int64_t stream, int64_t time)
{
	struct ht_cp_launch key = {
		.device = device, .stream = stream, .launch_ns = time, .work_ns = INT64_MAX
	};
	size_t at = lower_bound(launches, n, &key, compare_by_stream);
	if (!at || launches[at - 1].device != device || launches[at - 1].stream != stream)
		return HT_NONE;
	return launches[at - 1].work;
}

/* First work that the thread launches on the stream after the time. */
static uint32_t work_after(const struct ht_cp_launch *launches, size_t n, uint32_t track,
        int64_t device, int64_t stream, int64_t time)
{
	struct ht_cp_launch key = { .track = track,
		.device = device,
		.stream = stream,
		.launch_ns = time,
		.work_ns = INT64_MAX };
	size_t at = lower_bound(launches, n, &key, compare_by_thread);
	if (at == n || launches[at].track != track || launches[at].device != device ||
	        launches[at].stream != stream)
		return HT_NONE;
	return launches[at].work;
}

static void find_sources(struct ht_cp_builder *b, const struct ht_cp_launch *launches, size_t n,
        struct ht_cp_wait *waits, size_t n_waits, const struct record *records, size_t n_records)
{
	for (size_t i = 0; i < n_waits; i++) {
		struct ht_cp_wait *wait = &waits[i];
		if (wait->kind != HT_CP_WAIT_EVENT && wait->kind != HT_CP_WAIT_STREAM_EVENT)
			continue;
		int64_t stream = ht_arg_i64(b->trace, "wait_on_stream", wait->row, -1);
		int64_t correlation =
		        ht_arg_i64(b->trace, "wait_on_cuda_event_record_corr_id", wait->row, -1);
		if (stream < 0 || correlation < 0)
			continue;
		uint32_t record = find_record(records, n_records, correlation);
		if (record != HT_NONE)
			wait->source = work_before(
			        launches, n, wait->device, stream, b->trace->ts_ns[record]);
	}
}

static void find_targets(struct ht_cp_builder *b, const struct ht_cp_launch *launches, size_t n,
        struct ht_cp_wait *waits, size_t n_waits)
{
	for (size_t i = 0; i < n_waits; i++) {
		struct ht_cp_wait *wait = &waits[i];
		if (wait->kind == HT_CP_WAIT_STREAM_EVENT && wait->call != HT_NONE)
			wait->target = work_after(launches, n, b->trace->track[wait->call],
			        wait->device, wait->stream, b->trace->ts_ns[wait->call]);
	}
}

enum ht_status ht_cp_resolve_waits(struct ht_cp_builder *b, struct ht_cp_launch *launches,
        size_t n_launches, struct ht_cp_wait *waits, size_t n_waits)
{
	size_t n_records;
	struct record *records = find_records(b, &n_records);
	if (b->no_memory)
		return ht_fail_nomem(b->run->ctx);
	qsort(launches, n_launches, sizeof *launches, compare_by_stream);
	find_sources(b, launches, n_launches, waits, n_waits, records, n_records);
	qsort(launches, n_launches, sizeof *launches, compare_by_thread);
	find_targets(b, launches, n_launches, waits, n_waits);
	return HT_OK;
}
