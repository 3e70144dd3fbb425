/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_view.c - tracks, events and their links; see trace_view.h.
 */
#include "trace_view.h"

#include "tile.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_LINKS 512 /* a launch of a graph has thousands */
#define MAX_STACK 512

static void put_i64(struct serve_json *json, const char *key, int64_t value)
{
	serve_json_key(json, key);
	serve_json_i64(json, value);
}

static void put_str(struct serve_json *json, const char *key, const char *text)
{
	serve_json_key(json, key);
	serve_json_str(json, text);
}

const ht_timeline *serve_ranks_find(const struct serve_ranks *ranks, int64_t rank)
{
	for (size_t i = 0; i < ranks->n; i++)
		if (ht_timeline_info(ranks->timelines[i])->rank == rank)
			return ranks->timelines[i];
	return NULL;
}

void serve_list_name(struct serve_json *json, const char *name)
{
	char text[SERVE_LIST_NAME + sizeof("…")];
	size_t n = serve_cut(name, SERVE_LIST_NAME);
	memcpy(text, name, n);
	snprintf(text + n, sizeof(text) - n, "%s", name[n] != '\0' ? "…" : "");
	serve_json_key(json, "name");
	serve_json_str(json, text);
}

/* ---- tracks ---- */

/* A pid or tid as text. */
static const char *id_text(char *room, size_t n, int64_t number, const char *text)
{
	if (*text)
		return text;
	snprintf(room, n, "%" PRId64, number);
	return room;
}

static void put_track(
        struct serve_json *json, int64_t rank, size_t i, const struct ht_track_info *track)
{
	char pid[32], tid[32], thread[64];
	const char *tid_text = id_text(tid, sizeof(tid), track->tid, track->tid_text);
	snprintf(thread, sizeof(thread), "%s %.40s", track->device >= 0 ? "stream" : "thread",
	        tid_text);
	serve_json_open(json, '{');
	put_i64(json, "rank", rank);
	put_i64(json, "track", (int64_t)i);
	put_str(json, "process", track->process != NULL ? track->process : "");
	put_str(json, "thread", track->thread != NULL ? track->thread : thread);
	put_str(json, "pid", id_text(pid, sizeof(pid), track->pid, track->pid_text));
	put_str(json, "tid", tid_text);
	serve_json_key(json, "device");
	if (track->device >= 0)
		serve_json_i64(json, track->device);
	else
		serve_json_null(json);
	put_str(json, "layer", track->layer);
	put_i64(json, "lanes", (int64_t)track->n_lanes);
	put_i64(json, "spans", (int64_t)track->n_spans);
	put_i64(json, "first_ns", track->first_ns);
	put_i64(json, "last_ns", track->last_ns);
	serve_json_close(json, '}');
}

static void put_step(struct serve_json *json, int64_t rank, const struct ht_step_info *step)
{
	char name[48];
	snprintf(name, sizeof(name), "%" PRId64, step->number);
	serve_json_open(json, '{');
	put_i64(json, "rank", rank);
	put_str(json, "name", name);
	put_i64(json, "start_ns", step->start_ns);
	put_i64(json, "end_ns", step->end_ns);
	serve_json_close(json, '}');
}

static void put_ranks(struct serve_json *json, const struct serve_places *places)
{
	serve_json_key(json, "ranks");
	serve_json_open(json, '[');
	for (size_t i = 0; i < places->n; i++) {
		const struct ht_timeline_info *info = &places->list[i];
		serve_json_open(json, '{');
		put_i64(json, "rank", info->rank);
		put_i64(json, "from_ns", info->from_ns);
		put_i64(json, "to_ns", info->to_ns);
		put_i64(json, "moved_ns", info->moved_ns);
		serve_json_key(json, "uncertainty_ns");
		if (info->uncertainty_ns >= 0)
			serve_json_i64(json, info->uncertainty_ns);
		else
			serve_json_null(json);
		serve_json_close(json, '}');
	}
	serve_json_close(json, ']');
}

static void put_extent(struct serve_json *json, const struct serve_places *places)
{
	int64_t from_ns = 0, to_ns = 0;
	bool aligned = true;
	for (size_t i = 0; i < places->n; i++) {
		const struct ht_timeline_info *info = &places->list[i];
		from_ns = i && from_ns < info->from_ns ? from_ns : info->from_ns;
		to_ns = i && to_ns > info->to_ns ? to_ns : info->to_ns;
		aligned &= info->aligned;
	}
	put_i64(json, "from_ns", from_ns);
	put_i64(json, "to_ns", to_ns);
	serve_json_key(json, "aligned");
	serve_json_bool(json, aligned || places->n < 2);
}

void serve_tracks_write(const struct serve_places *places, const struct serve_ranks *ranks,
        uint64_t generation, struct serve_json *json)
{
	struct ht_track_info track = { .struct_size = sizeof(track) };
	struct ht_step_info step = { .struct_size = sizeof(step) };
	serve_json_open(json, '{');
	serve_json_key(json, "generation");
	serve_json_u64(json, generation);
	put_extent(json, places);
	put_ranks(json, places);
	serve_json_key(json, "kinds");
	serve_json_open(json, '[');
	/* numbers beyond the last are "other", as the first is */
	for (uint8_t kind = 0; !kind || strcmp(ht_timeline_kind(kind), ht_timeline_kind(0)); kind++)
		serve_json_str(json, ht_timeline_kind(kind));
	serve_json_close(json, ']');
	serve_json_key(json, "tracks");
	serve_json_open(json, '[');
	for (size_t r = 0; r < ranks->n; r++) {
		int64_t rank = ht_timeline_info(ranks->timelines[r])->rank;
		for (size_t i = 0; ht_timeline_track(ranks->timelines[r], i, &track); i++)
			if (track.n_spans > 0)
				put_track(json, rank, i, &track);
	}
	serve_json_close(json, ']');
	serve_json_key(json, "steps");
	serve_json_open(json, '[');
	for (size_t r = 0; r < ranks->n; r++) {
		int64_t rank = ht_timeline_info(ranks->timelines[r])->rank;
		for (size_t i = 0; ht_timeline_step(ranks->timelines[r], i, &step); i++)
			put_step(json, rank, &step);
	}
	serve_json_close(json, ']');
	serve_json_close(json, '}');
}

/* ---- an event and where it is ---- */

/* id, name, kind, and where it stands; of what is no span the id alone. */
static void put_place(
        const struct serve_ranks *ranks, int64_t id, bool whole_name, struct serve_json *json)
{
	const ht_timeline *timeline = serve_ranks_find(ranks, ht_event_rank(id));
	struct ht_span span = { .struct_size = sizeof(span) };
	size_t track;
	serve_json_key(json, "id");
	serve_json_event(json, id);
	if (timeline == NULL || !ht_timeline_span(timeline, ht_event_row(id), &track, &span))
		return;
	if (whole_name)
		put_str(json, "name", ht_timeline_name(timeline, span.name));
	else
		serve_list_name(json, ht_timeline_name(timeline, span.name));
	put_str(json, "kind", ht_timeline_kind(span.kind));
	put_str(json, "class", ht_timeline_work(span.work));
	put_i64(json, "rank", ht_event_rank(id));
	put_i64(json, "track", (int64_t)track);
	put_i64(json, "lane", span.lane);
	put_i64(json, "start_ns", span.start_ns);
	put_i64(json, "end_ns", span.end_ns);
	put_i64(json, "wait_ns", span.wait_ns);
}

struct linked {
	const struct serve_ranks *ranks;
	struct serve_json *json;
	int64_t id;
	size_t n;
	bool is_stack; /* parents only; else all others */
	bool is_flow;  /* with both ends */
};

static bool put_link(void *user, const struct ht_link *link)
{
	struct linked *l = user;
	bool is_parent = !strcmp(link->name, "parent");
	if (is_parent != l->is_stack)
		return true;
	if (l->n++ >= (l->is_stack ? MAX_STACK : MAX_LINKS))
		return false;
	serve_json_open(l->json, '{');
	put_str(l->json, "link", link->name);
	if (l->is_flow) {
		serve_json_key(l->json, "from");
		serve_json_open(l->json, '{');
		put_place(l->ranks, link->from, false, l->json);
		serve_json_close(l->json, '}');
		serve_json_key(l->json, "to");
		serve_json_open(l->json, '{');
		put_place(l->ranks, link->to, false, l->json);
		serve_json_close(l->json, '}');
	} else {
		serve_json_key(l->json, "outgoing");
		serve_json_bool(l->json, !is_parent && link->from == l->id);
		put_place(l->ranks, is_parent || link->from != l->id ? link->from : link->to, false,
		        l->json);
	}
	serve_json_close(l->json, '}');
	return true;
}

/* A list of links under a key. */
static enum ht_status put_links(const struct serve_ranks *ranks, const ht_timeline *timeline,
        int64_t id, const char *key, bool is_stack, bool is_flow, struct serve_json *json)
{
	struct linked linked = { ranks, json, id, 0, is_stack, is_flow };
	serve_json_key(json, key);
	serve_json_open(json, '[');
	enum ht_status status =
	        ht_timeline_links(json->ctx, timeline, ht_event_row(id), put_link, &linked);
	serve_json_close(json, ']');
	return status;
}

static enum ht_status put_fields(const ht_timeline *timeline, int64_t id, struct serve_json *json)
{
	ht_table *table;
	enum ht_status status = ht_timeline_event(json->ctx, timeline, ht_event_row(id), &table);
	if (status != HT_OK)
		return status;
	serve_json_key(json, "fields");
	serve_json_open(json, '[');
	for (size_t row = 0; row < ht_table_n_rows(table); row++) {
		serve_json_open(json, '[');
		serve_json_str(json, ht_table_str(table, row, 0));
		serve_json_str(json, ht_table_str(table, row, 1));
		serve_json_close(json, ']');
	}
	serve_json_close(json, ']');
	ht_table_free(table);
	return HT_OK;
}

enum ht_status serve_event_write(
        const struct serve_ranks *ranks, int64_t id, struct serve_json *json)
{
	const ht_timeline *timeline = serve_ranks_find(ranks, ht_event_rank(id));
	if (timeline == NULL)
		return HT_USAGE;
	serve_json_open(json, '{');
	put_place(ranks, id, true, json);
	enum ht_status status = put_fields(timeline, id, json);
	if (status == HT_OK)
		status = put_links(ranks, timeline, id, "stack", true, false, json);
	if (status == HT_OK)
		status = put_links(ranks, timeline, id, "links", false, false, json);
	serve_json_close(json, '}');
	return status;
}

enum ht_status serve_flows_write(
        const struct serve_ranks *ranks, int64_t id, struct serve_json *json)
{
	const ht_timeline *timeline = serve_ranks_find(ranks, ht_event_rank(id));
	if (timeline == NULL)
		return HT_USAGE;
	serve_json_open(json, '{');
	enum ht_status status = put_links(ranks, timeline, id, "flows", false, true, json);
	serve_json_close(json, '}');
	return status;
}
