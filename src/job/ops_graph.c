/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops_graph.c - see ops.h: which operations of a lane wait for which.
 *
 * Of each stage, in the order of starts:
 *   compute         forward and backward, each after the one before it
 *   sends, receives each kind in its own order. A receive that begins after the last compute of its direction, or a send that ends before the
 *                   first, was recorded and not launched; the k-th of the others belongs to the k-th compute (receives one later when exactly one is missing): a
 *                   send waits for it, it waits for its receive, and the receive for the compute of that direction before it. Beyond the
 *                   ends of the pipeline there is nobody to talk to
 *   first backward  its send and receive also wait for the compute two before it
 *   data parallel   all-gathers and reduce-scatters in order; the last all-gather of a chunk before its first forward; with separate gradients the first
 *                   reduce-scatter of a chunk after its last backward
 *   tail            the last compute, garbage collection, norms, embeddings (first and last stage), gradients, clipping, optimizer
 */
#include "base/arena.h"
#include "base/vec.h"
#include "job/ops.h"

#include "base/sort.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Starts and ends this close are the same, in seconds. */
#define SAME_S 5e-5
/* A transfer that ends so long before the last start is none. */
#define EARLY_S (-0.01)
/* Operations of a lane, and what they wait for in all. */
#define MAX_NODES  1000000
#define MAX_EDGES  8000000
#define MAX_STAGES 1024

static const char *const names[HT_OPS_N_TYPES] = {
	[HT_OPS_FORWARD] = "forward-compute",
	[HT_OPS_BACKWARD] = "backward-compute",
	[HT_OPS_FORWARD_SEND] = "forward-send",
	[HT_OPS_FORWARD_RECV] = "forward-recv",
	[HT_OPS_BACKWARD_SEND] = "backward-send",
	[HT_OPS_BACKWARD_RECV] = "backward-recv",
	[HT_OPS_ALL_GATHER] = "params-all-gather",
	[HT_OPS_REDUCE_SCATTER] = "grads-reduce-scatter",
	[HT_OPS_SEPARATE_REDUCE] = "separate-grads-all-reduce",
	[HT_OPS_NORM_REDUCE] = "layernorm-grads-all-reduce",
	[HT_OPS_EMBEDDING_REDUCE] = "embedding-grads-all-reduce",
	[HT_OPS_CLIP] = "optimizer-clip-main-grad",
	[HT_OPS_GC] = "gc",
	[HT_OPS_OPTIMIZER] = "optimizer",
};

const char *ht_ops_type_name(enum ht_ops_type type)
{
	return names[type];
}

enum ht_ops_type ht_ops_type_find(const char *name)
{
	for (size_t i = 0; i < HT_OPS_N_TYPES; i++)
		if (!strcmp(names[i], name))
			return (enum ht_ops_type)i;
	return HT_OPS_N_TYPES;
}

static bool is_p2p(uint8_t type)
{
	return type >= HT_OPS_FORWARD_SEND && type <= HT_OPS_BACKWARD_RECV;
}

bool ht_ops_is_across(enum ht_ops_type type)
{
	return type == HT_OPS_ALL_GATHER || type == HT_OPS_REDUCE_SCATTER ||
	       type == HT_OPS_SEPARATE_REDUCE || type == HT_OPS_CLIP;
}

bool ht_ops_is_group(const struct ht_ops *job, uint32_t node)
{
	uint8_t type = job->nodes[node].type;
	return is_p2p(type) || ht_ops_is_across((enum ht_ops_type)type) ||
	       type == HT_OPS_EMBEDDING_REDUCE;
}

/* ---- the graph in the making ---- */

struct edge {
	uint32_t node, dep;
};

/* Nodes of one stage by start. */
struct stage {
	const uint32_t *list;
	size_t n;
};

struct builder {
	ht_ctx *ctx;
	struct ht_arena *arena;
	struct ht_ops *job;
	const struct ht_ops_row *const *ops; /* by node, of the first lane */
	struct ht_vec edges;                 /* struct edge */
	bool *idle;                          /* by node: a send or receive that never was */
	struct chunk *chunks;                /* of a stage, room for one per node */
	/* sends and receives that were, by stage and type, each list in order; the starts of the lists */
	uint32_t *launched;
	size_t *first_launched;
	uint32_t *number; /* by node: place in its list */
	bool overlaps;    /* data-parallel work overlaps the backward pass */
	bool no_memory, too_many;
};

static float end_of(const struct ht_ops_row *op)
{
	return op->start_s + op->dur_s;
}

static void wait_for(struct builder *b, uint32_t node, uint32_t dep)
{
	struct edge edge = { node, dep };
	b->too_many |= b->edges.n >= MAX_EDGES;
	if (!b->too_many)
		b->no_memory |= !HT_VEC_PUSH(b->ctx->mem, &b->edges, struct edge, edge);
}

/* The nodes of some types, in the order of the stage. */
static size_t pick(const struct builder *b, struct stage stage, uint32_t types, uint32_t *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < stage.n; i++)
		if (types >> b->job->nodes[stage.list[i]].type & 1)
			ret[n++] = stage.list[i];
	return n;
}

static void chain(struct builder *b, const uint32_t *list, size_t n)
{
	for (size_t i = 1; i < n; i++)
		wait_for(b, list[i], list[i - 1]);
}

#define BIT(type) (1u << (type))

/* Sends or receives of a direction and the compute that they belong to. */
static void match_transfers(struct builder *b, struct stage stage, const uint32_t *compute,
        size_t n_compute, uint8_t type, uint32_t *room)
{
	bool receives = type == HT_OPS_FORWARD_RECV || type == HT_OPS_BACKWARD_RECV;
	int towards = type == HT_OPS_FORWARD_SEND || type == HT_OPS_BACKWARD_RECV ? 1 : -1;
	int64_t n_global = b->job->shape.n_stages * b->job->shape.n_chunks;
	double last_start = -1e300, first_end = 1e300;
	size_t n = pick(b, stage, BIT(type), room), n_left = 0;
	for (size_t i = 0; i < n_compute; i++) {
		double start = b->ops[compute[i]]->start_s, end = end_of(b->ops[compute[i]]);
		last_start = start > last_start ? start : last_start;
		first_end = end < first_end ? end : first_end;
	}
	for (size_t i = 0; i < n; i++) {
		const struct ht_ops_row *op = b->ops[room[i]];
		b->idle[room[i]] = receives ? op->start_s > last_start + SAME_S
		                            : end_of(op) < first_end - SAME_S;
		if (!b->idle[room[i]])
			room[n_left++] = room[i];
	}
	size_t shift = receives && n_left + 1 == n_compute;
	for (size_t k = 0; k < n_left && k + shift < n_compute; k++) {
		uint32_t node = room[k], with = compute[k + shift];
		int64_t other = b->ops[with]->global + towards;
		b->idle[node] = other < 0 || other >= n_global;
		if (!receives) {
			wait_for(b, node, with);
			continue;
		}
		wait_for(b, with, node);
		if (k + shift > 0)
			wait_for(b, node, compute[k + shift - 1]);
	}
}

static void add_pipeline(struct builder *b, struct stage stage, uint32_t *a, uint32_t *room)
{
	for (uint8_t type = HT_OPS_FORWARD_SEND; type <= HT_OPS_BACKWARD_RECV; type++)
		chain(b, a, pick(b, stage, BIT(type), a));
	size_t n = pick(b, stage, BIT(HT_OPS_FORWARD), a);
	match_transfers(b, stage, a, n, HT_OPS_FORWARD_SEND, room);
	match_transfers(b, stage, a, n, HT_OPS_FORWARD_RECV, room);
	n = pick(b, stage, BIT(HT_OPS_BACKWARD), a);
	match_transfers(b, stage, a, n, HT_OPS_BACKWARD_SEND, room);
	match_transfers(b, stage, a, n, HT_OPS_BACKWARD_RECV, room);
	n = pick(b, stage, BIT(HT_OPS_FORWARD) | BIT(HT_OPS_BACKWARD), a);
	chain(b, a, n);
	size_t first = 0;
	while (first < n && b->job->nodes[a[first]].type != HT_OPS_BACKWARD)
		first++;
	if (first < 2 || first == n)
		return;
	size_t n_p2p = pick(b, stage, BIT(HT_OPS_BACKWARD_SEND) | BIT(HT_OPS_BACKWARD_RECV), room);
	for (size_t i = 0; i < n_p2p; i++)
		if (b->job->nodes[room[i]].seq == 0)
			wait_for(b, room[i], a[first - 2]);
}

/* What counts of a chunk of the model on a stage; UINT32_MAX: nothing. */
struct chunk {
	int64_t chunk;
	uint32_t gather, scatter, forward, backward; /* last, first, first, last to end */
};

static int compare_chunks(const void *left, const void *right)
{
	return ht_order_i64(
	        ((const struct chunk *)left)->chunk, ((const struct chunk *)right)->chunk);
}

static size_t list_chunks(const struct builder *b, const uint32_t *nodes, size_t n)
{
	size_t n_chunks = 0;
	for (size_t i = 0; i < n; i++)
		b->chunks[i] = (struct chunk){ b->ops[nodes[i]]->chunk, UINT32_MAX, UINT32_MAX,
			UINT32_MAX, UINT32_MAX };
	qsort(b->chunks, n, sizeof *b->chunks, compare_chunks);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || b->chunks[i].chunk != b->chunks[n_chunks - 1].chunk)
			b->chunks[n_chunks++] = b->chunks[i];
	return n_chunks;
}

/* The nodes come by start. */
static void note_chunk(const struct builder *b, struct chunk *chunk, uint32_t node)
{
	const struct ht_ops_row *op = b->ops[node];
	const uint32_t none = UINT32_MAX;
	switch (op->type) {
	case HT_OPS_ALL_GATHER:
		if (chunk->gather == none || op->seq > b->ops[chunk->gather]->seq)
			chunk->gather = node;
		break;
	case HT_OPS_REDUCE_SCATTER:
		if (chunk->scatter == none || op->seq < b->ops[chunk->scatter]->seq)
			chunk->scatter = node;
		break;
	case HT_OPS_FORWARD:
		if (chunk->forward == none)
			chunk->forward = node;
		break;
	default:
		if (chunk->backward == none || end_of(op) > end_of(b->ops[chunk->backward]))
			chunk->backward = node;
	}
}

/* The collectives of each chunk and the compute of it. */
static void add_data_parallel(struct builder *b, struct stage stage, uint32_t *a)
{
	uint32_t collectives = BIT(HT_OPS_ALL_GATHER) | BIT(HT_OPS_REDUCE_SCATTER);
	chain(b, a, pick(b, stage, collectives, a));
	size_t n = pick(b, stage, collectives | BIT(HT_OPS_FORWARD) | BIT(HT_OPS_BACKWARD), a);
	size_t n_chunks = list_chunks(b, a, n);
	for (size_t i = 0; i < n; i++) {
		struct chunk key = { .chunk = b->ops[a[i]]->chunk };
		note_chunk(b, bsearch(&key, b->chunks, n_chunks, sizeof key, compare_chunks), a[i]);
	}
	for (size_t i = 0; i < n_chunks; i++) {
		const struct chunk *c = &b->chunks[i];
		if (c->gather != UINT32_MAX && c->forward != UINT32_MAX)
			wait_for(b, c->forward, c->gather);
		if (b->overlaps && c->scatter != UINT32_MAX && c->backward != UINT32_MAX)
			wait_for(b, c->scatter, c->backward);
	}
}

static void add_tail(
        struct builder *b, struct stage stage, bool is_end, uint32_t *a, uint32_t *room)
{
	static const uint8_t plain[] = { HT_OPS_NORM_REDUCE, HT_OPS_EMBEDDING_REDUCE, HT_OPS_CLIP,
		HT_OPS_OPTIMIZER };
	static const uint8_t overlapped[] = { HT_OPS_NORM_REDUCE, HT_OPS_EMBEDDING_REDUCE,
		HT_OPS_SEPARATE_REDUCE, HT_OPS_CLIP, HT_OPS_OPTIMIZER };
	static const uint8_t apart[] = { HT_OPS_NORM_REDUCE, HT_OPS_EMBEDDING_REDUCE,
		HT_OPS_REDUCE_SCATTER, HT_OPS_CLIP, HT_OPS_OPTIMIZER };
	bool alone = b->job->shape.n_data <= 1;
	const uint8_t *order = alone ? plain : b->overlaps ? overlapped : apart;
	size_t n_order = alone ? HT_COUNT(plain) : HT_COUNT(apart);
	size_t n_compute = pick(b, stage, BIT(HT_OPS_FORWARD) | BIT(HT_OPS_BACKWARD), room),
	       last = 0;
	for (size_t i = 1; i < n_compute; i++)
		if (end_of(b->ops[room[i]]) > end_of(b->ops[room[last]]))
			last = i;
	size_t n = pick(b, stage, BIT(HT_OPS_GC), a);
	for (size_t i = 0; i < n && n_compute; i++)
		wait_for(b, a[i], room[last]);
	if (!n && n_compute)
		a[n++] = room
		        [last]; /* nothing was collected: what follows waits for the compute itself */
	if (b->overlaps && !alone) {
		size_t n_scatter = pick(b, stage, BIT(HT_OPS_REDUCE_SCATTER), room);
		if (n_scatter)
			a[n++] = room[n_scatter - 1];
	}
	for (size_t k = 0; k < n_order; k++) {
		size_t n_next = order[k] == HT_OPS_EMBEDDING_REDUCE && !is_end
		                        ? 0
		                        : pick(b, stage, BIT(order[k]), room);
		for (size_t i = 0; i < n_next; i++)
			for (size_t j = 0; j < n; j++)
				wait_for(b, room[i], a[j]);
		if (n_next) {
			memcpy(a, room, n_next * sizeof *a);
			n = n_next;
		}
	}
}

/* ---- lists of the graph ---- */

static int compare_edges(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;
	return a->node != b->node ? ht_order_i64(a->node, b->node) : ht_order_i64(a->dep, b->dep);
}

static bool list_deps(struct builder *b)
{
	struct ht_ops *job = b->job;
	struct edge *edges = b->edges.data;
	job->first_dep = ht_arena_alloc(b->arena, (job->n_nodes + 1) * sizeof *job->first_dep);
	job->deps = ht_arena_alloc(b->arena, (b->edges.n + 1) * sizeof *job->deps);
	if (!job->first_dep || !job->deps)
		return false;
	if (b->edges.n)
		qsort(edges, b->edges.n, sizeof *edges, compare_edges);
	size_t at = 0;
	for (uint32_t node = 0; node < job->n_nodes; node++) {
		job->first_dep[node] = (uint32_t)job->n_deps;
		for (; at < b->edges.n && edges[at].node == node; at++)
			if (at == 0 || compare_edges(&edges[at - 1], &edges[at]))
				job->deps[job->n_deps++] = edges[at].dep;
	}
	job->first_dep[job->n_nodes] = (uint32_t)job->n_deps;
	return true;
}

/* ---- what begins together ---- */

static enum ht_status no_partner(struct builder *b, uint32_t node)
{
	const struct ht_ops_node *n = &b->job->nodes[node];
	return ht_fail(b->ctx, HT_FORMAT, NULL, -1,
	        "every send needs its receive, on the next or previous stage",
	        "%s %" PRId64 " of stage %" PRId64 " has no partner", names[n->type], n->seq,
	        n->stage);
}

static size_t list_of(uint8_t type, int64_t stage)
{
	return (size_t)stage * 4 + (size_t)(type - HT_OPS_FORWARD_SEND);
}

/* The node of a type, stage and number of those that were launched. */
static uint32_t find_partner(const struct builder *b, uint8_t type, int64_t stage, uint32_t number)
{
	size_t list = list_of(type, stage), at = b->first_launched[list] + number;
	return at < b->first_launched[list + 1] ? b->launched[at] : UINT32_MAX;
}

static int compare_numbers(const struct ht_ops_node *a, const struct ht_ops_node *b)
{
	return a->type != b->type ? ht_order_i64(a->type, b->type) : ht_order_i64(a->seq, b->seq);
}

/* Collectives over stages: those of a type and number are one unit, that of their first. */
static bool join_stages(struct builder *b)
{
	struct ht_ops *job = b->job;
	uint32_t *nodes = ht_arena_alloc(b->arena, (job->n_nodes + 1) * sizeof *nodes);
	uint64_t *keys = ht_arena_alloc(b->arena, (job->n_nodes + 1) * sizeof *keys);
	size_t n = 0;
	if (!nodes || !keys)
		return false;
	for (uint32_t i = 0; i < job->n_nodes; i++) {
		if (job->nodes[i].type != HT_OPS_EMBEDDING_REDUCE &&
		        job->nodes[i].type != HT_OPS_CLIP)
			continue;
		keys[n] = ht_sort_key_i64(job->nodes[i].seq);
		nodes[n++] = i;
	}
	if (!ht_sort_keys(b->ctx->mem, keys, nodes, n))
		return false;
	for (size_t i = 0; i < n; i++)
		keys[i] = job->nodes[nodes[i]].type;
	if (!ht_sort_keys(b->ctx->mem, keys, nodes, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		bool same = i && !compare_numbers(&job->nodes[nodes[i]], &job->nodes[nodes[i - 1]]);
		job->n_groups += !same;
		job->nodes[nodes[i]].unit =
		        same ? job->nodes[nodes[i - 1]].unit : (uint32_t)job->n_units++;
	}
	return true;
}

/* Give every node its unit: pairs, collectives over stages, and single ones. */
static enum ht_status make_units(struct builder *b)
{
	struct ht_ops *job = b->job;
	const uint32_t none = UINT32_MAX;
	for (uint32_t i = 0; i < job->n_nodes; i++)
		job->nodes[i].unit = none;
	if (!join_stages(b))
		return ht_fail_nomem(b->ctx);
	for (uint32_t i = 0; i < job->n_nodes; i++) {
		struct ht_ops_node *node = &job->nodes[i];
		bool sends =
		        node->type == HT_OPS_FORWARD_SEND || node->type == HT_OPS_BACKWARD_SEND;
		if (node->unit != none || (is_p2p(node->type) && !sends && !b->idle[i]))
			continue;
		node->unit = (uint32_t)job->n_units++;
		job->n_groups += ht_ops_is_group(job, i);
		if (!sends || b->idle[i])
			continue;
		int64_t to = node->stage + (node->type == HT_OPS_FORWARD_SEND ? 1 : -1);
		to = (to + job->shape.n_stages) % job->shape.n_stages;
		uint32_t other = find_partner(b, node->type + 1, to, b->number[i]);
		if (other == none || job->nodes[other].unit != none)
			return no_partner(b, i);
		job->nodes[other].unit = node->unit;
	}
	for (uint32_t i = 0; i < job->n_nodes; i++)
		if (job->nodes[i].unit == none)
			return no_partner(b, i);
	return HT_OK;
}

static bool list_members(struct builder *b)
{
	struct ht_ops *job = b->job;
	job->first_member =
	        ht_arena_alloc(b->arena, (job->n_units + 2) * sizeof *job->first_member);
	job->members = ht_arena_alloc(b->arena, (job->n_nodes + 1) * sizeof *job->members);
	if (!job->first_member || !job->members)
		return false;
	for (uint32_t i = 0; i < job->n_nodes; i++)
		job->first_member[job->nodes[i].unit + 2]++;
	for (size_t u = 1; u <= job->n_units; u++)
		job->first_member[u + 1] += job->first_member[u];
	for (uint32_t i = 0; i < job->n_nodes; i++)
		job->members[job->first_member[job->nodes[i].unit + 1]++] = i;
	return true;
}

/* What waits for each unit, as slices: for walking the graph from its start. */
struct waiting {
	uint32_t *first, *units; /* by unit */
	uint32_t *n_left;        /* by unit: what it still waits for */
};

static bool list_waiting(struct builder *b, struct waiting *w)
{
	struct ht_ops *job = b->job;
	w->first = ht_arena_alloc(b->arena, (job->n_units + 2) * sizeof *w->first);
	w->units = ht_arena_alloc(b->arena, (job->n_deps + 1) * sizeof *w->units);
	w->n_left = ht_arena_alloc(b->arena, (job->n_units + 1) * sizeof *w->n_left);
	if (!w->first || !w->units || !w->n_left)
		return false;
	for (size_t k = 0; k < job->n_deps; k++)
		w->first[job->nodes[job->deps[k]].unit + 2]++;
	for (size_t u = 1; u <= job->n_units; u++)
		w->first[u + 1] += w->first[u];
	for (uint32_t node = 0; node < job->n_nodes; node++)
		for (uint32_t k = job->first_dep[node]; k < job->first_dep[node + 1]; k++) {
			uint32_t unit = job->nodes[node].unit;
			w->units[w->first[job->nodes[job->deps[k]].unit + 1]++] = unit;
			w->n_left[unit]++;
		}
	return true;
}

static enum ht_status refuse_cycle(struct builder *b, const struct waiting *w)
{
	for (uint32_t i = 0; i < b->job->n_nodes; i++) {
		const struct ht_ops_node *node = &b->job->nodes[i];
		if (w->n_left[node->unit])
			return ht_fail(b->ctx, HT_FORMAT, NULL, -1,
			        "operations of a step cannot wait for each other; are stages, seq_id and "
			        "start_ts of one clock?",
			        "the order of operations has a cycle: %s %" PRId64
			        " of stage %" PRId64 " is in it or waits for it",
			        names[node->type], node->seq, node->stage);
	}
	return HT_OK;
}

/* Number the units anew, each after all that it waits for. */
static enum ht_status order_units(struct builder *b)
{
	struct ht_ops *job = b->job;
	struct waiting w;
	uint32_t *order = ht_arena_alloc(b->arena, (job->n_units + 1) * sizeof *order), n = 0;
	uint32_t *place = ht_arena_alloc(b->arena, (job->n_units + 1) * sizeof *place);
	if (!order || !place || !list_waiting(b, &w))
		return ht_fail_nomem(b->ctx);
	for (uint32_t u = 0; u < job->n_units; u++)
		if (!w.n_left[u])
			order[n++] = u;
	for (uint32_t i = 0; i < n; i++) {
		place[order[i]] = i;
		for (uint32_t k = w.first[order[i]]; k < w.first[order[i] + 1]; k++)
			if (!--w.n_left[w.units[k]])
				order[n++] = w.units[k];
	}
	if (n < job->n_units)
		return refuse_cycle(b, &w);
	for (uint32_t i = 0; i < job->n_nodes; i++)
		job->nodes[i].unit = place[job->nodes[i].unit];
	return list_members(b) ? HT_OK : ht_fail_nomem(b->ctx);
}

/* ---- nodes and lanes ---- */

static int compare_names(const struct ht_ops_row *a, const struct ht_ops_row *b)
{
	return strcmp(names[a->type], names[b->type]);
}

/* By stage, start, number and name: the order of the first lane. */
static int compare_starts(const void *left, const void *right)
{
	const struct ht_ops_row *a = *(const struct ht_ops_row *const *)left,
	                        *b = *(const struct ht_ops_row *const *)right;
	if (a->stage != b->stage)
		return ht_order_i64(a->stage, b->stage);
	if (a->start_s != b->start_s)
		return a->start_s < b->start_s ? -1 : 1;
	return a->seq != b->seq ? ht_order_i64(a->seq, b->seq) : compare_names(a, b);
}

/* By step, data rank, stage, type and number: the same for every lane. */
static int compare_lanes(const void *left, const void *right)
{
	const struct ht_ops_row *a = *(const struct ht_ops_row *const *)left,
	                        *b = *(const struct ht_ops_row *const *)right;
	const int64_t keys[][2] = { { a->step, b->step }, { a->data_rank, b->data_rank },
		{ a->stage, b->stage }, { a->type, b->type }, { a->seq, b->seq } };
	for (size_t i = 0; i < HT_COUNT(keys); i++)
		if (keys[i][0] != keys[i][1])
			return ht_order_i64(keys[i][0], keys[i][1]);
	return 0;
}

/* Lanes are a grid: the data-parallel ranks of the first step, in every step. */
static bool has_place(
        const struct ht_ops_row *const *sorted, size_t lane, size_t per_lane, size_t n_data)
{
	const struct ht_ops_row *op = sorted[lane * per_lane];
	size_t data = lane % n_data;
	return op->data_rank == sorted[data * per_lane]->data_rank &&
	       op->step == sorted[(lane - data) * per_lane]->step;
}

/* The lanes, whose operations must be the same. sorted has all of them by lane. */
static enum ht_status read_lanes(
        struct builder *b, const struct ht_ops_row *const *sorted, size_t n)
{
	struct ht_ops *job = b->job;
	size_t per_lane = 1, n_lanes;
	while (per_lane < n && sorted[per_lane]->step == sorted[0]->step &&
	        sorted[per_lane]->data_rank == sorted[0]->data_rank)
		per_lane++;
	n_lanes = n / per_lane;
	for (size_t i = 1; i < per_lane; i++)
		if (!compare_lanes(&sorted[i - 1], &sorted[i]))
			return ht_fail(b->ctx, HT_FORMAT, NULL, -1,
			        "seq_id counts operations of a type in a step and worker",
			        "%s %" PRId64 " of stage %" PRId64
			        " is there twice in step %" PRId64,
			        names[sorted[i]->type], sorted[i]->seq, sorted[i]->stage,
			        sorted[i]->step);
	for (size_t lane = 0; lane < n_lanes; lane++) {
		const struct ht_ops_row *first = sorted[lane * per_lane];
		job->n_data += first->step == sorted[0]->step;
		for (size_t i = 0; i < per_lane; i++) {
			const struct ht_ops_row *op = sorted[lane * per_lane + i],
			                        *like = sorted[i];
			if (op->step != first->step || op->data_rank != first->data_rank ||
			        op->stage != like->stage || op->type != like->type ||
			        op->seq != like->seq ||
			        !has_place(sorted, lane, per_lane, job->n_data))
				return ht_fail(b->ctx, HT_FORMAT, NULL, -1,
				        "all steps and data-parallel ranks need the same operations",
				        "step %" PRId64 " of data-parallel rank %" PRId64
				        " has other operations than the first",
				        first->step, first->data_rank);
		}
	}
	job->n_nodes = per_lane;
	job->n_steps = n_lanes / job->n_data;
	if (n_lanes * per_lane != n || job->n_steps * job->n_data != n_lanes)
		return ht_fail(b->ctx, HT_FORMAT, NULL, -1, NULL,
		        "%zu operations are no whole number of steps of %zu data-parallel ranks", n,
		        job->n_data);
	return HT_OK;
}

static bool take_lanes(struct builder *b, const struct ht_ops_row *const *sorted)
{
	struct ht_ops *job = b->job;
	size_t n = ht_ops_n_values(job), n_stages = (size_t)job->shape.n_stages;
	job->steps = ht_arena_alloc(b->arena, job->n_steps * sizeof *job->steps);
	job->data_ranks = ht_arena_alloc(b->arena, job->n_data * sizeof *job->data_ranks);
	job->ranks = ht_arena_alloc(b->arena, job->n_data * n_stages * sizeof *job->ranks);
	job->start_s = ht_arena_alloc(b->arena, n * sizeof *job->start_s);
	job->dur_s = ht_arena_alloc(b->arena, n * sizeof *job->dur_s);
	job->transfer_s = ht_arena_alloc(b->arena, n * sizeof *job->transfer_s);
	if (!job->steps || !job->data_ranks || !job->ranks || !job->start_s || !job->dur_s ||
	        !job->transfer_s)
		return false;
	for (size_t i = 0; i < n; i++) {
		size_t lane = i / job->n_nodes, data = lane % job->n_data;
		job->steps[lane / job->n_data] = sorted[i]->step;
		job->data_ranks[data] = sorted[i]->data_rank;
		job->ranks[data * n_stages + (size_t)sorted[i]->stage] = sorted[i]->rank;
		job->start_s[i] = sorted[i]->start_s;
		job->dur_s[i] = sorted[i]->dur_s;
	}
	return true;
}

/* From the latest start of what begins together to the own end. */
static void find_transfers(struct ht_ops *job)
{
	for (size_t s = 0; s < job->n_steps; s++)
		for (size_t u = 0; u < job->n_units; u++) {
			uint32_t first = job->first_member[u], end = job->first_member[u + 1];
			uint8_t type = job->nodes[job->members[first]].type;
			if (!ht_ops_is_group(job, job->members[first]))
				continue;
			for (size_t d = 0; d < job->n_data; d++) {
				bool across = ht_ops_is_across((enum ht_ops_type)type);
				float latest =
				        job->start_s[ht_ops_at(job, s, d, job->members[first])];
				for (size_t e = across ? 0 : d; e < (across ? job->n_data : d + 1);
				        e++)
					for (uint32_t m = first; m < end; m++) {
						float start = job->start_s[ht_ops_at(
						        job, s, e, job->members[m])];
						latest = start > latest ? start : latest;
					}
				for (uint32_t m = first; m < end; m++) {
					size_t at = ht_ops_at(job, s, d, job->members[m]);
					float over = job->start_s[at] + job->dur_s[at];
					float transfer = over - latest;
					job->transfer_s[at] =
					        transfer <= (float)EARLY_S ? 0 : transfer;
				}
			}
		}
}

/* ---- all of it ---- */

/* List what was sent and received, by stage and type. */
static bool list_launched(struct builder *b, const uint32_t *by_start)
{
	struct ht_ops *job = b->job;
	size_t n_lists = (size_t)job->shape.n_stages * 4;
	b->launched = ht_arena_alloc(b->arena, (job->n_nodes + 1) * sizeof *b->launched);
	b->number = ht_arena_alloc(b->arena, (job->n_nodes + 1) * sizeof *b->number);
	b->first_launched = ht_arena_alloc(b->arena, (n_lists + 2) * sizeof *b->first_launched);
	if (!b->launched || !b->number || !b->first_launched)
		return false;
	size_t *next = b->first_launched + 1; /* counts, then ends, one list further */
	for (size_t i = 0; i < job->n_nodes; i++) {
		const struct ht_ops_node *node = &job->nodes[i];
		if (is_p2p(node->type) && !b->idle[i])
			next[list_of(node->type, node->stage) + 1]++;
	}
	for (size_t list = 1; list <= n_lists; list++)
		next[list] += next[list - 1];
	for (size_t i = 0; i < job->n_nodes; i++) {
		const struct ht_ops_node *node = &job->nodes[by_start[i]];
		if (is_p2p(node->type) && !b->idle[by_start[i]])
			b->launched[next[list_of(node->type, node->stage)]++] = by_start[i];
	}
	for (size_t list = 0; list < n_lists; list++)
		for (size_t at = b->first_launched[list]; at < b->first_launched[list + 1]; at++)
			b->number[b->launched[at]] = (uint32_t)(at - b->first_launched[list]);
	return true;
}

static enum ht_status no_stage(struct builder *b, int64_t stage)
{
	return ht_fail(b->ctx, HT_FORMAT, NULL, -1, "is pp_size right?",
	        "stage %" PRId64 " has no operations", stage);
}

static enum ht_status connect(struct builder *b, const struct ht_ops_row **by_start)
{
	struct ht_ops *job = b->job;
	size_t n = job->n_nodes;
	uint32_t *list = ht_arena_alloc(b->arena, 3 * n * sizeof *list);
	b->idle = ht_arena_alloc(b->arena, n);
	b->chunks = ht_arena_alloc(b->arena, n * sizeof *b->chunks);
	if (!list || !b->idle || !b->chunks)
		return ht_fail_nomem(b->ctx);
	memset(b->idle, 0, n);
	qsort(by_start, n, sizeof *by_start, compare_starts);
	/* nodes are numbered as the first lane lies in by_lane: an operation is found by its place there */
	for (size_t i = 0; i < n; i++)
		list[i] = (uint32_t)(by_start[i] - b->ops[0]);
	for (size_t i = 0; i < n; i++)
		b->overlaps |= job->nodes[i].type == HT_OPS_SEPARATE_REDUCE;
	for (size_t first = 0, end, n_seen = 0; first < n; first = end) {
		if (by_start[first]->stage != (int64_t)n_seen++)
			return no_stage(b, (int64_t)n_seen - 1);
		for (end = first; end < n && by_start[end]->stage == by_start[first]->stage;)
			end++;
		struct stage stage = { list + first, end - first };
		int64_t number = by_start[first]->stage;
		add_pipeline(b, stage, list + n, list + 2 * n);
		add_data_parallel(b, stage, list + n);
		add_tail(b, stage, number == 0 || number == job->shape.n_stages - 1, list + n,
		        list + 2 * n);
		if (end == n && number != job->shape.n_stages - 1)
			return no_stage(b, number + 1);
	}
	if (b->too_many)
		return ht_fail(b->ctx, HT_LIMIT, NULL, -1, NULL,
		        "operations of a step wait for each other more than %d times", MAX_EDGES);
	if (b->no_memory || !list_deps(b) || !list_launched(b, list))
		return ht_fail_nomem(b->ctx);
	HT_TRY(make_units(b));
	return order_units(b);
}

static enum ht_status check_ops(struct builder *b, const struct ht_ops_row *ops, size_t n)
{
	const struct ht_ops_shape *shape = &b->job->shape;
	if (shape->n_stages > MAX_STAGES)
		return ht_fail(b->ctx, HT_LIMIT, NULL, -1, NULL,
		        "a pipeline of %" PRId64 " stages, more than %d", shape->n_stages,
		        MAX_STAGES);
	for (size_t i = 0; i < n; i++)
		if (ops[i].stage < 0 || ops[i].stage >= shape->n_stages)
			return ht_fail(b->ctx, HT_FORMAT, NULL, -1,
			        "the stages are 0 to pp_size - 1",
			        "an operation is of stage %" PRId64, ops[i].stage);
	return HT_OK;
}

/* The first lane as nodes; its operations are copied, so that a node is a place in the copy. */
static enum ht_status make_nodes(struct builder *b, const struct ht_ops_row *const *sorted,
        const struct ht_ops_row ***ret_by_start)
{
	struct ht_ops *job = b->job;
	size_t n = job->n_nodes;
	if (n > MAX_NODES)
		return ht_fail(b->ctx, HT_LIMIT, NULL, -1, NULL,
		        "a step of a data-parallel rank has %zu operations, more than %d", n,
		        MAX_NODES);
	struct ht_ops_row *first = ht_arena_alloc(b->arena, n * sizeof *first);
	const struct ht_ops_row **ops = ht_arena_alloc(b->arena, n * sizeof *ops);
	const struct ht_ops_row **by_start = ht_arena_alloc(b->arena, n * sizeof *by_start);
	job->nodes = ht_arena_alloc(b->arena, n * sizeof *job->nodes);
	if (!first || !ops || !by_start || !job->nodes)
		return ht_fail_nomem(b->ctx);
	for (size_t i = 0; i < n; i++) {
		first[i] = *sorted[i];
		ops[i] = by_start[i] = &first[i];
		job->nodes[i] = (struct ht_ops_node){
			.stage = first[i].stage, .seq = first[i].seq, .type = first[i].type
		};
	}
	b->ops = ops;
	*ret_by_start = by_start;
	return HT_OK;
}

enum ht_status ht_ops_make(ht_ctx *ctx, const struct ht_ops_row *ops, size_t n,
        const struct ht_ops_shape *shape, struct ht_arena *arena, struct ht_ops *ret)
{
	struct builder b = { .ctx = ctx, .arena = arena, .job = ret };
	const struct ht_ops_row **by_start = NULL;
	*ret = (struct ht_ops){ .shape = *shape };
	if (!n)
		return ht_fail(ctx, HT_FORMAT, NULL, -1, NULL, "there are no operations");
	HT_TRY(check_ops(&b, ops, n));
	const struct ht_ops_row **sorted = ht_arena_alloc(arena, n * sizeof *sorted);
	if (!sorted)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++)
		sorted[i] = &ops[i];
	qsort(sorted, n, sizeof *sorted, compare_lanes);
	HT_TRY(read_lanes(&b, sorted, n));
	HT_TRY(make_nodes(&b, sorted, &by_start));
	enum ht_status status = take_lanes(&b, sorted) ? connect(&b, by_start) : ht_fail_nomem(ctx);
	ht_vec_free(ctx->mem, &b.edges, sizeof(struct edge));
	if (status == HT_OK)
		find_transfers(ret);
	return status;
}
