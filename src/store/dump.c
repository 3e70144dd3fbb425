/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump.c - the whole store as text, for tests and bug reports.
 *
 * Two stores are equal when their dumps are: nothing in it depends on ids of strings, tracks, columns
 * or shapes, on the number of threads, on chunking, compression or the cache, nor on the file's path
 * and size. Lines that start with "stat" tell what reading met; a trace written again differs there only.
 *
 *   set aligned 1 zero_unix_ns 1700000000000000000
 *   rank 0 offset_ns 0 events 2
 *   meta ...                                  header "key" before 0 "JSON text"
 *   0 cpu_op 1 1000 5000 - 3 0 ph=X cat="cpu_op" ... args{ "External id"=i7 }
 *   row kind flags ts_ns dur_ns parent step document, then its keys in order
 *   gpu, launch, python, step, flow, track, category, device, group
 *   # stats
 *   stat stray_comma 2 17
 *
 * Types of args: i and u integers, f double, s string, j JSON text, b boolean, n null.
 */
#include "base/hash.h"
#include "base/emit.h"
#include "base/mem.h"
#include "store/import_stats.h"
#include "store/set.h"
#include "store/shape.h"
#include "store/side_table.h"
#include "store/allocator_snapshot.h"
#include "store/flow.h"
#include "store/trace.h"
#include "store/trace_meta.h"
#include "store/trace_refs.h"

#include <stdlib.h>

struct dump {
	ht_ctx *ctx;
	struct ht_emit emit;
	const struct ht_trace *t;
	struct ht_row_walk walk;
};

static void number(struct dump *d, const char *label, int64_t value)
{
	ht_emit_char(&d->emit, ' ');
	ht_emit_text(&d->emit, label, strlen(label));
	ht_emit_char(&d->emit, ' ');
	if (value == HT_NO_I64)
		ht_emit_char(&d->emit, '-');
	else
		ht_emit_i64(&d->emit, value);
}

static void row_number(struct dump *d, uint32_t row)
{
	if (row == HT_NONE)
		ht_emit_char(&d->emit, '-');
	else
		ht_emit_u64(&d->emit, row);
	ht_emit_char(&d->emit, ' ');
}

/* A text by its id, quoted; a dash for none. */
static void text(struct dump *d, uint32_t id)
{
	if (id == HT_NO_STR)
		ht_emit_char(&d->emit, '-');
	else
		ht_emit_string(&d->emit, ht_str(d->t, id), ht_str_len(d->t, id));
}

static void labelled_text(struct dump *d, const char *label, uint32_t id)
{
	ht_emit_char(&d->emit, ' ');
	ht_emit_text(&d->emit, label, strlen(label));
	ht_emit_char(&d->emit, ' ');
	text(d, id);
}

static void id(struct dump *d, uint8_t type, int64_t value)
{
	if (type == HT_ID_STR)
		text(d, (uint32_t)value);
	else if (type == HT_ID_INT)
		ht_emit_i64(&d->emit, value);
	else
		ht_emit_char(&d->emit, '-');
}

/* ---- rows ---- */

static void arg(struct dump *d, uint32_t row, uint32_t i_column)
{
	static const char letters[] = "iufsjbn";
	const struct ht_arg_column *column = &d->t->arg_columns[i_column];
	uint64_t at;
	text(d, column->key);
	ht_emit_char(&d->emit, '=');
	if (!ht_row_walk_find(&d->walk, i_column, row, &at)) {
		ht_emit_char(&d->emit, '?');
		return;
	}
	ht_emit_char(&d->emit, letters[column->type]);
	switch (column->type) {
	case HT_ARG_U64: ht_emit_u64(&d->emit, (uint64_t)ht_arg_i64_at(d->t, column, at)); break;
	case HT_ARG_F64: ht_emit_f64(&d->emit, ht_arg_f64_at(d->t, column, at)); break;
	case HT_ARG_STR:
	case HT_ARG_JSON: text(d, (uint32_t)ht_arg_i64_at(d->t, column, at)); break;
	case HT_ARG_NULL: break;
	default: ht_emit_i64(&d->emit, ht_arg_i64_at(d->t, column, at)); break;
	}
}

static void field(struct dump *d, uint32_t row, uint32_t item)
{
	const struct ht_trace *t = d->t;
	const struct ht_track *track = &t->tracks[t->track[row]];
	switch (item) {
	case HT_FIELD_PH:
		HT_EMIT(&d->emit, "ph=");
		ht_emit_string(&d->emit, &t->ph[row], 1);
		break;
	case HT_FIELD_CAT:
		HT_EMIT(&d->emit, "cat=");
		text(d, t->categories[t->cat[row]].name);
		break;
	case HT_FIELD_NAME:
		HT_EMIT(&d->emit, "name=");
		text(d, t->name[row]);
		break;
	case HT_FIELD_PID:
		HT_EMIT(&d->emit, "pid=");
		id(d, track->pid_type, track->pid);
		break;
	case HT_FIELD_TID:
		HT_EMIT(&d->emit, "tid=");
		id(d, track->tid_type, track->tid);
		break;
	case HT_FIELD_TS: HT_EMIT(&d->emit, "ts"); break;
	case HT_FIELD_DUR: HT_EMIT(&d->emit, "dur"); break;
	case HT_FIELD_ARGS: HT_EMIT(&d->emit, "args{"); break;
	case HT_FIELD_ARGS_END: HT_EMIT(&d->emit, "}"); break;
	default: arg(d, row, item - HT_FIELD_COUNT); break;
	}
}

static void dump_row(struct dump *d, uint32_t row)
{
	const struct ht_trace *t = d->t;
	const char *kind = ht_kind_name((enum ht_kind)t->kind[row]);
	row_number(d, row);
	ht_emit_text(&d->emit, kind, strlen(kind));
	ht_emit_char(&d->emit, ' ');
	ht_emit_u64(&d->emit, t->flags[row]);
	ht_emit_char(&d->emit, ' ');
	ht_emit_i64(&d->emit, t->ts_ns[row]);
	ht_emit_char(&d->emit, ' ');
	ht_emit_i64(&d->emit, t->dur_ns[row]);
	ht_emit_char(&d->emit, ' ');
	row_number(d, t->parent[row]);
	if (ht_step_of(t, row) == HT_NONE)
		ht_emit_char(&d->emit, '-');
	else
		ht_emit_i64(&d->emit, t->steps[ht_step_of(t, row)].number);
	ht_emit_char(&d->emit, ' ');
	ht_emit_u64(&d->emit, t->tracks[t->track[row]].document);
	size_t n;
	const uint32_t *items = ht_row_items(t, row, &n);
	for (size_t i = 0; i < n; i++) {
		ht_emit_char(&d->emit, ' ');
		field(d, row, items[i]);
	}
	ht_emit_char(&d->emit, '\n');
}

/* ---- links ---- */

static void dump_gpu(struct dump *d)
{
	for (size_t i = 0; i < d->t->n_gpu; i++) {
		const struct ht_gpu *gpu = &d->t->gpu[i];
		const char *class_name = ht_class_name((enum ht_class)gpu->class_);
		HT_EMIT(&d->emit, "gpu ");
		row_number(d, gpu->row);
		ht_emit_text(&d->emit, class_name, strlen(class_name));
		number(d, "device", gpu->device);
		number(d, "stream", gpu->stream);
		HT_EMIT(&d->emit, " launch ");
		row_number(d, gpu->launch);
		HT_EMIT(&d->emit, "op ");
		row_number(d, gpu->op);
		ht_emit_char(&d->emit, '\n');
	}
}

static void dump_launches(struct dump *d)
{
	const struct ht_trace *t = d->t;
	for (size_t i = 0; i < t->n_launch_rows; i++) {
		HT_EMIT(&d->emit, "launch ");
		row_number(d, t->launch_rows[i]);
		HT_EMIT(&d->emit, "gpu ");
		for (uint32_t k = t->launch_offsets[i]; k < t->launch_offsets[i + 1]; k++)
			row_number(d, t->gpu[t->launch_gpu[k]].row);
		ht_emit_char(&d->emit, '\n');
	}
	for (size_t i = 0; i < t->n_python_rows; i++) {
		HT_EMIT(&d->emit, "python ");
		row_number(d, t->python_rows[i]);
		HT_EMIT(&d->emit, "parent ");
		row_number(d, t->python_parent[i]);
		ht_emit_char(&d->emit, '\n');
	}
}

static void dump_steps(struct dump *d)
{
	for (size_t i = 0; i < d->t->n_steps; i++) {
		const struct ht_step *step = &d->t->steps[i];
		HT_EMIT(&d->emit, "step");
		number(d, "number", step->number);
		number(d, "row", step->row);
		number(d, "ts_ns", step->ts_ns);
		number(d, "end_ns", step->end_ns);
		number(d, "begin_ns", step->begin_ns);
		number(d, "done_ns", step->done_ns);
		number(d, "work", step->n_work);
		number(d, "missing", step->n_missing);
		number(d, "complete", step->is_complete);
		number(d, "main", step->is_main);
		ht_emit_char(&d->emit, '\n');
	}
}

static void dump_flows(struct dump *d)
{
	for (size_t i = 0; i < d->t->more->n_flows; i++) {
		const struct ht_flow *flow = &d->t->more->flows[i];
		HT_EMIT(&d->emit, "flow ");
		text(d, flow->cat);
		ht_emit_char(&d->emit, ' ');
		ht_emit_u64(&d->emit, flow->id);
		HT_EMIT(&d->emit, " rows ");
		row_number(d, flow->start_row);
		row_number(d, flow->finish_row);
		HT_EMIT(&d->emit, "spans ");
		row_number(d, flow->from);
		row_number(d, flow->to);
		ht_emit_char(&d->emit, '\n');
	}
}

/* ---- tracks and categories, in order of their first rows ---- */

static void dump_track(struct dump *d, const struct ht_track *track, uint32_t first_row)
{
	const uint32_t *rows = d->t->track_rows + track->first;
	HT_EMIT(&d->emit, "track ");
	row_number(d, first_row);
	id(d, track->pid_type, track->pid);
	ht_emit_char(&d->emit, ' ');
	id(d, track->tid_type, track->tid);
	number(d, "document", track->document);
	labelled_text(d, "name", track->name);
	labelled_text(d, "process", track->process_name);
	number(d, "device", track->device);
	number(d, "rows", track->n);
	number(d, "spans", track->n_spans);
	/* the order of its rows; too many to list */
	HT_EMIT(&d->emit, " order ");
	ht_emit_u64(&d->emit, track->n ? ht_hash(rows, track->n * sizeof *rows) : 0);
	ht_emit_char(&d->emit, '\n');
}

static void dump_category(struct dump *d, const struct ht_category *category, uint32_t first_row)
{
	const char *kind = ht_kind_name((enum ht_kind)category->kind);
	HT_EMIT(&d->emit, "category ");
	row_number(d, first_row);
	text(d, category->name);
	ht_emit_char(&d->emit, ' ');
	ht_emit_text(&d->emit, kind, strlen(kind));
	number(d, "rows", category->n);
	ht_emit_char(&d->emit, '\n');
}

/* Rows ascend, so the first time a track or category is met is its first row. */
static enum ht_status dump_groups(struct dump *d)
{
	const struct ht_trace *t = d->t;
	size_t n_tracks = t->n_tracks, n_categories = t->n_categories;
	bool *seen = ht_mem_zalloc(d->ctx->mem, n_tracks + n_categories);
	if (!seen)
		return ht_fail_nomem(d->ctx);
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (!seen[t->track[row]]) {
			seen[t->track[row]] = true;
			dump_track(d, &t->tracks[t->track[row]], row);
		}
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (!seen[n_tracks + t->cat[row]]) {
			seen[n_tracks + t->cat[row]] = true;
			dump_category(d, &t->categories[t->cat[row]], row);
		}
	ht_mem_free(d->ctx->mem, seen, n_tracks + n_categories);
	return HT_OK;
}

/* ---- header ---- */

static void dump_header(struct dump *d)
{
	const struct ht_trace *t = d->t;
	HT_EMIT(&d->emit, "meta");
	number(d, "base_ns", t->meta->base_ns);
	number(d, "rank", t->meta->rank);
	number(d, "world_size", t->meta->world_size);
	number(d, "min_ts_ns", t->meta->min_ts_ns);
	number(d, "max_end_ns", t->meta->max_end_ns);
	number(d, "window_end_ns", t->meta->window_end_ns);
	number(d, "dialect", t->meta->dialect);
	number(d, "documents", t->meta->n_documents);
	number(d, "host_steps", t->meta->has_host_steps);
	ht_emit_char(&d->emit, '\n');
	for (size_t i = 0; i < t->more->n_headers; i++) {
		HT_EMIT(&d->emit, "header ");
		text(d, t->more->headers[i].key);
		if (t->more->headers[i].after_events)
			HT_EMIT(&d->emit, " after ");
		else
			HT_EMIT(&d->emit, " before ");
		ht_emit_u64(&d->emit, t->more->headers[i].document);
		ht_emit_char(&d->emit, ' ');
		text(d, t->more->headers[i].value);
		ht_emit_char(&d->emit, '\n');
	}
}

static void dump_devices(struct dump *d)
{
	const struct ht_trace *t = d->t;
	for (size_t i = 0; i < t->more->n_devices; i++) {
		HT_EMIT(&d->emit, "device");
		number(d, "id", t->more->devices[i].id);
		labelled_text(d, "name", t->more->devices[i].name);
		labelled_text(d, "properties", t->more->devices[i].properties);
		number(d, "memory", t->more->devices[i].total_memory_bytes);
		number(d, "sms", t->more->devices[i].n_sms);
		ht_emit_char(&d->emit, '\n');
	}
	for (size_t i = 0; i < t->more->n_process_groups; i++) {
		HT_EMIT(&d->emit, "group");
		labelled_text(d, "name", t->more->process_groups[i].name);
		labelled_text(d, "description", t->more->process_groups[i].description);
		labelled_text(d, "backend", t->more->process_groups[i].backend);
		labelled_text(d, "ranks", t->more->process_groups[i].ranks);
		number(d, "size", t->more->process_groups[i].size);
		ht_emit_char(&d->emit, '\n');
	}
}

static void dump_stats(struct dump *d)
{
	HT_EMIT(&d->emit, "# stats\n");
	for (size_t i = 0; i < d->t->more->n_stats; i++) {
		const struct ht_stat *stat = &d->t->more->stats[i];
		const char *name = ht_stat_info((enum ht_stat_code)stat->code)->name;
		HT_EMIT(&d->emit, "stat ");
		ht_emit_text(&d->emit, name, strlen(name));
		ht_emit_char(&d->emit, ' ');
		ht_emit_u64(&d->emit, stat->count);
		ht_emit_char(&d->emit, ' ');
		ht_emit_i64(&d->emit, stat->first_offset);
		ht_emit_char(&d->emit, '\n');
	}
}

static void dump_cell(struct dump *d, const struct ht_side_column *column, uint64_t row)
{
	double real;
	int64_t whole;
	const char *string = ht_side_str(d->t, column, row);
	ht_emit_char(&d->emit, ' ');
	if (string)
		ht_emit_string(&d->emit, string, strlen(string));
	else if (ht_side_i64(d->t, column, row, &whole))
		ht_emit_i64(&d->emit, whole);
	else if (ht_side_f64(d->t, column, row, &real))
		ht_emit_f64(&d->emit, real);
	else
		ht_emit_char(&d->emit, '-');
}

static void dump_tables(struct dump *d)
{
	const struct ht_trace *t = d->t;
	for (size_t i = 0; i < t->more->n_tables; i++) {
		const struct ht_side_table *table = &t->more->tables[i];
		const struct ht_side_column *columns = t->more->table_columns + table->first_column;
		HT_EMIT(&d->emit, "table ");
		text(d, table->name);
		for (uint32_t c = 0; c < table->n_columns; c++) {
			ht_emit_char(&d->emit, ' ');
			text(d, columns[c].key);
		}
		ht_emit_char(&d->emit, '\n');
		for (uint64_t row = 0; row < table->n_rows; row++) {
			HT_EMIT(&d->emit, "cells");
			for (uint32_t c = 0; c < table->n_columns; c++)
				dump_cell(d, &columns[c], row);
			ht_emit_char(&d->emit, '\n');
		}
	}
}

static enum ht_status dump_trace(struct dump *d)
{
	HT_TRY(ht_row_walk_init(d->ctx, d->t, &d->walk));
	dump_header(d);
	for (uint32_t row = 0; row < ht_n_events(d->t) && d->emit.status == HT_OK; row++)
		dump_row(d, row);
	ht_row_walk_done(d->ctx, &d->walk);
	dump_gpu(d);
	dump_launches(d);
	dump_steps(d);
	dump_flows(d);
	HT_TRY(dump_groups(d));
	dump_devices(d);
	dump_tables(d);
	ht_mem_dump(d->t, &d->emit);
	dump_stats(d);
	return d->emit.status;
}

struct sink_user {
	ht_ctx *ctx;
	const struct ht_sink *sink;
};

static enum ht_status to_sink(void *user, const void *bytes, size_t n)
{
	const struct sink_user *to = user;
	if (to->sink->write(to->sink->user, bytes, n))
		return HT_OK;
	return ht_fail(to->ctx, HT_IO, NULL, -1, NULL, "cannot write the dump");
}

enum ht_status ht_dump(ht_ctx *ctx, const ht_set *set, const struct ht_sink *sink)
{
	ht_error_clear(ctx);
	struct dump d = { .ctx = ctx };
	struct sink_user to = { ctx, sink };
	HT_TRY(ht_emit_init(&d.emit, ctx, to_sink, &to));
	HT_EMIT(&d.emit, "set");
	number(&d, "aligned", set->roster.aligned);
	number(&d, "zero_unix_ns", set->roster.zero_unix_ns);
	ht_emit_char(&d.emit, '\n');
	enum ht_status status = HT_OK;
	for (size_t i = 0; status == HT_OK && i < set->roster.n; i++) {
		const struct ht_rank *rank = &set->roster.ranks[i];
		status = ht_set_acquire(ctx, set, i, &d.t);
		if (status != HT_OK)
			break;
		HT_EMIT(&d.emit, "rank ");
		ht_emit_i64(&d.emit, rank->number);
		number(&d, "offset_ns", rank->offset_ns);
		number(&d, "events", ht_n_events(d.t));
		ht_emit_char(&d.emit, '\n');
		status = dump_trace(&d);
		ht_trace_release(d.t);
	}
	enum ht_status drained = ht_emit_done(&d.emit);
	return status != HT_OK ? status : drained;
}
