/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_blocked.c - how long the launch queue of a stream was full.
 *
 * Per rank and stream: sum of (next change - change) over the change points with queue_length >= limit; share =
 * that over the duration of the rank's trace (first event start to last event end). While a queue is full the
 * host blocks in its launch calls.
 *
 * The limit is found from the data where it shows (queue_limit.h): the length stays while launch calls wait. Where no plateau
 * shows, it is assumed: 1024, what CUDA is known for. A limit that is given is used as it is.
 *
 * Reads GPU work with its launch calls. O(n log n). Rows: streams that reached the limit, ascending by rank,
 * stream, device.
 *
 * Example: limit 2, lengths 1 2 1 0 at 0 1 3 4 us in a trace of 10 us: 2 us, share 0.2.
 */
#include "analysis/analysis.h"
#include "model/device/launch.h"
#include "model/device/queue_limit.h"
#include "model/device/series.h"
#include "model/policy.h"
#include "store/columns.h"

static enum ht_status find_full(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \
	COLUMN(COL_DEVICE, "device", HT_I64, HT_DETAIL,                                            \
	        "GPU index; null when unknown or with hta-compat", NULL)                           \
	COLUMN(COL_STREAM, "stream", HT_I64, HT_KEY, "stream on the GPU", NULL)                    \
	COLUMN(COL_BLOCKED_NS, "blocked_ns", HT_DURATION, HT_MEASURE,                              \
	        "time with the queue at or above the limit", NULL)                                 \
	COLUMN(COL_BLOCKED_SHARE, "blocked_share", HT_RATIO, HT_MEASURE,                           \
	        "that time over the duration of the rank's trace", NULL)                           \
	COLUMN(COL_MAX_QUEUE_LENGTH, "max_queue_length", HT_I64, HT_DETAIL,                        \
	        "largest length seen on the stream", NULL)                                         \
	COLUMN(COL_LIMIT, "limit", HT_I64, HT_DETAIL,                                              \
	        "length from which the queue counts as full", NULL)                                \
	COLUMN(COL_LIMIT_FROM, "limit_from", HT_STR, HT_DETAIL,                                    \
	        "where the limit comes from: data, given or assumed", NULL)
HT_COLUMNS(columns, COLUMNS);

/* What a rank contributes besides its full streams. */
#define LONGEST_COLUMNS(COLUMN)                                                                    \
	COLUMN(LONGEST_MAX_QUEUE_LENGTH, "max_queue_length", HT_I64, HT_MEASURE,                   \
	        "largest length of all streams", NULL)
HT_COLUMNS(longest_columns, LONGEST_COLUMNS);

static const struct ht_param params[] = {
	{ "max-queue-length", HT_I64, NULL,
	        "length from which the queue counts as full; by default found from the data, else 1024",
	        NULL },
};

const struct ht_analysis ht_analysis_queue_blocked = {
	.info = { .name = "queue-blocked",
	        .group = "launch",
	        .page_view = "queue",
	        .title = "Time with a full launch queue",
	        .question = "Does the host block because a stream's launch queue is full?",
	        .method =
	                "Sum of the time between change points with a queue length of at least "
	                "the limit, per stream, over the duration of the trace. The limit is where "
	                "the length stays while launch calls wait, else 1024.",
	        .hta = "get_time_spent_blocked_on_full_queue",
	        HT_ONE_SCHEMA(columns),
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1 },
	.per_rank = find_full,
	.of = "time with a queue at or above the limit",
	.finish = finish,
	.facts = { { "streams", columns, HT_COUNT(columns) },
	        { "longest", longest_columns, HT_COUNT(longest_columns) } },
};

/* First event start to last event end, or start. */
static int64_t duration_ns(const struct ht_frame *frame, bool to_last_start)
{
	const struct ht_trace *trace = frame->trace;
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	for (size_t i = 0; i < frame->n_rows; i++) {
		uint32_t row = frame->rows[i];
		int64_t end_ns = to_last_start ? trace->ts_ns[row] : ht_end_ns(trace, row);
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

struct limit {
	int64_t length;
	const char *from;
};

#define ASSUMED_LIMIT 1024

/* Where the length stays while launch calls wait; 0 when no such plateau shows. */
static enum ht_status find_plateau(struct ht_run *run, const struct ht_trace *trace,
        const struct ht_queue_series *series, int64_t *ret_limit)
{
	size_t n = 0;
	struct ht_queue_call *calls = ht_arena_room(run->scratch, (series->n + 1) * sizeof *calls);
	if (!calls)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < series->n; i++)
		if (series->points[i].is_launch)
			calls[n++] = (struct ht_queue_call){ series->points[i].length,
				trace->dur_ns[series->points[i].row] };
	return ht_queue_limit_find(run, calls, n, ret_limit);
}

static enum ht_status find_limit(struct ht_run *run, const struct ht_trace *trace,
        const struct ht_queue_series *series, struct limit *ret_limit)
{
	if (ht_run_str(run, "max-queue-length")) {
		*ret_limit = (struct limit){ ht_run_i64(run, "max-queue-length"), "given" };
		return HT_OK;
	}
	*ret_limit = (struct limit){ 0, "data" };
	if (!run->policy->assumed_queue_limit)
		HT_TRY(find_plateau(run, trace, series, &ret_limit->length));
	if (!ret_limit->length)
		*ret_limit = (struct limit){ ASSUMED_LIMIT, "assumed" };
	return HT_OK;
}

static void put_row(ht_table *table, const struct ht_frame *frame,
        const struct ht_queue_series *series, const struct limit *limit, int64_t span_ns)
{
	int64_t blocked_ns = 0;
	for (size_t i = 0; i + 1 < series->n; i++)
		if (series->points[i].length >= limit->length)
			blocked_ns += series->points[i + 1].ts_ns - series->points[i].ts_ns;
	ht_table_row(table);
	ht_table_put_i64(table, COL_RANK, frame->rank);
	ht_put_index(table, COL_DEVICE, series->device);
	ht_table_put_i64(table, COL_STREAM, series->stream);
	ht_table_put_i64(table, COL_BLOCKED_NS, blocked_ns);
	if (span_ns > 0)
		ht_table_put_f64(table, COL_BLOCKED_SHARE, (double)blocked_ns / (double)span_ns);
	else
		ht_table_put_null(table, COL_BLOCKED_SHARE);
	ht_table_put_i64(table, COL_MAX_QUEUE_LENGTH, largest(series));
	ht_table_put_i64(table, COL_LIMIT, limit->length);
	ht_table_put_str(table, COL_LIMIT_FROM, limit->from);
}

static enum ht_status find_full(struct ht_run *run, struct ht_part *part)
{
	struct ht_frame frame;
	const struct ht_queue_series *series;
	size_t n_series;
	int64_t max = 0;
	HT_TRY(ht_frame_make(run, &frame));
	HT_TRY(ht_queue_series_make(run, &frame, &series, &n_series));
	int64_t span_ns = n_series ? duration_ns(&frame, run->policy->span_to_last_start) : 0;
	for (size_t s = 0; s < n_series; s++) {
		struct limit limit;
		int64_t longest = largest(&series[s]);
		HT_TRY(find_limit(run, frame.trace, &series[s], &limit));
		if (longest >= limit.length)
			put_row(part->facts[0], &frame, &series[s], &limit, span_ns);
		max = longest > max ? longest : max;
	}
	ht_table_row(part->facts[1]);
	ht_table_put_i64(part->facts[1], LONGEST_MAX_QUEUE_LENGTH, max);
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	int64_t max = 0;
	bool given = ht_run_str(run, "max-queue-length") != NULL;
	ht_table_set_bar(table, COL_BLOCKED_SHARE);
	HT_TRY(ht_parts_rows(run, parts, 0, 0, table));
	if (ht_table_n_rows(table))
		return HT_OK;
	for (size_t i = 0; i < parts->n; i++) {
		int64_t longest =
		        ht_table_i64(parts->list[i].facts[1], 0, LONGEST_MAX_QUEUE_LENGTH);
		max = longest > max ? longest : max;
	}
	if (max == 0)
		return ht_table_add_note(
		        table, "no GPU activity with its launch call in the selection");
	if (given)
		return ht_table_add_note(table, "no queue reached %lld; the longest is %lld",
		        (long long)ht_run_i64(run, "max-queue-length"), (long long)max);
	return ht_table_add_note(table,
	        "no queue stays at a length while launch calls wait, and none reached %d, which is "
	        "assumed to be the limit; the longest is %lld",
	        ASSUMED_LIMIT, (long long)max);
}
