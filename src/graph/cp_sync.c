/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_sync.c - which GPU work a wait for a CUDA event is about. See cp_sync.h.
 *
 * A wait row names the record call (by correlation id) and the stream on which it was recorded. The
 * work before it is the latest work launched on that stream before the record. A stream wait holds back
 * the first work that its thread launches on the waiting stream afterwards.
 *
 *   thread   launch A │ record e │ stream wait e on 2 │ launch B
 *   stream 1    [ A ]                                            source: A
 *   stream 2                                             [ B ]   target: B
 */
#include "graph/cp_sync.h"

#include "base/sort.h"
#include "base/search.h"
#include "graph/cp_look.h"
#include "store/args.h"

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

int ht_cp_lane_compare(const void *left, const void *right)
{
	const struct ht_cp_lane *a = left, *b = right;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->stream > b->stream) - (a->stream < b->stream);
}

void ht_cp_lanes_sort(struct ht_cp_lanes *lanes)
{
	size_t n = 0;
	qsort(lanes->list, lanes->n, sizeof *lanes->list, ht_cp_lane_compare);
	for (size_t i = 0; i < lanes->n; i++) {
		if (!n || ht_cp_lane_compare(&lanes->list[i], &lanes->list[n - 1]))
			lanes->list[n++] = lanes->list[i];
	}
	lanes->n = n;
}

size_t ht_cp_lane_find(const struct ht_cp_lanes *lanes, struct ht_cp_lane lane)
{
	size_t low = HT_LOWER_BOUND(at, lanes->n, ht_cp_lane_compare(&lanes->list[at], &lane) < 0);
	return low < lanes->n && !ht_cp_lane_compare(&lanes->list[low], &lane) ? low : SIZE_MAX;
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
static enum ht_status find_records(
        const struct ht_cp_sync *sync, struct record **ret_records, size_t *ret_n)
{
	const struct ht_trace *t = sync->names->trace;
	size_t n = 0;
	struct record *records = NULL;
	for (int fill = 0; fill < 2; fill++) {
		if (fill)
			records = ht_arena_alloc(sync->run->scratch, (n + 1) * sizeof *records);
		if (fill && !records)
			return ht_fail_nomem(sync->run->ctx);
		n = 0;
		for (uint32_t row = 0; row < t->n_kind; row++) {
			bool call = ht_kind_is_call(t->kind[row]);
			if (!call || (sync->in_frame && !sync->in_frame[row]) ||
			        !(ht_cp_names_bits(sync->names, row) & HT_CP_NAME_RECORDS))
				continue;
			if (fill)
				records[n] = (struct record){ sync->correlation[row], row };
			n++;
		}
	}
	ht_sort_items(sync->run->ctx->mem, records, n, sizeof *records, compare_record);
	*ret_records = records;
	*ret_n = n;
	return HT_OK;
}

static uint32_t find_record(const struct record *records, size_t n, int64_t correlation)
{
	size_t low = HT_LOWER_BOUND(at, n, records[at].correlation < correlation);
	return low < n && records[low].correlation == correlation ? records[low].row : HT_NONE;
}

/* By stream and time of the launch; of one launch, by its work. */
static int compare_by_stream(const void *left, const void *right)
{
	const struct ht_cp_launch *a = left, *b = right;
	struct ht_cp_lane x = { a->device, a->stream }, y = { b->device, b->stream };
	int order = ht_cp_lane_compare(&x, &y);
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
	return HT_LOWER_BOUND(at, n, compare(&sorted[at], key) < 0);
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

/* A wait whose record fell outside of the recording may still say on which stream it was made. */
static void infer_source(const struct ht_cp_sync *sync, const struct ht_cp_launch *launches,
        size_t n, struct ht_cp_wait *wait, int64_t stream)
{
	if (!sync->infer || wait->call == HT_NONE)
		return;
	wait->source = work_before(
	        launches, n, wait->device, stream, sync->names->trace->ts_ns[wait->call]);
	wait->inferred = wait->source != HT_NONE;
}

static void find_sources(const struct ht_cp_sync *sync, const struct ht_cp_launch *launches,
        size_t n, struct ht_cp_wait *waits, size_t n_waits, const struct record *records,
        size_t n_records)
{
	const struct ht_trace *t = sync->names->trace;
	struct ht_arg_cursor streams = ht_arg_cursor(t, "wait_on_stream"),
	                     recorded = ht_arg_cursor(t, "wait_on_cuda_event_record_corr_id");
	for (size_t i = 0; i < n_waits; i++) {
		struct ht_cp_wait *wait = &waits[i];
		if (wait->kind != HT_CP_WAIT_EVENT && wait->kind != HT_CP_WAIT_STREAM_EVENT)
			continue;
		int64_t stream = ht_arg_cursor_i64(&streams, wait->row, -1);
		int64_t correlation = ht_arg_cursor_i64(&recorded, wait->row, -1);
		if (stream < 0)
			continue;
		uint32_t record =
		        correlation < 0 ? HT_NONE : find_record(records, n_records, correlation);
		if (record != HT_NONE)
			wait->source =
			        work_before(launches, n, wait->device, stream, t->ts_ns[record]);
		else
			infer_source(sync, launches, n, wait, stream);
	}
}

static void find_targets(const struct ht_cp_sync *sync, const struct ht_cp_launch *launches,
        size_t n, struct ht_cp_wait *waits, size_t n_waits)
{
	const struct ht_trace *t = sync->names->trace;
	for (size_t i = 0; i < n_waits; i++) {
		struct ht_cp_wait *wait = &waits[i];
		if (wait->kind == HT_CP_WAIT_STREAM_EVENT && wait->call != HT_NONE)
			wait->target = work_after(launches, n, t->track[wait->call], wait->device,
			        wait->stream, t->ts_ns[wait->call]);
	}
}

enum ht_status ht_cp_resolve_waits(const struct ht_cp_sync *sync, struct ht_cp_launch *launches,
        size_t n_launches, struct ht_cp_wait *waits, size_t n_waits)
{
	struct record *records = NULL;
	size_t n_records = 0;
	HT_TRY(find_records(sync, &records, &n_records));
	ht_sort_items(
	        sync->run->ctx->mem, launches, n_launches, sizeof *launches, compare_by_stream);
	find_sources(sync, launches, n_launches, waits, n_waits, records, n_records);
	ht_sort_items(
	        sync->run->ctx->mem, launches, n_launches, sizeof *launches, compare_by_thread);
	find_targets(sync, launches, n_launches, waits, n_waits);
	return HT_OK;
}
