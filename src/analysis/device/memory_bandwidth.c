/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_bandwidth.c - how fast copies and sets run, per direction.
 *
 * Bandwidth of a kind (Memcpy HtoD, DtoH, DtoD, PtoP, Memset) at a time = sum of the GB/s of the copies
 * of that kind that run then. A copy's GB/s is what the profiler wrote ("memory bandwidth (GB/s)"), or
 * bytes over duration when it wrote none.
 *
 * Views: "summary", per rank and kind, copies of pageable memory apart from those of pinned memory, which are several times
 * as fast: count, mean, std, quartiles over the points with bandwidth above
 * zero (what HTA gives), and time_mean_gbps over the busy time, without that of copies that say neither.
 * "series": every change point.
 *
 * Reads GPU copies and sets. Blind to copies that kernels do themselves (AMD blit kernels, NCCL).
 * O(n log n). Rows ascending by rank, kind, memory, device; points by time, ends before starts.
 *
 * Example: HtoD copies [0,4) at 10 GB/s and [2,4) at 20: points 10 30 20 0; mean of the positive ones
 * 20; over busy time (10*2 + 30*2) / 4 = 20.
 */
#include "analysis/analysis.h"
#include "model/device/launch.h"
#include "model/device/series.h"
#include "model/numbers/stats.h"
#include "model/policy.h"
#include "store/columns.h"

#include <math.h>
#include <string.h>

static enum ht_status measure_copies(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define SUMMARY_COLUMNS(COLUMN)                                                                    \
	COLUMN(SUMMARY_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                    \
	COLUMN(SUMMARY_DEVICE, "device", HT_I64, HT_DETAIL,                                        \
	        "GPU index; null when unknown or with hta-compat", NULL)                           \
	COLUMN(SUMMARY_NAME, "name", HT_STR, HT_KEY,                                               \
	        "kind of copy: Memcpy HtoD, DtoH, DtoD, PtoP, or Memset", NULL)                    \
	COLUMN(SUMMARY_COUNT, "count", HT_I64, HT_DETAIL, "points with bandwidth above zero",      \
	        NULL)                                                                              \
	COLUMN(SUMMARY_MEAN_GBPS, "mean_gbps", HT_F64, HT_MEASURE,                                 \
	        "mean bandwidth over those points", "GB/s")                                        \
	COLUMN(SUMMARY_STD_GBPS, "std_gbps", HT_F64, HT_DETAIL,                                    \
	        "standard deviation over those points (n - 1)", "GB/s")                            \
	COLUMN(SUMMARY_MIN_GBPS, "min_gbps", HT_F64, HT_DETAIL,                                    \
	        "smallest bandwidth of those points", "GB/s")                                      \
	COLUMN(SUMMARY_P25_GBPS, "p25_gbps", HT_F64, HT_DETAIL,                                    \
	        "first quartile over those points", "GB/s")                                        \
	COLUMN(SUMMARY_P50_GBPS, "p50_gbps", HT_F64, HT_DETAIL, "median over those points",        \
	        "GB/s")                                                                            \
	COLUMN(SUMMARY_P75_GBPS, "p75_gbps", HT_F64, HT_DETAIL,                                    \
	        "third quartile over those points", "GB/s")                                        \
	COLUMN(SUMMARY_MAX_GBPS, "max_gbps", HT_F64, HT_MEASURE, "largest bandwidth", "GB/s")      \
	COLUMN(SUMMARY_COPIES, "copies", HT_I64, HT_MEASURE, "memcpy or memset of this kind",      \
	        NULL)                                                                              \
	COLUMN(SUMMARY_BYTES, "bytes", HT_BYTES, HT_MEASURE,                                       \
	        "bytes they moved; null when the file does not say", NULL)                         \
	COLUMN(SUMMARY_BUSY_NS, "busy_ns", HT_DURATION, HT_MEASURE,                                \
	        "time with at least one of them running", NULL)                                    \
	COLUMN(SUMMARY_TIME_MEAN_GBPS, "time_mean_gbps", HT_F64, HT_MEASURE,                       \
	        "mean bandwidth over the busy time; null when the file does not say", "GB/s")      \
	COLUMN(SUMMARY_MEMORY, "memory", HT_STR, HT_KEY,                                           \
	        "memory they copy from and to; null when the names do not say, or with "           \
	        "hta-compat",                                                                      \
	        NULL)
HT_COLUMNS(summary, SUMMARY_COLUMNS);
_Static_assert(SUMMARY_MAX_GBPS == SUMMARY_COUNT + HT_DESCRIBED_MAX, "what ht_describe_put fills");

#define SERIES_COLUMNS(COLUMN)                                                                     \
	COLUMN(SERIES_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                     \
	COLUMN(SERIES_DEVICE, "device", HT_I64, HT_DETAIL,                                         \
	        "GPU index; null when unknown or with hta-compat", NULL)                           \
	COLUMN(SERIES_NAME, "name", HT_STR, HT_KEY,                                                \
	        "kind of copy: Memcpy HtoD, DtoH, DtoD, PtoP, or Memset", NULL)                    \
	COLUMN(SERIES_INDEX, "index", HT_I64, HT_DETAIL,                                           \
	        "row of the copy or set that starts or ends here", NULL)                           \
	COLUMN(SERIES_IS_END, "is_end", HT_BOOL, HT_DETAIL,                                        \
	        "1 where the copy ends, 0 where it starts", NULL)                                  \
	COLUMN(SERIES_TS_NS, "ts_ns", HT_TIME, HT_KEY,                                             \
	        "time of the change, from the first event of all ranks", NULL)                     \
	COLUMN(SERIES_PID, "pid", HT_I64, HT_DETAIL, "process id of the copy", NULL)               \
	COLUMN(SERIES_TID, "tid", HT_I64, HT_DETAIL, "thread id of the copy", NULL)                \
	COLUMN(SERIES_MEMORY_BW_GBPS, "memory_bw_gbps", HT_F64, HT_MEASURE,                        \
	        "bandwidth of the kind from this time on", "GB/s")
HT_COLUMNS(series_columns, SERIES_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "summary", summary, HT_COUNT(summary) },
	{ "series", series_columns, HT_COUNT(series_columns) },
};

static const struct ht_param params[] = {
	{ "view", HT_STR, "summary", "statistics per kind, or every change point",
	        "summary|series" },
};

static const struct ht_over_time over_time = { .view = "series",
	.columns = "ts_ns,device,name,memory_bw_gbps",
	.n_keys = 2,
	.peak = "max_gbps" };

const struct ht_analysis ht_analysis_memory_bandwidth = {
	.info = { .name = "memory-bandwidth",
	        .group = "memory",
	        .page_view = "bandwidth",
	        .title = "Copy and set bandwidth",
	        .question = "How fast are copies between host and device, and sets?",
	        .method =
	                "Per kind, the sum of the GB/s of all running copies over time. Statistics are "
	                "over the points above zero; time_mean_gbps is over the busy time.",
	        .hta = "get_memory_bw_time_series, get_memory_bw_summary",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .over_time = &over_time,
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1 },
	.per_rank = measure_copies,
	.of = "GB/s of all running copies over time",
	.finish = finish,
};

/* The first columns of both tables. */
static void put_key(
        ht_table *table, const struct ht_frame *frame, const struct ht_bandwidth_series *series)
{
	ht_table_row(table);
	ht_table_put_i64(table, SUMMARY_RANK, frame->rank);
	ht_put_index(table, SUMMARY_DEVICE, series->device);
	ht_table_put_str(table, SUMMARY_NAME, series->kind);
}

static void put_points(ht_table *table, const struct ht_frame *frame, const void *of)
{
	const struct ht_bandwidth_series *series = of;
	for (size_t i = 0; i < series->n; i++) {
		const struct ht_bandwidth_point *point = &series->points[i];
		put_key(table, frame, series);
		ht_table_put_i64(table, SERIES_INDEX, point->row);
		ht_table_put_i64(table, SERIES_IS_END, point->is_end);
		ht_table_put_i64(table, SERIES_TS_NS, point->ts_ns);
		ht_put_track(table, SERIES_PID, frame->trace, point->row);
		ht_table_put_f64(table, SERIES_MEMORY_BW_GBPS, point->gbps);
	}
}

/* Busy time = time with a copy running, also one whose rate is unknown. */
static int64_t busy_time(const struct ht_bandwidth_series *series, double *ret_mean)
{
	int64_t busy_ns = 0, known_ns = 0, n_active = 0;
	double area = 0;
	for (size_t i = 0; i + 1 < series->n; i++) {
		n_active += series->points[i].is_end ? -1 : 1;
		int64_t dt_ns = series->points[i + 1].ts_ns - series->points[i].ts_ns;
		if (n_active > 0) {
			busy_ns += dt_ns;
			known_ns += series->points[i].gbps > 0 ? dt_ns : 0;
			area += series->points[i].gbps * (double)dt_ns;
		}
	}
	*ret_mean = known_ns > 0 ? area / (double)known_ns : NAN;
	return busy_ns;
}

static enum ht_status put_summary(
        struct ht_run *run, ht_table *table, const struct ht_frame *frame, const void *of)
{
	const struct ht_bandwidth_series *series = of;
	double *values = ht_arena_alloc(run->scratch, series->n * sizeof *values);
	if (!values)
		return ht_fail_nomem(run->ctx);
	size_t n = 0;
	for (size_t i = 0; i < series->n; i++)
		if (series->points[i].gbps > 0)
			values[n++] = series->points[i].gbps;
	if (n == 0 && run->policy->no_empty_rows)
		return HT_OK;
	struct ht_describe stats;
	ht_describe_f64(values, n, &stats);
	double time_mean;
	int64_t busy_ns = busy_time(series, &time_mean);

	put_key(table, frame, series);
	ht_describe_put(table, SUMMARY_COUNT, &stats, false);
	ht_table_put_i64(table, SUMMARY_COPIES, (int64_t)series->n_copies);
	ht_table_put_known(table, SUMMARY_BYTES, series->bytes, 0);
	ht_table_put_i64(table, SUMMARY_BUSY_NS, busy_ns);
	ht_table_put_f64(table, SUMMARY_TIME_MEAN_GBPS, time_mean);
	ht_table_put_str(table, SUMMARY_MEMORY, *series->memory ? series->memory : NULL);
	return HT_OK;
}

static enum ht_status measure_copies(struct ht_run *run, struct ht_part *part)
{
	static const struct ht_series_rows rows = { sizeof(struct ht_bandwidth_series), put_points,
		put_summary };
	const struct ht_bandwidth_series *series;
	struct ht_frame frame;
	size_t n;
	HT_TRY(ht_frame_make_gpu(run, &frame));
	/* curves are of a direction, as are all rows where series are those of all devices together */
	bool apart = ht_run_is(run, "view", "summary") && !run->policy->streams_by_number;
	HT_TRY(ht_bandwidth_series_make(run, &frame, apart, &series, &n));
	return ht_series_put(run, &rows, &frame, series, n, part->facts[0]);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	HT_TRY(ht_parts_rows(run, parts, 0, ht_run_series_zero(run), table));
	if (ht_table_n_rows(table))
		return HT_OK;
	return ht_table_add_note(table, "no memcpy or memset in the selection");
}
