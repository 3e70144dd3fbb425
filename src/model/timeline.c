/*
 * timeline.c - one rank's tracks by time, for whoever draws them; see holotrace.h.
 *
 * Times are the set's; events are known by their ids, names by their numbers in the trace.
 */
#include "model/event_value.h"

#include "base/number.h"
#include "store/ranges.h"

#include <stdio.h>

struct ht_timeline {
	struct ht_mem *mem;
	struct ht_arena arena;
	const struct ht_trace *trace;
	int64_t rank, offset_ns;
	struct ht_ranges ranges;
};

enum ht_status ht_timeline_open(ht_ctx *ctx, ht_set *set, size_t i, ht_timeline **ret_timeline)
{
	ht_error_clear(ctx);
	if (i >= set->roster.n)
		return ht_fail(
		        ctx, HT_USAGE, NULL, -1, NULL, "the set has %zu ranks", set->roster.n);
	struct ht_timeline *timeline = ht_mem_zalloc(ctx->mem, sizeof *timeline);
	if (!timeline)
		return ht_fail_nomem(ctx);
	timeline->mem = ht_mem_retain(ctx->mem);
	timeline->rank = set->roster.ranks[i].number;
	timeline->offset_ns = set->roster.ranks[i].offset_ns;
	ht_arena_init(&timeline->arena, timeline->mem);
	enum ht_status status = ht_set_acquire(ctx, set, i, &timeline->trace);
	if (status == HT_OK)
		status = ht_ranges_make(ctx, timeline->trace, &timeline->arena, &timeline->ranges);
	if (status != HT_OK) {
		ht_timeline_close(timeline);
		return status;
	}
	*ret_timeline = timeline;
	return HT_OK;
}

void ht_timeline_close(ht_timeline *timeline)
{
	if (!timeline)
		return;
	struct ht_mem *mem = timeline->mem;
	ht_trace_release(timeline->trace);
	ht_arena_done(&timeline->arena);
	ht_mem_free(mem, timeline, sizeof *timeline);
	ht_mem_release(mem);
}

size_t ht_timeline_n_tracks(const ht_timeline *timeline)
{
	return timeline->ranges.n_tracks;
}

/* pid or tid: the number, or its text when it is none. */
static const char *id_text(const struct ht_trace *t, int64_t id, uint8_t type)
{
	return type == HT_ID_STR ? ht_str(t, (uint32_t)id) : "";
}

static const char *name_or_null(const struct ht_trace *t, uint32_t id)
{
	return id == HT_NO_STR ? NULL : ht_str(t, id);
}

bool ht_timeline_track(const ht_timeline *timeline, size_t i, struct ht_track_info *ret_track)
{
	if (i >= timeline->ranges.n_tracks)
		return false;
	const struct ht_trace *t = timeline->trace;
	const struct ht_track *track = &t->tracks[i];
	const struct ht_track_ranges *r = &timeline->ranges.tracks[i];
	struct ht_track_info info = { .pid = track->pid_type == HT_ID_INT ? track->pid : -1,
		.tid = track->tid_type == HT_ID_INT ? track->tid : -1,
		.pid_text = id_text(t, track->pid, track->pid_type),
		.tid_text = id_text(t, track->tid, track->tid_type),
		.process = name_or_null(t, track->process_name),
		.thread = name_or_null(t, track->name),
		.device = track->device,
		.n_spans = r->n,
		.n_lanes = r->n_lanes };
	if (r->n) {
		info.first_ns = t->ts_ns[r->rows[0]] + timeline->offset_ns;
		info.last_ns = info.first_ns;
	}
	for (size_t k = r->n_levels ? r->first_block[r->n_levels - 1] : 0;
	        r->n_levels && k < r->first_block[r->n_levels]; k++)
		if (r->blocks[k].last_ns + timeline->offset_ns > info.last_ns)
			info.last_ns = r->blocks[k].last_ns + timeline->offset_ns;
	for (size_t k = 0; !r->n_levels && k < r->n; k++)
		if (ht_end_ns(t, r->rows[k]) + timeline->offset_ns > info.last_ns)
			info.last_ns = ht_end_ns(t, r->rows[k]) + timeline->offset_ns;
	*ret_track = info;
	return true;
}

struct telling {
	const struct ht_timeline *timeline;
	const struct ht_track_ranges *track;
	ht_span_fn fn;
	void *user;
};

static bool tell(void *user, const struct ht_range_hit *hit)
{
	const struct telling *to = user;
	const struct ht_timeline *timeline = to->timeline;
	const struct ht_trace *t = timeline->trace;
	const struct ht_gpu *gpu =
	        ht_kind_is_gpu_work(t->kind[hit->row]) ? ht_gpu_of_row(t, hit->row) : NULL;
	struct ht_span span = { .id = ht_event_id(timeline->rank, hit->row),
		.start_ns = hit->start_ns + timeline->offset_ns,
		.end_ns = hit->end_ns + timeline->offset_ns,
		.sum_ns = hit->sum_ns,
		.name = t->name[hit->row],
		.n = hit->n,
		.lane = to->track->lanes[hit->position],
		.kind = t->kind[hit->row],
		.work = gpu ? gpu->class_ : UINT8_MAX };
	return to->fn(to->user, &span);
}

void ht_timeline_range(const ht_timeline *timeline, size_t track, int64_t from_ns, int64_t to_ns,
        int64_t resolution_ns, ht_span_fn fn, void *user)
{
	if (track >= timeline->ranges.n_tracks)
		return;
	struct telling telling = { timeline, &timeline->ranges.tracks[track], fn, user };
	int64_t from, to;
	if (__builtin_sub_overflow(from_ns, timeline->offset_ns, &from))
		from = from_ns < 0 ? INT64_MIN : INT64_MAX;
	if (__builtin_sub_overflow(to_ns, timeline->offset_ns, &to))
		to = to_ns < 0 ? INT64_MIN : INT64_MAX;
	ht_track_range(&timeline->ranges, (uint32_t)track, from, to, resolution_ns, tell, &telling);
}

const char *ht_timeline_name(const ht_timeline *timeline, uint32_t name)
{
	const struct ht_trace *t = timeline->trace;
	return name + (size_t)1 < t->n_string_offsets ? ht_str(t, name) : "";
}

const char *ht_timeline_kind(uint8_t kind)
{
	return ht_kind_name((enum ht_kind)kind);
}

/* ---- one event ---- */

static const struct ht_column detail_columns[] = {
	{ "key", HT_STR, HT_KEY, "field, link or argument of the event", NULL },
	{ "value", HT_STR, HT_MEASURE, "its value as text", NULL },
};

/* A value as text, in the scratch memory where it is none yet. */
static void put_detail(struct ht_event_column *column, uint32_t row, ht_table *table)
{
	struct ht_value value;
	char text[64];
	ht_event_value(column, row, &value);
	if (value.is_null)
		return;
	ht_table_row(table);
	ht_table_put_str(table, column->column.name);
	switch (column->column.type) {
	case HT_STR: ht_table_put_strn(table, value.text, value.n); return;
	case HT_U64: snprintf(text, sizeof text, "%llu", (unsigned long long)value.i64); break;
	case HT_F64: ht_double_print_short(text, value.f64); break;
	case HT_BOOL: snprintf(text, sizeof text, "%s", value.i64 ? "true" : "false"); break;
	case HT_EVENT:
		snprintf(text, sizeof text, "%lld:%u", (long long)ht_event_rank(value.i64),
		        ht_event_row(value.i64));
		break;
	default: snprintf(text, sizeof text, "%lld", (long long)value.i64); break;
	}
	ht_table_put_str(table, text);
}

static enum ht_status put_details(ht_ctx *ctx, const ht_timeline *timeline, uint32_t row,
        struct ht_arena *scratch, ht_table *table)
{
	const struct ht_trace *t = timeline->trace;
	struct ht_attribution attribution;
	struct ht_run run = { .ctx = ctx, .scratch = scratch, .trace = t };
	struct ht_event_source source = { ctx, scratch, t, timeline->rank, &attribution };
	struct ht_event_column column;
	HT_TRY(ht_attribution_make(&run, t, HT_ATTRIBUTE_ALL, &attribution));
	for (size_t i = 0; i < HT_N_EVENT_FIELDS; i++) {
		if (!ht_event_column_find(t, ht_event_fields[i].name, &column))
			continue;
		ht_event_column_start(&column, &source);
		put_detail(&column, row, table);
	}
	for (size_t i = 0; i < t->n_arg_columns; i++) {
		const struct ht_arg_column *arg = &t->arg_columns[i];
		if (ht_arg_position(t, arg, row) == UINT64_MAX)
			continue;
		const char *name = ht_arena_printf(
		        scratch, "%s.%s", arg->top_level ? "event" : "args", ht_str(t, arg->key));
		if (!name)
			return ht_fail_nomem(ctx);
		if (ht_event_column_find(t, name, &column)) {
			ht_event_column_start(&column, &source);
			put_detail(&column, row, table);
		}
	}
	return ht_table_finish(ctx, table);
}

enum ht_status ht_timeline_event(
        ht_ctx *ctx, const ht_timeline *timeline, uint32_t row, ht_table **ret_table)
{
	ht_table *table;
	struct ht_arena scratch;
	ht_error_clear(ctx);
	if (row >= ht_n_events(timeline->trace))
		return ht_fail(ctx, HT_USAGE, NULL, -1, NULL, "rank %lld has %u events, not row %u",
		        (long long)timeline->rank, ht_n_events(timeline->trace), row);
	HT_TRY(ht_table_new(ctx, "Event", detail_columns, HT_COUNT(detail_columns), &table));
	ht_arena_init(&scratch, ctx->mem);
	enum ht_status status = put_details(ctx, timeline, row, &scratch, table);
	ht_arena_done(&scratch);
	if (status != HT_OK) {
		ht_table_free(table);
		return status;
	}
	*ret_table = table;
	return HT_OK;
}
