/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_curve.c - allocated, reserved and active memory over time, and their peaks.
 *
 * One curve per device, and per component where allocators report apart (PTA, GE, APP, ... on NPU). A point is a
 * [memory] event of the trace (allocations.h): from its time on, so much is
 *   allocated  in use by tensors: the allocator's total, or the running sum of bytes where the file has no totals
 *   reserved   held by the allocator; reserved - allocated is what fragments or waits to be used again
 *   active     allocated, or freed and still waited for by a stream; NPU
 * Views: "curve", every point, or as many per curve as --points says (thin_out.h); "peaks", per curve the most of each
 * and the first time of it; "operators", what the operators hold of the allocated bytes (memory_bands.h), after the event with
 * the most allocated of each of --points pieces, so that the peak is among them; "fullest", the same of the rank and device with the
 * highest peak alone, a GPU where there is one, in at most 500 points.
 * All events count unless steps or an annotation are chosen. Blind to memory that PyTorch does not allocate. O(n log n).
 *
 * Example: +4 MiB at 0, +2 MiB at 1 us, -2 MiB at 3 us: points 4, 6, 4 MiB; peak 6 MiB at 1 us.
 */
#include "analysis/analysis.h"
#include "base/checked.h"
#include "model/finding/finding.h"
#include "model/memory/memory_bands.h"
#include "model/numbers/thin_out.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <string.h>

/* Bands of no operator: what is too little to have its own (memory_bands.c), and what nobody was seen to allocate. */
#define OTHERS "(others)"
#define UNSEEN "(not in the recording)"

/* A picture is no wider. */
#define MAX_FULLEST_POINTS 500

static enum ht_status check(struct ht_run *run);
static enum ht_status follow(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define CURVE_COLUMNS(COLUMN)                                                                      \
	COLUMN(CURVE_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                      \
	COLUMN(CURVE_DEVICE, "device", HT_STR, HT_KEY, "cpu, cuda:0, ...", NULL)                   \
	COLUMN(CURVE_COMPONENT, "component", HT_STR, HT_KEY,                                       \
	        "allocator, where several report apart; null: the only one", NULL)                 \
	COLUMN(CURVE_TS_NS, "ts_ns", HT_TIME, HT_KEY,                                              \
	        "time of the point, from the first event of all ranks", NULL)                      \
	COLUMN(CURVE_ALLOCATED_BYTES, "allocated_bytes", HT_BYTES, HT_MEASURE,                     \
	        "in use from this time on", NULL)                                                  \
	COLUMN(CURVE_RESERVED_BYTES, "reserved_bytes", HT_BYTES, HT_MEASURE,                       \
	        "held by the allocator from this time on", NULL)                                   \
	COLUMN(CURVE_ACTIVE_BYTES, "active_bytes", HT_BYTES, HT_MEASURE,                           \
	        "in use or waited for by a stream from this time on", NULL)                        \
	COLUMN(CURVE_DELTA_BYTES, "delta_bytes", HT_BYTES, HT_DETAIL,                              \
	        "bytes allocated, negative when freed; 0: a sample", NULL)                         \
	COLUMN(CURVE_INDEX, "index", HT_I64, HT_DETAIL, "row of the memory event", NULL)
HT_COLUMNS(curve_columns, CURVE_COLUMNS);

#define PEAK_COLUMNS(COLUMN)                                                                       \
	COLUMN(PEAK_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                       \
	COLUMN(PEAK_DEVICE, "device", HT_STR, HT_KEY, "cpu, cuda:0, ...", NULL)                    \
	COLUMN(PEAK_COMPONENT, "component", HT_STR, HT_KEY,                                        \
	        "allocator, where several report apart; null: the only one", NULL)                 \
	COLUMN(PEAK_ALLOCATED_BYTES, "allocated_bytes", HT_BYTES, HT_MEASURE,                      \
	        "most in use at once", NULL)                                                       \
	COLUMN(PEAK_ALLOCATED_TS_NS, "allocated_ts_ns", HT_TIME, HT_MEASURE,                       \
	        "first time of that, from the first event of all ranks", NULL)                     \
	COLUMN(PEAK_ALLOCATED_INDEX, "allocated_index", HT_I64, HT_DETAIL,                         \
	        "row of that memory event", NULL)                                                  \
	COLUMN(PEAK_RESERVED_BYTES, "reserved_bytes", HT_BYTES, HT_MEASURE,                        \
	        "most held by the allocator", NULL)                                                \
	COLUMN(PEAK_RESERVED_TS_NS, "reserved_ts_ns", HT_TIME, HT_MEASURE, "first time of that",   \
	        NULL)                                                                              \
	COLUMN(PEAK_ACTIVE_BYTES, "active_bytes", HT_BYTES, HT_MEASURE,                            \
	        "most in use or waited for", NULL)                                                 \
	COLUMN(PEAK_ACTIVE_TS_NS, "active_ts_ns", HT_TIME, HT_MEASURE, "first time of that", NULL) \
	COLUMN(PEAK_DEVICE_BYTES, "device_bytes", HT_BYTES, HT_MEASURE,                            \
	        "memory of the device, where the file says", NULL)                                 \
	COLUMN(PEAK_POINTS, "points", HT_I64, HT_DETAIL, "points of the curve", NULL)
HT_COLUMNS(peak_columns, PEAK_COLUMNS);

#define BAND_COLUMNS(COLUMN)                                                                         \
	COLUMN(BAND_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                         \
	COLUMN(BAND_DEVICE, "device", HT_STR, HT_KEY, "cpu, cuda:0, ...", NULL)                      \
	COLUMN(BAND_COMPONENT, "component", HT_STR, HT_KEY,                                          \
	        "allocator, where several report apart; null: the only one", NULL)                   \
	COLUMN(BAND_TS_NS, "ts_ns", HT_TIME, HT_KEY,                                                 \
	        "time of the point, from the first event of all ranks", NULL)                        \
	COLUMN(BAND_OPERATOR, "operator", HT_STR, HT_KEY,                                            \
	        "operator that allocated it; (others): all with less, (not in the recording): what " \
	        "was allocated before, or has no event",                                             \
	        NULL)                                                                                \
	COLUMN(BAND_BYTES, "bytes", HT_BYTES, HT_MEASURE, "held by it from this time on", NULL)      \
	COLUMN(BAND_ALLOCATED_BYTES, "allocated_bytes", HT_BYTES, HT_MEASURE,                        \
	        "in use from this time on, of all", NULL)                                            \
	COLUMN(BAND_RESERVED_BYTES, "reserved_bytes", HT_BYTES, HT_MEASURE,                          \
	        "held by the allocator from this time on", NULL)                                     \
	COLUMN(BAND_INDEX, "index", HT_I64, HT_DETAIL, "row of the memory event", NULL)
HT_COLUMNS(band_columns, BAND_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "curve", curve_columns, HT_COUNT(curve_columns) },
	{ "peaks", peak_columns, HT_COUNT(peak_columns) },
	{ "operators", band_columns, HT_COUNT(band_columns) },
	{ "fullest", band_columns, HT_COUNT(band_columns) },
};

static const struct ht_param params[] = {
	{ "view", HT_STR, "curve",
	        "every point, the peaks of each curve, or what operators hold, of all devices or the fullest",
	        "curve|peaks|operators|fullest" },
	{ "points", HT_I64, "10240", "at most so many points per curve; 0: all", NULL },
	{ "bands", HT_I64, "12", "operators that view operators shows by name", NULL },
};

static const struct ht_over_time over_time = { .view = "curve",
	.columns = "ts_ns,device,component,allocated_bytes,reserved_bytes",
	.n_keys = 2,
	.points = "points" };

const struct ht_analysis ht_analysis_memory_curve = {
	.info = { .name = "memory-curve",
	        .group = "memory",
	        .page_view = "memory",
	        .title = "Memory curve",
	        .question =
	                "How much memory is allocated, reserved and active over time on each device, and by which operators?",
	        .method =
	                "The allocator's totals after every memory event, per device and component; "
	                "the running sum of bytes where the file has no totals.",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .over_time = &over_time,
	        .charts = "fullest",
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1 },
	.choose = check,
	.per_rank = follow,
	.finish = finish,
};

static enum ht_status check(struct ht_run *run)
{
	int64_t points = ht_run_i64(run, "points");
	if (ht_run_i64(run, "bands") < 1)
		return ht_fail(run->ctx, HT_USAGE, NULL, -1, "give 1 or more", "there is no band");
	if (points == 0 || points >= 3)
		return HT_OK;
	return ht_fail(run->ctx, HT_USAGE, NULL, -1, "give 0 for all, or 3 and more",
	        "a curve of %lld points is none", (long long)points);
}

/* ---- one curve ---- */

struct curve {
	struct ht_run *run;
	ht_table *table;
	const char *device, *component;
	const struct ht_memory_event *events;
	size_t n;
};

/* The first columns of both tables. */
static void put_key(const struct curve *c)
{
	ht_table_row(c->table);
	ht_table_put_i64(c->table, CURVE_RANK, c->run->rank);
	ht_table_put_str(c->table, CURVE_DEVICE, c->device);
	ht_table_put_str(c->table, CURVE_COMPONENT, c->component);
}

static void put_point(const struct curve *c, const struct ht_memory_event *event)
{
	put_key(c);
	ht_table_put_i64(c->table, CURVE_TS_NS, event->ts_ns);
	ht_table_put_known(c->table, CURVE_ALLOCATED_BYTES, event->allocated, HT_NO_I64);
	ht_table_put_known(c->table, CURVE_RESERVED_BYTES, event->reserved, HT_NO_I64);
	ht_table_put_known(c->table, CURVE_ACTIVE_BYTES, event->active, HT_NO_I64);
	ht_table_put_i64(c->table, CURVE_DELTA_BYTES, event->bytes);
	ht_table_put_i64(c->table, CURVE_INDEX, event->row);
}

static enum ht_status put_curve(const struct curve *c)
{
	size_t n_kept = (size_t)ht_run_i64(c->run, "points");
	if (!n_kept || c->n <= n_kept) {
		for (size_t i = 0; i < c->n; i++)
			put_point(c, &c->events[i]);
		return HT_OK;
	}
	struct ht_point *points = ht_arena_alloc(c->run->scratch, (c->n + 1) * sizeof *points);
	size_t *kept = ht_arena_alloc(c->run->scratch, (n_kept + 1) * sizeof *kept);
	if (!points || !kept)
		return ht_fail_nomem(c->run->ctx);
	for (size_t i = 0; i < c->n; i++)
		points[i] = (struct ht_point){ c->events[i].ts_ns - c->events[0].ts_ns,
			c->events[i].allocated == HT_NO_I64 ? 0 : c->events[i].allocated };
	n_kept = ht_thin_out(points, c->n, n_kept, kept);
	for (size_t i = 0; i < n_kept; i++)
		put_point(c, &c->events[kept[i]]);
	return ht_table_add_note(c->table,
	        "rank %lld, %s: %zu of %zu points are kept; --points 0 shows all",
	        (long long)c->run->rank, c->device, n_kept, c->n);
}

struct peak {
	int64_t bytes, ts_ns, row;
};

static void climb(struct peak *peak, int64_t bytes, const struct ht_memory_event *event)
{
	if (bytes != HT_NO_I64 && (peak->bytes == HT_NO_I64 || bytes > peak->bytes))
		*peak = (struct peak){ bytes, event->ts_ns, event->row };
}

static void put_peak(ht_table *table, size_t column, const struct peak *peak)
{
	bool known = peak->bytes != HT_NO_I64;
	ht_table_put_known(table, column, peak->bytes, HT_NO_I64);
	ht_table_put_known(table, column + 1, known ? peak->ts_ns : HT_NO_I64, HT_NO_I64);
}

static int64_t device_bytes(const struct curve *c)
{
	const struct ht_trace *t = c->run->trace;
	for (size_t i = 0; c->events[0].device_type != 0 && i < t->more->n_devices; i++)
		if (t->more->devices[i].id == c->events[0].device_id)
			return t->more->devices[i].total_memory_bytes;
	return HT_NO_I64;
}

static enum ht_status put_peaks(const struct curve *c)
{
	const struct peak none = { HT_NO_I64, 0, 0 };
	struct peak allocated = none, reserved = none, active = none;
	for (size_t i = 0; i < c->n; i++) {
		climb(&allocated, c->events[i].allocated, &c->events[i]);
		climb(&reserved, c->events[i].reserved, &c->events[i]);
		climb(&active, c->events[i].active, &c->events[i]);
	}
	put_key(c);
	put_peak(c->table, PEAK_ALLOCATED_BYTES, &allocated);
	ht_table_put_known(c->table, PEAK_ALLOCATED_INDEX,
	        allocated.bytes == HT_NO_I64 ? HT_NO_I64 : allocated.row, HT_NO_I64);
	put_peak(c->table, PEAK_RESERVED_BYTES, &reserved);
	put_peak(c->table, PEAK_ACTIVE_BYTES, &active);
	ht_table_put_known(c->table, PEAK_DEVICE_BYTES, device_bytes(c), HT_NO_I64);
	ht_table_put_i64(c->table, PEAK_POINTS, (int64_t)c->n);
	return HT_OK;
}

/* ---- operators ---- */

static void put_bands(const struct curve *c, const struct ht_memory_event *event,
        const struct ht_memory_bands *bands, const int64_t *held)
{
	int64_t rest = event->allocated;
	for (size_t b = 0; b <= bands->n; b++) {
		bool is_rest = b == bands->n;
		int64_t bytes = is_rest ? (rest > 0 ? rest : 0) : held[b];
		put_key(c);
		ht_table_put_i64(c->table, BAND_TS_NS, event->ts_ns);
		ht_table_put_str(c->table, BAND_OPERATOR, is_rest ? UNSEEN : bands->names[b]);
		ht_table_put_i64(c->table, BAND_BYTES, bytes);
		ht_table_put_i64(c->table, BAND_ALLOCATED_BYTES, event->allocated);
		ht_table_put_known(c->table, BAND_RESERVED_BYTES, event->reserved, HT_NO_I64);
		ht_table_put_i64(c->table, BAND_INDEX, event->row);
		rest = ht_sub_sat(rest, bytes);
	}
}

/* The event of a piece after which most is allocated; its end where none has a total. */
static size_t top_of(const struct curve *c, size_t first, size_t end)
{
	size_t top = end;
	for (size_t i = first; i < end; i++)
		if (c->events[i].allocated != HT_NO_I64 &&
		        (top == end || c->events[i].allocated > c->events[top].allocated))
			top = i;
	return top;
}

static enum ht_status put_operators(
        const struct curve *c, const struct ht_memory_owners *owners, size_t first)
{
	size_t n_points = (size_t)ht_run_i64(c->run, "points"), at = 0;
	if (ht_run_is(c->run, "view", "fullest") && (!n_points || n_points > MAX_FULLEST_POINTS))
		n_points = MAX_FULLEST_POINTS;
	size_t n_piece = n_points && c->n > n_points ? (c->n + n_points - 1) / n_points : 1;
	struct ht_memory_bands bands;
	HT_TRY(ht_memory_bands_make(
	        c->run, owners, first, first + c->n, (size_t)ht_run_i64(c->run, "bands"), &bands));
	int64_t *held = ht_arena_alloc(c->run->scratch, (bands.n + 1) * sizeof *held);
	if (!held)
		return ht_fail_nomem(c->run->ctx);
	for (size_t i = 0; i < c->n; i += n_piece) {
		size_t end = c->n - i < n_piece ? c->n : i + n_piece, top = top_of(c, i, end);
		if (top == end)
			continue;
		for (; at <= top; at++)
			if (bands.band_of[at] != HT_NONE)
				ht_sum(&held[bands.band_of[at]], bands.bytes[at]);
		put_bands(c, &c->events[top], &bands, held);
	}
	return HT_OK;
}

/* ---- a rank ---- */

static enum ht_status find_owners(struct ht_run *run, const struct ht_memory_events *events,
        struct ht_memory_owners *ret_owners)
{
	struct ht_traits traits;
	struct ht_op_tree tree;
	struct ht_memory_pair *pairs = NULL;
	*ret_owners = (struct ht_memory_owners){ .events = events };
	HT_TRY(ht_traits_init(run, run->trace, &traits));
	HT_TRY(ht_op_tree_make(run, &traits, &tree));
	HT_TRY(ht_memory_ops_find(run, events, &tree, &ret_owners->ops));
	HT_TRY(ht_memory_pairs_find(run, events, &pairs, &ret_owners->n_pairs));
	ret_owners->pairs = pairs;
	return HT_OK;
}

/* The end of the curve that starts at an event; its totals are filled in. */
static size_t curve_end(const struct ht_memory_events *events, size_t first)
{
	size_t end = first + 1;
	while (end < events->n && ht_memory_same_curve(&events->list[first], &events->list[end]))
		end++;
	ht_memory_fill_totals(events->list + first, end - first);
	return end;
}

/* Where the curve begins that goes highest: of a GPU where there is one. */
static size_t find_fullest(const struct ht_memory_events *events)
{
	size_t fullest = 0;
	int64_t most = HT_NO_I64;
	for (size_t first = 0, end; first < events->n; first = end) {
		bool is_better_kind =
		        events->list[first].device_type && !events->list[fullest].device_type;
		bool is_worse_kind =
		        !events->list[first].device_type && events->list[fullest].device_type;
		int64_t here = HT_NO_I64;
		end = curve_end(events, first);
		for (size_t i = first; i < end; i++)
			here = events->list[i].allocated > here ? events->list[i].allocated : here;
		if (is_better_kind || (!is_worse_kind && here > most)) {
			fullest = first;
			most = here;
		}
	}
	return fullest;
}

static enum ht_status follow(struct ht_run *run, struct ht_part *part)
{
	bool peaks = ht_run_is(run, "view", "peaks"),
	     is_fullest = ht_run_is(run, "view", "fullest");
	bool by_op = is_fullest || ht_run_is(run, "view", "operators");
	struct ht_memory_events events;
	struct ht_memory_owners owners = { .events = NULL };
	HT_TRY(ht_memory_events_collect(run, &events));
	if (by_op && events.n)
		HT_TRY(find_owners(run, &events, &owners));
	size_t from = is_fullest ? find_fullest(&events) : 0;
	for (size_t first = from, end; first < events.n; first = is_fullest ? events.n : end) {
		struct ht_memory_event *list = events.list + first;
		end = curve_end(&events, first);
		struct curve curve = { run, part->facts[0], ht_memory_device_name(run, list),
			list->component, list, end - first };
		if (!curve.device)
			return ht_fail_nomem(run->ctx);
		HT_TRY(by_op ? put_operators(&curve, &owners, first)
		             : (peaks ? put_peaks : put_curve)(&curve));
	}
	return HT_OK;
}

/* What is held at the peak of bands, and by whom. */
static struct ht_finding explain_peak(const ht_table *bands)
{
	struct ht_finding f = ht_finding("memory-peak", HT_STATE_FOUND);
	size_t n = ht_table_n_rows(bands), top = 0, taken[3] = { SIZE_MAX, SIZE_MAX, SIZE_MAX };
	for (size_t i = 1; i < n; i++)
		if (ht_table_i64(bands, i, BAND_ALLOCATED_BYTES) >
		        ht_table_i64(bands, top, BAND_ALLOCATED_BYTES))
			top = i;
	int64_t peak = ht_table_i64(bands, top, BAND_ALLOCATED_BYTES);
	ht_finding_value(&f, (double)peak, "bytes");
	for (size_t k = 0; k < HT_COUNT(taken); k++) {
		size_t best = SIZE_MAX;
		for (size_t i = top; i < n && ht_table_i64(bands, i, BAND_INDEX) ==
		                                      ht_table_i64(bands, top, BAND_INDEX);
		        i++)
			if (i != taken[0] && i != taken[1] &&
			        strcmp(ht_table_str(bands, i, BAND_OPERATOR), OTHERS) != 0 &&
			        (best == SIZE_MAX || ht_table_i64(bands, i, BAND_BYTES) >
			                                     ht_table_i64(bands, best, BAND_BYTES)))
				best = i;
		if (best == SIZE_MAX || peak <= 0 || !ht_table_i64(bands, best, BAND_BYTES))
			break;
		const char *name = ht_table_str(bands, best, BAND_OPERATOR);
		struct ht_finding_item item =
		        ht_item("", strcmp(name, UNSEEN) != 0 ? name : "from before the recording");
		item.share = (double)ht_table_i64(bands, best, BAND_BYTES) / (double)peak;
		ht_finding_item(&f, &item);
		taken[k] = best;
	}
	ht_finding_next(&f, "memory-curve");
	ht_finding_arg(&f, "view", "operators");
	return f;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct ht_parts one = *parts;
	if (ht_run_is(run, "view", "fullest") && ht_parts_n_rows(parts, 0)) {
		one.list = ht_memory_fullest(parts, BAND_ALLOCATED_BYTES);
		one.n = 1;
		struct ht_finding peak = explain_peak(one.list->facts[0]);
		HT_TRY(ht_finding_note(run->scratch, &peak, table));
	}
	return ht_parts_rows_or(run, &one, table, ht_memory_none_note(run));
}
