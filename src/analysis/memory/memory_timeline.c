/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_timeline.c - memory in use over time, and its peaks.
 *
 * Two kinds of events, by what the traces hold:
 *   [memory] events: per device the allocator's total after each allocation and free (the running sum of
 *       bytes where the file has no totals), and what it has reserved;
 *   a raw memory timeline of PyTorch's memory profiler, which knows the category of each tensor: parameter,
 *       optimizer state, input, temporary, activation, gradient, autograd detail, unknown. It is given as
 *       a trace, or with --file, and then other traces are not looked at;
 *   both an execution trace that joins them (--attach) and [memory] events: the same categories per device, derived from what nodes do
 *       with the tensors (et/et_memory.h); column source.
 *
 * Views: "summary", per device (or timeline) and category: peak, when, what it held when the total peaked,
 * and what was left at the end. "series": every change of the total. "categories": every change of a raw
 * timeline, by category; with --file "series" means this one. "rows": what export_memory_timeline writes to x.json, the same
 * from that file and from the raw one.
 *
 * All events count unless steps or an annotation are chosen. Blind to memory that PyTorch does not
 * allocate (CUDA contexts, NCCL buffers). O(n log n).
 *
 * Example: +4 MiB parameter at 0, +2 MiB activation at 1 us, -2 MiB at 3 us: peak 6 MiB at 1 us, of it
 * 4 parameter and 2 activation; 4 MiB at the end.
 */
#include "analysis/analysis.h"
#include "et/et_memory.h"
#include "model/memory/allocations.h"
#include "model/memory/memory_samples.h"
#include "base/checked.h"

#include <stdio.h>
#include <string.h>

static enum ht_status choose_view(struct ht_run *run);
static enum ht_status follow_memory(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define SOURCE_SENTENCE                                                                            \
	"who says the category: recorded (memory timeline), execution-trace (derived); null for totals"

#define SUMMARY_COLUMNS(COLUMN)                                                                    \
	COLUMN(SUMMARY_RANK, "rank", HT_I64, HT_KEY, "rank of the trace, null for a file", NULL)   \
	COLUMN(SUMMARY_DEVICE, "device", HT_STR, HT_KEY,                                           \
	        "cpu, cuda:0, ...; null for a raw timeline", NULL)                                 \
	COLUMN(SUMMARY_CATEGORY, "category", HT_STR, HT_KEY,                                       \
	        "allocated or reserved, of allocators that report apart (NPU) behind "             \
	        "the name; of a raw "                                                              \
	        "timeline what the memory holds, or total",                                        \
	        NULL)                                                                              \
	COLUMN(SUMMARY_PEAK_BYTES, "peak_bytes", HT_BYTES, HT_MEASURE,                             \
	        "most that was held at once", NULL)                                                \
	COLUMN(SUMMARY_PEAK_TS_NS, "peak_ts_ns", HT_TIME, HT_MEASURE,                              \
	        "first time of that, from the first event of all ranks or of the file", NULL)      \
	COLUMN(SUMMARY_AT_TOTAL_PEAK_BYTES, "at_total_peak_bytes", HT_BYTES, HT_MEASURE,           \
	        "what it held when the device's or timeline's total peaked", NULL)                 \
	COLUMN(SUMMARY_SHARE_AT_PEAK, "share_at_peak", HT_RATIO, HT_MEASURE,                       \
	        "that over the total's peak", NULL)                                                \
	COLUMN(SUMMARY_FINAL_BYTES, "final_bytes", HT_BYTES, HT_DETAIL,                            \
	        "held after the last event", NULL)                                                 \
	COLUMN(SUMMARY_CHANGES, "changes", HT_I64, HT_DETAIL, "points at which it changed", NULL)  \
	COLUMN(SUMMARY_SOURCE, "source", HT_STR, HT_DETAIL, SOURCE_SENTENCE, NULL)
HT_COLUMNS(summary_columns, SUMMARY_COLUMNS);

#define SERIES_COLUMNS(COLUMN)                                                                     \
	COLUMN(SERIES_RANK, "rank", HT_I64, HT_KEY, "rank of the trace, null for a file", NULL)    \
	COLUMN(SERIES_DEVICE, "device", HT_STR, HT_KEY,                                            \
	        "cpu, cuda:0, ...; null for a raw timeline", NULL)                                 \
	COLUMN(SERIES_TS_NS, "ts_ns", HT_TIME, HT_KEY, "time of the change, from the first event", \
	        NULL)                                                                              \
	COLUMN(SERIES_DELTA_BYTES, "delta_bytes", HT_BYTES, HT_MEASURE,                            \
	        "bytes allocated, negative when freed", NULL)                                      \
	COLUMN(SERIES_ALLOCATED_BYTES, "allocated_bytes", HT_BYTES, HT_MEASURE,                    \
	        "in use from this time on", NULL)                                                  \
	COLUMN(SERIES_RESERVED_BYTES, "reserved_bytes", HT_BYTES, HT_MEASURE,                      \
	        "held by the allocator from this time on", NULL)
HT_COLUMNS(series_columns, SERIES_COLUMNS);

#define CATEGORY_COLUMNS(COLUMN)                                                                   \
	COLUMN(CATEGORY_RANK, "rank", HT_I64, HT_KEY, "rank of the trace, null for a file", NULL)  \
	COLUMN(CATEGORY_TS_NS, "ts_ns", HT_TIME, HT_KEY,                                           \
	        "time of the change, from the first event", NULL)                                  \
	COLUMN(CATEGORY_PARAMETER_BYTES, "parameter_bytes", HT_BYTES, HT_MEASURE,                  \
	        "held by parameters", NULL)                                                        \
	COLUMN(CATEGORY_OPTIMIZER_STATE_BYTES, "optimizer_state_bytes", HT_BYTES, HT_MEASURE,      \
	        "held by optimizer state", NULL)                                                   \
	COLUMN(CATEGORY_INPUT_BYTES, "input_bytes", HT_BYTES, HT_MEASURE, "held by inputs", NULL)  \
	COLUMN(CATEGORY_TEMPORARY_BYTES, "temporary_bytes", HT_BYTES, HT_MEASURE,                  \
	        "held by temporaries", NULL)                                                       \
	COLUMN(CATEGORY_ACTIVATION_BYTES, "activation_bytes", HT_BYTES, HT_MEASURE,                \
	        "held by activations", NULL)                                                       \
	COLUMN(CATEGORY_GRADIENT_BYTES, "gradient_bytes", HT_BYTES, HT_MEASURE,                    \
	        "held by gradients", NULL)                                                         \
	COLUMN(CATEGORY_AUTOGRAD_DETAIL_BYTES, "autograd_detail_bytes", HT_BYTES, HT_MEASURE,      \
	        "held by autograd internals", NULL)                                                \
	COLUMN(CATEGORY_UNKNOWN_BYTES, "unknown_bytes", HT_BYTES, HT_MEASURE,                      \
	        "held by things of unknown purpose", NULL)                                         \
	COLUMN(CATEGORY_TOTAL_BYTES, "total_bytes", HT_BYTES, HT_MEASURE, "sum of the categories", \
	        NULL)                                                                              \
	COLUMN(CATEGORY_DEVICE, "device", HT_STR, HT_KEY,                                          \
	        "cpu, cuda:0, ...; null for a raw timeline", NULL)                                 \
	COLUMN(CATEGORY_SOURCE, "source", HT_STR, HT_DETAIL, SOURCE_SENTENCE, NULL)
HT_COLUMNS(category_columns, CATEGORY_COLUMNS);

#define ROW_COLUMNS(COLUMN)                                                                        \
	COLUMN(ROW_RANK, "rank", HT_I64, HT_KEY, "rank of the trace, null for a file", NULL)       \
	COLUMN(ROW_TIME_US, "time_us", HT_I64, HT_KEY, "Unix time of the row", "us")               \
	COLUMN(ROW_PARAMETER, "parameter_bytes", HT_BYTES, HT_MEASURE, "held by parameters", NULL) \
	COLUMN(ROW_OPTIMIZER_STATE, "optimizer_state_bytes", HT_BYTES, HT_MEASURE,                 \
	        "held by optimizer state", NULL)                                                   \
	COLUMN(ROW_INPUT, "input_bytes", HT_BYTES, HT_MEASURE, "held by inputs", NULL)             \
	COLUMN(ROW_TEMPORARY, "temporary_bytes", HT_BYTES, HT_MEASURE, "held by temporaries",      \
	        NULL)                                                                              \
	COLUMN(ROW_ACTIVATION, "activation_bytes", HT_BYTES, HT_MEASURE, "held by activations",    \
	        NULL)                                                                              \
	COLUMN(ROW_GRADIENT, "gradient_bytes", HT_BYTES, HT_MEASURE, "held by gradients", NULL)    \
	COLUMN(ROW_AUTOGRAD_DETAIL, "autograd_detail_bytes", HT_BYTES, HT_MEASURE,                 \
	        "held by autograd internals", NULL)                                                \
	COLUMN(ROW_UNKNOWN, "unknown_bytes", HT_BYTES, HT_MEASURE,                                 \
	        "held by things of unknown purpose", NULL)
HT_COLUMNS(row_columns, ROW_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "summary", summary_columns, HT_COUNT(summary_columns) },
	{ "series", series_columns, HT_COUNT(series_columns) },
	{ "categories", category_columns, HT_COUNT(category_columns) },
	{ "rows", row_columns, HT_COUNT(row_columns) },
};

static const struct ht_param params[] = {
	{ "view", HT_STR, "summary",
	        "peaks per category, every change of the total, or of each category; rows as export_memory_timeline sums them up",
	        "summary|series|categories|rows" },
	{ "file", HT_STR, NULL, "raw memory timeline file to show instead of the traces", NULL },
};

const struct ht_analysis ht_analysis_memory_timeline = {
	.info = { .name = "memory-timeline",
	        .group = "memory",
	        .page_view = "memory",
	        .title = "Memory timeline",
	        .question =
	                "How much memory is in use over time, what holds it, and when does it peak?",
	        .method =
	                "The allocator's totals after every allocation and free of the traces, or the "
	                "running sums per category of a raw memory timeline file; with an attached "
	                "execution trace categories are derived from what operators do with the tensors.",
	        .hta = "MemoryAnalysis",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1,
	        .input_param = "file" },
	.input_reader = "memory-timeline",
	.choose = choose_view,
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
	ht_table_put_str(table, SUMMARY_CATEGORY, category);
	ht_table_put_i64(table, SUMMARY_PEAK_BYTES, peak->peak_bytes);
	ht_table_put_i64(table, SUMMARY_PEAK_TS_NS, peak->peak_ts_ns);
	ht_table_put_i64(table, SUMMARY_AT_TOTAL_PEAK_BYTES, peak->at_total_peak_bytes);
	if (total_peak_bytes > 0)
		ht_table_put_f64(table, SUMMARY_SHARE_AT_PEAK,
		        (double)peak->at_total_peak_bytes / (double)total_peak_bytes);
	else
		ht_table_put_null(table, SUMMARY_SHARE_AT_PEAK);
	ht_table_put_i64(table, SUMMARY_FINAL_BYTES, peak->final_bytes);
	ht_table_put_i64(table, SUMMARY_CHANGES, (int64_t)peak->n_changes);
}

/* ---- raw timeline ---- */

enum { TOTAL = HT_N_MEMORY_CATEGORIES };

static bool is_from_file(const struct ht_run *run)
{
	const char *path = ht_run_str(run, "file");
	return path && *path;
}

/* The first column of every table. */
static void put_rank(const struct ht_run *run, ht_table *table)
{
	if (is_from_file(run))
		ht_table_put_null(table, SUMMARY_RANK);
	else
		ht_table_put_i64(table, SUMMARY_RANK, run->rank);
}

/* What the categories of a device hold over time. */
struct held {
	const struct ht_memory_sample *samples;
	size_t n;
	const char *device; /* NULL: of a file, which does not say */
	const char *source;
	bool is_derived; /* inputs and autograd's details are not told apart from what is unknown */
};

static bool is_told(const struct held *held, size_t category)
{
	return !held->is_derived ||
	       (category != HT_MEMORY_INPUT && category != HT_MEMORY_AUTOGRAD_DETAIL);
}

static void put_category_summary(const struct ht_run *run, ht_table *table, const struct held *held)
{
	const struct ht_memory_sample *samples = held->samples;
	size_t n = held->n;
	struct peak peaks[HT_N_MEMORY_CATEGORIES + 1] = { 0 };
	size_t i_peak = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t before = peaks[TOTAL].peak_bytes;
		follow(&peaks[TOTAL], ht_memory_sample_total(&samples[i]), samples[i].ts_ns);
		if (i == 0 || peaks[TOTAL].peak_bytes > before)
			i_peak = i;
		for (size_t c = 0; c < HT_N_MEMORY_CATEGORIES; c++)
			follow(&peaks[c], samples[i].bytes[c], samples[i].ts_ns);
	}
	peaks[TOTAL].at_total_peak_bytes = peaks[TOTAL].peak_bytes;
	for (size_t c = 0; c < HT_N_MEMORY_CATEGORIES; c++)
		peaks[c].at_total_peak_bytes = samples[i_peak].bytes[c];
	for (size_t c = 0; c <= HT_N_MEMORY_CATEGORIES; c++) {
		if (!is_told(held, c))
			continue;
		ht_table_row(table);
		put_rank(run, table);
		ht_table_put_str(table, SUMMARY_DEVICE, held->device);
		put_peak(table, c == TOTAL ? "total" : ht_memory_category_name(c), &peaks[c],
		        peaks[TOTAL].peak_bytes);
		ht_table_put_str(table, SUMMARY_SOURCE, c == TOTAL ? NULL : held->source);
	}
}

static void put_total_series(
        const struct ht_run *run, ht_table *table, const struct ht_memory_sample *samples, size_t n)
{
	int64_t before = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t total = ht_memory_sample_total(&samples[i]);
		ht_table_row(table);
		put_rank(run, table);
		ht_table_put_null(table, SERIES_DEVICE);
		ht_table_put_i64(table, SERIES_TS_NS, samples[i].ts_ns);
		ht_table_put_i64(table, SERIES_DELTA_BYTES, ht_sub_sat(total, before));
		ht_table_put_i64(table, SERIES_ALLOCATED_BYTES, total);
		ht_table_put_null(table, SERIES_RESERVED_BYTES);
		before = total;
	}
}

static void put_category_series(const struct ht_run *run, ht_table *table, const struct held *held)
{
	const struct ht_memory_sample *samples = held->samples;
	size_t n = held->n;
	for (size_t i = 0; i < n; i++) {
		ht_table_row(table);
		put_rank(run, table);
		ht_table_put_i64(table, CATEGORY_TS_NS, samples[i].ts_ns);
		for (size_t c = 0; c < HT_N_MEMORY_CATEGORIES; c++)
			ht_table_put_known(table, CATEGORY_PARAMETER_BYTES + c,
			        is_told(held, c) ? samples[i].bytes[c] : HT_NO_I64, HT_NO_I64);
		ht_table_put_i64(table, CATEGORY_TOTAL_BYTES, ht_memory_sample_total(&samples[i]));
		ht_table_put_str(table, CATEGORY_DEVICE, held->device);
		ht_table_put_str(table, CATEGORY_SOURCE, held->source);
	}
}

static void put_exported(
        const struct ht_run *run, ht_table *table, const struct ht_memory_sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ht_table_row(table);
		put_rank(run, table);
		ht_table_put_i64(table, ROW_TIME_US, samples[i].ts_ns);
		for (size_t c = 0; c < HT_N_MEMORY_CATEGORIES; c++)
			ht_table_put_i64(table, ROW_PARAMETER + c, samples[i].bytes[c]);
	}
}

static bool knows_any(const struct held *held)
{
	for (size_t i = 0; i < held->n; i++)
		for (size_t c = 0; c < HT_MEMORY_UNKNOWN; c++)
			if (held->samples[i].bytes[c])
				return true;
	return false;
}

/* The categories of each device, from the execution trace that joins the rank in hand. */
static enum ht_status derive_categories(struct ht_run *run, ht_table *table)
{
	struct ht_et_memory memory;
	struct ht_memory_events chosen;
	bool as_series = ht_run_is(run, "view", "categories");
	if (!as_series && !ht_run_is(run, "view", "summary"))
		return HT_OK;
	HT_TRY(ht_et_memory_derive(run, &memory));
	if (!memory.is_there)
		return HT_OK;
	HT_TRY(ht_memory_events_collect(run, &chosen));
	const struct ht_memory_event *events = memory.events.list;
	for (size_t first = 0, end, at = 0; first < memory.events.n; first = end) {
		struct ht_memory_sample *samples;
		size_t n = 0;
		for (end = first + 1; end < memory.events.n; end++)
			if (!ht_memory_same_curve(&events[end], &events[first]))
				break;
		HT_TRY(ht_et_memory_samples(run, &memory, first, end, &samples));
		/* both lists have one order */
		for (size_t i = first; i < end; i++)
			if (at < chosen.n && chosen.list[at].row == events[i].row) {
				samples[n++] = samples[i - first];
				at++;
			}
		struct held held = { samples, n, ht_memory_device_name(run, &events[first]),
			"execution-trace", true };
		if (!held.device)
			return ht_fail_nomem(run->ctx);
		/* of a CPU beside GPUs nothing is known as a rule */
		if (n && (events[first].device_type || knows_any(&held)))
			(as_series ? put_category_series : put_category_summary)(run, table, &held);
	}
	return HT_OK;
}

static enum ht_status follow_categories(struct ht_run *run, ht_table *table)
{
	const struct ht_memory_sample *samples = NULL;
	size_t n = 0;
	if (ht_run_is(run, "view", "rows")) {
		HT_TRY(ht_memory_rows_find(run->ctx, run->trace, run->scratch, &samples, &n));
		put_exported(run, table, samples, n);
		return HT_OK;
	}
	HT_TRY(ht_memory_samples_find(run->ctx, run->trace, run->scratch, &samples, &n));
	if (!n)
		return derive_categories(run, table);
	struct held held = { samples, n, NULL, "recorded", false };
	if (ht_run_is(run, "view", "categories"))
		put_category_series(run, table, &held);
	else if (ht_run_is(run, "view", "series"))
		put_total_series(run, table, samples, n);
	else
		put_category_summary(run, table, &held);
	return HT_OK;
}

/* ---- [memory] events ---- */

/* Allocators that report apart are told by their names. */
static void put_curve(ht_table *table, int64_t rank, const char *device, const char *component,
        const char *what, const struct peak *peak, int64_t total_peak_bytes)
{
	char category[160];
	snprintf(category, sizeof category, "%s%s%s", component ? component : "",
	        component ? " " : "", what);
	ht_table_row(table);
	ht_table_put_i64(table, SUMMARY_RANK, rank);
	ht_table_put_str(table, SUMMARY_DEVICE, device);
	put_peak(table, category, peak, total_peak_bytes);
	ht_table_put_null(table, SUMMARY_SOURCE);
}

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
	if (allocated.n_changes)
		put_curve(table, rank, device, events[0].component, "allocated", &allocated,
		        allocated.peak_bytes);
	if (reserved.peak_bytes > 0)
		put_curve(table, rank, device, events[0].component, "reserved", &reserved,
		        allocated.peak_bytes);
}

static void put_device_series(ht_table *table, int64_t rank, const char *device,
        const struct ht_memory_event *events, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ht_table_row(table);
		ht_table_put_i64(table, SERIES_RANK, rank);
		ht_table_put_str(table, SERIES_DEVICE, device);
		ht_table_put_i64(table, SERIES_TS_NS, events[i].ts_ns);
		ht_table_put_i64(table, SERIES_DELTA_BYTES, events[i].bytes);
		ht_table_put_known(table, SERIES_ALLOCATED_BYTES, events[i].allocated, HT_NO_I64);
		ht_table_put_known(table, SERIES_RESERVED_BYTES, events[i].reserved, HT_NO_I64);
	}
}

static enum ht_status choose_view(struct ht_run *run)
{
	if (is_from_file(run) && ht_run_is(run, "view", "series"))
		ht_run_set(run, "view", "categories");
	return HT_OK;
}

static enum ht_status follow_devices(struct ht_run *run, ht_table *table)
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
		        table, run->rank, device, events + start, end - start);
		start = end;
	}
	return HT_OK;
}

static enum ht_status follow_memory(struct ht_run *run, struct ht_part *part)
{
	if (!ht_run_is(run, "view", "categories") && !ht_run_is(run, "view", "rows"))
		HT_TRY(follow_devices(run, part->facts[0]));
	return follow_categories(run, part->facts[0]);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	const char *note =
	        "no memory events: record with profile_memory=True, or give a raw memory "
	        "timeline with --file";
	if (run->step || run->annotation)
		note = "no memory events in the selection";
	if (ht_run_is(run, "view", "categories") || ht_run_is(run, "view", "rows"))
		note = "no raw memory timeline, and no execution trace to derive categories from: give one with --attach";
	if (is_from_file(run))
		note = "the file holds no events";
	HT_TRY(ht_parts_rows_or(run, parts, table, note));
	int64_t zero_ns = run->n_sets ? run->rosters[0]->zero_unix_ns : HT_NO_I64;
	if (is_from_file(run) && ht_table_n_rows(table) && zero_ns != HT_NO_I64)
		HT_TRY(ht_table_add_note(table, "time 0 is unix time %lld ns", (long long)zero_ns));
	if (ht_run_is(run, "view", "summary"))
		ht_table_set_bar(table, SUMMARY_SHARE_AT_PEAK);
	return HT_OK;
}
