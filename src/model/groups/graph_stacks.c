/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_stacks.c - see graph_stacks.h.
 *
 * All replays of a kind share their sites, and most are launched from the same place: the stack of a site is found again while the one
 * around its launch stays the same.
 */
#include "model/groups/graph_stacks.h"

#include "base/hash.h"
#include "model/origin/find_origins.h"
#include "model/origin/replays.h"
#include "model/serving/grammar.h"
#include "store/columns.h"

#include <string.h>

/* No recording has more levels around an operator. */
#define MAX_LEVELS HT_STACK_DEEP

struct site_stack {
	uint32_t around, stack;
	bool is_set;
};

enum ht_status ht_graph_stacks_init(struct ht_run *run, struct ht_stacks *stacks,
        ht_tree_match *is_level, struct ht_graph_stacks *ret)
{
	struct ht_graph_stacks g = { .run = run, .stacks = stacks, .is_level = is_level };
	*ret = g;
	if (!ht_has_graph_launches(stacks->trace))
		return HT_OK;
	HT_TRY(ht_origins_make(run, false, &g.origins));
	g.last = ht_arena_alloc(run->scratch, (g.origins.n_sites + 1) * sizeof *g.last);
	if (!g.last)
		return ht_fail_nomem(run->ctx);
	*ret = g;
	ht_pool_init(&ret->names, run->ctx->mem);
	return HT_OK;
}

void ht_graph_stacks_done(struct ht_graph_stacks *g)
{
	if (g->last)
		ht_pool_done(&g->names);
}

const char *ht_graph_stacks_name(const struct ht_graph_stacks *g, uint32_t name)
{
	const struct ht_trace *t = g->stacks->trace;
	if (name == HT_NO_STR || name < t->n_string_offsets)
		return ht_str(t, name);
	return ((const struct ht_text *)g->names.texts.data)[name - t->n_string_offsets].bytes;
}

/* One more level; names that the trace has keep their id, so that equal stacks are one. */
static bool push(struct ht_graph_stacks *g, const char *name, uint32_t *stack)
{
	const struct ht_trace *t = g->stacks->trace;
	uint32_t id = ht_str_find(t, name);
	struct ht_text text;
	size_t n = strlen(name);
	if (id == HT_NO_STR) {
		if (!ht_pool_add(&g->names, name, n, ht_hash(name, n), &text))
			return false;
		id = (uint32_t)t->n_string_offsets + text.id;
	}
	return ht_stacks_push(g->stacks, *stack, id, stack);
}

/* Annotations of the capture are of the recording, not of the code. */
static bool is_recorded_level(
        const struct ht_graph_stacks *g, const struct ht_trace *t, uint32_t row)
{
	int64_t size;
	return g->is_level(t, row, NULL) &&
	       !(t->kind[row] == HT_KIND_ANNOTATION &&
	               ht_capture_parse(ht_str(t, t->name[row]), &size));
}

static bool push_recorded(struct ht_graph_stacks *g, const struct ht_origin *site, uint32_t *stack)
{
	const struct ht_trace *t = site->op_trace;
	uint32_t rows[MAX_LEVELS];
	size_t n = 0;
	for (uint32_t row = site->op_row; row != HT_NONE && n < MAX_LEVELS; row = t->parent[row])
		if (is_recorded_level(g, t, row))
			rows[n++] = row;
	while (n-- > 0)
		if (!push(g, ht_str(t, t->name[rows[n]]), stack))
			return false;
	return true;
}

bool ht_graph_stacks_below(
        struct ht_graph_stacks *g, size_t i_gpu, uint32_t launch_stack, uint32_t *ret_stack)
{
	const struct ht_origin *site =
	        g->origins.trace ? ht_origin_in_graph(&g->origins, i_gpu) : NULL;
	*ret_stack = launch_stack;
	if (!site || !site->op)
		return true;
	struct site_stack *last = &g->last[site - g->origins.sites];
	if (!last->is_set || last->around != launch_stack) {
		bool ok = site->op_trace ? push_recorded(g, site, ret_stack)
		                         : (!site->source || push(g, site->source, ret_stack)) &&
		                                   push(g, site->op, ret_stack);
		if (!ok)
			return false;
		*last = (struct site_stack){ launch_stack, *ret_stack, true };
	}
	*ret_stack = last->stack;
	return true;
}
