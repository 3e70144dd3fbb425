/*
 * memory_timeline.c - memory in use over time, and its peaks.
 *
 * Two sources:
 *   [memory] events of the traces: per device the allocator's total after each allocation and free
 *       (the running sum of bytes where the file has no totals), and what it has reserved;
 *   --file: a raw memory timeline of PyTorch's memory profiler, which knows the category of each
 *       tensor: parameter, optimizer state, input, temporary, activation, gradient, autograd detail,
 *       unknown. Then the traces are not looked at.
 *
 * Views: "summary", per device (or file) and category: peak, when, what it held when the total peaked,
 * and what was left at the end. "series": every change.
 *
 * All events count unless steps or an annotation are chosen. Blind to memory that PyTorch does not
 * allocate (CUDA contexts, NCCL buffers). O(n log n).
 *
 * Example: +4 MiB parameter at 0, +2 MiB activation at 1 us, -2 MiB at 3 us: peak 6 MiB at 1 us, of it
 * 4 parameter and 2 activation; 4 MiB at the end.
 */
#include "analysis/analysis.h"
#include "model/memory_events.h"
#include "model/memory_file.h"
#include "base/checked.h"

#include <string.h>

static enum ht_status follow_memory(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

static const struct ht_column columns[] = {
	{ "rank", HT_I64, HT_KEY, "rank of the trace, null for a file", NULL },
	{ "device", HT_STR, HT_KEY, "cpu, cuda:0, ...; null for a file", NULL },
	{ "category", HT_STR, HT_KEY,
	        "allocated or reserved; for a file what the memory holds, or total", NULL },
	{ "peak_bytes", HT_BYTES, HT_MEASURE, "most that was held at once", NULL },
	{ "peak_ts_ns", HT_TIME, HT_MEASURE,
	        "first time of that, from the first event of all ranks or of the file", NULL },
	{ "at_total_peak_bytes", HT_BYTES, HT_MEASURE,
	        "what it held when the device's or file's total peaked", NULL },
	{ "share_at_peak", HT_RATIO, HT_MEASURE, "that over the total's peak", NULL },
	{ "final_bytes", HT_BYTES, HT_DETAIL, "held after the last event", NULL },
	{ "changes", HT_I64, HT_DETAIL, "points at which it changed", NULL },
	{ "ts_ns", HT_TIME, HT_KEY, "time of the change, from the first event", NULL },
	{ "delta_bytes", HT_BYTES, HT_MEASURE, "bytes allocated, negative when freed", NULL },
	{ "allocated_bytes", HT_BYTES, HT_MEASURE, "in use from this time on", NULL },
	{ "reserved_bytes", HT_BYTES, HT_MEASURE, "held by the allocator from this time on", NULL },
	{ "parameter_bytes", HT_BYTES, HT_MEASURE, "held by parameters", NULL },
	{ "optimizer_state_bytes", HT_BYTES, HT_MEASURE, "held by optimizer state", NULL },
	{ "input_bytes", HT_BYTES, HT_MEASURE, "held by inputs", NULL },
	{ "temporary_bytes", HT_BYTES, HT_MEASURE, "held by temporaries", NULL },
	{ "activation_bytes", HT_BYTES, HT_MEASURE, "held by activations", NULL },
	{ "gradient_bytes", HT_BYTES, HT_MEASURE, "held by gradients", NULL },
	{ "autograd_detail_bytes", HT_BYTES, HT_MEASURE, "held by autograd internals", NULL },
	{ "unknown_bytes", HT_BYTES, HT_MEASURE, "held by things of unknown purpose", NULL },
	{ "total_bytes", HT_BYTES, HT_MEASURE, "sum of the categories", NULL },
};
#define SUMMARY_COLUMNS                                                                             \
	"rank,device,category,peak_bytes,peak_ts_ns,at_total_peak_bytes,share_at_peak,final_bytes," \
	"changes"
#define TRACE_COLUMNS "rank,device,ts_ns,delta_bytes,allocated_bytes,reserved_bytes"
#define FILE_COLUMNS                                                                               \
	"ts_ns,parameter_bytes,optimizer_state_bytes,input_bytes,temporary_bytes,"                 \
	"activation_bytes,gradient_bytes,autograd_detail_bytes,unknown_bytes,total_bytes"
enum { N_SUMMARY_ONLY = 7, N_TRACE_ONLY = 3 };

static const struct ht_param params[] = {
	{ "view", HT_STR, "summary", "peaks per category, or every change", "summary|series" },
	{ "file", HT_STR, NULL, "raw memory timeline file to show instead of the traces", NULL },
};

const struct ht_analysis ht_analysis_memory_timeline = {
	.info = { .name = "memory-timeline",
	        .group = "memory",
	        .title = "Memory timeline",
	        .question =
	                "How much memory is in use over time, what holds it, and when does it peak?",
	        .method =
	                "The allocator's totals after every allocation and free of the traces, or the "
	                "running sums per category of a raw memory timeline file.",
	        .hta = "MemoryAnalysis",
	        HT_ONE_SCHEMA(columns),
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1, .instead = "file", },
	.per_rank = follow_memory,
	.finish = finish,
};

struct peak {
	int64_t peak_bytes, peak_ts_ns, at_total_peak_bytes, final_bytes;
	size_t n_changes;
};

/* One more value of a category. */
static void follow(struct peak *peak, int64_t bytes, int64_t ts_ns)
{
	if (peak->n_changes == 0 || bytes > peak->peak_bytes) {
		peak->peak_bytes = bytes;
		peak->peak_ts_ns = ts_ns;
	}
	peak->n_changes += peak->n_changes == 0 || bytes != peak->final_bytes;
	peak->final_bytes = bytes;
}

static void put_peak(
        ht_table *table, const char *category, const struct peak *peak, int64_t total_peak_bytes)
{
	ht_table_put_str(table, category);
	ht_table_put_i64(table, peak->peak_bytes);
	ht_table_put_i64(table, peak->peak_ts_ns);
	ht_table_put_i64(table, peak->at_total_peak_bytes);
	if (total_peak_bytes > 0)
		ht_table_put_f64(
		        table, (double)peak->at_total_peak_bytes / (double)total_peak_bytes);
	else
		ht_table_put_null(table);
	ht_table_put_i64(table, peak->final_bytes);
	ht_table_put_i64(table, (int64_t)peak->n_changes);
}

static void put_nulls(ht_table *table, int n)
{
	while (n-- > 0)
		ht_table_put_null(table);
}

/* ---- raw timeline file ---- */

enum { TOTAL = HT_N_MEMORY_CATEGORIES };

static int64_t total_of(const struct ht_memory_sample *sample)
{
	int64_t sum = 0;
	for (size_t c = 0; c < HT_N_MEMORY_CATEGORIES; c++)
		ht_sum(&sum, sample->bytes[c]);
	return sum;
}

static void put_file_summary(ht_table *table, const struct ht_memory_sample *samples, size_t n)
{
	struct peak peaks[HT_N_MEMORY_CATEGORIES + 1] = { 0 };
	size_t i_peak = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t ts_ns = samples[i].unix_ns - samples[0].unix_ns;
		int64_t before = peaks[TOTAL].peak_bytes;
		follow(&peaks[TOTAL], total_of(&samples[i]), ts_ns);
		if (i == 0 || peaks[TOTAL].peak_bytes > before)
			i_peak = i;
		for (size_t c = 0; c < HT_N_MEMORY_CATEGORIES; c++)
			follow(&peaks[c], samples[i].bytes[c], ts_ns);
	}
	peaks[TOTAL].at_total_peak_bytes = peaks[TOTAL].peak_bytes;
	for (size_t c = 0; c < HT_N_MEMORY_CATEGORIES; c++)
		peaks[c].at_total_peak_bytes = samples[i_peak].bytes[c];
	for (size_t c = 0; c <= HT_N_MEMORY_CATEGORIES; c++) {
		ht_table_row(table);
		put_nulls(table, 2);
		put_peak(table, c == TOTAL ? "total" : ht_memory_category_name(c), &peaks[c],
		        peaks[TOTAL].peak_bytes);
	}
}

static void put_file_series(ht_table *table, const struct ht_memory_sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ht_table_row(table);
		put_nulls(table, 2 + N_SUMMARY_ONLY);
		ht_table_put_i64(table, samples[i].unix_ns - samples[0].unix_ns);
		put_nulls(table, N_TRACE_ONLY);
		for (size_t c = 0; c < HT_N_MEMORY_CATEGORIES; c++)
			ht_table_put_i64(table, samples[i].bytes[c]);
		ht_table_put_i64(table, total_of(&samples[i]));
	}
}

static enum ht_status show_file(
        struct ht_run *run, ht_table *table, const char *path, bool as_series)
{
	const struct ht_memory_sample *samples = NULL;
	size_t n = 0;
	HT_TRY(ht_memory_file_read(run->ctx, path, run->scratch, &samples, &n));
	if (n == 0)
		return ht_table_add_note(table, "the file holds no events");
	if (as_series)
		put_file_series(table, samples, n);
	else
		put_file_summary(table, samples, n);
	return ht_table_add_note(
	        table, "time 0 is unix time %lld ns", (long long)samples[0].unix_ns);
}

/* ---- [memory] events ---- */

static void put_device_summary(ht_table *table, int64_t rank, const char *device,
        const struct ht_memory_event *events, size_t n)
{
	struct peak allocated = { 0 }, reserved = { 0 };
	int64_t held = 0, held_at_peak = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t before = allocated.peak_bytes;
		if (events[i].allocated != HT_NO_I64)
			follow(&allocated, events[i].allocated, events[i].ts_ns);
		if (events[i].reserved != HT_NO_I64) {
			held = events[i].reserved;
			follow(&reserved, held, events[i].ts_ns);
		}
		if (i == 0 || allocated.peak_bytes > before)
			held_at_peak = held;
	}
	allocated.at_total_peak_bytes = allocated.peak_bytes;
	reserved.at_total_peak_bytes = held_at_peak;
	ht_table_row(table);
	ht_table_put_i64(table, rank);
	ht_table_put_str(table, device);
	put_peak(table, "allocated", &allocated, allocated.peak_bytes);
	if (reserved.peak_bytes <= 0)
		return;
	ht_table_row(table);
	ht_table_put_i64(table, rank);
	ht_table_put_str(table, device);
	put_peak(table, "reserved", &reserved, allocated.peak_bytes);
}

static void put_device_series(ht_table *table, int64_t rank, const char *device,
        const struct ht_memory_event *events, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ht_table_row(table);
		ht_table_put_i64(table, rank);
		ht_table_put_str(table, device);
		put_nulls(table, N_SUMMARY_ONLY);
		ht_table_put_i64(table, events[i].ts_ns);
		ht_table_put_i64(table, events[i].bytes);
		ht_table_put_known(table, events[i].allocated, HT_NO_I64);
		if (events[i].reserved != HT_NO_I64)
			ht_table_put_i64(table, events[i].reserved);
	}
}

static enum ht_status follow_memory(struct ht_run *run, struct ht_part *part)
{
	bool as_series = ht_run_is(run, "view", "series");
	struct ht_memory_events all;
	HT_TRY(ht_memory_events_collect(run, &all));
	struct ht_memory_event *events = all.list;
	for (size_t start = 0; start < all.n;) {
		size_t end = start + 1;
		while (end < all.n && ht_memory_same_curve(&events[end], &events[start]))
			end++;
		ht_memory_fill_totals(events + start, end - start);
		const char *device = ht_memory_device_name(run, &events[start]);
		if (!device)
			return ht_fail_nomem(run->ctx);
		(as_series ? put_device_series : put_device_summary)(
		        part->facts[0], run->rank, device, events + start, end - start);
		start = end;
	}
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	bool as_series = ht_run_is(run, "view", "series");
	const char *path = ht_run_str(run, "file");
	if (path && *path)
		HT_TRY(show_file(run, table, path, as_series));
	else
		HT_TRY(ht_parts_rows_or(run, parts, table,
		        "no memory events: record with profile_memory=True, or give a raw memory "
		        "timeline with --file"));
	if (!as_series)
		ht_table_set_bar(table, "share_at_peak");
	struct ht_view view = { .columns = !as_series      ? SUMMARY_COLUMNS
		                           : path && *path ? FILE_COLUMNS
		                                           : TRACE_COLUMNS };
	return ht_table_apply_view(run->ctx, table, &view);
}
