/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_timeline.c - the timeline of the busiest step, as data for the page to draw.
 *
 * The busiest step is that with the most GPU work of one rank (host time where there is none); a trace without steps
 * is shown whole. Besides that rank some others are shown over the same time, when their clocks can be compared. Short
 * spans come together at the resolution of a wide picture, so the data stay small whatever the trace.
 */
#include "report_timeline.h"

#include <stdlib.h>
#include <string.h>

#define PIECES          1200
#define MAX_RANKS       4
#define MAX_TRACKS      10 /* of a rank */
#define MAX_THREADS     2  /* of these, of the host */
#define MAX_LANES       8
#define FEW_LANES       5 /* of threads, when several ranks are shown */
#define NO_WORK         255
#define MAX_SPANS       8000 /* of a track: then a coarser resolution is taken */
#define MAX_NAMES       4000
#define NAME_OF_NOTHING "…"

struct window {
	int64_t rank, step; /* -1: no steps */
	int64_t from_ns, to_ns, busy_ns;
	int64_t total_ns; /* of the step, up to the end of its GPU work */
	uint16_t n_lanes; /* of a track, at most */
};

/* ---- which step ---- */

static int64_t sum_of(const ht_table *table, size_t row, const char *const *names, size_t n)
{
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		size_t column = ht_table_find_column(table, names[i]);
		if (column != SIZE_MAX && !ht_table_is_null(table, row, column))
			sum += ht_table_i64(table, row, column);
	}
	return sum;
}

/* The section that says what each step of each rank is made of. */
static const ht_table *steps_of(const struct report *report)
{
	static const char *const names[] = { "rank", "step", "total_ns", "kernel_ns" };
	for (size_t i = 0; i < report->n_sections; i++) {
		const ht_table *table = report->sections[i].table;
		size_t n_found = 0;
		for (size_t j = 0; table != NULL && j < COUNT(names); j++)
			n_found += ht_table_find_column(table, names[j]) != SIZE_MAX;
		if (n_found == COUNT(names))
			return table;
	}
	return NULL;
}

/* The rank and step with the most GPU work, or the longest where no step has any. False: no steps. */
static bool find_busiest(const struct report *report, struct window *window)
{
	static const char *const work[] = { "kernel_ns", "memcpy_ns", "memset_ns", "exposed_ns" };
	static const char *const total[] = { "total_ns" };
	const ht_table *table = steps_of(report);
	bool found = false;
	if (table == NULL)
		return false;
	size_t rank = ht_table_find_column(table, "rank"),
	       step = ht_table_find_column(table, "step");
	for (int pass = 0; pass < 2 && window->busy_ns == 0; pass++) {
		for (size_t row = 0; row < ht_table_n_rows(table); row++) {
			int64_t busy_ns = pass == 0 ? sum_of(table, row, work, COUNT(work))
			                            : sum_of(table, row, total, COUNT(total));
			if (rank == SIZE_MAX || step == SIZE_MAX || busy_ns <= window->busy_ns ||
			        ht_table_is_null(table, row, step))
				continue;
			window->rank = ht_table_i64(table, row, rank);
			window->step = ht_table_i64(table, row, step);
			window->busy_ns = busy_ns;
			window->total_ns = sum_of(table, row, total, COUNT(total));
			found = true;
		}
	}
	return found;
}

static bool find_step(const ht_timeline *timeline, struct window *window)
{
	struct ht_step_info step = { .struct_size = sizeof(step) };
	for (size_t i = 0; ht_timeline_step(timeline, i, &step); i++) {
		if (step.number == window->step) {
			window->from_ns = step.start_ns;
			window->to_ns = step.end_ns;
			if (window->to_ns - window->from_ns < window->total_ns)
				window->to_ns = window->from_ns + window->total_ns;
			return true;
		}
	}
	return false;
}

/* ---- what is in it ---- */

/* A track with something to show. */
struct chosen {
	size_t track, n;
	struct ht_track_info info;
};

struct span_list {
	struct ht_span *spans;
	size_t n, n_room;
	uint16_t n_lanes;
	bool on_gpu, failed;
};

static bool collect_span(void *user, const struct ht_span *span)
{
	struct span_list *list = user;
	/* annotations over GPU work repeat those of the host */
	if (span->lane >= list->n_lanes || (list->on_gpu && span->work == NO_WORK))
		return true;
	if (list->n == list->n_room) {
		size_t n_room = list->n_room * 2 + 256;
		struct ht_span *more = realloc(list->spans, n_room * sizeof(*more));
		if (more == NULL) {
			list->failed = true;
			return false;
		}
		list->spans = more;
		list->n_room = n_room;
	}
	list->spans[list->n++] = *span;
	return true;
}

static void ask(const ht_timeline *timeline, const struct chosen *chosen,
        const struct window *window, struct span_list *list)
{
	list->on_gpu = chosen->info.device >= 0;
	list->n_lanes = list->on_gpu ? MAX_LANES : window->n_lanes;
	int64_t resolution_ns = (window->to_ns - window->from_ns) / PIECES + 1;
	for (int tries = 0; tries < 8 && !list->failed; tries++, resolution_ns *= 2) {
		list->n = 0;
		ht_timeline_range(timeline, chosen->track, window->from_ns, window->to_ns,
		        resolution_ns, collect_span, list);
		if (list->n <= MAX_SPANS)
			return;
	}
}

static const char *class_of(const struct ht_span *span)
{
	static const char *const works[] = { "compute", "communication", "memory", "memory",
		"sync" };
	if (span->work < COUNT(works))
		return works[span->work];
	const char *kind = ht_timeline_kind(span->kind);
	if (kind != NULL && strstr(kind, "python") != NULL)
		return "python";
	return kind != NULL && strstr(kind, "annotation") != NULL ? "sync" : "host";
}

struct names {
	uint32_t ids[MAX_NAMES];
	size_t n;
};

/* The place of a name in the list of its rank; names beyond its end share the last place. */
static size_t place_of(struct names *names, uint32_t id)
{
	for (size_t i = 0; i < names->n; i++) {
		if (names->ids[i] == id)
			return i;
	}
	if (names->n == MAX_NAMES)
		return MAX_NAMES;
	names->ids[names->n] = id;
	return names->n++;
}

static void write_spans(struct script_json *json, const struct span_list *list,
        const struct window *window, struct names *names)
{
	script_json_key(json, "spans", false);
	script_json_raw(json, "[");
	for (size_t i = 0; i < list->n; i++) {
		const struct ht_span *span = &list->spans[i];
		script_json_raw(json, i > 0 ? ",[" : "[");
		int64_t numbers[] = { span->lane, span->start_ns - window->from_ns,
			span->end_ns - span->start_ns, (int64_t)place_of(names, span->name),
			span->n, span->wait_ns };
		for (size_t j = 0; j < COUNT(numbers); j++) {
			script_json_i64(json, numbers[j]);
			script_json_raw(json, ",");
		}
		script_json_text(json, class_of(span));
		script_json_raw(json, "]");
	}
	script_json_raw(json, "]");
}

static void write_track(struct script_json *json, const struct ht_track_info *track,
        const struct span_list *list, const struct window *window, struct names *names)
{
	char name[512];
	if (track->device >= 0)
		snprintf(name, sizeof(name), "%s %d · stream %lld", track->layer ? "NPU" : "GPU",
		        (int)track->device, (long long)track->tid);
	else if (track->thread != NULL)
		snprintf(name, sizeof(name), "%.400s", track->thread);
	else if (track->tid_text[0] != '\0')
		snprintf(name, sizeof(name), "%.400s", track->tid_text);
	else
		snprintf(name, sizeof(name), "thread %lld", (long long)track->tid);
	script_json_raw(json, "{");
	script_json_key(json, "name", true);
	script_json_text(json, name);
	script_json_key(json, "device", false);
	script_json_i64(json, track->device);
	write_spans(json, list, window, names);
	script_json_raw(json, "}");
}

/* ---- tracks of a rank: streams first, then the threads of the host with the most to tell ---- */

static int by_order(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;
	bool on_gpu_x = x->info.device >= 0, on_gpu_y = y->info.device >= 0;
	if (on_gpu_x != on_gpu_y)
		return on_gpu_x ? -1 : 1;
	if (!on_gpu_x && x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return x->track < y->track ? -1 : 1;
}

static bool write_tracks(struct script_json *json, const ht_timeline *timeline,
        const struct window *window, struct names *names)
{
	size_t n_tracks = ht_timeline_n_tracks(timeline), n = 0, n_threads = 0, n_written = 0;
	struct chosen *chosen = malloc((n_tracks + 1) * sizeof(*chosen));
	struct span_list list = { .failed = chosen == NULL };
	for (size_t i = 0; i < n_tracks && !list.failed; i++) {
		struct chosen one = { .track = i };
		if (!ht_timeline_track(timeline, i, &one.info))
			continue;
		ask(timeline, &one, window, &list);
		one.n = list.n;
		if (one.n > 0)
			chosen[n++] = one;
	}
	if (!list.failed)
		qsort(chosen, n, sizeof(*chosen), by_order);
	for (size_t i = 0; i < n && n_written < MAX_TRACKS && !list.failed; i++) {
		if (chosen[i].info.device < 0 && n_threads++ >= MAX_THREADS)
			break;
		ask(timeline, &chosen[i], window, &list);
		if (n_written++ > 0)
			script_json_raw(json, ",\n");
		write_track(json, &chosen[i].info, &list, window, names);
	}
	free(chosen);
	free(list.spans);
	return !list.failed;
}

static bool write_rank(
        struct script_json *json, const ht_timeline *timeline, const struct window *window)
{
	struct names *names = malloc(sizeof(*names));
	if (names == NULL)
		return false;
	names->n = 0;
	script_json_raw(json, "{");
	script_json_key(json, "rank", true);
	script_json_i64(json, ht_timeline_info(timeline)->rank);
	script_json_key(json, "tracks", false);
	script_json_raw(json, "[");
	bool ok = write_tracks(json, timeline, window, names);
	script_json_raw(json, "]");
	script_json_key(json, "names", false);
	script_json_raw(json, "[");
	for (size_t i = 0; i < names->n; i++) {
		script_json_text(json, ht_timeline_name(timeline, names->ids[i]));
		script_json_raw(json, ",");
	}
	script_json_text(json, NAME_OF_NOTHING);
	script_json_raw(json, "]}");
	free(names);
	return ok;
}

/* ---- ranks ---- */

/* The i-th rank's timeline; NULL when it cannot be had, which a page can do without. */
static ht_timeline *open_timeline(ht_ctx *ctx, const struct report *report, size_t i)
{
	ht_timeline *timeline;
	return ht_timeline_open(ctx, report->set, i, &timeline) == HT_OK ? timeline : NULL;
}

static size_t place_of_rank(const struct report *report, int64_t rank)
{
	for (size_t i = 0; i < ht_set_n_ranks(report->set); i++) {
		if (ht_set_rank(report->set, i) == rank)
			return i;
	}
	return 0;
}

/* The step of the chosen rank, or all of its time; false when there is nothing to draw. */
static bool find_window(const ht_timeline *timeline, struct window *window)
{
	const struct ht_timeline_info *info = ht_timeline_info(timeline);
	if (window->step < 0 || !find_step(timeline, window)) {
		window->step = -1;
		window->rank = info->rank;
		window->from_ns = info->from_ns;
		window->to_ns = info->to_ns;
	}
	return window->to_ns > window->from_ns;
}

static void write_others(ht_ctx *ctx, struct script_json *json, const struct report *report,
        const struct window *window, size_t busiest)
{
	size_t n = ht_set_n_ranks(report->set), n_written = 0;
	for (size_t i = 0; i < n; i++) {
		/* the busiest has its place in the order of ranks, whatever number it has */
		bool has_room = n_written + (i < busiest) < MAX_RANKS;
		if (i != busiest && !has_room)
			continue;
		ht_timeline *timeline = open_timeline(ctx, report, i);
		if (timeline == NULL)
			continue;
		if (i == busiest || ht_timeline_info(timeline)->aligned) {
			if (n_written++ > 0)
				script_json_raw(json, ",\n");
			if (!write_rank(json, timeline, window))
				json->output->failed = true;
		}
		ht_timeline_close(timeline);
	}
}

void report_write_timeline(ht_ctx *ctx, struct script_json *json, const struct report *report)
{
	struct window window = { .rank = ht_set_rank(report->set, 0), .step = -1 };
	if (!find_busiest(report, &window))
		window.step = -1;
	window.n_lanes = report->n_ranks > 1 ? FEW_LANES : MAX_LANES;
	size_t busiest = place_of_rank(report, window.rank);
	ht_timeline *timeline = open_timeline(ctx, report, busiest);
	bool found = timeline != NULL && find_window(timeline, &window);
	if (timeline != NULL)
		ht_timeline_close(timeline);
	if (!found) {
		script_json_raw(json, "null");
		return;
	}
	const struct {
		const char *name;
		int64_t value;
	} numbers[] = { { "rank", window.rank }, { "step", window.step },
		{ "from_ns", window.from_ns }, { "length_ns", window.to_ns - window.from_ns },
		{ "busy_ns", window.busy_ns } };
	script_json_raw(json, "{");
	for (size_t i = 0; i < COUNT(numbers); i++) {
		script_json_key(json, numbers[i].name, i == 0);
		script_json_i64(json, numbers[i].value);
	}
	script_json_key(json, "ranks", false);
	script_json_raw(json, "[");
	write_others(ctx, json, report, &window, busiest);
	script_json_raw(json, "]}");
}
