/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_nodes.c - see link_nodes.h.
 */
#include "et/link_nodes.h"

#include "base/checked.h"
#include "base/search.h"
#include "base/sort.h"
#include "et/et_sync.h"
#include "store/args.h"

#include <string.h>

/* How many calls with one External id are looked at; real traces have one or two. */
#define MAX_SAME_ID 64

struct linking {
	ht_ctx *ctx;
	const struct ht_et *et;
	const struct ht_trace *t;
	const struct ht_et_link_options *o;
	struct ht_arena *arena;
	struct ht_et_link *link;
	uint32_t *around;      /* by event: nearest operator or annotation around it */
	uint32_t *thread_node; /* by track: row of its thread node */
};

static bool is_call(const struct linking *k, uint32_t row)
{
	return ht_et_is_call(k->t, row, k->o->as_chakra);
}

/* ---- the tree of calls ---- */

/* Rows of a track are in order of start, longest first, so parents come before their children. */
static enum ht_status find_around(struct linking *k)
{
	const struct ht_trace *t = k->t;
	k->around = ht_arena_alloc(k->arena, ((size_t)ht_n_events(t) + 1) * sizeof *k->around);
	if (!k->around)
		return ht_fail_nomem(k->ctx);
	memset(k->around, 0xff, (size_t)ht_n_events(t) * sizeof *k->around);
	for (size_t i = 0; i < t->n_tracks; i++)
		for (uint32_t j = 0; j < t->tracks[i].n; j++) {
			uint32_t row = t->track_rows[t->tracks[i].first + j];
			uint32_t parent = t->parent[row];
			if (parent != HT_NONE)
				k->around[row] = is_call(k, parent) ? parent : k->around[parent];
		}
	return HT_OK;
}

/* What a call's children take of it. One that starts with its parent sorts before it for Chakra, which then does not
 * see it, only what is inside of it. */
static void take_off(const struct linking *k, int64_t *self_ns, uint32_t row)
{
	const struct ht_trace *t = k->t;
	uint32_t parent = k->around[row];
	if (parent == HT_NONE)
		return;
	int64_t end_ns = ht_end_ns(t, row), limit_ns = ht_end_ns(t, parent);
	int64_t dur_ns = ht_sub_sat(end_ns < limit_ns ? end_ns : limit_ns, t->ts_ns[row]);
	if (dur_ns < 0)
		dur_ns = 0;
	bool hidden = k->o->as_chakra && t->ts_ns[row] == t->ts_ns[parent] &&
	              t->dur_ns[row] < t->dur_ns[parent];
	if (!hidden)
		self_ns[parent] = ht_sub_sat(self_ns[parent], dur_ns);
	/* hidden calls between this one and one further out are not taken off there: this one is */
	for (uint32_t at = parent; k->o->as_chakra && !hidden; at = k->around[at]) {
		uint32_t outer = k->around[at];
		if (outer == HT_NONE || t->ts_ns[at] != t->ts_ns[outer] ||
		        t->dur_ns[at] >= t->dur_ns[outer])
			break;
		self_ns[outer] = ht_sub_sat(self_ns[outer], dur_ns);
	}
}

static enum ht_status measure(struct linking *k)
{
	const struct ht_trace *t = k->t;
	struct ht_et_link *link = k->link;
	int64_t *self_ns = ht_arena_alloc(k->arena, ((size_t)ht_n_events(t) + 1) * sizeof *self_ns);
	if (!self_ns)
		return ht_fail_nomem(k->ctx);
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		self_ns[row] = t->dur_ns[row];
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (is_call(k, row))
			take_off(k, self_ns, row);
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		if (!is_call(k, row))
			continue;
		if (!ht_et_is_step(t, row))
			ht_sum(&link->self_ns, self_ns[row]);
		if (link->join.node[row] != HT_ET_NONE)
			link->nodes[link->join.node[row]] =
			        (struct ht_et_linked){ .ts_ns = t->ts_ns[row],
				        .dur_ns = t->dur_ns[row],
				        .self_ns = self_ns[row],
				        .after = HT_ET_NONE };
	}
	return HT_OK;
}

/* ---- GPU work ---- */

/* The thread node of a track, known from any joined event on it. */
static enum ht_status find_thread_nodes(struct linking *k)
{
	const struct ht_et_node *nodes = ht_et_nodes(k->et);
	size_t n_bytes = (k->t->n_tracks + 1) * sizeof *k->thread_node;
	k->thread_node = ht_arena_alloc(k->arena, n_bytes);
	uint32_t *threads =
	        ht_arena_alloc(k->arena, ((size_t)ht_et_n(k->et) + 1) * sizeof *threads);
	size_t n_threads = 0;
	if (!k->thread_node || !threads)
		return ht_fail_nomem(k->ctx);
	memset(k->thread_node, 0xff, n_bytes);
	for (uint32_t row = 0; row < ht_et_n(k->et); row++)
		if (ht_et_kind(k->et, row) == HT_ET_THREAD)
			threads[n_threads++] = row;
	for (uint32_t row = 0; row < ht_et_n(k->et); row++) {
		uint32_t event = k->link->join.event[row];
		if (event == HT_NONE || k->thread_node[k->t->track[event]] != HT_ET_NONE)
			continue;
		for (size_t i = 0; i < n_threads; i++)
			if (nodes[threads[i]].tid == nodes[row].tid)
				k->thread_node[k->t->track[event]] = threads[i];
	}
	return HT_OK;
}

/* The node of a call or of what is around it; the thread's node when nothing is. */
static uint32_t node_of_call(const struct linking *k, uint32_t call, uint32_t launch)
{
	while (call != HT_NONE && k->link->join.node[call] == HT_ET_NONE)
		call = k->around[call];
	if (call != HT_NONE)
		return k->link->join.node[call];
	uint32_t thread = k->thread_node[k->t->track[launch]];
	return thread != HT_ET_NONE ? thread : k->et->root;
}

static uint32_t host_of(const struct linking *k, const struct ht_gpu *gpu)
{
	uint32_t op = gpu->op;
	if (op == HT_NONE || !is_call(k, op) || !ht_row_is_around(k->t, op, gpu->launch))
		op = k->around[gpu->launch];
	return node_of_call(k, op, gpu->launch);
}

/* ---- GPU work as Chakra sees it ---- */

static bool is_chakra_launch(const char *name)
{
	static const char *const names[] = { "cuLaunchKernel", "cuLaunchKernelEx",
		"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpy", "cudaMemcpyAsync",
		"cudaMemcpyFromSymbol", "cudaMemcpyToSymbol", "cudaLaunchCooperativeKernel",
		"hipLaunchKernel", "hipExtLaunchKernel", "hipExtModuleLaunchKernel",
		"hipModuleLaunchKernel", "hipMemcpyWithStream", "hipMemcpyAsync" };
	for (size_t i = 0; i < HT_COUNT(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Calls in order of External id, then start. */
struct chakra_calls {
	const struct linking *k;
	int64_t *external_ids; /* by event */
	uint64_t *keys;
	uint32_t *rows;
	size_t n;
};

static enum ht_status order_by_external_id(const struct linking *k, struct chakra_calls *ret_calls)
{
	const struct ht_trace *t = k->t;
	size_t n_room = (size_t)ht_n_events(t) + 1;
	struct chakra_calls c = { .k = k,
		.keys = ht_arena_alloc(k->arena, n_room * sizeof *c.keys),
		.rows = ht_arena_alloc(k->arena, n_room * sizeof *c.rows) };
	if (!c.keys || !c.rows)
		return ht_fail_nomem(k->ctx);
	HT_TRY(ht_arg_dense_i64(k->ctx, t, "External id", -1, k->arena, &c.external_ids));
	for (size_t i = 0; i < t->n_tracks; i++)
		for (uint32_t j = 0; j < t->tracks[i].n; j++) {
			uint32_t row = t->track_rows[t->tracks[i].first + j];
			if (is_call(k, row)) {
				c.keys[c.n] = (uint64_t)c.external_ids[row];
				c.rows[c.n++] = row;
			}
		}
	if (!ht_sort_keys(k->ctx->mem, c.keys, c.rows, c.n))
		return ht_fail_nomem(k->ctx);
	*ret_calls = c;
	return HT_OK;
}

static bool can_be_host(const struct chakra_calls *c, uint32_t row, const struct ht_gpu *gpu)
{
	const struct ht_trace *t = c->k->t;
	bool is_nccl = strstr(ht_str(t, t->name[gpu->row]), "nccl") != NULL;
	return is_call(c->k, row) && t->track[row] == t->track[gpu->launch] &&
	       t->ts_ns[row] <= t->ts_ns[gpu->launch] &&
	       !(is_nccl && !strcmp(ht_str(t, t->name[row]), "nccl:coalesced"));
}

/* Of the calls of the thread that started before the launch, the last with the External id of the work, else the
 * last. */
static uint32_t chakra_host(const struct chakra_calls *c, const struct ht_gpu *gpu)
{
	const struct ht_trace *t = c->k->t;
	uint64_t wanted = (uint64_t)c->external_ids[gpu->row];
	uint32_t best = HT_NONE;
	size_t n = HT_LOWER_BOUND(at, c->n, c->keys[at] <= wanted);
	for (size_t i = n; i-- > 0 && c->keys[i] == wanted && n - i < MAX_SAME_ID;)
		if (can_be_host(c, c->rows[i], gpu) &&
		        (best == HT_NONE || t->ts_ns[c->rows[i]] > t->ts_ns[best]))
			best = c->rows[i];
	if (best != HT_NONE)
		return best;
	const struct ht_track *track = &t->tracks[t->track[gpu->launch]];
	const uint32_t *rows = t->track_rows + track->first;
	n = HT_LOWER_BOUND(at, track->n, t->ts_ns[rows[at]] <= t->ts_ns[gpu->launch]);
	while (n-- > 0)
		if (can_be_host(c, rows[n], gpu))
			return rows[n];
	return HT_NONE;
}

/* ---- all GPU work ---- */

static enum ht_status place_gpus(struct linking *k, struct ht_et_gpu *gpus, size_t *ret_n)
{
	const struct ht_trace *t = k->t;
	struct chakra_calls calls = { .k = k };
	size_t n = 0;
	if (k->o->as_chakra)
		HT_TRY(order_by_external_id(k, &calls));
	for (size_t i = 0; i < t->n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		struct ht_et_gpu placed = { .gpu = (uint32_t)i };
		bool is_orphan = gpu->launch == HT_NONE;
		if (k->o->as_chakra) {
			if (is_orphan || t->kind[gpu->row] == HT_KIND_MEMSET ||
			        !is_chakra_launch(ht_str(t, t->name[gpu->launch])))
				continue;
			uint32_t call = chakra_host(&calls, gpu);
			if (call == HT_NONE || k->link->join.node[call] == HT_ET_NONE)
				continue;
			placed.host = k->link->join.node[call];
		} else {
			placed.is_orphan = is_orphan;
			placed.host = is_orphan ? k->et->root : host_of(k, gpu);
		}
		if (placed.host != HT_ET_NONE)
			gpus[n++] = placed;
	}
	*ret_n = n;
	return HT_OK;
}

static void count_gpus(struct linking *k)
{
	struct ht_et_link *link = k->link;
	for (size_t i = 0; i < link->n_gpus; i++) {
		uint8_t kind = k->t->kind[k->t->gpu[link->gpus[i].gpu].row];
		struct ht_et_linked *host = &link->nodes[link->gpus[i].host];
		if (!host->n_gpu++)
			host->first_gpu = (uint32_t)i;
		if (link->gpus[i].is_orphan)
			link->n_orphans++;
		else if (kind == HT_KIND_MEMCPY)
			link->n_copies++;
		else if (kind == HT_KIND_MEMSET)
			link->n_sets++;
		else
			link->n_kernels++;
	}
}

static enum ht_status attach_gpus(struct linking *k)
{
	const struct ht_trace *t = k->t;
	struct ht_et_link *link = k->link;
	size_t n = 0, n_room = t->n_gpu + 1;
	struct ht_et_gpu *gpus = ht_arena_alloc(k->arena, n_room * sizeof *gpus);
	uint64_t *keys = ht_arena_alloc(k->arena, n_room * sizeof *keys);
	uint32_t *order = ht_arena_alloc(k->arena, n_room * sizeof *order);
	link->gpus = ht_arena_alloc(k->arena, n_room * sizeof *link->gpus);
	if (!gpus || !keys || !order || !link->gpus)
		return ht_fail_nomem(k->ctx);
	HT_TRY(place_gpus(k, gpus, &n));
	/* by start, then by host: the second sort keeps the order of the first */
	for (size_t i = 0; i < n; i++) {
		keys[i] = ht_sort_key_i64(t->ts_ns[t->gpu[gpus[i].gpu].row]);
		order[i] = (uint32_t)i;
	}
	if (!ht_sort_keys(k->ctx->mem, keys, order, n))
		return ht_fail_nomem(k->ctx);
	for (size_t i = 0; i < n; i++)
		keys[i] = gpus[order[i]].host;
	if (!ht_sort_keys(k->ctx->mem, keys, order, n))
		return ht_fail_nomem(k->ctx);
	for (size_t i = 0; i < n; i++)
		link->gpus[i] = gpus[order[i]];
	link->n_gpus = n;
	count_gpus(k);
	return HT_OK;
}

/* ---- dependencies between threads ---- */

/* Calls of all threads in order of start. */
struct calls {
	uint64_t *keys;
	uint32_t *rows;
	uint32_t *elsewhere; /* by place: the last place before it on another track, HT_NONE */
	size_t n;
};

static enum ht_status order_calls(struct linking *k, struct calls *ret_calls)
{
	const struct ht_trace *t = k->t;
	size_t n_room = (size_t)ht_n_events(t) + 1;
	struct calls c = { ht_arena_alloc(k->arena, n_room * sizeof *c.keys),
		ht_arena_alloc(k->arena, n_room * sizeof *c.rows),
		ht_arena_alloc(k->arena, n_room * sizeof *c.elsewhere), 0 };
	if (!c.keys || !c.rows || !c.elsewhere)
		return ht_fail_nomem(k->ctx);
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (is_call(k, row)) {
			c.keys[c.n] = ht_sort_key_i64(t->ts_ns[row]);
			c.rows[c.n++] = row;
		}
	if (!ht_sort_keys(k->ctx->mem, c.keys, c.rows, c.n))
		return ht_fail_nomem(k->ctx);
	for (size_t i = 0; i < c.n; i++) {
		bool same = i && t->track[c.rows[i]] == t->track[c.rows[i - 1]];
		c.elsewhere[i] = !i ? HT_NONE : same ? c.elsewhere[i - 1] : (uint32_t)i - 1;
	}
	*ret_calls = c;
	return HT_OK;
}

/* The call of another track that starts last before a time. */
static uint32_t last_elsewhere(
        const struct linking *k, const struct calls *c, int64_t before_ns, uint32_t track)
{
	uint64_t key = ht_sort_key_i64(before_ns);
	size_t i = HT_LOWER_BOUND(at, c->n, c->keys[at] < key);
	if (!i--)
		return HT_NONE;
	if (k->t->track[c->rows[i]] != track)
		return c->rows[i];
	return c->elsewhere[i] == HT_NONE ? HT_NONE : c->rows[c->elsewhere[i]];
}

/* All calls of a group get the same dependency. The rows of a track are in order of start. */
static void depend_track(struct linking *k, const struct ht_track *track, const struct calls *c)
{
	const struct ht_trace *t = k->t;
	struct ht_et_link *link = k->link;
	int64_t end_ns = INT64_MIN;
	uint32_t after = HT_NONE;
	bool any = false;
	for (uint32_t i = 0; i < track->n; i++) {
		uint32_t row = t->track_rows[track->first + i];
		if (!is_call(k, row))
			continue;
		if (!any || t->ts_ns[row] - end_ns > k->o->gap_ns)
			after = last_elsewhere(k, c, t->ts_ns[row], t->track[row]);
		/* Chakra measures from the call before, we from the last end */
		if (!any || k->o->as_chakra || ht_end_ns(t, row) > end_ns)
			end_ns = ht_end_ns(t, row);
		any = true;
		uint32_t node = link->join.node[row];
		uint32_t to = after == HT_NONE ? HT_ET_NONE : link->join.node[after];
		if (node == HT_ET_NONE || to == HT_ET_NONE)
			continue;
		if (k->o->as_chakra && ht_et_nodes(k->et)[to].id >= ht_et_nodes(k->et)[node].id)
			continue;
		link->nodes[node].after = to;
		link->n_after++;
	}
}

static enum ht_status depend_threads(struct linking *k)
{
	struct calls calls = { 0 };
	HT_TRY(order_calls(k, &calls));
	for (size_t i = 0; i < k->t->n_tracks; i++)
		depend_track(k, &k->t->tracks[i], &calls);
	return HT_OK;
}

/* ---- the whole ---- */

enum ht_status ht_et_link_make(ht_ctx *ctx, const struct ht_et *et, const struct ht_trace *trace,
        const struct ht_et_link_options *options, struct ht_arena *arena,
        struct ht_et_link *ret_link)
{
	struct ht_et_link link = { 0 };
	struct linking k = {
		.ctx = ctx, .et = et, .t = trace, .o = options, .arena = arena, .link = &link
	};
	HT_TRY(ht_et_join_make(ctx, et, trace, arena, &link.join));
	link.nodes = ht_arena_alloc(arena, ((size_t)ht_et_n(et) + 1) * sizeof *link.nodes);
	if (!link.nodes)
		return ht_fail_nomem(ctx);
	for (uint32_t row = 0; row < ht_et_n(et); row++)
		link.nodes[row].after = HT_ET_NONE;
	if (!link.join.is_refused && link.join.key != HT_ET_BY_NOTHING) {
		HT_TRY(find_around(&k));
		HT_TRY(measure(&k));
		HT_TRY(find_thread_nodes(&k));
		HT_TRY(attach_gpus(&k));
		HT_TRY(depend_threads(&k));
		HT_TRY(options->as_chakra ? ht_et_sync_add_waits(ctx, trace, options, arena, &link)
		                          : ht_et_sync_add(ctx, trace, arena, &link));
	}
	*ret_link = link;
	return HT_OK;
}

enum ht_status ht_et_link_demand(ht_ctx *ctx, const struct ht_et *et, const struct ht_et_link *link)
{
	const struct ht_et_join *join = &link->join;
	if (join->key == HT_ET_BY_NOTHING && join->n_nodes)
		return ht_fail(ctx, HT_MISSING, et->path, -1,
		        "record both with one profiler: profile(execution_trace_observer=...)",
		        "no event of the Kineto trace has a record function id");
	if (join->is_refused)
		return ht_fail(ctx, HT_MISSING, et->path, -1,
		        "give the Kineto trace of the same window",
		        "the traces are not of the same run: %zu of %zu names agree",
		        join->n_same_name, join->n_pairs);
	return HT_OK;
}
