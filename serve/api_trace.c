/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_trace.c - what the timeline asks: tiles, tracks, events, arrows, search, sums and overlays, over the ranks of a run.
 *
 * The answers are tile.c's and trace_view.c's; here the query becomes their arguments.
 */
#include "route.h"

#include "overlay.h"
#include "run_snapshot.h"
#include "tile.h"
#include "trace_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW_RANKS   32
#define MAX_FOUND   10000
#define MAX_NAMES   10000
#define MAX_POINTS  100000
#define MAX_TIME_NS ((int64_t)1 << 61) /* differences of two stay in range */

/* Timelines of the ranks that were asked for, held until drop_ranks. */
struct ranks {
	struct rank_timelines *of;
	const ht_timeline **list;
	size_t *places; /* of each in the set */
	size_t n;
};

/* Whether a list such as "0,4-7" has a number; "all" has every one. */
static bool has_number(const char *list, int64_t number)
{
	if (list == NULL || strcmp(list, "all") == 0)
		return true;
	for (const char *at = list; *at != '\0';) {
		char *end;
		int64_t first = strtoll(at, &end, 10), last = first;
		if (end == at)
			return false;
		if (*end == '-')
			last = strtoll(end + 1, &end, 10);
		if (number >= first && number <= last)
			return true;
		at = *end == ',' ? end + 1 : end + strlen(end);
	}
	return false;
}

static void drop_ranks(struct ranks *ranks)
{
	for (size_t i = 0; i < ranks->n; i++)
		rank_timeline_release(ranks->of, ranks->places[i]);
	free(ranks->list);
	free(ranks->places);
}

/* Which timelines are taken: of the ranks in a list; or in both lists, of which NULL has all. */
struct wanted {
	const char *ranks, *among;
};

/* Those that are wanted, ascending; 404 when there is none of the first list. */
static enum ht_status take_wanted(struct serve_request *request, struct serve_response *response,
        const struct wanted *wanted, struct ranks *ret_ranks)
{
	size_t n = ht_set_n_ranks(request->set);
	bool any = false;
	struct ranks ranks = { .of = request->of->timelines,
		.list = calloc(n + 1, sizeof(*ranks.list)),
		.places = calloc(n + 1, sizeof(*ranks.places)) };
	enum ht_status status = ranks.list != NULL && ranks.places != NULL ? HT_OK : HT_NOMEM;
	for (size_t i = 0; i < n && status == HT_OK; i++) {
		if (!has_number(wanted->ranks, ht_set_rank(request->set, i)))
			continue;
		any = true;
		if (!has_number(wanted->among, ht_set_rank(request->set, i)))
			continue;
		ranks.places[ranks.n] = i;
		status = rank_timeline_hold(request->ctx, ranks.of, i, &ranks.list[ranks.n]);
		ranks.n += status == HT_OK;
	}
	if (status == HT_OK && !any)
		status = serve_refuse(response, 404, NULL, "the run has no rank %.60s",
		        wanted->ranks != NULL ? wanted->ranks : "");
	if (status != HT_OK) {
		drop_ranks(&ranks);
		return status;
	}
	*ret_ranks = ranks;
	return HT_OK;
}

static enum ht_status take_ranks(struct serve_request *request, struct serve_response *response,
        const char *list, struct ranks *ret_ranks)
{
	return take_wanted(request, response, &(struct wanted){ list, NULL }, ret_ranks);
}

/* An event, with other ranks: a collective leads to them. All of a few ranks; of many those that somebody looks at, or
 * a click would open a thousand. */
static enum ht_status take_event(struct serve_request *request, struct serve_response *response,
        int64_t *ret_id, struct ranks *ret_ranks)
{
	char own[24];
	size_t n = ht_set_n_ranks(request->set);
	if (!serve_query_event(request, response, "id", ret_id))
		return HT_USAGE;
	if (n <= FEW_RANKS)
		return take_ranks(request, response, NULL, ret_ranks);
	snprintf(own, sizeof(own), "%" PRId64, ht_event_rank(*ret_id));
	enum ht_status status = take_ranks(request, response, own, ret_ranks);
	for (size_t i = 0; i < n && status == HT_OK; i++) {
		const ht_timeline *open = ht_set_rank(request->set, i) != ht_event_rank(*ret_id)
		                                  ? rank_timeline_hold_open(ret_ranks->of, i)
		                                  : NULL;
		if (open == NULL)
			continue;
		ret_ranks->places[ret_ranks->n] = i;
		ret_ranks->list[ret_ranks->n++] = open;
	}
	return status;
}

/* Where ranks of a list are on the clock. */
struct placing {
	const char *list;
	struct ht_timeline_info *places;
	size_t n;
};

static bool take_place(void *user, const struct ht_timeline_info *place)
{
	struct placing *placing = user;
	if (has_number(placing->list, place->rank))
		placing->places[placing->n++] = *place;
	return true;
}

enum ht_status serve_tracks(struct serve_request *request, struct serve_response *response)
{
	struct serve_json json = { .ctx = request->ctx, .out = &response->body };
	struct wanted wanted = { serve_query(request, "rank"), serve_query(request, "open") };
	struct placing placing = { .list = wanted.ranks };
	struct ranks ranks;
	enum ht_status status = take_wanted(request, response, &wanted, &ranks);
	if (status != HT_OK)
		return status;
	placing.places = calloc(ht_set_n_ranks(request->set) + 1, sizeof(*placing.places));
	status = placing.places != NULL
	                 ? ht_timeline_places(request->ctx, request->set, take_place, &placing)
	                 : HT_NOMEM;
	if (status == HT_OK)
		serve_tracks_write(&(struct serve_places){ placing.places, placing.n },
		        &(struct serve_ranks){ ranks.list, ranks.n }, request->generation, &json);
	free(placing.places);
	drop_ranks(&ranks);
	return status;
}

enum ht_status serve_tile(struct serve_request *request, struct serve_response *response)
{
	const char *rank = serve_query(request, "rank");
	struct ranks ranks;
	int64_t level, index;
	if (!serve_query_i64(request, response, "level", 0, SERVE_TILE_MAX_LEVEL, 0, &level) ||
	        !serve_query_i64(request, response, "index", INT64_MIN, INT64_MAX, 0, &index))
		return HT_USAGE;
	enum ht_status status = take_ranks(request, response, rank != NULL ? rank : "", &ranks);
	if (status != HT_OK)
		return status;
	if (ranks.n != 1)
		status = serve_refuse(response, 400, NULL, "a tile is of one rank");
	else if (!serve_tile_write(ranks.list[0], level, index, &response->body))
		status = serve_refuse(response, 404, NULL, "there is no such tile");
	response->type = "application/octet-stream";
	drop_ranks(&ranks);
	return status;
}

static enum ht_status answer_event(struct serve_request *request, struct serve_response *response,
        enum ht_status (*write)(
                const struct serve_ranks *ranks, int64_t id, struct serve_json *json))
{
	struct serve_json json = { .ctx = request->ctx, .out = &response->body };
	struct ranks ranks;
	int64_t id;
	enum ht_status status = take_event(request, response, &id, &ranks);
	if (status != HT_OK)
		return status;
	status = write(&(struct serve_ranks){ ranks.list, ranks.n }, id, &json);
	drop_ranks(&ranks);
	if (status == HT_USAGE)
		return serve_refuse(response, 404, NULL, "there is no event %" PRId64 ":%" PRIu32,
		        ht_event_rank(id), ht_event_row(id));
	return status;
}

enum ht_status serve_event(struct serve_request *request, struct serve_response *response)
{
	return answer_event(request, response, serve_event_write);
}

enum ht_status serve_flows(struct serve_request *request, struct serve_response *response)
{
	return answer_event(request, response, serve_flows_write);
}

enum ht_status serve_search(struct serve_request *request, struct serve_response *response)
{
	struct serve_json json = { .ctx = request->ctx, .out = &response->body };
	const char *direction = serve_query(request, "direction");
	struct serve_search search = { .text = serve_query(request, "q"),
		.backwards = direction != NULL && strcmp(direction, "previous") == 0,
		.has_place = serve_query(request, "from") != NULL };
	struct ranks ranks;
	int64_t limit;
	if (search.text == NULL || search.text[0] == '\0')
		return serve_refuse(response, 400, NULL, "q is the text to search for");
	if (!serve_query_i64(request, response, "limit", 1, MAX_FOUND, 100, &limit) ||
	        !serve_query_i64(
	                request, response, "from", INT64_MIN, INT64_MAX, 0, &search.from_ns))
		return HT_USAGE;
	search.id = -1;
	if (serve_query(request, "after") != NULL &&
	        !serve_query_event(request, response, "after", &search.id))
		return HT_USAGE;
	search.limit = (size_t)limit;
	enum ht_status status = take_ranks(request, response, serve_query(request, "rank"), &ranks);
	if (status != HT_OK)
		return status;
	serve_search_write(&(struct serve_ranks){ ranks.list, ranks.n }, &search, &json);
	drop_ranks(&ranks);
	return HT_OK;
}

enum ht_status serve_range(struct serve_request *request, struct serve_response *response)
{
	struct serve_json json = { .ctx = request->ctx, .out = &response->body };
	struct ranks ranks;
	int64_t from_ns, to_ns, top;
	if (!serve_query_i64(
	            request, response, "from", INT64_MIN, INT64_MAX, INT64_MIN, &from_ns) ||
	        !serve_query_i64(
	                request, response, "to", INT64_MIN, INT64_MAX, INT64_MAX, &to_ns) ||
	        !serve_query_i64(request, response, "top", 0, MAX_NAMES, 100, &top))
		return HT_USAGE;
	enum ht_status status = take_ranks(request, response, serve_query(request, "rank"), &ranks);
	if (status != HT_OK)
		return status;
	status = serve_range_write(&(struct serve_ranks){ ranks.list, ranks.n },
	        serve_query(request, "tracks"), from_ns, to_ns, (uint64_t)top, &json);
	drop_ranks(&ranks);
	if (status == HT_USAGE)
		return serve_refuse(response, 400, NULL, "the selection is none");
	return status;
}

enum ht_status serve_overlay(struct serve_request *request, struct serve_response *response)
{
	struct serve_json json = { .ctx = request->ctx, .out = &response->body };
	struct serve_overlay_question question = { .name = serve_query(request, "name"),
		.series = serve_query(request, "series") };
	if (question.name == NULL || !serve_overlay_exists(question.name))
		return serve_refuse(response, 400, NULL, "name is an analysis that can be drawn");
	if (!serve_query_i64(request, response, "rank", 0, INT32_MAX, 0, &question.rank) ||
	        !serve_query_i64(request, response, "from", -MAX_TIME_NS, MAX_TIME_NS, 0,
	                &question.from_ns) ||
	        !serve_query_i64(request, response, "to", -MAX_TIME_NS, MAX_TIME_NS, MAX_TIME_NS,
	                &question.to_ns) ||
	        !serve_query_i64(
	                request, response, "points", 1, MAX_POINTS, 1000, &question.n_points))
		return HT_USAGE;
	if (question.to_ns <= question.from_ns)
		return serve_refuse(
		        response, 400, NULL, "the stretch of time ends before it begins");
	return serve_overlay_write(request->of->overlays, request->set, &question, &json);
}
