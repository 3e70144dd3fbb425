/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_events.c - see node_events.h.
 */
#include "model/origin/node_events.h"

#include "base/search.h"
#include "base/sort.h"
#include "store/args.h"

#define NO_NODE UINT32_MAX

struct node {
	int64_t original; /* id, 0: it is no copy */
	uint32_t row;
	uint32_t root; /* the node that it is a copy of, in the end; itself when it is none */
	uint32_t site; /* of a root, HT_NONE: none yet */
};

/* The nodes in order of time, and the same by id. */
struct nodes {
	struct ht_run *run;
	const struct ht_trace *t;
	struct node *list;
	uint64_t *ids;
	uint32_t *by_id;
	size_t n;
};

static uint32_t category(const struct ht_trace *t)
{
	return ht_str_find(t, "graph_node");
}

bool ht_node_events_any(const struct ht_trace *t)
{
	return category(t) != HT_NO_STR && ht_str_find(t, "graph node id") != HT_NO_STR;
}

/* NO_NODE: nothing of that id was made. */
static uint32_t find_node(const struct nodes *nodes, int64_t id)
{
	size_t i = HT_LOWER_BOUND(at, nodes->n, nodes->ids[at] < (uint64_t)id);
	return id && i < nodes->n && nodes->ids[i] == (uint64_t)id ? nodes->by_id[i] : NO_NODE;
}

/* Rows that made nodes, by time. */
static enum ht_status list_rows(struct nodes *nodes, uint32_t **ret_rows)
{
	const struct ht_trace *t = nodes->t;
	struct ht_arena *scratch = nodes->run->scratch;
	struct ht_arg_cursor ids = ht_arg_cursor(t, "graph node id");
	size_t n_most = ht_arg_cursor_n(&ids) + 1;
	uint64_t *keys = ht_arena_room(scratch, n_most * sizeof *keys);
	uint32_t *rows = ht_arena_room(scratch, n_most * sizeof *rows), made = category(t);
	if (!keys || !rows)
		return ht_fail_nomem(nodes->run->ctx);
	for (uint32_t row = 0; row < ht_n_events(t) && nodes->n < n_most; row++) {
		if (t->categories[t->cat[row]].name != made || !ht_arg_cursor_i64(&ids, row, 0))
			continue;
		keys[nodes->n] = ht_sort_key_i64(t->ts_ns[row]);
		rows[nodes->n++] = row;
	}
	*ret_rows = rows;
	return ht_sort_keys(nodes->run->ctx->mem, keys, rows, nodes->n)
	               ? HT_OK
	               : ht_fail_nomem(nodes->run->ctx);
}

static enum ht_status make_nodes(struct nodes *nodes)
{
	struct ht_arena *scratch = nodes->run->scratch;
	struct ht_arg_cursor ids = ht_arg_cursor(nodes->t, "graph node id");
	struct ht_arg_cursor originals = ht_arg_cursor(nodes->t, "original graph node id");
	uint32_t *rows = NULL;
	HT_TRY(list_rows(nodes, &rows));
	nodes->list = ht_arena_room(scratch, (nodes->n + 1) * sizeof *nodes->list);
	nodes->ids = ht_arena_room(scratch, (nodes->n + 1) * sizeof *nodes->ids);
	nodes->by_id = ht_arena_room(scratch, (nodes->n + 1) * sizeof *nodes->by_id);
	if (!nodes->list || !nodes->ids || !nodes->by_id)
		return ht_fail_nomem(nodes->run->ctx);
	for (uint32_t i = 0; i < nodes->n; i++) {
		int64_t id = ht_arg_cursor_i64(&ids, rows[i], 0);
		int64_t original = ht_arg_cursor_i64(&originals, rows[i], 0);
		nodes->ids[i] = (uint64_t)id;
		nodes->by_id[i] = i;
		nodes->list[i] =
		        (struct node){ original == id ? 0 : original, rows[i], NO_NODE, HT_NONE };
	}
	return ht_sort_keys(nodes->run->ctx->mem, nodes->ids, nodes->by_id, nodes->n)
	               ? HT_OK
	               : ht_fail_nomem(nodes->run->ctx);
}

/* An original is there before its copies, so one walk in order of time knows all roots, and nothing can go in circles. */
static void find_roots(struct nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->n; i++) {
		struct node *node = &nodes->list[i];
		uint32_t from = node->original ? find_node(nodes, node->original) : i;
		if (from != NO_NODE && from <= i)
			node->root = from == i ? i : nodes->list[from].root;
	}
}

/* What is around the place where a root was made; an annotation stands for an operator where there is none. */
static enum ht_status describe(
        struct ht_chooser *chooser, const struct node *root, struct ht_origin *ret_origin)
{
	const struct ht_trace *t = chooser->run->trace;
	HT_TRY(ht_recorded_site(chooser, t, root->row, ht_op_around(t, root->row), ret_origin));
	uint32_t row = root->row;
	while (!ret_origin->op && row != HT_NONE && t->kind[row] != HT_KIND_ANNOTATION)
		row = t->parent[row];
	if (!ret_origin->op && row != HT_NONE) {
		ret_origin->op = ht_str(t, t->name[row]);
		ret_origin->op_row = row;
	}
	bool is_known = ret_origin->op || ret_origin->module || ret_origin->source;
	ret_origin->method = is_known ? HT_ORIGIN_CAPTURE : HT_ORIGIN_NONE;
	ret_origin->confidence = is_known ? 1 : 0;
	return HT_OK;
}

/* Of nodes that ran, the first one of each operator starts its call. */
static enum ht_status mark_calls(const struct nodes *nodes, struct ht_origin *sites)
{
	uint32_t *order = ht_arena_room(nodes->run->scratch, (nodes->n + 1) * sizeof *order);
	size_t n = 0;
	if (!order)
		return ht_fail_nomem(nodes->run->ctx);
	for (size_t i = 0; i < nodes->n; i++)
		if (nodes->list[i].site != HT_NONE)
			order[n++] = nodes->list[i].site;
	return ht_origin_mark_calls(nodes->run, sites, order, n);
}

enum ht_status ht_node_events_apply(
        struct ht_chooser *chooser, uint32_t *site, uint8_t *of_graph, struct ht_vec *sites)
{
	const struct ht_trace *t = chooser->run->trace;
	struct nodes nodes = { .run = chooser->run, .t = t };
	struct ht_arg_cursor ids = ht_arg_cursor(t, "graph node id");
	HT_TRY(make_nodes(&nodes));
	find_roots(&nodes);
	for (size_t i = 0; i < t->n_gpu; i++) {
		uint32_t at = find_node(&nodes, ht_arg_cursor_i64(&ids, t->gpu[i].row, 0));
		if (at == NO_NODE || nodes.list[at].root == NO_NODE)
			continue;
		struct node *root = &nodes.list[nodes.list[at].root];
		if (root->site == HT_NONE) {
			struct ht_origin origin;
			HT_TRY(describe(chooser, root, &origin));
			root->site = (uint32_t)sites->n;
			if (!HT_VEC_PUSH(chooser->run->ctx->mem, sites, struct ht_origin, origin))
				return ht_fail_nomem(chooser->run->ctx);
		}
		of_graph[i] = 1;
		if (((struct ht_origin *)sites->data)[root->site].method != HT_ORIGIN_NONE)
			site[i] = root->site;
	}
	return mark_calls(&nodes, sites->data);
}
