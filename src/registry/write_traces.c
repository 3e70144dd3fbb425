/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_traces.c - ht_convert: writing traces, with results of an analysis drawn into them (its draw, model/drawing.h).
 */
#include "registry/run_steps.h"
#include "store/set.h"
#include "store/columns.h"
#include "store/trace_refs.h"

#include "analysis/analysis.h"
#include "base/options.h"
#include "registry/registry.h"
#include "write/convert.h"

#include <string.h>

/* What is drawn into one rank. */
struct drawn {
	const struct ht_trace *trace; /* held until the end */
	struct ht_drawing drawing;
	size_t next_mark;
};

struct overlay {
	struct ht_run run;
	const struct ht_set *set;
	struct drawn *drawn;          /* by position in the set; nothing where it was not chosen */
	const struct ht_arrow *arrow; /* being written */
	const struct ht_drawn_span *span;
	const struct ht_drawing *drawing; /* that the span is of */
};

static bool keep_row(void *user, size_t i_trace, uint32_t row)
{
	const uint8_t *hidden = ((struct overlay *)user)->drawn[i_trace].drawing.hidden;
	return !hidden || !hidden[row];
}

static void mark_row(void *user, size_t i_trace, uint32_t row, struct ht_args_out *args)
{
	struct drawn *d = &((struct overlay *)user)->drawn[i_trace];
	const struct ht_drawing *drawing = &d->drawing;
	while (d->next_mark < drawing->n_marks && drawing->marks[d->next_mark].row < row)
		d->next_mark++;
	if (d->next_mark < drawing->n_marks && drawing->marks[d->next_mark].row == row)
		ht_args_json(args, drawing->key, drawing->marks[d->next_mark].text);
}

static void arrow_args(void *user, struct ht_args_out *args)
{
	const struct ht_arrow *arrow = ((struct overlay *)user)->arrow;
	ht_args_f64(args, "weight", (double)arrow->weight_ns / 1000);
	ht_args_json(args, "critical", arrow->critical ? "true" : "false");
	ht_args_str(args, "type", arrow->type);
}

static enum ht_status draw_arrows(void *user, size_t i_trace, struct ht_trace_out *out)
{
	struct overlay *o = user;
	const struct ht_drawing *drawing = &o->drawn[i_trace].drawing;
	for (size_t i = 0; i < drawing->n_arrows; i++) {
		int64_t id = (int64_t)i;
		o->arrow = &drawing->arrows[i];
		struct ht_new_event event = { .ph = 's',
			.name = drawing->arrow_name,
			.cat = drawing->arrow_name,
			.row = &o->arrow->from_row,
			.ts_ns = o->arrow->from_ns,
			.id = &id,
			.args = arrow_args,
			.args_user = o };
		ht_write_event(out, &event);
		event.ph = 'f';
		event.row = &o->arrow->to_row;
		event.ts_ns = o->arrow->to_ns;
		event.bp = "e";
		ht_write_event(out, &event);
	}
	return HT_OK;
}

/* A thread that no program has. */
#define SPANS_THREAD INT32_MAX

static void span_args(void *user, struct ht_args_out *args)
{
	const struct overlay *o = user;
	if (o->span->text)
		ht_args_str(args, o->drawing->spans_key, o->span->text);
}

static void track_args(void *user, struct ht_args_out *args)
{
	ht_args_str(args, "name", ((const struct overlay *)user)->drawing->spans_track);
}

/* The process of the first host row. */
static int64_t process_of(const struct ht_trace *t)
{
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		const struct ht_track *track = &t->tracks[t->track[row]];
		if (ht_kind_is_call(t->kind[row]) || t->kind[row] == HT_KIND_CPU_OP ||
		        t->kind[row] == HT_KIND_PYTHON)
			return track->pid_type == HT_ID_INT ? track->pid : 0;
	}
	return 0;
}

static enum ht_status draw_spans(void *user, size_t i_trace, struct ht_trace_out *out)
{
	struct overlay *o = user;
	const struct drawn *drawn = &o->drawn[i_trace];
	int64_t thread = SPANS_THREAD, process = drawn->trace ? process_of(drawn->trace) : 0;
	struct ht_new_event event = { .ph = 'M',
		.name = "thread_name",
		.pid = &process,
		.tid = &thread,
		.args = track_args,
		.args_user = o };
	o->drawing = &drawn->drawing;
	if (o->drawing->n_spans)
		ht_write_event(out, &event);
	for (size_t i = 0; i < o->drawing->n_spans; i++) {
		o->span = &o->drawing->spans[i];
		event.ph = 'X';
		event.name = o->span->name;
		event.cat = o->drawing->spans_track;
		event.ts_ns = o->span->ts_ns;
		event.dur_ns = &o->span->dur_ns;
		event.args = span_args;
		ht_write_event(out, &event);
	}
	return HT_OK;
}

static enum ht_status draw_events(void *user, size_t i_trace, struct ht_trace_out *out)
{
	HT_TRY(draw_arrows(user, i_trace, out));
	return draw_spans(user, i_trace, out);
}

static enum ht_status draw_ranks(struct overlay *o)
{
	for (size_t i = 0; i < o->run.chosen[0].n; i++) {
		struct drawn *drawn = &o->drawn[o->run.chosen[0].at[i]];
		HT_TRY(ht_run_take(&o->run, o->set, i));
		drawn->trace = o->run.trace;
		HT_TRY(o->run.analysis->draw(&o->run, &drawn->drawing));
	}
	return HT_OK;
}

static enum ht_status fail_overlay(ht_ctx *ctx, const char *name, struct ht_arena *scratch)
{
	const char *names = "";
	for (size_t i = 0; names && i < ht_n_analyses(); i++)
		if (ht_analysis_at(i)->draws)
			names = ht_arena_printf(scratch, *names ? "%s or %s" : "%s%s", names,
			        ht_analysis_at(i)->name);
	return ht_fail(ctx, HT_USAGE, NULL, -1, NULL, "overlay %s: expected %s", name,
	        names ? names : "another one");
}

static enum ht_status convert_drawn(ht_ctx *ctx, ht_set *set, const char *path,
        const struct ht_convert_options *options, const struct ht_clocks *clocks,
        struct ht_arena *scratch)
{
	struct overlay o = { .set = set };
	const struct ht_analysis_info *info = ht_analysis_find(options->overlay);
	if (!info || !info->draws)
		return fail_overlay(ctx, options->overlay, scratch);
	HT_TRY(ht_run_prepare(ctx, options->overlay, set, options->overlay_args,
	        options->n_overlay_args, scratch, &o.run));
	o.drawn = ht_arena_alloc(scratch, (set->roster.n + 1) * sizeof *o.drawn);
	if (!o.drawn)
		return ht_fail_nomem(ctx);
	enum ht_status status = draw_ranks(&o);
	struct ht_write_extras extras = {
		.user = &o, .keep_row = keep_row, .row_args = mark_row, .events = draw_events
	};
	if (status == HT_OK)
		status = ht_convert_set(ctx, set, path, options, clocks, &extras);
	for (size_t i = 0; i < set->roster.n; i++)
		ht_trace_release(o.drawn[i].trace);
	return status;
}

enum ht_status ht_convert(
        ht_ctx *ctx, ht_set *set, const char *path, const struct ht_convert_options *options)
{
	struct ht_convert_options taken;
	ht_error_clear(ctx);
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_convert_options, partial, options, &taken));
	struct ht_arena scratch;
	const struct ht_clocks *clocks = NULL;
	enum ht_status status = HT_OK;
	ht_arena_init(&scratch, ctx->mem);
	if (taken.merge && set->roster.n > 1)
		status = ht_set_clocks(ctx, set, &scratch, &clocks);
	if (status == HT_OK && taken.overlay)
		status = convert_drawn(ctx, set, path, &taken, clocks, &scratch);
	else if (status == HT_OK)
		status = ht_convert_set(ctx, set, path, &taken, clocks, NULL);
	ht_arena_done(&scratch);
	return status;
}
