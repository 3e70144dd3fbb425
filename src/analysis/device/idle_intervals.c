/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_intervals.c - how long the idle gaps of each stream are.
 *
 * The gaps of idle-breakdown, per rank, device, stream and category, as a distribution: count, mean,
 * deviation (n - 1), min, quartiles (linear interpolation), max. A gap that waited first for the host
 * and then for something else is two gaps here.
 * Reads kernels, copies, sets and their launches. O(n log n).
 * Example: host waits of 2, 4 and 12 us: count 3, mean 6, std 5.29, min 2, quartiles 3, 4, 8, max 12.
 * Definition: HTA get_idle_time_breakdown with show_idle_interval_stats.
 */
#include "analysis/analysis.h"
#include "model/device/idle.h"
#include "model/numbers/stats.h"

#include <math.h>
#include <string.h>

static enum ht_status check_options(struct ht_run *run);
static enum ht_status describe_gaps(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \
	COLUMN(COL_DEVICE, "device", HT_I64, HT_KEY, "GPU index, null when the file does not say", \
	        NULL)                                                                              \
	COLUMN(COL_STREAM, "stream", HT_I64, HT_KEY, "stream; null by device", NULL)               \
	COLUMN(COL_IDLE_CATEGORY, "idle_category", HT_STR, HT_KEY,                                 \
	        "host_wait, kernel_wait, communication_wait, other or leading", NULL)              \
	COLUMN(COL_COUNT, "count", HT_I64, HT_MEASURE, "gaps, or parts of gaps", NULL)             \
	COLUMN(COL_MEAN_NS, "mean_ns", HT_DURATION_F64, HT_MEASURE, "mean length", NULL)           \
	COLUMN(COL_STD_NS, "std_ns", HT_DURATION_F64, HT_MEASURE,                                  \
	        "standard deviation, null for one gap", NULL)                                      \
	COLUMN(COL_MIN_NS, "min_ns", HT_DURATION_F64, HT_MEASURE, "shortest gap", NULL)            \
	COLUMN(COL_P25_NS, "p25_ns", HT_DURATION_F64, HT_DETAIL,                                   \
	        "a quarter of the gaps are at most this long", NULL)                               \
	COLUMN(COL_P50_NS, "p50_ns", HT_DURATION_F64, HT_MEASURE, "median", NULL)                  \
	COLUMN(COL_P75_NS, "p75_ns", HT_DURATION_F64, HT_DETAIL,                                   \
	        "three quarters are at most this long", NULL)                                      \
	COLUMN(COL_MAX_NS, "max_ns", HT_DURATION_F64, HT_MEASURE, "longest gap", NULL)
HT_COLUMNS(columns, COLUMNS);
_Static_assert(COL_MAX_NS == COL_COUNT + HT_DESCRIBED_MAX, "what ht_describe_put fills");

static const struct ht_param params[] = {
	{ "threshold", HT_DURATION, HT_IDLE_THRESHOLD_TEXT,
	        "a launched gap shorter than this is kernel_wait", NULL },
	{ "streams", HT_STR, NULL, "streams to look at: 7,16-18", NULL },
	{ "by", HT_STR, "stream", "one group of rows per stream, or per device", "stream|device" },
};

const struct ht_analysis ht_analysis_idle_intervals = {
	.info = {
		.name = "idle-intervals",
		.group = "gpu",
		.page_view = "idle",
		.title = "Idle intervals",
		.question = "How long are the idle gaps of each stream?",
		.method = "Count, mean, deviation and quartiles of the gaps that idle-breakdown adds up. By "
			  "rank, device, stream, category.",
		.hta = "get_idle_time_breakdown",
		HT_ONE_SCHEMA(columns),
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
	},
	.choose = check_options,
	.per_rank = describe_gaps,
	.finish = finish,
};

static enum ht_status put_stream(
        struct ht_run *run, ht_table *table, int64_t rank, const struct ht_idle_stream *stream)
{
	int64_t *lengths = ht_arena_alloc(run->scratch, (stream->n + 1) * sizeof *lengths);
	if (!lengths)
		return ht_fail_nomem(run->ctx);
	for (size_t c = 0; c < HT_IDLE_N; c++) {
		size_t n = 0, n_rows = 0;
		for (size_t i = 0; i < stream->n; i++) {
			if (stream->gaps[i].category != c)
				continue;
			n_rows++;
			if (!stream->gaps[i].unmeasured)
				lengths[n++] = stream->gaps[i].length_ns;
		}
		if (!n_rows)
			continue;
		struct ht_describe describe;
		ht_describe_i64(lengths, n, &describe);
		ht_table_row(table);
		ht_table_put_i64(table, COL_RANK, rank);
		ht_table_put_known(table, COL_DEVICE, stream->device, -1);
		ht_table_put_known(table, COL_STREAM, stream->stream, HT_NO_I64);
		ht_table_put_str(
		        table, COL_IDLE_CATEGORY, ht_idle_category_name((enum ht_idle_category)c));
		ht_describe_put(table, COL_COUNT, &describe, false);
	}
	return HT_OK;
}

static enum ht_status check_options(struct ht_run *run)
{
	struct ht_idle_options options = { 0 };
	return ht_idle_options(run, &options);
}

static enum ht_status describe_gaps(struct ht_run *run, struct ht_part *part)
{
	struct ht_idle_options options = { 0 };
	struct ht_frame frame = { 0 };
	const struct ht_idle_stream *streams = NULL;
	size_t n = 0;
	HT_TRY(ht_idle_options(run, &options));
	HT_TRY(ht_frame_make_gpu(run, &frame));
	HT_TRY(ht_idle_collect(run, &frame, &options, &streams, &n));
	for (size_t s = 0; s < n; s++)
		HT_TRY(put_stream(run, part->facts[0], frame.rank, &streams[s]));
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	HT_TRY(ht_frame_set_method(run, table, "gaps between GPU activity"));
	return ht_parts_rows_or(run, parts, table, "no gaps between GPU activity in the selection");
}
