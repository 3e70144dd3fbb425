/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_graph.c - rules about nodes and their tree: ET010 to ET018.
 *
 * Walks are loops over rows, for a tree may be a million deep and its parents may go round in circles.
 */
#include "et/et_findings.h"

#include "base/search.h"
#include "base/sort.h"

#include <string.h>

static void check_fields(struct ht_et_check *c)
{
	static const struct {
		unsigned flag;
		const char *name;
	} fields[] = { { HT_ET_ID, "id" }, { HT_ET_NAME, "name" }, { HT_ET_PARENT, "parent" },
		{ HT_ET_INPUTS, "inputs" }, { HT_ET_OUTPUTS, "outputs" } };
	/* proto3 leaves out what is empty */
	unsigned optional =
	        c->et->format == HT_ET_CHAKRA ? HT_ET_PARENT | HT_ET_INPUTS | HT_ET_OUTPUTS : 0;
	for (uint32_t row = 0; row < ht_et_n(c->et); row++) {
		const struct ht_et_node *node = &ht_et_nodes(c->et)[row];
		if (node->flags & HT_ET_MADE)
			continue;
		for (size_t i = 0; i < HT_COUNT(fields); i++)
			if (!((node->flags | optional) & fields[i].flag))
				ht_et_report(c, HT_ET010, HT_ET_ERROR, row,
				        "the node at byte %lld has no %s", (long long)node->offset,
				        fields[i].name);
		if (node->flags & HT_ET_NAME && !*ht_et_str(c->et, node->name))
			ht_et_report(c, HT_ET010, HT_ET_WARNING, row, "the name is empty");
	}
}

static void check_ids(struct ht_et_check *c)
{
	const struct ht_et *et = c->et;
	const struct ht_et_node *nodes = ht_et_nodes(et);
	for (uint32_t i = 0; i < ht_et_n(et); i++) {
		uint32_t row = et->by_id[i];
		if (!(nodes[row].flags & HT_ET_ID))
			continue;
		if (!nodes[row].id && et->format == HT_ET_JSON)
			ht_et_report(c, HT_ET011, HT_ET_ERROR, row, "the id is 0");
		uint32_t before = i ? et->by_id[i - 1] : HT_ET_NONE;
		if (i && nodes[before].id == nodes[row].id && nodes[before].flags & HT_ET_ID)
			ht_et_report(c, HT_ET011, HT_ET_ERROR, row, "the id is also that of %.80s",
			        ht_et_str(et, nodes[before].name));
	}
}

static void check_root(struct ht_et_check *c)
{
	const struct ht_et *et = c->et;
	uint32_t n_found = 0, found = HT_ET_NONE;
	for (uint32_t row = 0; row < ht_et_n(et); row++)
		if (ht_et_kind(et, row) == HT_ET_PROCESS) {
			found = row;
			if (n_found++)
				ht_et_report(c, HT_ET012, HT_ET_ERROR, row,
				        "there is more than one process node");
		}
	if (found == HT_ET_NONE || ht_et_nodes(et)[found].flags & HT_ET_MADE) {
		ht_et_report(c, HT_ET012, HT_ET_ERROR, HT_ET_NONE, "the process node is missing");
		return;
	}
	const struct ht_et_node *node = &ht_et_nodes(et)[found];
	if (node->id != 1 || node->parent_id != 1)
		ht_et_report(c, HT_ET012, HT_ET_ERROR, found,
		        "the process node has id %llu and parent %llu, not 1",
		        (unsigned long long)node->id, (unsigned long long)node->parent_id);
	if (n_found == 1 && found + 1 != ht_et_n(et))
		ht_et_report(c, HT_ET012, HT_ET_WARNING, found, "the process node is not the last");
}

static void check_parents(struct ht_et_check *c)
{
	const struct ht_et *et = c->et;
	for (uint32_t row = 0; row < ht_et_n(et); row++) {
		const struct ht_et_node *node = &ht_et_nodes(et)[row];
		if (!(node->flags & HT_ET_PARENT) || ht_et_kind(et, row) == HT_ET_PROCESS)
			continue;
		if (node->parent == HT_ET_NONE) {
			ht_et_report(c, HT_ET013, HT_ET_ERROR, row, "its parent %llu is absent",
			        (unsigned long long)node->parent_id);
			ht_et_report(c, HT_ET018, HT_ET_WARNING, row,
			        "%s: the window cuts through an open operator",
			        node->parent_id ? "the parent is absent" : "the parent is 0");
		} else if (node->parent_id >= node->id) {
			ht_et_report(c, HT_ET014, HT_ET_ERROR, row,
			        "its parent %llu is not below it",
			        (unsigned long long)node->parent_id);
		}
	}
}

/* Rows that a walk from the process node meets. */
static enum ht_status mark_reached(struct ht_et_check *c, uint8_t *reached)
{
	const struct ht_et *et = c->et;
	uint32_t *open = ht_arena_alloc(c->scratch, ((size_t)ht_et_n(et) + 1) * sizeof *open);
	size_t n = 0;
	if (!open)
		return ht_fail_nomem(c->ctx);
	if (et->root != HT_ET_NONE) {
		reached[et->root] = 1;
		open[n++] = et->root;
	}
	while (n) {
		uint32_t row = open[--n];
		for (uint32_t i = et->first_child[row]; i < et->first_child[row + 1]; i++)
			if (!reached[et->children[i]]) {
				reached[et->children[i]] = 1;
				open[n++] = et->children[i];
			}
	}
	return HT_OK;
}

static enum ht_status check_reach(struct ht_et_check *c)
{
	const struct ht_et *et = c->et;
	uint8_t *reached = ht_arena_alloc(c->scratch, (size_t)ht_et_n(et) + 1);
	if (!reached)
		return ht_fail_nomem(c->ctx);
	HT_TRY(mark_reached(c, reached));
	for (uint32_t row = 0; row < ht_et_n(et); row++) {
		const struct ht_et_node *node = &ht_et_nodes(et)[row];
		/* one without a parent is told as that */
		if (!reached[row] && node->parent != HT_ET_NONE &&
		        ht_et_kind(et, row) != HT_ET_PROCESS)
			ht_et_report(c, HT_ET015, HT_ET_ERROR, row,
			        "no way from it leads to the process node");
	}
	return HT_OK;
}

/* ---- threads ---- */

/* Thread nodes ascending by tid: keys and rows. */
struct threads {
	uint64_t *tids;
	uint32_t *rows;
	size_t n;
};

static enum ht_status find_threads(struct ht_et_check *c, struct threads *ret_threads)
{
	const struct ht_et *et = c->et;
	struct threads t = { 0 };
	for (uint32_t row = 0; row < ht_et_n(et); row++)
		t.n += ht_et_kind(et, row) == HT_ET_THREAD;
	t.tids = ht_arena_alloc(c->scratch, (t.n + 1) * sizeof *t.tids);
	t.rows = ht_arena_alloc(c->scratch, (t.n + 1) * sizeof *t.rows);
	if (!t.tids || !t.rows)
		return ht_fail_nomem(c->ctx);
	t.n = 0;
	for (uint32_t row = 0; row < ht_et_n(et); row++)
		if (ht_et_kind(et, row) == HT_ET_THREAD) {
			t.tids[t.n] = ht_et_nodes(et)[row].tid;
			t.rows[t.n++] = row;
		}
	if (!ht_sort_keys(c->ctx->mem, t.tids, t.rows, t.n))
		return ht_fail_nomem(c->ctx);
	*ret_threads = t;
	return HT_OK;
}

/* Place of a thread in the list, SIZE_MAX when it has no node. */
static size_t thread_of(const struct threads *t, uint64_t tid)
{
	size_t low = HT_LOWER_BOUND(at, t->n, t->tids[at] < tid);
	return low < t->n && t->tids[low] == tid ? low : SIZE_MAX;
}

static void check_threads(struct ht_et_check *c, const struct threads *t)
{
	const struct ht_et *et = c->et;
	for (size_t i = 0; i < t->n; i++) {
		const struct ht_et_node *node = &ht_et_nodes(et)[t->rows[i]];
		if (node->parent_id != 1)
			ht_et_report(c, HT_ET016, HT_ET_ERROR, t->rows[i],
			        "the parent of a thread is %llu, not 1",
			        (unsigned long long)node->parent_id);
		if (!node->tid)
			ht_et_report(c, HT_ET016, HT_ET_ERROR, t->rows[i], "a thread has tid 0");
		if (i && t->tids[i] == t->tids[i - 1])
			ht_et_report(c, HT_ET016, HT_ET_ERROR, t->rows[i],
			        "thread %llu has two nodes", (unsigned long long)node->tid);
	}
	for (uint32_t row = 0; row < ht_et_n(et); row++) {
		const struct ht_et_node *node = &ht_et_nodes(et)[row];
		if (ht_et_kind(et, row) != HT_ET_OP || !(node->flags & HT_ET_TID))
			continue;
		if (thread_of(t, node->tid) == SIZE_MAX)
			ht_et_report(c, HT_ET016, HT_ET_ERROR, row, "its thread %llu has no node",
			        (unsigned long long)node->tid);
		else if (node->parent != HT_ET_NONE &&
		         ht_et_kind(et, node->parent) != HT_ET_PROCESS &&
		         ht_et_nodes(et)[node->parent].tid != node->tid)
			ht_et_report(c, HT_ET016, HT_ET_ERROR, row,
			        "it is on thread %llu, its parent on thread %llu",
			        (unsigned long long)node->tid,
			        (unsigned long long)ht_et_nodes(et)[node->parent].tid);
	}
}

/* A node ends after its children and before anything else of its thread: those that ended and wait for their
 * parent are a stack, and a parent's children are on top of it. */
static enum ht_status check_order(struct ht_et_check *c, const struct threads *t)
{
	const struct ht_et *et = c->et;
	const struct ht_et_node *nodes = ht_et_nodes(et);
	uint32_t *below = ht_arena_alloc(c->scratch, ((size_t)ht_et_n(et) + 1) * sizeof *below);
	uint32_t *tops = ht_arena_alloc(c->scratch, (t->n + 1) * sizeof *tops);
	if (!below || !tops)
		return ht_fail_nomem(c->ctx);
	for (size_t i = 0; i < t->n; i++)
		tops[i] = HT_ET_NONE;
	for (uint32_t row = 0; row < ht_et_n(et); row++) {
		size_t thread = thread_of(t, nodes[row].tid);
		if (ht_et_kind(et, row) != HT_ET_OP || thread == SIZE_MAX)
			continue;
		uint32_t n_ended = 0, n_children = 0;
		for (uint32_t top = tops[thread]; top != HT_ET_NONE && nodes[top].parent == row;
		        top = below[top]) {
			tops[thread] = below[top];
			n_ended++;
		}
		for (uint32_t i = et->first_child[row]; i < et->first_child[row + 1]; i++)
			n_children += nodes[et->children[i]].tid == nodes[row].tid;
		if (n_ended != n_children)
			ht_et_report(c, HT_ET017, HT_ET_WARNING, row,
			        "%u of its %u children do not stand right before it",
			        n_children - n_ended, n_children);
		if (nodes[row].parent != HT_ET_NONE &&
		        ht_et_kind(et, nodes[row].parent) == HT_ET_THREAD &&
		        nodes[row].parent > row)
			ht_et_report(c, HT_ET017, HT_ET_WARNING, row,
			        "it stands before the node of its thread");
		below[row] = tops[thread];
		tops[thread] = row;
	}
	return HT_OK;
}

enum ht_status ht_et_check_graph(struct ht_et_check *c)
{
	struct threads threads = { 0 };
	check_fields(c);
	check_ids(c);
	if (c->et->format == HT_ET_CHAKRA)
		return HT_OK;
	check_root(c);
	check_parents(c);
	HT_TRY(check_reach(c));
	HT_TRY(find_threads(c, &threads));
	check_threads(c, &threads);
	return check_order(c, &threads);
}
