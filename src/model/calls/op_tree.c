/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_tree.c - see op_tree.h.
 */
#include "model/calls/op_tree.h"
#include "model/rows/selection.h"

#include "model/run_memo.h"
#include "model/rows/row_ends.h"
#include "base/checked.h"

struct builder {
	struct ht_run *run;
	const struct ht_trace *t;
	struct ht_traits *traits;
	struct ht_op_node *nodes;
	size_t n;
	uint32_t *of, *of_gpu;
	const int64_t *ends;
};

/* Whether a row makes a level, and of what kind. */
static bool is_node(struct builder *b, uint32_t row, enum ht_node_kind *ret_kind)
{
	uint8_t kind = b->t->kind[row];
	if (!ht_is_span(b->t, row) ||
	        (kind != HT_KIND_CPU_OP && kind != HT_KIND_ANNOTATION && kind != HT_KIND_PYTHON))
		return false;
	unsigned traits = ht_traits_of(b->traits, row);
	if (traits & HT_TRAIT_MODULE)
		*ret_kind = HT_NODE_MODULE;
	else if (kind == HT_KIND_PYTHON)
		return false;
	else if (traits & HT_TRAIT_STEP)
		*ret_kind = HT_NODE_STEP;
	else if (traits & HT_TRAIT_LOADER)
		*ret_kind = HT_NODE_LOADER;
	else if (traits & HT_TRAIT_OPTIMIZER)
		*ret_kind = HT_NODE_OPTIMIZER;
	else if (kind == HT_KIND_CPU_OP)
		*ret_kind = HT_NODE_OPERATOR;
	else if (traits & HT_TRAIT_COMM)
		*ret_kind = HT_NODE_COMM;
	else
		return false;
	return true;
}

static enum ht_status list_nodes(struct builder *b)
{
	const struct ht_trace *t = b->t;
	size_t n = 0;
	/* 1 + kind by row, 0: none */
	uint8_t *kinds = ht_arena_room(b->run->scratch, ht_n_events(t) + (size_t)1);
	for (uint32_t row = 0; kinds && row < ht_n_events(t); row++) {
		enum ht_node_kind kind;
		kinds[row] = is_node(b, row, &kind) ? (uint8_t)(1 + kind) : 0;
		n += kinds[row] != 0;
	}
	b->nodes = ht_arena_room(b->run->scratch, (n + 1) * sizeof *b->nodes);
	b->of = ht_arena_room(b->run->scratch, (ht_n_events(t) + (size_t)1) * sizeof *b->of);
	b->of_gpu = ht_arena_room(b->run->scratch, (t->n_gpu + 1) * sizeof *b->of_gpu);
	if (!kinds || !b->nodes || !b->of || !b->of_gpu)
		return ht_fail_nomem(b->run->ctx);
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		b->of[row] = HT_NONE;
	for (size_t i = 0; i < t->n_track_rows; i++) {
		uint32_t row = t->track_rows[i], up = t->parent[row];
		uint32_t around = up == HT_NONE ? HT_NONE : b->of[up];
		b->of[row] = around;
		if (!kinds[row])
			continue;
		enum ht_node_kind kind = (enum ht_node_kind)(kinds[row] - 1);
		unsigned traits = ht_traits_of(b->traits, row);
		bool listed = kind == HT_NODE_OPERATOR && (traits & HT_TRAIT_TC_OP);
		b->of[row] = (uint32_t)b->n;
		b->nodes[b->n++] = (struct ht_op_node){ .row = row,
			.parent = around,
			.kind = (uint8_t)kind,
			.is_counted = kind == HT_NODE_OPERATOR &&
			              !(traits & (HT_TRAIT_PARALLEL | HT_TRAIT_OPTIMIZERS)),
			.tc_listed = listed,
			.tc_eligible = listed };
	}
	return HT_OK;
}

/* Make an operator one with its only child of the same name. Parents come first, so one pass does chains. */
static enum ht_status merge_nodes(struct builder *b)
{
	const struct ht_trace *t = b->t;
	uint32_t *n_children = ht_arena_alloc(b->run->scratch, (b->n + 1) * sizeof *n_children);
	uint32_t *into = ht_arena_room(b->run->scratch, (b->n + 1) * sizeof *into);
	if (!n_children || !into)
		return ht_fail_nomem(b->run->ctx);
	for (size_t i = 0; i < b->n; i++)
		if (b->nodes[i].parent != HT_NONE)
			n_children[b->nodes[i].parent]++;
	for (uint32_t i = 0; i < b->n; i++) {
		struct ht_op_node *node = &b->nodes[i], *up = NULL;
		into[i] = i;
		if (node->parent == HT_NONE)
			continue;
		node->parent = into[node->parent];
		up = &b->nodes[node->parent];
		if (node->kind != HT_NODE_OPERATOR || up->kind != HT_NODE_OPERATOR ||
		        n_children[node->parent] != 1 || t->name[node->row] != t->name[up->row])
			continue;
		into[i] = node->parent;
		n_children[node->parent] = n_children[i];
		node->kind = HT_NODE_MERGED;
		node->is_counted = false;
	}
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (b->of[row] != HT_NONE)
			b->of[row] = into[b->of[row]];
	return HT_OK;
}

static int64_t length_ns(const struct builder *b, uint32_t row)
{
	return ht_sub_sat(b->ends[row], b->t->ts_ns[row]);
}

/* The host's time: children and calls take theirs from what is around them. */
static void time_host(struct builder *b)
{
	const struct ht_trace *t = b->t;
	for (size_t i = 0; i < b->n; i++) {
		struct ht_op_node *node = &b->nodes[i];
		if (node->kind == HT_NODE_MERGED)
			continue;
		node->host_total_ns = length_ns(b, node->row);
		ht_sum(&node->host_self_ns, node->host_total_ns);
		if (node->parent != HT_NONE)
			ht_sum(&b->nodes[node->parent].host_self_ns, -node->host_total_ns);
	}
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		uint32_t up = t->parent[row];
		if (!ht_kind_is_call(t->kind[row]) || !ht_is_span(t, row) ||
		        b->of[row] == HT_NONE || (up != HT_NONE && ht_kind_is_call(t->kind[up])))
			continue;
		ht_sum(&b->nodes[b->of[row]].host_self_ns, -length_ns(b, row));
	}
}

/* Of the activities that are looked at: an operator may go on when its step is over. */
static enum ht_status time_device(struct builder *b)
{
	const struct ht_trace *t = b->t;
	struct ht_selection chosen;
	HT_TRY(ht_selection_make(b->run, b->run->step, t->steps, t->n_steps, &chosen));
	for (size_t i = 0; i < t->n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		uint32_t from = gpu->op != HT_NONE ? gpu->op : gpu->launch;
		b->of_gpu[i] = from == HT_NONE ? HT_NONE : b->of[from];
		if (b->of_gpu[i] == HT_NONE || !ht_is_span(t, gpu->row) ||
		        !ht_selection_has(&chosen, ht_step_of(t, gpu->row)))
			continue;
		struct ht_op_node *node = &b->nodes[b->of_gpu[i]];
		bool on_tc = t->kind[gpu->row] == HT_KIND_KERNEL &&
		             ht_traits_runs_on(b->traits, gpu->row, true) == HT_CORE_TENSOR;
		ht_sum(&node->device_self_ns, t->dur_ns[gpu->row]);
		if (on_tc) {
			ht_sum(&node->tc_self_ns, t->dur_ns[gpu->row]);
			node->tc_eligible = true;
		}
	}
	for (size_t i = b->n; i-- > 0;) {
		struct ht_op_node *node = &b->nodes[i];
		ht_sum(&node->device_total_ns, node->device_self_ns);
		ht_sum(&node->tc_total_ns, node->tc_self_ns);
		if (node->parent == HT_NONE || node->kind == HT_NODE_MERGED)
			continue;
		struct ht_op_node *up = &b->nodes[node->parent];
		ht_sum(&up->device_total_ns, node->device_total_ns);
		ht_sum(&up->tc_total_ns, node->tc_total_ns);
		up->tc_eligible |= node->tc_eligible;
	}
	return HT_OK;
}

static enum ht_status make(struct ht_run *run, const void *of, void *ret_value)
{
	struct ht_traits traits = *(const struct ht_traits *)of;
	const struct ht_trace *trace = traits.trace;
	struct ht_op_tree *ret_tree = ret_value;
	struct builder b = { .run = run, .t = trace, .traits = &traits };
	HT_TRY(ht_ends_find(run, trace, &b.ends));
	HT_TRY(list_nodes(&b));
	HT_TRY(merge_nodes(&b));
	time_host(&b);
	HT_TRY(time_device(&b));
	*ret_tree = (struct ht_op_tree){ trace, b.nodes, b.n, b.of, b.of_gpu, b.ends };
	return HT_OK;
}

enum ht_status ht_op_tree_make(
        struct ht_run *run, const struct ht_traits *traits, struct ht_op_tree *ret_tree)
{
	static const char kind;
	const struct ht_memoized how = { &kind, 0, make, sizeof *ret_tree };
	return ht_run_memoize(run, &how, traits, ret_tree);
}
