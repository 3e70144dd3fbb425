/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_timeline.c - the tool `timeline`: a range of one rank as a picture, and a table of what takes its time.
 */
#include "mcp/picture.h"
#include "mcp/tool.h"

#include "base/list.h"

#include <stdio.h>
#include <string.h>

#define MAX_LINES  48
#define MAX_LANES  6
#define MAX_SPANS  20000
#define PNG_PIECES 1000

struct range {
	int64_t rank, step, from_ns, to_ns; /* INT64_MIN: not given */
	bool is_svg;
};

static enum ht_status read_range(
        struct mcp_call *call, const struct mcp_args *args, struct range *ret_range)
{
	struct range range = { INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, false };
	struct {
		const char *name;
		int64_t *to;
	} numbers[] = { { "rank", &range.rank }, { "step", &range.step },
		{ "from_ns", &range.from_ns }, { "to_ns", &range.to_ns } };
	for (size_t i = 0; i < args->n; i++) {
		const struct ht_arg *arg = &args->list[i];
		bool ok = !strcmp(arg->name, "format") &&
		          (!strcmp(arg->value, "png") || !strcmp(arg->value, "svg"));
		if (ok)
			range.is_svg = arg->value[0] == 's';
		for (size_t k = 0; k < HT_COUNT(numbers); k++)
			ok |= !strcmp(numbers[k].name, arg->name) &&
			      ht_parse_i64(arg->value, numbers[k].to);
		if (!ok)
			return ht_fail(call->ctx, HT_USAGE, NULL, -1,
			        "arguments are rank, step, from_ns, to_ns and format (png or svg)",
			        "the argument %.60s cannot be %.60s", arg->name, arg->value);
	}
	*ret_range = range;
	return HT_OK;
}

/* The range in set time: as given, or that of a step; the first one when none is named, the whole where there is none. */
static enum ht_status find_range(
        struct mcp_call *call, const ht_timeline *timeline, struct range *range)
{
	const struct ht_timeline_info *info = ht_timeline_info(timeline);
	struct ht_step_info step = { .struct_size = sizeof step };
	bool is_given = range->from_ns != INT64_MIN || range->to_ns != INT64_MIN, has = false;
	for (size_t i = 0; !is_given && !has && ht_timeline_step(timeline, i, &step); i++)
		has = range->step == INT64_MIN ? step.end_ns > step.start_ns
		                               : step.number == range->step;
	if (!is_given && !has && range->step != INT64_MIN)
		return ht_fail(call->ctx, HT_USAGE, NULL, -1, "explain_step lists the steps",
		        "there is no step %lld on rank %lld", (long long)range->step,
		        (long long)info->rank);
	int64_t from = has ? step.start_ns : info->from_ns, to = has ? step.end_ns : info->to_ns;
	range->from_ns = range->from_ns != INT64_MIN ? range->from_ns : from;
	range->to_ns = range->to_ns != INT64_MIN ? range->to_ns : to;
	if (range->from_ns >= range->to_ns || range->from_ns < -(INT64_MAX / 4) ||
	        range->to_ns > INT64_MAX / 4)
		return ht_fail(call->ctx, HT_USAGE, NULL, -1, NULL,
		        "the range from_ns to to_ns is empty or too long");
	return HT_OK;
}

/* The drawing on its way. */
struct drawing {
	struct mcp_call *call;
	const ht_timeline *timeline;
	const struct range *range;
	struct picture *picture;
	uint32_t first_line, n_lanes;
};

static uint8_t color_of(const struct ht_span *span)
{
	const char *kind = ht_timeline_kind(span->kind);
	if (span->work < 5)
		return (uint8_t)(1 + span->work);
	return !strcmp(kind, "cpu_op") ? 6 : strstr(kind, "runtime") ? 7 : 8;
}

static bool add_span(void *user, const struct ht_span *span)
{
	struct drawing *d = user;
	struct picture *picture = d->picture;
	double length = (double)(d->range->to_ns - d->range->from_ns);
	double from = (double)(span->start_ns - d->range->from_ns) / length;
	double to = (double)(span->end_ns - d->range->from_ns) / length;
	if (span->lane >= MAX_LANES || to < 0 || from > 1)
		return true;
	d->n_lanes = span->lane >= d->n_lanes ? span->lane + 1u : d->n_lanes;
	picture->spans[picture->n++] = (struct picture_span){ d->first_line + span->lane,
		from > 0 ? from : 0, to < 1 ? to : 1, color_of(span),
		ht_timeline_name(d->timeline, span->name) };
	return picture->n < picture->cap;
}

/* What stands in which lines of the picture, for who cannot see it. */
static const char *tell_track(struct mcp_call *call, const char *legend,
        const struct ht_track_info *track, uint32_t line, uint32_t n)
{
	char name[96];
	if (track->device >= 0)
		snprintf(name, sizeof name, "GPU %d stream %lld", (int)track->device,
		        (long long)track->tid);
	else
		snprintf(name, sizeof name, "thread %lld %.40s", (long long)track->tid,
		        track->thread ? track->thread : "");
	return ht_arena_printf(&call->arena, "%s%slines %u-%u: %s", legend, *legend ? "; " : "",
	        line + 1, line + n, name);
}

/* Every track that has something in the range, from the top; answers the legend. */
static const char *draw_tracks(struct drawing *d)
{
	const char *legend = "";
	int64_t piece = (d->range->to_ns - d->range->from_ns) / PNG_PIECES;
	for (size_t i = 0; legend && i < ht_timeline_n_tracks(d->timeline); i++) {
		struct ht_track_info track = { .struct_size = sizeof track };
		if (!ht_timeline_track(d->timeline, i, &track) || d->picture->n_lines >= MAX_LINES)
			continue;
		d->first_line = d->picture->n_lines;
		d->n_lanes = 0;
		ht_timeline_range(d->timeline, i, d->range->from_ns, d->range->to_ns,
		        piece > 0 ? piece : 1, add_span, d);
		if (!d->n_lanes)
			continue;
		legend = tell_track(d->call, legend, &track, d->first_line, d->n_lanes);
		d->picture->n_lines += d->n_lanes + 1;
	}
	return legend;
}

static enum ht_status draw(struct mcp_call *call, const ht_timeline *timeline,
        const struct range *range, struct mcp_result *result)
{
	struct picture picture = { .cap = MAX_SPANS };
	struct drawing d = { call, timeline, range, &picture, 0, 0 };
	picture.spans = ht_arena_alloc(&call->arena, (MAX_SPANS + 1) * sizeof *picture.spans);
	const char *legend = picture.spans ? draw_tracks(&d) : NULL;
	if (!legend)
		return ht_fail_nomem(call->ctx);
	if (range->is_svg)
		result->drawing = picture_svg(call, &picture, (size_t)call->host->max_bytes / 2);
	else
		result->picture = picture_png(call, &picture);
	result->picture_type = "image/png";
	result->lead = ht_arena_printf(&call->arena,
	        "Timeline of rank %lld, %lld to %lld ns of set time (%.3f ms), left to right. %.1200s. Colours: blue compute, "
	        "orange communication, green memcpy, violet memset, light blue operators, grey runtime calls.\n",
	        (long long)ht_timeline_info(timeline)->rank, (long long)range->from_ns,
	        (long long)range->to_ns, (double)(range->to_ns - range->from_ns) / 1e6,
	        *legend ? legend : "Nothing lies in the range");
	if (!result->lead || (range->is_svg ? !result->drawing : !result->picture))
		return ht_fail_nomem(call->ctx);
	ht_table *sums;
	HT_TRY(ht_timeline_sum(call->ctx, &timeline, 1,
	        &(struct ht_sum_options){
	                sizeof(struct ht_sum_options), range->from_ns, range->to_ns, NULL, "name" },
	        &sums));
	const struct ht_view view = { .struct_size = sizeof view, .top = 10 };
	struct mcp_part part = { .verb = "timeline" };
	enum ht_status status = ht_table_view(call->ctx, sums, &view, &part.table);
	ht_table_free(sums);
	if (status == HT_OK)
		result->parts[result->n_parts++] = part;
	return status;
}

MCP_RUNNER(mcp_run_timeline)
{
	struct range range;
	struct mcp_held held;
	ht_timeline *timeline = NULL;
	(void)tool;
	HT_TRY(read_range(call, args, &range));
	HT_TRY(mcp_run_hold(call, args->run, &held));
	result->run = held.name;
	size_t i = 0, n = ht_set_n_ranks(held.set);
	while (range.rank != INT64_MIN && i < n && ht_set_rank(held.set, i) != range.rank)
		i++;
	enum ht_status status = i < n ? ht_timeline_open(call->ctx, held.set, i, &timeline)
	                              : ht_fail(call->ctx, HT_USAGE, NULL, -1, NULL,
	                                        "there is no rank %lld", (long long)range.rank);
	if (status == HT_OK)
		status = find_range(call, timeline, &range);
	if (status == HT_OK)
		status = draw(call, timeline, &range, result);
	ht_timeline_close(timeline);
	mcp_run_release(call, &held);
	return status;
}
