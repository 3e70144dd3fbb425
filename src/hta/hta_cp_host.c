/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_cp_host.c - host edges of HTA's critical path graph: a depth-first walk of the call stacks.
 *
 * From each node to the next, with the time between them when an operator is open, without time between
 * two operators of the top level.
 *
 *   thread    [ A  [call] ]   [ C ]       A.start → call.start → call.end → A.end ╌► C.start → C.end
 */
#include "hta/hta_cp_build.h"
#include "graph/cp_look.h"

struct walk {
	struct ht_cp_builder *b;
	const struct ht_cp_tree *tree;
	uint32_t last;    /* node, HT_NONE before the first */
	uint32_t last_at; /* its position in the tree */
	size_t depth;     /* open events */
};

static uint32_t row_or_none(const struct ht_cp_tree *tree, uint32_t position)
{
	return position == HT_NONE ? HT_NONE : tree->rows[position];
}

/* Both under the runtime's lock, and not one after the other: the lock edges order them. */
static bool share_lock(const struct walk *w, uint32_t node)
{
	struct ht_cp_names *names = &w->b->names;
	uint32_t from = ht_cp_node_row(w->b->g, w->last), to = ht_cp_node_row(w->b->g, node);
	if (!(ht_cp_names_bits(names, from) & ht_cp_names_bits(names, to) & HT_CP_NAME_LOCKS))
		return false;
	return !((w->last & 1) && !(node & 1));
}

static void arrive(struct walk *w, uint32_t node, uint32_t position)
{
	w->last = node;
	w->last_at = position;
}

static void enter(struct walk *w, uint32_t event, uint32_t position)
{
	uint32_t node = ht_cp_start(event);
	if (w->last != HT_NONE && !share_lock(w, node)) {
		uint32_t row = w->last & 1 ? row_or_none(w->tree, w->tree->parent[w->last_at])
		                           : ht_cp_node_row(w->b->g, w->last);
		if (w->depth)
			ht_cp_edge_add(w->b, w->last, node, HT_CP_OPERATOR, row);
		else
			ht_cp_edge_add(w->b, w->last, node, HT_CP_DEPENDENCY, HT_NONE);
	}
	arrive(w, node, position);
	w->depth++;
}

static void leave(struct walk *w, uint32_t event, uint32_t position)
{
	uint32_t node = ht_cp_end(event), row = w->tree->rows[position];
	if (!share_lock(w, node)) {
		uint32_t owner = w->last & 1 ? row : ht_cp_node_row(w->b->g, w->last);
		struct ht_cp_edge *edge =
		        ht_cp_edge_add(w->b, w->last, node, HT_CP_OPERATOR, owner);
		if (ht_cp_names_bits(&w->b->names, row) & HT_CP_NAME_WAITS)
			edge->weight = 0;
	}
	arrive(w, node, position);
	w->depth--;
}

void ht_cp_walk_tree(struct ht_cp_builder *b, const struct ht_cp_tree *tree)
{
	struct walk w = { .b = b, .tree = tree, .last = HT_NONE };
	const uint32_t *event_of_row = b->g->event_of_row;
	uint32_t open = HT_NONE; /* position of the innermost open row */
	for (uint32_t i = 0; i <= tree->n; i++) {
		uint32_t parent = i < tree->n ? tree->parent[i] : HT_NONE;
		for (; open != parent && open != HT_NONE; open = tree->parent[open]) {
			uint32_t event = event_of_row[tree->rows[open]];
			if (event != HT_NONE)
				leave(&w, event, open);
		}
		if (i == tree->n)
			break;
		if (event_of_row[tree->rows[i]] != HT_NONE)
			enter(&w, event_of_row[tree->rows[i]], i);
		open = i;
	}
}
