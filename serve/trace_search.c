/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_search.c - the next events by name, and sums of a selection; see trace_view.h.
 *
 * Searching looks at every span once: whether a name holds the text is found out once per name. Of the matches that
 * lie in the direction asked for the nearest are kept, in a heap with the farthest on top.
 */
#include "trace_view.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct match {
	int64_t start_ns, end_ns, id;
	size_t track;
	uint32_t name;
	uint8_t kind, work;
};

struct finding {
	const struct serve_search *search;
	const ht_timeline *timeline;
	size_t track;
	struct serve_buffer holds; /* by name of the rank in hand: 1 holds the text, 2 does not */
	struct match *heap;
	size_t n, n_total;
	size_t n_before; /* matches that the place to go on from leaves behind, itself included */
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

/* Letters of ASCII in any case, all other bytes as they are. */
static bool text_holds(const char *text, const char *part)
{
	for (; *text; text++) {
		size_t i = 0;
		while (part[i] && lower(text[i]) == lower(part[i]))
			i++;
		if (!part[i])
			return true;
	}
	return false;
}

static bool name_holds(struct finding *f, uint32_t name)
{
	size_t n = f->holds.n;
	if (name == UINT32_MAX)
		return false;
	if (name >= n) {
		char *room = serve_buffer_extend(&f->holds, name + 1 - n);
		if (room == NULL)
			return false;
		memset(room, 0, name + 1 - n);
	}
	char *known = &f->holds.bytes[name];
	if (!*known)
		*known = text_holds(ht_timeline_name(f->timeline, name), f->search->text) ? 1 : 2;
	return *known == 1;
}

/* ---- the nearest ---- */

static int compare(int64_t a_ns, int64_t a_id, int64_t b_ns, int64_t b_id)
{
	if (a_ns != b_ns)
		return a_ns < b_ns ? -1 : 1;
	return (a_id > b_id) - (a_id < b_id);
}

/* Is a farther away than b, in the direction of the search? */
static bool is_farther(const struct finding *f, const struct match *a, const struct match *b)
{
	int order = compare(a->start_ns, a->id, b->start_ns, b->id);
	return f->search->backwards ? order < 0 : order > 0;
}

static void swap(struct match *a, struct match *b)
{
	struct match old = *a;
	*a = *b;
	*b = old;
}

static void sink(struct finding *f, size_t at, size_t n)
{
	for (;;) {
		size_t far = at, left = 2 * at + 1;
		for (size_t child = left; child < left + 2 && child < n; child++)
			if (is_farther(f, &f->heap[child], &f->heap[far]))
				far = child;
		if (far == at)
			return;
		swap(&f->heap[at], &f->heap[far]);
		at = far;
	}
}

static void keep(struct finding *f, const struct match *match)
{
	if (f->n == f->search->limit) {
		if (!f->n || !is_farther(f, &f->heap[0], match))
			return;
		f->heap[0] = *match;
		sink(f, 0, f->n);
		return;
	}
	size_t at = f->n++;
	f->heap[at] = *match;
	while (at > 0 && is_farther(f, &f->heap[at], &f->heap[(at - 1) / 2])) {
		swap(&f->heap[at], &f->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
}

static bool look_at(void *user, const struct ht_span *span)
{
	struct finding *f = user;
	const struct serve_search *search = f->search;
	if (!name_holds(f, span->name))
		return true;
	f->n_total++;
	struct match match = { span->start_ns, span->end_ns, span->id, f->track, span->name,
		span->kind, span->work };
	int order = search->has_place
	                    ? compare(span->start_ns, span->id, search->from_ns, search->id)
	                    : (search->backwards ? -1 : 1);
	f->n_before += search->backwards ? order < 0 : order <= 0;
	if (search->backwards ? order < 0 : order > 0)
		keep(f, &match);
	return !f->holds.failed;
}

/* ---- writing ---- */

static void put_match(
        struct serve_json *json, const ht_timeline *timeline, const struct match *match)
{
	serve_json_open(json, '{');
	serve_json_key(json, "id");
	serve_json_event(json, match->id);
	serve_list_name(json, ht_timeline_name(timeline, match->name));
	serve_json_key(json, "kind");
	serve_json_str(json, ht_timeline_kind(match->kind));
	serve_json_key(json, "rank");
	serve_json_i64(json, ht_event_rank(match->id));
	serve_json_key(json, "track");
	serve_json_i64(json, (int64_t)match->track);
	serve_json_key(json, "start_ns");
	serve_json_i64(json, match->start_ns);
	serve_json_key(json, "end_ns");
	serve_json_i64(json, match->end_ns);
	serve_json_close(json, '}');
}

/* Nearest first: the heap's farthest goes to the end, again and again. */
static void put_found(const struct serve_ranks *ranks, struct finding *f, struct serve_json *json)
{
	size_t first = f->search->backwards ? f->n_before - f->n : f->n_before;
	for (size_t n = f->n; n > 1; n--) {
		swap(&f->heap[0], &f->heap[n - 1]);
		sink(f, 0, n - 1);
	}
	serve_json_open(json, '{');
	serve_json_key(json, "total");
	serve_json_u64(json, f->n_total);
	serve_json_key(json, "before"); /* matches before the earliest that is listed */
	serve_json_u64(json, first);
	serve_json_key(json, "events");
	serve_json_open(json, '[');
	for (size_t i = 0; i < f->n; i++)
		put_match(json, serve_ranks_find(ranks, ht_event_rank(f->heap[i].id)), &f->heap[i]);
	serve_json_close(json, ']');
	serve_json_close(json, '}');
}

void serve_search_write(
        const struct serve_ranks *ranks, const struct serve_search *search, struct serve_json *json)
{
	struct finding f = { .search = search };
	f.heap = calloc(search->limit + 1, sizeof(*f.heap));
	json->out->failed |= f.heap == NULL;
	for (size_t r = 0; r < ranks->n && f.heap != NULL; r++) {
		f.timeline = ranks->timelines[r];
		f.holds.n = 0;
		for (f.track = 0; f.track < ht_timeline_n_tracks(f.timeline); f.track++)
			ht_timeline_range(
			        f.timeline, f.track, INT64_MIN, INT64_MAX, 0, look_at, &f);
	}
	json->out->failed |= f.holds.failed;
	if (!json->out->failed)
		put_found(ranks, &f, json);
	serve_buffer_done(&f.holds);
	free(f.heap);
}

/* ---- sums ---- */

static enum ht_status put_sums(const struct serve_ranks *ranks, const char *tracks, int64_t from_ns,
        int64_t to_ns, const char *by, uint64_t top, struct serve_json *json)
{
	struct ht_sink out = serve_buffer_sink(json->out);
	const struct ht_view view = { .struct_size = sizeof(view), .top = top };
	ht_table *table, *shown;
	enum ht_status status = ht_timeline_sum(json->ctx, ranks->timelines, ranks->n,
	        &(struct ht_sum_options){
	                sizeof(struct ht_sum_options), from_ns, to_ns, tracks, by },
	        &table);
	if (status != HT_OK)
		return status;
	status = ht_table_view(json->ctx, table, &view, &shown);
	ht_table_free(table);
	if (status != HT_OK)
		return status;
	status = ht_render(json->ctx, shown, "json", NULL, &out);
	json->has_item = true;
	ht_table_free(shown);
	return status;
}

enum ht_status serve_range_write(const struct serve_ranks *ranks, const char *tracks,
        int64_t from_ns, int64_t to_ns, uint64_t top, struct serve_json *json)
{
	serve_json_open(json, '{');
	serve_json_key(json, "classes");
	enum ht_status status = put_sums(ranks, tracks, from_ns, to_ns, "class", 0, json);
	if (status != HT_OK)
		return status;
	serve_json_key(json, "names");
	status = put_sums(ranks, tracks, from_ns, to_ns, "name", top, json);
	serve_json_close(json, '}');
	return status;
}
