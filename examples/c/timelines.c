/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timelines.c - events by time, for who draws them: timelines TRACE
 */
#include "example.h"

struct drawing {
	const ht_timeline *timeline;
	size_t n_spans;
	int64_t some; /* an event */
};

static bool draw_span(void *user, const struct ht_span *span)
{
	struct drawing *drawing = (struct drawing *)user;
	const char *work = ht_timeline_work(span->work);
	if (drawing->n_spans++ < 3)
		printf("  %s (%s%s%s), %" PRId64 " ns\n",
		        ht_timeline_name(drawing->timeline, span->name),
		        ht_timeline_kind(span->kind), work ? ", " : "", work ? work : "",
		        span->end_ns - span->start_ns);
	drawing->some = span->id;
	return true;
}

static bool tell_link(void *user, const struct ht_link *link)
{
	(void)user;
	printf("  %s: row %" PRIu32 " to row %" PRIu32 "\n", link->name, ht_event_row(link->from),
	        ht_event_row(link->to));
	return true;
}

/* Steps and tracks of a rank, in pieces of a thousandth of its time. */
static int64_t draw(const ht_timeline *timeline)
{
	const struct ht_timeline_info *info = ht_timeline_info(timeline);
	struct drawing drawing = { timeline, 0, -1 };
	struct ht_step_info step = { .struct_size = sizeof(step) };
	struct ht_track_info track = { .struct_size = sizeof(track) };
	for (size_t i = 0; ht_timeline_step(timeline, i, &step); i++)
		printf("step %" PRId64 ": %" PRId64 " ns\n", step.number,
		        step.end_ns - step.start_ns);
	for (size_t i = 0; i < ht_timeline_n_tracks(timeline); i++) {
		if (ht_timeline_track(timeline, i, &track))
			printf("%s: %zu spans\n", track.thread ? track.thread : "track",
			        track.n_spans);
		drawing.n_spans = 0;
		ht_timeline_range(timeline, i, info->from_ns, info->to_ns,
		        (info->to_ns - info->from_ns) / 1000, draw_span, &drawing);
	}
	return drawing.some;
}

/* One event: its place, its fields, what belongs to it. */
static void select_event(ht_ctx *ctx, const ht_timeline *timeline, int64_t id)
{
	struct ht_span span = { .struct_size = sizeof(span) };
	size_t track;
	ht_table *fields;
	if (ht_timeline_span(timeline, ht_event_row(id), &track, &span))
		printf("track %zu, lane %d\n", track, span.lane);
	need(ctx, ht_timeline_event(ctx, timeline, ht_event_row(id), &fields));
	printf("%zu fields\n", ht_table_n_rows(fields));
	ht_table_free(fields);
	need(ctx, ht_timeline_links(ctx, timeline, ht_event_row(id), tell_link, NULL));
}

static bool tell_place(void *user, const struct ht_timeline_info *place)
{
	(void)user;
	printf("rank %" PRId64 ": %" PRId64 " ns\n", place->rank, place->to_ns - place->from_ns);
	return true;
}

/* What a range of time goes to. */
static void sum(ht_ctx *ctx, const ht_timeline *timeline)
{
	const struct ht_timeline_info *info = ht_timeline_info(timeline);
	struct ht_sum_options options = { .struct_size = sizeof(options),
		.from_ns = info->from_ns,
		.to_ns = info->to_ns,
		.by = "name" };
	struct ht_sink sink = { print_bytes, NULL };
	ht_table *table;
	need(ctx, ht_timeline_sum(ctx, &timeline, 1, &options, &table));
	need(ctx, ht_render(ctx, table, "csv", NULL, &sink));
	ht_table_free(table);
}

int main(int argc, char **argv)
{
	ht_ctx *ctx;
	ht_set *set;
	ht_timeline *timeline;
	if (argc < 2 || ht_ctx_new(&ctx) != HT_OK)
		return 2;
	need(ctx, ht_open_path(ctx, argv[1], &set));
	need(ctx, ht_timeline_places(ctx, set, tell_place, NULL));
	need(ctx, ht_timeline_open(ctx, set, 0, &timeline));
	ht_close(set);
	select_event(ctx, timeline, draw(timeline));
	sum(ctx, timeline);
	ht_timeline_close(timeline);
	ht_ctx_free(ctx);
	return 0;
}
