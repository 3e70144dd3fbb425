/*
 * queue_blocked.c - how long the launch queue of a stream was full.
 *
 * Per rank and stream: sum of (next change - change) over the change points with
 * queue_length >= max-queue-length; share = that over the duration of the rank's trace (first event
 * start to last event end). While a queue is full the host blocks in its launch calls.
 *
 * CUDA documents 1024 pending launches per stream; what a trace shows at saturation is a few less
 * (about 1022: the calls in flight are counted at their start). When the largest length is near the
 * limit without reaching it, a note says which limit would find it.
 *
 * Reads GPU work with a known launch. O(n log n). Rows: streams that reached the limit, ascending by
 * rank, stream, device.
 *
 * Example: limit 2, lengths 1 2 1 0 at 0 1 3 4 us in a trace of 10 us: 2 us, share 0.2.
 */
#include "analysis/analysis.h"
#include "model/launch.h"
#include "model/series.h"

#include <stdio.h>

static enum ht_status find_full(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

static const struct ht_column columns[] = {
	{ "rank", HT_I64, HT_KEY, "rank of the trace", NULL },
	{ "device", HT_I64, HT_DETAIL, "GPU index; null when unknown or with hta-compat", NULL },
	{ "stream", HT_I64, HT_KEY, "stream on the GPU", NULL },
	{ "blocked_ns", HT_DURATION, HT_MEASURE, "time with the queue at or above the limit",
	        NULL },
	{ "blocked_share", HT_RATIO, HT_MEASURE, "that time over the duration of the rank's trace",
	        NULL },
	{ "max_queue_length", HT_I64, HT_DETAIL, "largest length seen on the stream", NULL },
};

enum { MAX_LENGTH = HT_COUNT(columns) - 1 };

static const struct ht_param params[] = {
	{ "max-queue-length", HT_I64, "1024", "length from which the queue counts as full", NULL },
};

const struct ht_analysis ht_analysis_queue_blocked = {
	.info = { .name = "queue-blocked",
	        .group = "launch",
	        .title = "Time with a full launch queue",
	        .question = "Does the host block because a stream's launch queue is full?",
	        .method = "Sum of the time between change points with a queue length of at least "
	                  "max-queue-length, per stream, over the duration of the trace.",
	        .hta = "get_time_spent_blocked_on_full_queue",
	        HT_ONE_SCHEMA(columns),
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1 },
	.per_rank = find_full,
	.finish = finish,
	.facts = { { "streams", columns, HT_COUNT(columns) } },
};

/* First event start to last event end; HTA stops at the last event start. */
static int64_t duration_ns(const struct ht_frame *frame, bool hta)
{
	const struct ht_trace *trace = frame->trace;
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	for (size_t i = 0; i < frame->n_rows; i++) {
		uint32_t row = frame->rows[i];
		int64_t end_ns = hta ? trace->ts_ns[row] : ht_end_ns(trace, row);
		if (trace->ts_ns[row] < first_ns)
			first_ns = trace->ts_ns[row];
		if (end_ns > last_ns)
			last_ns = end_ns;
	}
	return last_ns > first_ns ? last_ns - first_ns : 0;
}

static int64_t largest(const struct ht_queue_series *series)
{
	int64_t max = 0;
	for (size_t i = 0; i < series->n; i++)
		if (series->points[i].length > max)
			max = series->points[i].length;
	return max;
}

static void put_row(ht_table *table, const struct ht_frame *frame,
        const struct ht_queue_series *series, int64_t limit, int64_t span_ns)
{
	int64_t blocked_ns = 0;
	for (size_t i = 0; i + 1 < series->n; i++)
		if (series->points[i].length >= limit)
			blocked_ns += series->points[i + 1].ts_ns - series->points[i].ts_ns;
	ht_table_row(table);
	ht_table_put_i64(table, frame->rank);
	ht_put_index(table, series->device);
	ht_table_put_i64(table, series->stream);
	ht_table_put_i64(table, blocked_ns);
	if (span_ns > 0)
		ht_table_put_f64(table, (double)blocked_ns / (double)span_ns);
	else
		ht_table_put_null(table);
	ht_table_put_i64(table, largest(series));
}

static enum ht_status note_absence(ht_table *table, int64_t max, int64_t limit)
{
	if (max == 0)
		return ht_table_add_note(table, "no GPU work with its launch call in the traces");
	/* A queue that stays within 3 % of the limit is full but for calls in flight. */
	if (max >= limit - limit / 32 - 1)
		return ht_table_add_note(table,
		        "no queue reached %lld; the longest is %lld, which is what a full queue of "
		        "1024 looks like: try --max-queue-length %lld",
		        (long long)limit, (long long)max, (long long)(max - max / 32));
	return ht_table_add_note(table, "no queue reached %lld; the longest is %lld",
	        (long long)limit, (long long)max);
}

/* Every stream, so that the end can tell how long queues were where none was full. */
static enum ht_status find_full(struct ht_run *run, struct ht_part *part)
{
	int64_t limit = ht_run_i64(run, "max-queue-length");
	struct ht_frame frame;
	const struct ht_queue_series *series;
	size_t n_series;
	HT_TRY(ht_frame_make(run, &frame));
	HT_TRY(ht_queue_series_make(run, &frame, run->hta_compat, &series, &n_series));
	int64_t span_ns = n_series ? duration_ns(&frame, run->hta_compat) : 0;
	for (size_t s = 0; s < n_series; s++)
		put_row(part->facts[0], &frame, &series[s], limit, span_ns);
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	int64_t limit = ht_run_i64(run, "max-queue-length"), max = 0;
	ht_table_set_bar(table, "blocked_share");
	HT_TRY(ht_parts_rows(run, parts, 0, 0, table));
	for (size_t row = 0; row < ht_table_n_rows(table); row++) {
		int64_t longest = ht_table_i64(table, row, MAX_LENGTH);
		max = longest > max ? longest : max;
	}
	char where[64];
	snprintf(where, sizeof where, "max_queue_length >= %lld", (long long)limit);
	HT_TRY(ht_table_apply_view(run->ctx, table, &(struct ht_view){ .where = where }));
	return max >= limit && max ? HT_OK : note_absence(table, max, limit);
}
