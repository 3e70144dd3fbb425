/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_breakdown.c - what each stream waited for while it was idle.
 *
 * Per rank, device and stream the gaps between pieces of work are divided:
 *   host_wait           the next piece was not launched yet
 *   kernel_wait         launched, and the rest of the gap is shorter than threshold: launch latency
 *   communication_wait  launched, but it started later, while communication ran on another stream
 *   other               launched, but it started later: an event, other work, another process
 *   leading             before the first launch call in the file for the device: the recording shows nobody at work
 * `by device` takes all streams of a device as one, so only time with nothing on the GPU is idle.
 * Reads kernels, copies, sets and their launches. Work without a launch in the file never counts as
 * host_wait. Time before the first and after the last piece is not seen. O(n log n).
 * Example: work [0,4) and [20,24), launched at 10 us: host_wait 6, kernel_wait 10.
 * Definition: HTA get_idle_time_breakdown, first table.
 */
#include "analysis/analysis.h"
#include "model/finding/hint.h"
#include "model/device/idle.h"
#include "base/checked.h"
#include "model/policy.h"

#include <math.h>
#include <string.h>

static enum ht_status check_options(struct ht_run *run);
static enum ht_status break_down(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \
	COLUMN(COL_DEVICE, "device", HT_I64, HT_KEY, "GPU index, null when the file does not say", \
	        NULL)                                                                              \
	COLUMN(COL_STREAM, "stream", HT_I64, HT_KEY, "stream; null by device", NULL)               \
	COLUMN(COL_IDLE_CATEGORY, "idle_category", HT_STR, HT_KEY,                                 \
	        "host_wait, kernel_wait, communication_wait, other or leading", NULL)              \
	COLUMN(COL_COUNT, "count", HT_I64, HT_MEASURE, "gaps, or parts of gaps", NULL)             \
	COLUMN(COL_IDLE_NS, "idle_ns", HT_DURATION, HT_MEASURE, "their total length", NULL)        \
	COLUMN(COL_IDLE_SHARE, "idle_share", HT_RATIO, HT_MEASURE, "of the stream's idle time",    \
	        NULL)                                                                              \
	COLUMN(COL_SPAN_SHARE, "span_share", HT_RATIO, HT_MEASURE,                                 \
	        "of the stream's first start to last end", NULL)
HT_COLUMNS(columns, COLUMNS);

static const struct ht_param params[] = {
	{ "threshold", HT_DURATION, HT_IDLE_THRESHOLD_TEXT,
	        "a launched gap shorter than this is kernel_wait", NULL },
	{ "streams", HT_STR, NULL, "streams to look at: 7,16-18", NULL },
	{ "by", HT_STR, "stream", "one group of rows per stream, or per device", "stream|device" },
};

const struct ht_analysis ht_analysis_idle_breakdown = {
	.info = {
		.name = "idle-breakdown",
		.group = "gpu",
		.page_view = "idle",
		.title = "Idle breakdown",
		.question = "What did each stream wait for while it was idle?",
		.method = "The gap before a GPU activity is host_wait until its launch starts; the rest "
			  "is kernel_wait when shorter than threshold, else communication_wait while communication runs on "
			  "another stream, and other; before the first recorded launch it is leading, which is also "
			  "shown for the device as a whole. By rank, device, stream, "
			  "category.",
		.hta = "get_idle_time_breakdown",
		HT_ONE_SCHEMA(columns),
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
	},
	.choose = check_options,
	.per_rank = break_down,
	.finish = finish,
};

static void put_stream(
        struct ht_run *run, ht_table *table, int64_t rank, const struct ht_idle_stream *stream)
{
	int64_t idle[HT_IDLE_N] = { 0 }, total = 0;
	int64_t count[HT_IDLE_N] = { 0 }, n_rows[HT_IDLE_N] = { 0 };
	for (size_t i = 0; i < stream->n; i++) {
		const struct ht_idle_gap *gap = &stream->gaps[i];
		ht_sum(&idle[gap->category], gap->length_ns);
		ht_sum(&total, gap->length_ns);
		count[gap->category] += !gap->unmeasured;
		n_rows[gap->category]++;
	}
	for (size_t c = 0; c < HT_IDLE_N; c++) {
		bool optional = run->policy->no_empty_rows || c == HT_IDLE_LEADING ||
		                c == HT_IDLE_COMMUNICATION || stream->is_leading;
		if (optional && !n_rows[c])
			continue;
		ht_table_row(table);
		ht_table_put_i64(table, COL_RANK, rank);
		ht_table_put_known(table, COL_DEVICE, stream->device, -1);
		ht_table_put_known(table, COL_STREAM, stream->stream, HT_NO_I64);
		ht_table_put_str(
		        table, COL_IDLE_CATEGORY, ht_idle_category_name((enum ht_idle_category)c));
		ht_table_put_i64(table, COL_COUNT, count[c]);
		ht_table_put_i64(table, COL_IDLE_NS, idle[c]);
		ht_table_put_f64(
		        table, COL_IDLE_SHARE, total ? (double)idle[c] / (double)total : NAN);
		ht_table_put_f64(table, COL_SPAN_SHARE,
		        stream->span_ns ? (double)idle[c] / (double)stream->span_ns : NAN);
	}
}

static enum ht_status check_options(struct ht_run *run)
{
	struct ht_idle_options options = { 0 };
	return ht_idle_options(run, &options);
}

static enum ht_status break_down(struct ht_run *run, struct ht_part *part)
{
	struct ht_idle_options options = { 0 };
	struct ht_frame frame = { 0 };
	const struct ht_idle_stream *streams = NULL;
	size_t n = 0;
	HT_TRY(ht_idle_options(run, &options));
	HT_TRY(ht_frame_make_gpu(run, &frame));
	HT_TRY(ht_idle_collect(run, &frame, &options, &streams, &n));
	for (size_t s = 0; s < n; s++)
		put_stream(run, part->facts[0], frame.rank, &streams[s]);
	return HT_OK;
}

static const struct ht_hint hints[] = {
	{ "host_wait", "waiting for the CPU to launch", "critical-path" },
	{ "kernel_wait", "the way from the launch call to the GPU", "launch-stats" },
	{ "communication_wait", "queued work that waits while communication runs", "collectives" },
	{ "other", "queued work that waits for an event or another stream", "critical-path" },
	{ "leading", "before the first launch call in the file", "info" },
};

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	HT_TRY(ht_frame_set_method(run, table, "share of idle time and of the span"));
	ht_table_set_bar(table, COL_SPAN_SHARE);
	HT_TRY(ht_parts_rows_or(run, parts, table, "no GPU activity in the selection"));
	return run->policy->no_hints
	               ? HT_OK
	               : ht_hint_largest(run->scratch, table, "idle_ns", "idle_category",
	                         "of.stream_idle_time", hints, HT_COUNT(hints));
}
