/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_sync.c - see et_sync.h.
 *
 * A wait is a call whose name says so; its row of category cuda_sync, with the same correlation, tells what it
 * waits for: a stream, the stream of an event, or all of the device. Where nothing tells, it is what ended last
 * while the call waited.
 */
#include "et/et_sync.h"

#include "base/search.h"
#include "base/sort.h"
#include "model/policy.h"
#include "store/args.h"

#include <string.h>

#define ALL_STREAMS     INT64_MAX
#define UNKNOWN_STREAMS INT64_MIN

/* GPU work of the link in order of stream, then end. */
struct ended {
	uint64_t *ends;  /* sort keys of the ends */
	uint32_t *items; /* indexes into the link's gpus */
	size_t n;
};

struct stream {
	int64_t device, number;
	size_t first, n; /* slice of ended */
};

struct syncing {
	ht_ctx *ctx;
	const struct ht_trace *t;
	struct ht_arena *arena;
	struct ht_et_link *link;
	struct ended ended;
	struct stream *streams;
	size_t n_streams;
	int64_t *correlations; /* by event */
	uint64_t *wait_keys;   /* correlations of cuda_sync rows, ascending */
	uint32_t *wait_rows;
	size_t n_waits;
	struct ht_vec pairs; /* struct pair */
};

struct pair {
	uint32_t node, gpu;
};

static uint64_t stream_key(const struct ht_gpu *gpu)
{
	return (uint64_t)(uint32_t)gpu->device << 32 ^ ((uint64_t)gpu->stream & 0xffffffff);
}

static enum ht_status order_work(struct syncing *s)
{
	const struct ht_et_link *link = s->link;
	size_t n = link->n_gpus;
	struct ended e = { ht_arena_alloc(s->arena, (n + 1) * sizeof *e.ends),
		ht_arena_alloc(s->arena, (n + 1) * sizeof *e.items), n };
	s->streams = ht_arena_alloc(s->arena, (n + 1) * sizeof *s->streams);
	if (!e.ends || !e.items || !s->streams)
		return ht_fail_nomem(s->ctx);
	for (size_t i = 0; i < n; i++) {
		e.items[i] = (uint32_t)i;
		e.ends[i] = ht_sort_key_i64(ht_end_ns(s->t, s->t->gpu[link->gpus[i].gpu].row));
	}
	if (!ht_sort_keys(s->ctx->mem, e.ends, e.items, n))
		return ht_fail_nomem(s->ctx);
	for (size_t i = 0; i < n; i++)
		e.ends[i] = stream_key(&s->t->gpu[link->gpus[e.items[i]].gpu]);
	if (!ht_sort_keys(s->ctx->mem, e.ends, e.items, n))
		return ht_fail_nomem(s->ctx);
	for (size_t i = 0; i < n; i++) {
		const struct ht_gpu *gpu = &s->t->gpu[link->gpus[e.items[i]].gpu];
		if (!i || e.ends[i] != e.ends[i - 1])
			s->streams[s->n_streams++] =
			        (struct stream){ gpu->device, gpu->stream, i, 0 };
		s->streams[s->n_streams - 1].n++;
	}
	for (size_t i = 0; i < n; i++)
		e.ends[i] =
		        ht_sort_key_i64(ht_end_ns(s->t, s->t->gpu[link->gpus[e.items[i]].gpu].row));
	s->ended = e;
	return HT_OK;
}

static enum ht_status order_waits(struct syncing *s)
{
	const struct ht_trace *t = s->t;
	size_t n = 0;
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		n += t->kind[row] == HT_KIND_SYNC;
	s->wait_keys = ht_arena_alloc(s->arena, (n + 1) * sizeof *s->wait_keys);
	s->wait_rows = ht_arena_alloc(s->arena, (n + 1) * sizeof *s->wait_rows);
	if (!s->wait_keys || !s->wait_rows)
		return ht_fail_nomem(s->ctx);
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (t->kind[row] == HT_KIND_SYNC && s->correlations[row] > 0) {
			s->wait_keys[s->n_waits] = (uint64_t)s->correlations[row];
			s->wait_rows[s->n_waits++] = row;
		}
	return ht_sort_keys(s->ctx->mem, s->wait_keys, s->wait_rows, s->n_waits)
	               ? HT_OK
	               : ht_fail_nomem(s->ctx);
}

/* What a call waits for: the number of a stream, all, or unknown, and of which device; -1 when that is not told. */
static int64_t waits_for(const struct syncing *s, uint32_t call, int64_t *ret_device)
{
	const struct ht_trace *t = s->t;
	const char *name = ht_str(t, t->name[call]);
	uint64_t key = (uint64_t)s->correlations[call];
	size_t i = HT_LOWER_BOUND(at, s->n_waits, s->wait_keys[at] < key);
	bool is_told = s->correlations[call] > 0 && i < s->n_waits && s->wait_keys[i] == key;
	*ret_device = is_told ? ht_arg_i64(t, "device", s->wait_rows[i], -1) : -1;
	if (strstr(name, "DeviceSynchronize") || strstr(name, "CtxSynchronize"))
		return ALL_STREAMS;
	if (!is_told)
		return UNKNOWN_STREAMS;
	uint32_t row = s->wait_rows[i];
	const char *what = ht_str(t, t->name[row]);
	if (!strcmp(what, "Context Sync"))
		return ALL_STREAMS;
	int64_t stream =
	        ht_arg_i64(t, !strcmp(what, "Event Sync") ? "wait_on_stream" : "stream", row, -1);
	return stream < 0 ? UNKNOWN_STREAMS : stream;
}

/* The last work of a stream that had ended by then; SIZE_MAX when there is none. */
static size_t last_ended(const struct syncing *s, const struct stream *stream, int64_t by_ns)
{
	const uint64_t *ends = s->ended.ends + stream->first;
	uint64_t key = ht_sort_key_i64(by_ns);
	size_t n = HT_LOWER_BOUND(at, stream->n, ends[at] <= key);
	return n ? stream->first + n - 1 : SIZE_MAX;
}

static enum ht_status depend_on(struct syncing *s, uint32_t node, size_t i)
{
	struct pair pair = { node, s->ended.items[i] };
	return HT_VEC_PUSH(s->ctx->mem, &s->pairs, struct pair, pair) ? HT_OK
	                                                              : ht_fail_nomem(s->ctx);
}

static enum ht_status add_wait(struct syncing *s, uint32_t call, uint32_t node)
{
	int64_t device, wanted = waits_for(s, call, &device), end_ns = ht_end_ns(s->t, call);
	size_t latest = SIZE_MAX;
	for (size_t i = 0; i < s->n_streams; i++) {
		size_t last = last_ended(s, &s->streams[i], end_ns);
		if (last == SIZE_MAX || (device >= 0 && s->streams[i].device != device))
			continue;
		if (wanted == ALL_STREAMS || wanted == s->streams[i].number)
			HT_TRY(depend_on(s, node, last));
		if (latest == SIZE_MAX || s->ended.ends[last] > s->ended.ends[latest])
			latest = last;
	}
	/* it did not wait for what had ended before the call */
	if (wanted == UNKNOWN_STREAMS && latest != SIZE_MAX &&
	        s->ended.ends[latest] >= ht_sort_key_i64(s->t->ts_ns[call]))
		HT_TRY(depend_on(s, node, latest));
	return HT_OK;
}

static bool is_wait(const struct ht_trace *t, uint32_t row)
{
	return ht_kind_is_call(t->kind[row]) &&
	       strstr(ht_str(t, t->name[row]), "Synchronize") != NULL;
}

/* Calls of a track in order of start: a wait belongs to the next one that has a node. */
static enum ht_status follow_track(struct syncing *s, const struct ht_track *track)
{
	const struct ht_trace *t = s->t;
	const uint32_t *rows = t->track_rows + track->first;
	uint32_t next = HT_ET_NONE;
	int64_t next_ns = 0;
	for (size_t i = track->n; i-- > 0;) {
		uint32_t row = rows[i];
		uint32_t node = s->link->join.node[row];
		if (is_wait(t, row) && next != HT_ET_NONE) {
			/* rows between start and end of the wait are inside of it */
			if (next_ns >= ht_end_ns(t, row))
				HT_TRY(add_wait(s, row, next));
		}
		if (node != HT_ET_NONE) {
			next = node;
			next_ns = t->ts_ns[row];
		}
	}
	return HT_OK;
}

/* Pairs by node, each once. */
static enum ht_status keep_pairs(struct syncing *s)
{
	const struct pair *pairs = s->pairs.data;
	struct ht_et_link *link = s->link;
	size_t n = s->pairs.n;
	uint64_t *keys = ht_arena_alloc(s->arena, (n + 1) * sizeof *keys);
	uint32_t *order = ht_arena_alloc(s->arena, (n + 1) * sizeof *order);
	link->syncs = ht_arena_alloc(s->arena, (n + 1) * sizeof *link->syncs);
	if (!keys || !order || !link->syncs)
		return ht_fail_nomem(s->ctx);
	for (size_t i = 0; i < n; i++) {
		keys[i] = (uint64_t)pairs[i].node << 32 | pairs[i].gpu;
		order[i] = (uint32_t)i;
	}
	if (!ht_sort_keys(s->ctx->mem, keys, order, n))
		return ht_fail_nomem(s->ctx);
	for (size_t i = 0; i < n; i++) {
		struct ht_et_linked *node = &link->nodes[keys[i] >> 32];
		if (i && keys[i] == keys[i - 1])
			continue;
		if (!node->n_sync++)
			node->first_sync = (uint32_t)link->n_syncs;
		link->syncs[link->n_syncs++] = (uint32_t)keys[i];
	}
	return HT_OK;
}

enum ht_status ht_et_sync_add(
        ht_ctx *ctx, const struct ht_trace *trace, struct ht_arena *arena, struct ht_et_link *link)
{
	struct syncing s = { .ctx = ctx, .t = trace, .arena = arena, .link = link };
	HT_TRY(order_work(&s));
	HT_TRY(ht_arg_dense_i64(ctx, trace, "correlation", -1, arena, &s.correlations));
	HT_TRY(order_waits(&s));
	enum ht_status status = HT_OK;
	for (size_t i = 0; i < trace->n_tracks && status == HT_OK; i++)
		if (trace->tracks[i].device < 0)
			status = follow_track(&s, &trace->tracks[i]);
	if (status == HT_OK)
		status = keep_pairs(&s);
	ht_vec_free(ctx->mem, &s.pairs, sizeof(struct pair));
	return status;
}

/* ---- as Chakra does it ---- */

/* Something by a number, ascending. */
struct by_number {
	uint64_t *keys;
	uint32_t *items;
	size_t n;
};

static enum ht_status make_room(struct syncing *s, size_t n, struct by_number *ret_list)
{
	*ret_list = (struct by_number){ ht_arena_alloc(s->arena, (n + 1) * sizeof(uint64_t)),
		ht_arena_alloc(s->arena, (n + 1) * sizeof(uint32_t)), 0 };
	return ret_list->keys && ret_list->items ? HT_OK : ht_fail_nomem(s->ctx);
}

static enum ht_status sort_numbers(struct syncing *s, struct by_number *list)
{
	return ht_sort_keys(s->ctx->mem, list->keys, list->items, list->n) ? HT_OK
	                                                                   : ht_fail_nomem(s->ctx);
}

/* Calls by their start, and GPU work by its External id. */
static enum ht_status order_both(struct syncing *s, const int64_t *external_ids,
        struct by_number *ret_calls, struct by_number *ret_work)
{
	HT_TRY(make_room(s, ht_n_events(s->t), ret_calls));
	HT_TRY(make_room(s, s->link->n_gpus, ret_work));
	for (uint32_t row = 0; row < ht_n_events(s->t); row++)
		if (ht_et_is_call(s->t, row, true)) {
			ret_calls->keys[ret_calls->n] = ht_sort_key_i64(s->t->ts_ns[row]);
			ret_calls->items[ret_calls->n++] = row;
		}
	for (size_t i = 0; i < s->link->n_gpus; i++) {
		uint32_t row = s->t->gpu[s->link->gpus[i].gpu].row;
		ret_work->keys[i] = (uint64_t)external_ids[row];
		ret_work->items[i] = (uint32_t)i;
	}
	ret_work->n = s->link->n_gpus;
	HT_TRY(sort_numbers(s, ret_calls));
	return sort_numbers(s, ret_work);
}

/* Events are known by their External ids there: all work with that of the wait's counts. */
static enum ht_status add_path_wait(struct syncing *s, const struct ht_path_wait *wait,
        const int64_t *external_ids, const struct by_number *calls, const struct by_number *work)
{
	int64_t id = external_ids[wait->work];
	uint64_t start = ht_sort_key_i64(s->t->ts_ns[wait->waiter]);
	size_t next = HT_LOWER_BOUND(at, calls->n, calls->keys[at] <= start);
	if (id < 0 || external_ids[wait->waiter] < 0 || id == external_ids[wait->waiter] ||
	        next == calls->n)
		return HT_OK;
	uint32_t node = s->link->join.node[calls->items[next]];
	size_t i = HT_LOWER_BOUND(at, work->n, work->keys[at] < (uint64_t)id);
	for (; node != HT_ET_NONE && i < work->n && work->keys[i] == (uint64_t)id; i++) {
		struct pair pair = { node, work->items[i] };
		if (!HT_VEC_PUSH(s->ctx->mem, &s->pairs, struct pair, pair))
			return ht_fail_nomem(s->ctx);
	}
	return HT_OK;
}

enum ht_status ht_et_sync_add_waits(ht_ctx *ctx, const struct ht_trace *trace,
        const struct ht_et_link_options *options, struct ht_arena *arena, struct ht_et_link *link)
{
	struct syncing s = { .ctx = ctx, .t = trace, .arena = arena, .link = link };
	struct by_number calls, work;
	int64_t *external_ids;
	if (!options->n_waits)
		return HT_OK;
	HT_TRY(ht_arg_dense_i64(ctx, trace, "External id", -1, arena, &external_ids));
	HT_TRY(order_both(&s, external_ids, &calls, &work));
	enum ht_status status = HT_OK;
	for (size_t i = 0; i < options->n_waits && status == HT_OK; i++)
		status = add_path_wait(&s, &options->waits[i], external_ids, &calls, &work);
	if (status == HT_OK)
		status = keep_pairs(&s);
	ht_vec_free(ctx->mem, &s.pairs, sizeof(struct pair));
	return status;
}
