/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_use.c - how busy each device is over time: GPU use as a counter.
 *
 * The time from the first start to the last end of the chosen GPU activity of a device is cut into buckets of one length; the last one may be
 * shorter. Of each
 *     busy_share     = |union of all that runs on the device, chosen or not, within the bucket| / its length
 *     compute_share  = the same of chosen compute kernels
 * Without --bucket a length that is 1, 2 or 5 times a power of ten ns, so that there are at most a thousand of them, and at most 16 000 of
 * all devices of a rank but for one each.
 *
 * Views: "summary", one row per device: the whole time, and the least, median and most busy bucket; "series", one row per bucket.
 * Reads kernels, copies and sets. Blind to how much of the device an activity uses, and to other processes. O(n log n).
 *
 * Example: kernels [0,4) and [6,10) us, bucket 5 us: busy 0.8 and 0.8 of two buckets; kernels [0,10) and [10,11): 1, 1 and, of the last one of
 * 1 us, 1.
 */
#include "analysis/analysis.h"
#include "base/checked.h"
#include "base/sort.h"
#include "model/device/gpu_work.h"

#include <math.h>
#include <stdlib.h>

static enum ht_status measure(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define KEY_COLUMNS(COLUMN, OF)                                                                    \
	COLUMN(OF##_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                       \
	COLUMN(OF##_DEVICE, "device", HT_I64, HT_KEY, "GPU index; null when unknown", NULL)
enum { KEY_COLUMNS(HT_COLUMN_NUMBER, KEY) };

#define SUMMARY_COLUMNS(COLUMN)                                                                    \
	KEY_COLUMNS(COLUMN, SUMMARY)                                                               \
	COLUMN(SUMMARY_SPAN_NS, "span_ns", HT_DURATION, HT_MEASURE,                                \
	        "from the first start to the last end of the chosen GPU activity", NULL)           \
	COLUMN(SUMMARY_BUSY_SHARE, "busy_share", HT_RATIO, HT_MEASURE,                             \
	        "of that time, with anything running on the device", NULL)                         \
	COLUMN(SUMMARY_COMPUTE_SHARE, "compute_share", HT_RATIO, HT_MEASURE,                       \
	        "of that time, with a chosen compute kernel", NULL)                                \
	COLUMN(SUMMARY_BUCKET_NS, "bucket_ns", HT_DURATION, HT_MEASURE, "length of a bucket",      \
	        NULL)                                                                              \
	COLUMN(SUMMARY_BUCKETS, "buckets", HT_I64, HT_DETAIL, "how many there are", NULL)          \
	COLUMN(SUMMARY_MIN_SHARE, "min_share", HT_RATIO, HT_MEASURE,                               \
	        "busy share of the least busy bucket", NULL)                                       \
	COLUMN(SUMMARY_MIN_TS_NS, "min_ts_ns", HT_TIME, HT_DETAIL, "start of the first such one",  \
	        NULL)                                                                              \
	COLUMN(SUMMARY_P50_SHARE, "p50_share", HT_RATIO, HT_MEASURE,                               \
	        "median of the buckets' busy shares", NULL)                                        \
	COLUMN(SUMMARY_MAX_SHARE, "max_share", HT_RATIO, HT_MEASURE,                               \
	        "busy share of the busiest bucket", NULL)
HT_COLUMNS(summary, SUMMARY_COLUMNS);

#define BUCKET_COLUMNS(COLUMN)                                                                     \
	KEY_COLUMNS(COLUMN, BUCKET)                                                                \
	COLUMN(BUCKET_TS_NS, "ts_ns", HT_TIME, HT_KEY,                                             \
	        "start of the bucket, from the first event of all ranks", NULL)                    \
	COLUMN(BUCKET_LENGTH_NS, "length_ns", HT_DURATION, HT_DETAIL, "its length", NULL)          \
	COLUMN(BUCKET_BUSY_SHARE, "busy_share", HT_RATIO, HT_MEASURE,                              \
	        "of the bucket, with anything running on the device", NULL)                        \
	COLUMN(BUCKET_COMPUTE_SHARE, "compute_share", HT_RATIO, HT_MEASURE,                        \
	        "of the bucket, with a chosen compute kernel", NULL)
HT_COLUMNS(buckets, BUCKET_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "summary", summary, HT_COUNT(summary) },
	{ "series", buckets, HT_COUNT(buckets) },
};

static const struct ht_param params[] = {
	{ "view", HT_STR, "summary", "one row per device, or one per bucket of time",
	        "summary|series" },
	{ "bucket", HT_DURATION, NULL,
	        "length of a bucket; by default a round one, so that there are at most 1000",
	        NULL },
};

static const struct ht_over_time over_time = {
	.view = "series", .columns = "ts_ns,device,busy_share", .n_keys = 1, .peak = "max_share"
};

const struct ht_analysis ht_analysis_gpu_use = {
	.info = { .name = "gpu-use",
	        .group = "gpu",
	        .page_view = "temporal",
	        .title = "GPU use over time",
	        .question = "How busy is each GPU over time, and when is it not?",
	        .method =
	                "Busy share of buckets of time: the union of all that runs on the device over "
	                "the length of the bucket.",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .over_time = &over_time,
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1 },
	.per_rank = measure,
	.of = "busy share of buckets of time",
	.finish = finish,
};

#define MOST_BY_DEFAULT 1000
#define MOST_OF_A_RANK  16000
#define MOST            1000000 /* of a rank, whatever is asked for */

/* 1, 2 or 5 times a power of ten. */
static int64_t round_length(int64_t span_ns, size_t n_devices)
{
	int64_t most = MOST_OF_A_RANK / (int64_t)n_devices;
	most = most > MOST_BY_DEFAULT ? MOST_BY_DEFAULT : most < 1 ? 1 : most;
	static const int64_t steps[] = { 1, 2, 5 };
	int64_t power = 1;
	for (; power < INT64_MAX / 100; power *= 10)
		for (size_t i = 0; i < HT_COUNT(steps); i++)
			if (span_ns / (power * steps[i]) < most)
				return power * steps[i];
	return power;
}

/* What of one device is cut into buckets. */
struct use {
	const struct ht_device_work *device;
	int64_t from, to, length; /* of a bucket */
	struct ht_interval *compute;
	int64_t *compute_sums;
	size_t n_compute, n;
};

static enum ht_status cut(struct ht_run *run, const struct ht_devices *devices, size_t i_device,
        size_t *n_buckets, struct use *use)
{
	const struct ht_device_work *device = &devices->list[i_device];
	int64_t bucket_ns = ht_run_str(run, "bucket") ? ht_run_duration_ns(run, "bucket") : 0;
	*use = (struct use){ .device = device, .from = INT64_MAX, .to = INT64_MIN };
	for (size_t i = 0; i < device->work.n; i++) {
		const struct ht_work *w = &device->work.items[i];
		use->from = w->start < use->from ? w->start : use->from;
		use->to = w->end > use->to ? w->end : use->to;
	}
	if (use->to <= use->from)
		return HT_OK;
	int64_t span_ns = ht_sub_sat(use->to, use->from);
	use->length = bucket_ns > 0 ? bucket_ns : round_length(span_ns, devices->n);
	use->n = (size_t)(span_ns / use->length + (span_ns % use->length > 0));
	*n_buckets += use->n;
	if (*n_buckets > MOST)
		return ht_fail(run->ctx, HT_USAGE, NULL, -1, "give a longer --bucket",
		        "more than %d buckets", MOST);
	HT_TRY(ht_work_union(run, &device->work, ht_class_bit(HT_CLASS_COMPUTE), &use->compute,
	        &use->n_compute));
	use->compute_sums =
	        ht_arena_alloc(run->scratch, (use->n_compute + 1) * sizeof *use->compute_sums);
	if (!use->compute_sums)
		return ht_fail_nomem(run->ctx);
	ht_interval_sums(use->compute, use->n_compute, use->compute_sums);
	return HT_OK;
}

static int64_t compute_ns(const struct use *use, int64_t from, int64_t to)
{
	return ht_interval_between(use->compute, use->compute_sums, use->n_compute, from, to);
}

static int64_t start_of(const struct use *use, size_t i)
{
	return use->from + (int64_t)i * use->length;
}

static int64_t end_of(const struct use *use, size_t i)
{
	return i + 1 < use->n ? start_of(use, i + 1) : use->to;
}

static double busy_share(const struct use *use, size_t i)
{
	int64_t from = start_of(use, i), to = end_of(use, i);
	return (double)ht_device_busy_ns(use->device, from, to) / (double)(to - from);
}

static void put_key(const struct ht_run *run, ht_table *table, const struct use *use)
{
	ht_table_row(table);
	ht_table_put_i64(table, KEY_RANK, run->rank);
	ht_table_put_known(table, KEY_DEVICE, use->device->device, -1);
}

static void put_buckets(const struct ht_run *run, const struct use *use, ht_table *table)
{
	for (size_t i = 0; i < use->n; i++) {
		int64_t from = start_of(use, i), to = end_of(use, i);
		put_key(run, table, use);
		ht_table_put_i64(table, BUCKET_TS_NS, from);
		ht_table_put_i64(table, BUCKET_LENGTH_NS, to - from);
		ht_table_put_f64(table, BUCKET_BUSY_SHARE, busy_share(use, i));
		ht_table_put_f64(table, BUCKET_COMPUTE_SHARE,
		        (double)compute_ns(use, from, to) / (double)(to - from));
	}
}

static enum ht_status put_summary(struct ht_run *run, const struct use *use, ht_table *table)
{
	double *shares = ht_arena_alloc(run->scratch, (use->n + 1) * sizeof *shares);
	size_t least = 0, half = use->n / 2;
	if (!shares)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < use->n; i++) {
		shares[i] = busy_share(use, i);
		least = shares[i] < shares[least] ? i : least;
	}
	qsort(shares, use->n, sizeof *shares, ht_compare_f64);
	double median = use->n % 2 ? shares[half] : (shares[half - 1] + shares[half]) / 2;
	int64_t span_ns = use->to - use->from;
	put_key(run, table, use);
	ht_table_put_i64(table, SUMMARY_SPAN_NS, span_ns);
	ht_table_put_f64(table, SUMMARY_BUSY_SHARE,
	        (double)ht_device_busy_ns(use->device, use->from, use->to) / (double)span_ns);
	ht_table_put_f64(table, SUMMARY_COMPUTE_SHARE,
	        (double)compute_ns(use, use->from, use->to) / (double)span_ns);
	ht_table_put_i64(table, SUMMARY_BUCKET_NS, use->length);
	ht_table_put_i64(table, SUMMARY_BUCKETS, (int64_t)use->n);
	ht_table_put_f64(table, SUMMARY_MIN_SHARE, shares[0]);
	ht_table_put_i64(table, SUMMARY_MIN_TS_NS, start_of(use, least));
	ht_table_put_f64(table, SUMMARY_P50_SHARE, median);
	ht_table_put_f64(table, SUMMARY_MAX_SHARE, shares[use->n - 1]);
	return HT_OK;
}

static enum ht_status measure(struct ht_run *run, struct ht_part *part)
{
	struct ht_frame frame;
	struct ht_devices devices;
	size_t n_buckets = 0;
	HT_TRY(ht_frame_make_gpu(run, &frame));
	HT_TRY(ht_devices_find(run, &frame, &devices));
	for (size_t i = 0; i < devices.n; i++) {
		struct use use;
		HT_TRY(cut(run, &devices, i, &n_buckets, &use));
		if (!use.n)
			continue;
		if (ht_run_is(run, "view", "series"))
			put_buckets(run, &use, part->facts[0]);
		else
			HT_TRY(put_summary(run, &use, part->facts[0]));
	}
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	HT_TRY(ht_parts_rows_or(run, parts, table, "no GPU activity in the selection"));
	ht_table_set_bar(
	        table, ht_run_is(run, "view", "series") ? BUCKET_BUSY_SHARE : SUMMARY_BUSY_SHARE);
	return HT_OK;
}
