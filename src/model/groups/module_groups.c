/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_groups.c - see module_groups.h.
 *
 * Stacks of modules (row_stacks.h) number the paths; sums are by that number, and totals of the backward pass rise from
 * each path to the one around it.
 */
#include "model/groups/module_groups.h"

#include "base/checked.h"
#include "base/search.h"
#include "model/calls/row_owners.h"
#include "model/rows/frame.h"
#include "model/calls/op_tree.h"
#include "model/groups/module_graphs.h"
#include "model/rows/row_stacks.h"

#include <stdlib.h>
#include <string.h>

struct sums {
	int64_t v[HT_N_MODULE_VALUES];
};

struct grouper {
	struct ht_run *run;
	const struct ht_trace *t;
	struct ht_traits traits;
	struct ht_op_tree tree;
	struct ht_attribution attribution;
	struct ht_stacks stacks;
	bool *in;
	uint32_t *module_of; /* by node: the module node around it, HT_NONE */
	uint32_t *backward;  /* by node: path whose gradient it computes, HT_NONE */
	struct sums *sums;   /* by path */
	struct ht_frame frame;
	struct ht_pooled *pooled;
};

static bool is_module(const struct ht_trace *t, uint32_t row, const void *user)
{
	/* traits are a cache, to the caller of this a constant */
	struct ht_traits *traits = *(struct ht_traits *const *)user;
	uint8_t kind = t->kind[row];
	unsigned wanted = HT_TRAIT_MODULE | (kind == HT_KIND_CPU_OP ? HT_TRAIT_REGION : 0);
	return (kind == HT_KIND_PYTHON || kind == HT_KIND_ANNOTATION || kind == HT_KIND_CPU_OP) &&
	       (ht_traits_of(traits, row) & wanted);
}

/* Regions of torch.compile are operators of the tree, and modules here. */
static bool is_module_node(struct grouper *g, uint32_t node)
{
	const struct ht_op_node *n = &g->tree.nodes[node];
	return n->kind == HT_NODE_MODULE ||
	       (n->kind == HT_NODE_OPERATOR &&
	               (ht_traits_of(&g->traits, n->row) & HT_TRAIT_REGION));
}

/* ---- forward ---- */

static enum ht_status add_forward(struct grouper *g)
{
	const struct ht_op_node *nodes = g->tree.nodes;
	g->module_of = ht_arena_alloc(g->run->scratch, (g->tree.n + 1) * sizeof *g->module_of);
	if (!g->module_of)
		return ht_fail_nomem(g->run->ctx);
	for (uint32_t i = 0; i < g->tree.n; i++) {
		uint32_t up = nodes[i].parent;
		bool is_level = is_module_node(g, i);
		bool parent_is_module = up != HT_NONE && is_module_node(g, up);
		g->module_of[i] = up == HT_NONE      ? HT_NONE
		                  : parent_is_module ? up
		                                     : g->module_of[up];
		uint32_t around = g->module_of[i];
		bool around_in = around != HT_NONE && g->in[nodes[around].row];
		if (nodes[i].kind == HT_NODE_OPERATOR && !is_level && parent_is_module && around_in)
			g->sums[g->stacks.of[nodes[around].row]].v[HT_MODULE_OPERATORS]++;
		if (!is_level)
			continue;
		/* what is inside a module is not its caller's own */
		if (around_in)
			ht_sum(&g->sums[g->stacks.of[nodes[around].row]].v[HT_MODULE_DEVICE_SELF],
			        -nodes[i].device_total_ns);
		if (!g->in[nodes[i].row])
			continue;
		int64_t *v = g->sums[g->stacks.of[nodes[i].row]].v;
		v[HT_MODULE_CALLS]++;
		ht_sum(&v[HT_MODULE_HOST_SELF], nodes[i].host_self_ns);
		ht_sum(&v[HT_MODULE_HOST_TOTAL], nodes[i].host_total_ns);
		ht_sum(&v[HT_MODULE_DEVICE_SELF], nodes[i].device_total_ns);
		ht_sum(&v[HT_MODULE_DEVICE_TOTAL], nodes[i].device_total_ns);
	}
	return HT_OK;
}

/* ---- backward ---- */

static bool accumulates(const struct ht_trace *t, uint32_t row)
{
	return strstr(ht_str(t, t->name[row]), "AccumulateGrad") != NULL;
}

/* The path whose gradient an operator computes; before has that of the last top-level one of its thread. */
static uint32_t backward_of(const struct grouper *g, const struct ht_op_node *node, uint32_t before)
{
	const struct ht_attribution *a = &g->attribution;
	uint32_t module = a->modules[node->row];
	if (module != HT_NONE)
		return a->module_links[node->row] == HT_AUTOGRAD_LINK_FORWARD ? g->stacks.of[module]
		                                                              : HT_NONE;
	if (node->parent != HT_NONE)
		return g->backward[node->parent];
	return accumulates(g->t, node->row) ? before : HT_NONE;
}

static enum ht_status add_backward(struct grouper *g)
{
	const struct ht_trace *t = g->t;
	uint32_t before = HT_NONE, track = HT_NONE;
	g->backward = ht_arena_alloc(g->run->scratch, (g->tree.n + 1) * sizeof *g->backward);
	if (!g->backward)
		return ht_fail_nomem(g->run->ctx);
	for (size_t i = 0; i < g->tree.n; i++) {
		const struct ht_op_node *node = &g->tree.nodes[i];
		if (t->track[node->row] != track)
			before = HT_NONE;
		track = t->track[node->row];
		g->backward[i] = backward_of(g, node, before);
		if (node->parent == HT_NONE)
			before = g->backward[i];
		bool is_top = node->parent == HT_NONE || g->backward[node->parent] == HT_NONE;
		if (g->backward[i] != HT_NONE && is_top && g->in[node->row])
			ht_sum(&g->sums[g->backward[i]].v[HT_MODULE_BACKWARD_HOST_SELF],
			        node->host_total_ns);
	}
	for (size_t i = 0; i < t->n_gpu; i++) {
		uint32_t node = g->tree.of_gpu[i], row = t->gpu[i].row;
		uint32_t path = node == HT_NONE ? HT_NONE : g->backward[node];
		if (path != HT_NONE && g->in[row] && ht_is_span(t, row))
			ht_sum(&g->sums[path].v[HT_MODULE_BACKWARD_DEVICE_SELF], t->dur_ns[row]);
	}
	/* paths inside come after those around them */
	for (size_t i = ht_stacks_n(&g->stacks); i-- > 0;) {
		uint32_t up = ht_stacks_at(&g->stacks, (uint32_t)i).parent;
		for (size_t k = HT_MODULE_BACKWARD_HOST_SELF; k <= HT_MODULE_BACKWARD_DEVICE_SELF;
		        k += 2) {
			ht_sum(&g->sums[i].v[k + 1], g->sums[i].v[k]);
			if (up != HT_NONE)
				ht_sum(&g->sums[up].v[k + 1], g->sums[i].v[k + 1]);
		}
	}
	return HT_OK;
}

/* ---- texts ---- */

/* No module is deeper. In a file where some are, what they do themselves counts for the one around them at this depth, as
 * the paths of all of them could be many times what was read. */
#define MAX_DEPTH (4 * HT_STACK_DEEP)

static void fold_deep(struct grouper *g)
{
	static const uint8_t own[] = { HT_MODULE_OPERATORS, HT_MODULE_HOST_SELF,
		HT_MODULE_DEVICE_SELF, HT_MODULE_BACKWARD_HOST_SELF,
		HT_MODULE_BACKWARD_DEVICE_SELF };
	const struct ht_stack_path *paths = g->stacks.paths.data;
	/* paths inside come after those around them */
	for (size_t i = ht_stacks_n(&g->stacks); i-- > 0;) {
		uint32_t up = ht_stacks_at(&g->stacks, (uint32_t)i).parent;
		for (size_t k = 0; paths[i].n > MAX_DEPTH && k < HT_COUNT(own); k++)
			ht_sum(&g->sums[up].v[own[k]], g->sums[i].v[own[k]]);
	}
}

static const struct ht_stack_spelling path_spelling = { .between = HT_MODULE_BETWEEN,
	.bare = ht_module_bare_name };

static bool add_path(struct grouper *g, uint32_t i)
{
	const struct ht_stack_path *paths = g->stacks.paths.data;
	const char *name = ht_module_bare_name(ht_str(g->t, ht_stacks_at(&g->stacks, i).name));
	int64_t *v = g->sums[i].v;
	size_t group;
	v[HT_MODULE_DEPTH] = paths[i].n;
	v[HT_MODULE_ORDER] = i;
	if (paths[i].n > MAX_DEPTH || (!v[HT_MODULE_CALLS] && !v[HT_MODULE_BACKWARD_HOST_TOTAL] &&
	                                      !v[HT_MODULE_BACKWARD_DEVICE_TOTAL]))
		return true;
	const char *path = ht_stacks_text(&g->stacks, i, &path_spelling);
	if (!path || !ht_pooled_set_text(g->pooled, HT_MODULE_PATH, path) ||
	        !ht_pooled_set_text(g->pooled, HT_MODULE_NAME, name) ||
	        !ht_pooled_group(g->pooled, &group))
		return false;
	for (size_t k = 0; k < HT_N_MODULE_VALUES; k++)
		ht_pooled_set(g->pooled, k, v[k]);
	ht_pooled_add(g->pooled, group, 0);
	return true;
}

static enum ht_status add_paths(struct grouper *g)
{
	fold_deep(g);
	for (uint32_t i = 0; i < ht_stacks_n(&g->stacks); i++)
		if (!add_path(g, i))
			return ht_fail_nomem(g->run->ctx);
	return HT_OK;
}

/* The path of the module that an activity of a graph was launched in. */
static uint32_t launched_in(void *user, size_t i_gpu, bool *ret_is_backward)
{
	struct grouper *g = user;
	const struct ht_stack_path *paths = g->stacks.paths.data;
	uint32_t node = g->tree.of_gpu ? g->tree.of_gpu[i_gpu] : HT_NONE;
	*ret_is_backward = node != HT_NONE && g->backward && g->backward[node] != HT_NONE;
	uint32_t path = *ret_is_backward ? g->backward[node] : HT_NONE;
	while (path == HT_NONE && node != HT_NONE && !is_module_node(g, node))
		node = g->tree.nodes[node].parent;
	if (path == HT_NONE && (node == HT_NONE || !g->in[g->tree.nodes[node].row]))
		return HT_NONE;
	if (path == HT_NONE)
		path = g->stacks.of[g->tree.nodes[node].row];
	return paths[path].n > MAX_DEPTH ? HT_MODULE_STAYS : path;
}

static const char *spell_place(void *user, uint32_t path)
{
	struct grouper *g = user;
	return ht_stacks_text(&g->stacks, path, &path_spelling);
}

static bool has_modules(const struct ht_trace *t, struct ht_traits *traits)
{
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (ht_is_span(t, row) && is_module(t, row, &traits))
			return true;
	return false;
}

/* Modules that the trace itself has. */
static enum ht_status group_own(struct grouper *g)
{
	struct ht_traits *traits = &g->traits;
	HT_TRY(ht_traits_init(g->run, g->t, traits));
	if (!has_modules(g->t, traits))
		return HT_OK;
	HT_TRY(ht_attribution_make(
	        g->run, g->t, HT_ATTRIBUTE_MODULES | HT_ATTRIBUTE_FORWARD, &g->attribution));
	HT_TRY(ht_stacks_init(
	        g->run, g->t, &g->attribution.autograd, is_module, &traits, &g->stacks));
	g->sums = ht_arena_alloc(g->run->scratch, (ht_stacks_n(&g->stacks) + 1) * sizeof *g->sums);
	if (!g->sums)
		return ht_fail_nomem(g->run->ctx);
	HT_TRY(ht_frame_marks(g->run, &g->frame, &g->in));
	HT_TRY(ht_op_tree_make(g->run, traits, &g->tree));
	HT_TRY(add_forward(g));
	if (g->attribution.modules)
		HT_TRY(add_backward(g));
	return add_paths(g);
}

enum ht_status ht_module_groups_put(struct ht_run *run, ht_table *table, ht_table *shares)
{
	struct ht_pooled pooled;
	struct grouper g = { .run = run, .t = run->trace, .pooled = &pooled };
	ht_pooled_init(&pooled, run, HT_N_MODULE_KEYS, 1, ht_module_rules, HT_N_MODULE_VALUES);
	struct ht_module_places places = { launched_in, spell_place, &g, false };
	enum ht_status status = ht_frame_make(run, &g.frame);
	if (status == HT_OK)
		status = group_own(&g);
	places.has_modules = g.sums != NULL;
	if (status == HT_OK)
		status = ht_module_graphs_add(run, &g.frame, &places, &pooled, shares);
	if (status == HT_OK)
		status = ht_pooled_put(&pooled, table);
	ht_pooled_done(&pooled);
	ht_stacks_done(&g.stacks);
	return status;
}

/* ---- order ---- */

/* When the module of the first n bytes of a path was first called; last when there is no such group. */
static int64_t order_of(
        const struct ht_pooled *p, const size_t *by_path, const char *path, size_t n)
{
	size_t i = HT_LOWER_BOUND(at, ht_pooled_n(p),
	        strncmp(ht_pooled_key(p, by_path[at], HT_MODULE_PATH), path, n) < 0);
	const char *found = i < ht_pooled_n(p) ? ht_pooled_key(p, by_path[i], HT_MODULE_PATH) : "";
	bool is_it = !strncmp(found, path, n) && !found[n];
	return is_it ? ht_pooled_i64(p, by_path[i], 0, HT_MODULE_ORDER) : INT64_MAX;
}

struct ordered {
	size_t group;
	const int64_t *orders; /* of the modules around it, and its own */
	size_t n;
	const char *path;
};

static int compare_ordered(const void *left, const void *right)
{
	const struct ordered *a = left, *b = right;
	for (size_t i = 0; i < a->n && i < b->n; i++)
		if (a->orders[i] != b->orders[i])
			return a->orders[i] < b->orders[i] ? -1 : 1;
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return strcmp(a->path, b->path);
}

enum ht_status ht_module_order(const struct ht_pooled *p, const size_t **ret_order)
{
	size_t n = ht_pooled_n(p);
	struct ht_arena *scratch = p->run->scratch;
	const size_t *by_path = ht_pooled_order(p);
	struct ordered *list = ht_arena_alloc(scratch, (n + 1) * sizeof *list);
	size_t *order = ht_arena_alloc(scratch, (n + 1) * sizeof *order);
	if (!by_path || !list || !order)
		return ht_fail_nomem(p->run->ctx);
	for (size_t i = 0; i < n; i++) {
		const char *path = ht_pooled_key(p, i, HT_MODULE_PATH);
		size_t n_names = 1, k = 0;
		for (const char *at = path; (at = strstr(at, HT_MODULE_BETWEEN)) != NULL; n_names++)
			at += strlen(HT_MODULE_BETWEEN);
		int64_t *orders = ht_arena_alloc(scratch, (n_names + 1) * sizeof *orders);
		if (!orders)
			return ht_fail_nomem(p->run->ctx);
		for (const char *at = path; at; k++) {
			at = strstr(at, HT_MODULE_BETWEEN);
			orders[k] =
			        order_of(p, by_path, path, at ? (size_t)(at - path) : strlen(path));
			at = at ? at + strlen(HT_MODULE_BETWEEN) : NULL;
		}
		list[i] = (struct ordered){ i, orders, k, path };
	}
	qsort(list, n, sizeof *list, compare_ordered);
	for (size_t i = 0; i < n; i++)
		order[i] = list[i].group;
	*ret_order = order;
	return HT_OK;
}
