/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replays.c - see replays.h.
 *
 * Launches are taken in order of their rows. The names of a launch's activities, in order of their start, are hashed; launches with
 * the same hash, number and size share what the first of them found. So the cost is a sort and a hash per activity, and an
 * alignment per kind of graph.
 */
#include "model/origin/replays.h"
#include "base/checked.h"
#include "store/columns.h"

#include "attach/kind.h"
#include "base/hash.h"
#include "base/sort.h"
#include "model/origin/compiled.h"
#include "model/origin/inductor_graph.h"
#include "model/origin/choose.h"
#include "model/origin/node_events.h"
#include "model/origin/node_notes.h"
#include "model/rows/around.h"
#include "model/serving/iteration_rules.h"

#include <string.h>

struct reading {
	struct ht_run *run;
	const struct ht_trace *t;
	struct ht_origins *origins;
	struct ht_chooser chooser; /* tapes, and what is known of them */
	uint32_t *site;
	uint8_t *of_graph;
	struct ht_vec sites; /* struct ht_origin */
	struct ht_vec uses;  /* struct use */
	uint32_t *use_at;    /* open addressing: which use, UINT32_MAX: free */
	size_t n_places;     /* a power of two, or 0 */
	uint64_t *n_matched; /* by attachment */
	const char **why;
	const struct ht_iteration_rules *rules; /* of the user's own, NULL: none */
	struct ht_around calls,
	        sizes; /* of compiled graphs; annotations of a grammar that say a size */
	struct ht_last_calls last_calls; /* of compiled graphs */
	/* the launch in hand */
	const uint32_t *gpus; /* its activities by start */
	uint64_t *sort_keys;
	uint32_t *sorted;
	size_t n_room;
};

/* A kind of graph, and where its sites are. */
struct use {
	struct ht_graph_use graph;
	uint64_t names; /* of the ids of its names, which is cheap to compare */
	uint32_t first_site;
	const struct ht_attachment *from;
};

static enum ht_status make_room(struct reading *r, size_t n)
{
	if (n <= r->n_room)
		return HT_OK;
	r->n_room = 2 * n;
	r->sort_keys = ht_arena_room(r->run->scratch, r->n_room * sizeof *r->sort_keys);
	r->sorted = ht_arena_room(r->run->scratch, r->n_room * sizeof *r->sorted);
	return r->sort_keys && r->sorted ? HT_OK : ht_fail_nomem(r->run->ctx);
}

static uint64_t hash_names(const struct reading *r, size_t n)
{
	uint64_t hash = n;
	for (size_t i = 0; i < n; i++)
		hash = ht_hash_mix(hash, r->t->name[r->t->gpu[r->gpus[i]].row]);
	return hash;
}

/* The activities of a launch by their start, and a hash of their names. The trace mostly has them so: one look at each is enough then. */
static enum ht_status order_activities(
        struct reading *r, const uint32_t *gpus, size_t n, uint64_t *ret_hash)
{
	const struct ht_trace *t = r->t;
	int64_t last_ns = INT64_MIN;
	size_t n_sorted = 0;
	uint64_t hash = n;
	for (; n_sorted < n; n_sorted++) {
		uint32_t row = t->gpu[gpus[n_sorted]].row;
		if (t->ts_ns[row] < last_ns)
			break;
		last_ns = t->ts_ns[row];
		hash = ht_hash_mix(hash, t->name[row]);
	}
	r->gpus = gpus;
	*ret_hash = hash;
	if (n_sorted == n)
		return HT_OK;
	HT_TRY(make_room(r, n));
	for (size_t i = 0; i < n; i++) {
		r->sorted[i] = gpus[i];
		r->sort_keys[i] = ht_sort_key_i64(t->ts_ns[t->gpu[gpus[i]].row]);
	}
	r->gpus = r->sorted;
	if (!ht_sort_keys(r->run->ctx->mem, r->sort_keys, r->sorted, n))
		return ht_fail_nomem(r->run->ctx);
	*ret_hash = hash_names(r, n);
	return HT_OK;
}

/* The size that an annotation of a grammar says; -1: none. */
static int64_t size_of(const struct reading *r, uint32_t row)
{
	struct ht_iteration_name name;
	return r->t->kind[row] == HT_KIND_ANNOTATION &&
	                       ht_iteration_read(r->rules, ht_str(r->t, r->t->name[row]), &name)
	               ? name.batch
	               : -1;
}

static bool says_size(const void *reading, uint32_t row)
{
	return size_of(reading, row) >= 0;
}

/* What the innermost one around a launch says. */
static int64_t size_around(struct reading *r, uint32_t launch)
{
	uint32_t row = ht_around_find(&r->sizes, launch);
	return row == HT_NONE ? -1 : size_of(r, row);
}

/* ---- kinds of graphs ---- */

/* The place of a kind, or the free one where it belongs. Sites follow each other, one per activity: as many must be the same. */
static uint32_t *place_of(struct reading *r, uint64_t names, int64_t size, size_t n)
{
	const struct use *uses = r->uses.data;
	uint32_t *use_at = r->use_at;
	return &use_at[HT_PROBE(at, r->n_places, ht_hash_mix(names, (uint64_t)size),
	        use_at[at] == UINT32_MAX ||
	                (uses[use_at[at]].names == names && uses[use_at[at]].graph.size == size &&
	                        uses[use_at[at]].graph.n_activities == n))];
}

static struct use *find_use(struct reading *r, uint64_t names, int64_t size, size_t n)
{
	const uint32_t *place = r->n_places ? place_of(r, names, size, n) : NULL;
	return place && *place != UINT32_MAX ? (struct use *)r->uses.data + *place : NULL;
}

static enum ht_status push_use(struct reading *r, struct use use)
{
	if (!HT_VEC_PUSH(r->run->ctx->mem, &r->uses, struct use, use))
		return ht_fail_nomem(r->run->ctx);
	size_t first = r->uses.n - 1;
	if (2 * r->uses.n > r->n_places) {
		r->n_places = r->n_places ? 2 * r->n_places : 64;
		r->use_at = ht_arena_room(r->run->scratch, r->n_places * sizeof *r->use_at);
		if (!r->use_at)
			return ht_fail_nomem(r->run->ctx);
		memset(r->use_at, 0xff, r->n_places * sizeof *r->use_at);
		first = 0;
	}
	for (size_t i = first; i < r->uses.n; i++) {
		const struct use *at = (const struct use *)r->uses.data + i;
		*place_of(r, at->names, at->graph.size, at->graph.n_activities) = (uint32_t)i;
	}
	return HT_OK;
}

/* ---- a kind of graph that is new ---- */

/* By the wrapper that torch.compile made of it. A launch in no call of a compiled graph has none: what the log gives no key
 * is not its. */
static enum ht_status use_wrapper(
        struct reading *r, const struct ht_graph_replay *replay, struct use *use, bool *ret_is_used)
{
	const struct ht_compiled_graph *graph;
	const struct ht_compiled_call **calls;
	size_t n = 0;
	uint32_t around = ht_around_find(&r->calls, replay->launch);
	*ret_is_used = false;
	if (around == HT_NONE)
		return HT_OK;
	const char *name = ht_compiled_key(ht_str(r->t, r->t->name[around]), &n);
	const char *key = name ? ht_arena_strndup(r->run->scratch, name, n) : NULL;
	if (!key)
		return ht_fail_nomem(r->run->ctx);
	HT_TRY(ht_compiled_graph(r->run, &r->last_calls, key, &graph));
	if (!graph)
		return HT_OK;
	HT_TRY(ht_inductor_match(r->run, replay, graph, &calls, &n));
	if ((double)n < HT_MIN_MATCHED * (double)replay->n)
		return HT_OK;
	use->graph.method = HT_ORIGIN_INDUCTOR;
	use->graph.n_matched = n;
	use->graph.confidence = (double)n / (double)replay->n;
	use->graph.from = graph->file;
	use->graph.why = NULL;
	use->first_site = (uint32_t)r->sites.n;
	for (size_t i = 0; i < replay->n; i++) {
		struct ht_origin site = { .method = HT_ORIGIN_NONE };
		if (calls[i]) {
			site = ht_origin_of_call(calls[i]);
			site.op_row = (uint32_t)(calls[i] - graph->calls);
			site.method = HT_ORIGIN_INDUCTOR;
			site.confidence = use->graph.confidence;
		}
		if (!HT_VEC_PUSH(r->run->ctx->mem, &r->sites, struct ht_origin, site))
			return ht_fail_nomem(r->run->ctx);
	}
	*ret_is_used = true;
	return HT_OK;
}

static enum ht_status push_sites(struct reading *r, const struct ht_graph_replay *replay,
        const struct ht_choice *choice, struct use *use)
{
	struct ht_mem *mem = r->run->ctx->mem;
	use->first_site = (uint32_t)r->sites.n;
	for (size_t i = 0; i < replay->n; i++) {
		struct ht_origin site = { .method = HT_ORIGIN_NONE };
		if (choice->tape && choice->matched.partner[i] != UINT32_MAX) {
			HT_TRY(ht_choice_site(&r->chooser, choice, i, &site));
			site.method = use->graph.method;
			site.confidence = use->graph.confidence;
		}
		if (!HT_VEC_PUSH(mem, &r->sites, struct ht_origin, site))
			return ht_fail_nomem(r->run->ctx);
	}
	return HT_OK;
}

/* The first activity of each operator in a launch. */
static enum ht_status mark_calls(struct reading *r, size_t first, size_t n)
{
	uint32_t *order = ht_arena_room(r->run->scratch, (n + 1) * sizeof *order);
	if (!order)
		return ht_fail_nomem(r->run->ctx);
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)(first + i);
	return ht_origin_mark_calls(r->run, r->sites.data, order, n);
}

static enum ht_status add_use(
        struct reading *r, uint32_t launch, size_t n, uint64_t names, int64_t size)
{
	uint64_t *keys = ht_arena_room(r->run->scratch, (n + 1) * sizeof *keys);
	struct ht_choice choice;
	if (!keys)
		return ht_fail_nomem(r->run->ctx);
	struct use use = { .names = names,
		.graph = { .size = size, .n_activities = n, .launch = launch, .signature = n } };
	for (size_t i = 0; i < n; i++) {
		keys[i] = ht_tape_key(r->t, r->t->gpu[r->gpus[i]].row);
		use.graph.signature = ht_hash_mix(use.graph.signature, keys[i]);
	}
	struct ht_graph_replay replay = { r->t, r->gpus, n, keys, size, launch };
	HT_TRY(ht_choose(&r->chooser, &replay, &choice));
	use.graph.method = !choice.tape              ? HT_ORIGIN_NONE
	                   : choice.tape->is_capture ? HT_ORIGIN_CAPTURE
	                                             : HT_ORIGIN_EAGER;
	use.graph.confidence = choice.tape ? choice.matched.confidence : 0;
	use.graph.n_matched = choice.tape ? choice.matched.n : 0;
	use.graph.why = choice.why;
	use.graph.note = choice.note;
	use.graph.from = !choice.tape        ? NULL
	                 : choice.tape->from ? choice.tape->from->path
	                                     : "this trace";
	use.from = choice.tape ? choice.tape->from : NULL;
	for (size_t i = 0; i < ht_attached_n(r->run->attached); i++)
		if (ht_attached_at(r->run->attached, i)->kind == &ht_attach_kind_trace &&
		        !choice.tape)
			r->why[i] = choice.why;
	bool has_wrapper = false;
	if (!choice.tape)
		HT_TRY(use_wrapper(r, &replay, &use, &has_wrapper));
	if (!has_wrapper)
		HT_TRY(push_sites(r, &replay, &choice, &use));
	HT_TRY(mark_calls(r, use.first_site, n));
	return push_use(r, use);
}

/* ---- all launches ---- */

static enum ht_status read_launch(struct reading *r, uint32_t launch)
{
	const uint32_t *gpus;
	size_t n;
	ht_launch_gpus(r->t, launch, &gpus, &n);
	if (!n)
		return HT_OK;
	uint64_t names;
	HT_TRY(order_activities(r, gpus, n, &names));
	uint32_t call = ht_around_find(&r->calls, launch);
	names = ht_hash_mix(names, call == HT_NONE ? 0 : (uint64_t)r->t->name[call] + 1);
	int64_t size = size_around(r, launch);
	if (!find_use(r, names, size, n))
		HT_TRY(add_use(r, launch, n, names, size));
	struct use *use = find_use(r, names, size, n);
	use->graph.n_launches++;
	if (use->from)
		r->n_matched[use->from->i] += use->graph.n_matched;
	int64_t gpu_ns = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t gpu = r->gpus[i];
		r->of_graph[gpu] = 1;
		r->site[gpu] = use->first_site + (uint32_t)i;
		ht_sum(&gpu_ns, r->t->dur_ns[r->t->gpu[gpu].row]);
	}
	ht_sum(&use->graph.gpu_ns, gpu_ns);
	r->origins->n_of_graphs += n;
	return HT_OK;
}

#define MAX_NAMES 8

/* Names of calls that launch graphs, as ids. */
static size_t find_names(const struct ht_trace *t, uint32_t ids[static MAX_NAMES])
{
	static const char *const names[] = { "cudaGraphLaunch", "hipGraphLaunch", "cuGraphLaunch",
		"cudaGraphLaunch_ptsz", "cuGraphLaunch_ptsz" };
	size_t n = 0;
	for (size_t i = 0; i < HT_COUNT(names); i++) {
		uint32_t id = ht_str_find(t, names[i]);
		if (id != HT_NO_STR)
			ids[n++] = id;
	}
	return n;
}

bool ht_has_graph_launches(const struct ht_trace *t)
{
	uint32_t ids[MAX_NAMES];
	return find_names(t, ids) > 0;
}

static enum ht_status read_launches(struct reading *r, const uint32_t *ids, size_t n_ids)
{
	const struct ht_trace *t = r->t;
	HT_TRY(ht_around_init(r->run, t, ht_is_compiled_call, t, &r->calls));
	HT_TRY(ht_around_init(r->run, t, says_size, r, &r->sizes));
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		bool is_launch = false;
		if (!ht_kind_is_call(t->kind[row]))
			continue; /* most rows are activities */
		for (size_t k = 0; k < n_ids; k++)
			is_launch |= t->name[row] == ids[k];
		if (is_launch)
			HT_TRY(read_launch(r, row));
	}
	return HT_OK;
}

/* Kernels whose nodes the trace saw being made. The first launch of a kind of graph speaks for it. */
static enum ht_status read_nodes(struct reading *r)
{
	size_t n_before = r->sites.n;
	HT_TRY(ht_node_events_apply(&r->chooser, r->site, r->of_graph, &r->sites));
	for (size_t k = 0; k < r->uses.n; k++) {
		struct ht_graph_use *graph = &((struct use *)r->uses.data)[k].graph;
		const uint32_t *gpus;
		size_t n, n_found = 0;
		ht_launch_gpus(r->t, graph->launch, &gpus, &n);
		for (size_t i = 0; i < n; i++)
			n_found += r->site[gpus[i]] != HT_NONE && r->site[gpus[i]] >= n_before;
		if (!n_found)
			continue;
		graph->method = HT_ORIGIN_CAPTURE;
		graph->confidence = 1;
		graph->n_matched = n_found;
		graph->from = "this trace";
		graph->why = NULL;
	}
	return HT_OK;
}

/* What was found, in memory that stays. */
static enum ht_status keep(struct reading *r)
{
	struct ht_arena *scratch = r->run->scratch;
	struct ht_origin *sites = ht_arena_room(scratch, (r->sites.n + 1) * sizeof *sites);
	struct ht_graph_use *graphs = ht_arena_room(scratch, (r->uses.n + 1) * sizeof *graphs);
	if (!sites || !graphs)
		return ht_fail_nomem(r->run->ctx);
	if (r->sites.n)
		memcpy(sites, r->sites.data, r->sites.n * sizeof *sites);
	for (size_t i = 0; i < r->uses.n; i++)
		graphs[i] = ((struct use *)r->uses.data)[i].graph;
	r->origins->sites = sites;
	r->origins->n_sites = r->sites.n;
	r->origins->graphs = graphs;
	r->origins->n_graphs = r->uses.n;
	r->origins->site = r->site;
	r->origins->of_graph = r->of_graph;
	return HT_OK;
}

enum ht_status ht_replays_read(struct ht_run *run, struct ht_origins *origins)
{
	struct reading r = { .run = run, .t = run->trace, .origins = origins };
	size_t n_attached = ht_attached_n(run->attached);
	uint32_t ids[MAX_NAMES];
	size_t n_ids = find_names(r.t, ids);
	r.n_matched = ht_arena_alloc(run->scratch, (n_attached + 1) * sizeof *r.n_matched);
	r.why = ht_arena_alloc(run->scratch, (n_attached + 1) * sizeof *r.why);
	if (!r.n_matched || !r.why)
		return ht_fail_nomem(run->ctx);
	origins->n_matched = r.n_matched;
	origins->why = r.why;
	HT_TRY(ht_iteration_rules_attached(run, &r.rules));
	bool has_notes = ht_node_notes_any(run), has_nodes = ht_node_events_any(run->trace);
	if (!n_ids && !has_notes && !has_nodes)
		return HT_OK;
	r.site = ht_arena_room(run->scratch, (r.t->n_gpu + 1) * sizeof *r.site);
	r.of_graph = ht_arena_alloc(run->scratch, r.t->n_gpu + 1);
	if (!r.site || !r.of_graph)
		return ht_fail_nomem(run->ctx);
	memset(r.site, 0xff, (r.t->n_gpu + 1) * sizeof *r.site);
	enum ht_status status = n_ids || has_nodes ? ht_chooser_init(run, &r.chooser) : HT_OK;
	if (status == HT_OK && n_ids)
		status = read_launches(&r, ids, n_ids);
	if (status == HT_OK && has_nodes)
		status = read_nodes(&r);
	if (status == HT_OK && has_notes)
		status = ht_node_notes_apply(run, r.site, r.of_graph, &r.sites, r.n_matched);
	if (status == HT_OK)
		status = keep(&r);
	ht_vec_free(run->ctx->mem, &r.sites, sizeof(struct ht_origin));
	ht_vec_free(run->ctx->mem, &r.uses, sizeof(struct use));
	return status;
}
