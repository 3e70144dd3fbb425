/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_edit.c - see event_edit.h.
 */
#include "job/event_edit.h"

#include "base/hash.h"
#include "base/sort.h"
#include "base/thread.h"
#include "model/numbers/stats.h"

#include <string.h>

/* ---- peers ---- */

/* Room for the nodes of one rank, to be put in order; one for each worker. */
struct nodes {
	uint64_t *keys; /* name and step, of those that can have peers */
	uint32_t *list;
	size_t n;
};

/* A key for each node that can have peers; 0: none. The n-th of its name in the step of its rank: equal names are brought
 * together, in the order of nodes. */
static bool key_rank(
        const struct ht_event_job *job, size_t i_rank, struct nodes *room, uint64_t *keys)
{
	const struct ht_event_rank *r = &job->ranks[i_rank];
	room->n = 0;
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t node = r->first + i;
		const char *name = ht_event_job_name(job, node);
		bool is_work = job->flags[node] & HT_EVENT_WORK;
		keys[node] = 0;
		if (job->step[node] == HT_NONE || (job->flags[node] & HT_EVENT_COMM))
			continue;
		uint64_t key = ht_hash_mix(r->shape, name ? ht_hash(name, strlen(name)) : 1);
		room->keys[room->n] =
		        ht_hash_mix(key, (uint64_t)job->step[node] << 33 | (uint64_t)is_work << 32);
		room->list[room->n++] = node;
	}
	if (!ht_sort_keys(job->run->ctx->mem, room->keys, room->list, room->n))
		return false;
	for (size_t i = 0, nth = 0; i < room->n; i++) {
		nth = i && room->keys[i] == room->keys[i - 1] ? nth + 1 : 1;
		uint64_t key = ht_hash_mix(room->keys[i], nth);
		keys[room->list[i]] = key ? key : 1;
	}
	return true;
}

struct keying {
	const struct ht_event_job *job;
	struct nodes *rooms; /* by worker */
	uint64_t *keys;
};

static enum ht_status key_task(void *user, size_t i_rank, int i_worker)
{
	struct keying *k = user;
	return key_rank(k->job, i_rank, &k->rooms[i_worker], k->keys) ? HT_OK : HT_NOMEM;
}

static enum ht_status key_ranks(const struct ht_event_job *job, uint64_t *keys)
{
	struct ht_ctx *ctx = job->run->ctx;
	struct ht_arena own;
	size_t n_rooms = (size_t)ht_ctx_jobs(ctx), most = 0;
	ht_arena_init_like(&own, job->run->scratch);
	struct keying k = { job, ht_arena_alloc(&own, n_rooms * sizeof *k.rooms), keys };
	enum ht_status status = k.rooms ? HT_OK : HT_NOMEM;
	for (size_t i = 0; i < job->n_ranks; i++)
		most = job->ranks[i].n > most ? job->ranks[i].n : most;
	for (size_t i = 0; status == HT_OK && i < n_rooms; i++) {
		k.rooms[i].keys = ht_arena_room(&own, (most + 1) * sizeof(uint64_t));
		k.rooms[i].list = ht_arena_room(&own, (most + 1) * sizeof(uint32_t));
		status = k.rooms[i].keys && k.rooms[i].list ? HT_OK : HT_NOMEM;
	}
	if (status == HT_OK)
		status = ht_parallel(ctx, job->n_ranks, key_task, &k);
	ht_arena_done(&own);
	return status == HT_NOMEM ? ht_fail_nomem(ctx) : status;
}

static uint32_t ranks_alike(const struct ht_event_job *job, uint64_t shape)
{
	uint32_t n = 0;
	for (size_t i = 0; i < job->n_ranks; i++)
		n += job->ranks[i].shape == shape;
	return n;
}

static void group_peers(struct ht_event_editor *e, const uint64_t *keys, size_t n)
{
	const struct ht_event_job *job = e->job;
	uint64_t shape = 0;
	uint32_t alike = 0;
	for (size_t i = 0; i < n; i++) {
		if (!i || keys[i] != keys[i - 1]) {
			uint64_t own = job->ranks[job->i_rank[e->peers[i]]].shape;
			alike = alike && own == shape ? alike : ranks_alike(job, own);
			shape = own;
			e->n_ranks[e->n_groups] = alike;
			e->first_peer[e->n_groups++] = (uint32_t)i;
		}
	}
	e->first_peer[e->n_groups] = (uint32_t)n;
}

enum ht_status ht_event_editor_make(struct ht_event_job *job, struct ht_event_editor *ret)
{
	struct ht_arena *a = job->run->scratch;
	size_t n = job->n_nodes, n_keys = 0;
	*ret = (struct ht_event_editor){ .job = job,
		.dur = ht_arena_room(a, (n + 1) * sizeof(double)),
		.scale = ht_arena_room(a, (n + 1) * sizeof(float)),
		.is_apart = ht_arena_room(a, n + 1),
		.is_fused = ht_arena_room(a, n + 1),
		.is_chosen = ht_arena_room(a, n + 1),
		.peers = ht_arena_room(a, (n + 1) * sizeof(uint32_t)),
		.peer_dur = ht_arena_room(a, (n + 1) * sizeof(double)),
		.first_peer = ht_arena_room(a, (n + 2) * sizeof(uint32_t)),
		.n_ranks = ht_arena_room(a, (n + 1) * sizeof(uint32_t)),
		.room = ht_arena_room(a, 2 * (job->n_ranks + 1) *
		                                 (size_t)ht_ctx_jobs(job->run->ctx) *
		                                 sizeof(double)) };
	uint64_t *keys = ht_arena_room(a, (n + 1) * sizeof *keys);
	if (!ret->dur || !ret->scale || !ret->is_apart || !ret->is_fused || !ret->is_chosen ||
	        !ret->peers || !ret->peer_dur || !ret->first_peer || !ret->n_ranks || !ret->room ||
	        !keys)
		return ht_fail_nomem(job->run->ctx);
	HT_TRY(key_ranks(job, keys));
	for (uint32_t i = 0; i < n; i++) {
		if (!keys[i])
			continue;
		keys[n_keys] = keys[i];
		ret->peers[n_keys++] = i;
	}
	HT_TRY(ht_sort_keys_shared(job->run->ctx, keys, ret->peers, n_keys));
	for (size_t i = 0; i < n_keys; i++)
		ret->peer_dur[i] = job->dur[ret->peers[i]];
	group_peers(ret, keys, n_keys);
	ht_event_editor_reset(ret);
	return HT_OK;
}

/* ---- edits ---- */

void ht_event_editor_reset(struct ht_event_editor *e)
{
	size_t n = e->job->n_nodes;
	memcpy(e->dur, e->job->dur, n * sizeof *e->dur);
	memset(e->is_apart, 0, n);
	memset(e->is_fused, 0, n);
	e->copies = e->event = e->after = NULL;
	for (size_t i = 0; i < n; i++)
		e->scale[i] = 1;
}

/* Steps are told from the end of the first on, which stays where it was: else they would seem to grow when it shrinks more than they. */
static bool is_before(const struct ht_event_job *job, uint32_t node)
{
	return job->n_windows > 1 &&
	       (job->step[node] != HT_NONE ? job->step[node] == 0
	                                   : job->recorded[node] < job->recorded_ends[0]);
}

struct ht_event_edit ht_event_editor_edit(struct ht_event_editor *e)
{
	for (uint32_t i = 0; i < e->job->n_nodes; i++) {
		if (!is_before(e->job, i))
			continue;
		e->dur[i] = e->job->dur[i];
		e->scale[i] = 1;
		e->is_apart[i] = e->is_fused[i] = false;
		if (e->copies) {
			e->copies[i] = 1;
			e->after[i] = HT_NONE;
		}
	}
	return (struct ht_event_edit){ e->dur, e->scale, e->is_apart, e->is_fused };
}

void ht_event_scale(struct ht_event_editor *e, uint32_t node, double factor)
{
	e->dur[node] *= factor;
	if (!(e->job->flags[node] & HT_EVENT_WORK))
		e->scale[node] *= (float)factor;
}

/* Values of a group but for one node, by its place among peers (HT_NONE: of all); ranks without a node have 0. */
static double median_of(const struct ht_event_editor *e, size_t group, uint32_t but, double *room)
{
	size_t n = 0, n_ranks = e->n_ranks[group] - (but != HT_NONE);
	for (uint32_t i = e->first_peer[group]; i < e->first_peer[group + 1]; i++)
		if (i != but && n < n_ranks)
			room[n++] = e->peer_dur[i];
	while (n < n_ranks)
		room[n++] = 0;
	return n ? ht_middle_f64(room, n, room) : 0;
}

static double least_of(const struct ht_event_editor *e, size_t group)
{
	double least = e->peer_dur[e->first_peer[group]];
	for (uint32_t i = e->first_peer[group]; i < e->first_peer[group + 1]; i++)
		least = e->peer_dur[i] < least ? e->peer_dur[i] : least;
	return least;
}

struct peering {
	struct ht_event_editor *editor;
	enum ht_event_peer how;
	const bool *is_chosen;
	size_t n_tasks;
};

static void like_group(const struct peering *p, size_t group, double *room)
{
	struct ht_event_editor *e = p->editor;
	double value = -1;
	for (uint32_t i = e->first_peer[group]; i < e->first_peer[group + 1]; i++) {
		uint32_t node = e->peers[i];
		if (p->is_chosen && !p->is_chosen[node])
			continue;
		if (p->how == HT_PEER_OTHERS)
			value = median_of(e, group, i, room);
		else if (value < 0)
			value = p->how == HT_PEER_BEST ? least_of(e, group)
			                               : median_of(e, group, HT_NONE, room);
		e->dur[node] = value;
	}
}

/* Groups have nodes of their own, so that it does not matter who does which. */
static enum ht_status like_task(void *user, size_t i_task, int i_worker)
{
	const struct peering *p = user;
	const struct ht_event_editor *e = p->editor;
	double *room = e->room + 2 * (e->job->n_ranks + 1) * (size_t)i_worker;
	size_t end = e->n_groups * (i_task + 1) / p->n_tasks;
	for (size_t g = e->n_groups * i_task / p->n_tasks; g < end; g++)
		if (e->n_ranks[g] > 1)
			like_group(p, g, room);
	return HT_OK;
}

enum ht_status ht_event_like_peers(
        struct ht_event_editor *e, enum ht_event_peer how, const bool *is_chosen)
{
	struct peering p = { e, how, is_chosen, 64 };
	return ht_parallel(e->job->run->ctx, p.n_tasks, like_task, &p);
}
