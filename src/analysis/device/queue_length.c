/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_length.c - how much launched work waits on each stream.
 *
 * Length of a stream's queue = launches started - work started, of all work in the trace; +1 at the start of
 * the launch call, -1 at the start of the kernel, copy or set, +n for a graph launch with n kernels on the
 * stream. A launch counts before a start at the same instant. Work that was launched before the recording
 * began is in the queue until it starts, and so is work of steps that were not chosen; the chosen steps
 * only say from when to when the queue is looked at.
 *
 * Views: "summary", one row per rank and stream: count, mean, std and quartiles of the length over its
 * change points (what HTA gives), and the same weighted by time, which is what a user usually means:
 *     time_mean = sum(length * time at that length) / (last point - first point)
 * "series", one row per change point.
 *
 * Reads GPU work. Blind to work that was launched before the recording and started after it ended, and to
 * work of other processes. O(n log n).
 *
 * Example: launches at 0 and 1 us, starts at 3 and 4 us: lengths 1 2 1 0; mean 1, time_mean
 * (1*1 + 2*2 + 1*1) / 4 = 1.5, empty for 0 of 4 us.
 */
#include "analysis/analysis.h"
#include "model/device/launch.h"
#include "model/device/series.h"
#include "model/numbers/stats.h"
#include "store/columns.h"

#include <math.h>
#include <string.h>

static enum ht_status measure_queues(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define SUMMARY_COLUMNS(COLUMN)                                                                    \
	COLUMN(SUMMARY_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                    \
	COLUMN(SUMMARY_DEVICE, "device", HT_I64, HT_DETAIL,                                        \
	        "GPU index; null when unknown or with hta-compat", NULL)                           \
	COLUMN(SUMMARY_STREAM, "stream", HT_I64, HT_KEY, "stream on the GPU", NULL)                \
	COLUMN(SUMMARY_COUNT, "count", HT_I64, HT_MEASURE, "change points of the length", NULL)    \
	COLUMN(SUMMARY_MEAN, "mean", HT_F64, HT_MEASURE, "mean length over the change points",     \
	        NULL)                                                                              \
	COLUMN(SUMMARY_STD, "std", HT_F64, HT_DETAIL,                                              \
	        "standard deviation over the change points (n - 1)", NULL)                         \
	COLUMN(SUMMARY_MIN, "min", HT_I64, HT_DETAIL, "smallest length", NULL)                     \
	COLUMN(SUMMARY_P25, "p25", HT_F64, HT_DETAIL, "first quartile over the change points",     \
	        NULL)                                                                              \
	COLUMN(SUMMARY_P50, "p50", HT_F64, HT_MEASURE, "median over the change points", NULL)      \
	COLUMN(SUMMARY_P75, "p75", HT_F64, HT_DETAIL, "third quartile over the change points",     \
	        NULL)                                                                              \
	COLUMN(SUMMARY_MAX, "max", HT_I64, HT_MEASURE, "largest length", NULL)                     \
	COLUMN(SUMMARY_TIME_MEAN, "time_mean", HT_F64, HT_MEASURE, "mean length weighted by time", \
	        NULL)                                                                              \
	COLUMN(SUMMARY_EMPTY_SHARE, "empty_share", HT_RATIO, HT_MEASURE,                           \
	        "share of the time from first to last point with an empty queue", NULL)
HT_COLUMNS(summary, SUMMARY_COLUMNS);
_Static_assert(SUMMARY_MAX == SUMMARY_COUNT + HT_DESCRIBED_MAX, "what ht_describe_put fills");

#define SERIES_COLUMNS(COLUMN)                                                                     \
	COLUMN(SERIES_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                     \
	COLUMN(SERIES_DEVICE, "device", HT_I64, HT_DETAIL,                                         \
	        "GPU index; null when unknown or with hta-compat", NULL)                           \
	COLUMN(SERIES_STREAM, "stream", HT_I64, HT_KEY, "stream on the GPU", NULL)                 \
	COLUMN(SERIES_INDEX, "index", HT_I64, HT_DETAIL,                                           \
	        "row of the launch call or GPU activity that changes the length", NULL)            \
	COLUMN(SERIES_TS_NS, "ts_ns", HT_TIME, HT_KEY,                                             \
	        "time of the change, from the first event of all ranks", NULL)                     \
	COLUMN(SERIES_PID, "pid", HT_I64, HT_DETAIL, "process id of the GPU activity", NULL)       \
	COLUMN(SERIES_TID, "tid", HT_I64, HT_DETAIL, "thread id of the GPU activity", NULL)        \
	COLUMN(SERIES_QUEUE_LENGTH, "queue_length", HT_I64, HT_MEASURE,                            \
	        "launched and not started from this time on", NULL)
HT_COLUMNS(series_columns, SERIES_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "summary", summary, HT_COUNT(summary) },
	{ "series", series_columns, HT_COUNT(series_columns) },
};

static const struct ht_param params[] = {
	{ "view", HT_STR, "summary", "statistics per stream, or every change point",
	        "summary|series" },
};

static const struct ht_over_time over_time = {
	.view = "series", .columns = "ts_ns,device,stream,queue_length", .n_keys = 2, .peak = "max"
};

const struct ht_analysis ht_analysis_queue_length = {
	.info = { .name = "queue-length",
	        .group = "launch",
	        .page_view = "queue",
	        .title = "Queue length per stream",
	        .question =
	                "How much launched work waits on each stream, and does the GPU run dry?",
	        .method =
	                "Length = launch calls started minus GPU activity started, per stream, of all work in "
	                "the trace; a graph launch counts each of its kernels. Statistics are over the "
	                "change points; time_mean and empty_share are weighted by time.",
	        .hta = "get_queue_length_time_series, get_queue_length_summary",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .over_time = &over_time,
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1 },
	.per_rank = measure_queues,
	.of = "launch calls started less GPU activity started",
	.finish = finish,
};

/* The first columns of both tables. */
static void put_key(
        ht_table *table, const struct ht_frame *frame, const struct ht_queue_series *series)
{
	ht_table_row(table);
	ht_table_put_i64(table, SUMMARY_RANK, frame->rank);
	ht_put_index(table, SUMMARY_DEVICE, series->device);
	ht_table_put_i64(table, SUMMARY_STREAM, series->stream);
}

static void put_points(ht_table *table, const struct ht_frame *frame, const void *of)
{
	const struct ht_queue_series *series = of;
	const struct ht_trace *trace = frame->trace;
	for (size_t i = 0; i < series->n; i++) {
		const struct ht_queue_point *point = &series->points[i];
		put_key(table, frame, series);
		ht_table_put_i64(table, SERIES_INDEX, point->row);
		ht_table_put_i64(table, SERIES_TS_NS, point->ts_ns);
		ht_put_track(table, SERIES_PID, trace, trace->gpu[point->gpu].row);
		ht_table_put_i64(table, SERIES_QUEUE_LENGTH, point->length);
	}
}

/* Mean length and share of empty time, both weighted by time; NaN for a series of no extent. */
static void weigh_by_time(const struct ht_queue_series *series, double *ret_mean, double *ret_empty)
{
	double area = 0;
	int64_t empty_ns = 0;
	for (size_t i = 0; i + 1 < series->n; i++) {
		int64_t dt_ns = series->points[i + 1].ts_ns - series->points[i].ts_ns;
		area += (double)series->points[i].length * (double)dt_ns;
		if (series->points[i].length <= 0)
			empty_ns += dt_ns;
	}
	int64_t span_ns = series->points[series->n - 1].ts_ns - series->points[0].ts_ns;
	*ret_mean = span_ns > 0 ? area / (double)span_ns : NAN;
	*ret_empty = span_ns > 0 ? (double)empty_ns / (double)span_ns : NAN;
}

static enum ht_status put_summary(
        struct ht_run *run, ht_table *table, const struct ht_frame *frame, const void *of)
{
	const struct ht_queue_series *series = of;
	int64_t *lengths = ht_arena_alloc(run->scratch, series->n * sizeof *lengths);
	if (!lengths)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < series->n; i++)
		lengths[i] = series->points[i].length;
	struct ht_describe stats;
	ht_describe_i64(lengths, series->n, &stats);
	double time_mean, empty_share;
	weigh_by_time(series, &time_mean, &empty_share);

	put_key(table, frame, series);
	ht_describe_put(table, SUMMARY_COUNT, &stats, true);
	ht_table_put_f64(table, SUMMARY_TIME_MEAN, time_mean);
	ht_table_put_f64(table, SUMMARY_EMPTY_SHARE, empty_share);
	return HT_OK;
}

static enum ht_status measure_queues(struct ht_run *run, struct ht_part *part)
{
	static const struct ht_series_rows rows = { sizeof(struct ht_queue_series), put_points,
		put_summary };
	const struct ht_queue_series *series;
	struct ht_frame frame;
	size_t n;
	HT_TRY(ht_frame_make_gpu(run, &frame));
	HT_TRY(ht_queue_series_make(run, &frame, &series, &n));
	return ht_series_put(run, &rows, &frame, series, n, part->facts[0]);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	HT_TRY(ht_parts_rows(run, parts, 0, ht_run_series_zero(run), table));
	if (!ht_run_is(run, "view", "series"))
		ht_table_set_bar(table, SUMMARY_EMPTY_SHARE);
	if (ht_table_n_rows(table))
		return HT_OK;
	return ht_table_add_note(table, "no GPU activity with its launch call in the selection");
}
