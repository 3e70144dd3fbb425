/*
 * overlay.c - ht_convert: writing traces, with results of an analysis drawn into them.
 *
 *   critical-path     args.critical on the events of the path, and arrows along its edges
 *   kernel-sequences  args.Patterns on the events of the most frequent sequences
 */
#include "registry/run.h"

#include "analysis/analysis.h"
#include "base/options.h"
#include "graph/cp_overlay.h"
#include "model/sequence.h"
#include "write/convert.h"

#include <string.h>

/* One rank's overlay; which members are set depends on the kind. */
struct drawn {
	const struct ht_trace *trace; /* held until the end */
	struct ht_cp_overlay path;
	const struct ht_row_text *patterns;
	size_t n_patterns, next_pattern;
};

struct overlay {
	struct ht_run run;
	const struct ht_set *set;
	struct drawn *drawn; /* by position in the set */
	bool *has;
	const struct ht_cp_arrow *arrow; /* being written */
};

/* ---- critical path ---- */

static bool keep_on_path(void *user, size_t i_trace, uint32_t row)
{
	struct overlay *o = user;
	return !o->has[i_trace] ||
	       ht_cp_overlay_keeps(&o->drawn[i_trace].path, o->drawn[i_trace].trace, row);
}

static void mark_critical(void *user, size_t i_trace, uint32_t row, struct ht_args_out *args)
{
	struct overlay *o = user;
	if (o->has[i_trace] && o->drawn[i_trace].path.critical[row])
		ht_args_i64(args, "critical", 1);
}

static void arrow_args(void *user, struct ht_args_out *args)
{
	const struct ht_cp_arrow *arrow = ((struct overlay *)user)->arrow;
	ht_args_f64(args, "weight", (double)arrow->weight_ns / 1000);
	ht_args_json(args, "critical", arrow->critical ? "true" : "false");
	ht_args_str(args, "type", arrow->type);
}

static enum ht_status draw_arrows(void *user, size_t i_trace, struct ht_json_out *out)
{
	struct overlay *o = user;
	const struct ht_cp_overlay *path = &o->drawn[i_trace].path;
	for (size_t i = 0; o->has[i_trace] && i < path->n_arrows; i++) {
		int64_t id = (int64_t)i;
		o->arrow = &path->arrows[i];
		struct ht_new_event event = { .ph = 's',
			.name = HT_CP_OVERLAY_NAME,
			.cat = HT_CP_OVERLAY_NAME,
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

/* ---- kernel sequences ---- */

static void mark_pattern(void *user, size_t i_trace, uint32_t row, struct ht_args_out *args)
{
	struct drawn *d = &((struct overlay *)user)->drawn[i_trace];
	while (d->next_pattern < d->n_patterns && d->patterns[d->next_pattern].row < row)
		d->next_pattern++;
	if (d->next_pattern < d->n_patterns && d->patterns[d->next_pattern].row == row)
		ht_args_json(args, "Patterns", d->patterns[d->next_pattern].text);
}

static enum ht_status find_patterns(struct ht_run *run, struct drawn *ret)
{
	struct ht_frame frame;
	struct ht_sequences sequences;
	struct ht_sequence_options options = { .operator_name = ht_run_str(run, "operator"),
		.min_length = ht_run_i64(run, "min-length") };
	HT_TRY(ht_frame_make(run, &frame));
	HT_TRY(ht_sequences_make(run, &frame, &options, &sequences));
	return ht_sequences_overlay(run, &frame, &sequences,
	        (size_t)ht_run_i64(run, "top-patterns"), &ret->patterns, &ret->n_patterns);
}

/* ---- both ---- */

static enum ht_status make(struct overlay *o, bool path)
{
	for (size_t i = 0; i < o->run.chosen[0].n; i++) {
		size_t at = o->run.chosen[0].at[i];
		HT_TRY(ht_run_take(&o->run, o->set, i));
		o->drawn[at].trace = o->run.trace;
		o->has[at] = true;
		if (path)
			HT_TRY(ht_cp_overlay_make(&o->run, &o->drawn[at].path));
		else
			HT_TRY(find_patterns(&o->run, &o->drawn[at]));
	}
	return HT_OK;
}

static enum ht_status convert_drawn(ht_ctx *ctx, ht_set *set, const char *path,
        const struct ht_convert_options *options, const struct ht_clocks *clocks,
        struct ht_arena *scratch)
{
	struct overlay o = { .set = set };
	bool is_path = !strcmp(options->overlay, "critical-path");
	if (!is_path && strcmp(options->overlay, "kernel-sequences"))
		return ht_fail(ctx, HT_USAGE, NULL, -1, NULL,
		        "overlay %s: expected critical-path or kernel-sequences", options->overlay);
	HT_TRY(ht_run_prepare(ctx, options->overlay, set, options->overlay_args,
	        options->n_overlay_args, scratch, &o.run));
	o.drawn = ht_arena_alloc(scratch, (set->roster.n + 1) * sizeof *o.drawn);
	o.has = ht_arena_alloc(scratch, set->roster.n + 1);
	if (!o.drawn || !o.has)
		return ht_fail_nomem(ctx);
	enum ht_status status = make(&o, is_path);
	struct ht_write_extras extras = { .user = &o,
		.keep_row = is_path ? keep_on_path : NULL,
		.row_args = is_path ? mark_critical : mark_pattern,
		.events = is_path ? draw_arrows : NULL };
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
