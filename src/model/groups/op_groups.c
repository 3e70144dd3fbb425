/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_groups.c - see op_groups.h.
 *
 * Shapes are spelled the same whoever wrote them: "[[2, 3], []]" for lists, and for Ascend's "2,3;\r\n".
 */
#include "model/groups/op_groups.h"

#include "base/mem.h"
#include "model/calls/op_details.h"
#include "model/calls/op_tree.h"
#include "model/origin/find_origins.h"
#include "model/origin/replays.h"
#include "model/rows/addresses.h"
#include "model/rows/frame.h"
#include "model/rows/row_stacks.h"
#include "store/side_table.h"

#include <string.h>

const uint8_t ht_op_rules[HT_N_OP_VALUES] = HT_POOL_RULES(HT_OP_VALUES);
const struct ht_column ht_op_group_columns[HT_N_OP_GROUP_COLUMNS] =
        HT_POOL_COLUMNS(HT_OP_KEYS, HT_OP_VALUES);

struct grouper {
	struct ht_run *run;
	const struct ht_trace *t;
	struct ht_pooled pooled;
	struct ht_stacks stacks; /* of Python functions; only by stack */
	struct ht_vec room;      /* char: of a stack without addresses */
	bool by_shape, by_stack;
	bool *in; /* by row: of the frame */
	struct ht_arg_cursor dims, other_dims, stack;
	uint32_t *text_of_name;  /* by string id; 0: not asked for yet, else the text + 1 */
	uint32_t *group_of_name; /* likewise, where names alone make groups */
	uint32_t *text_of_shape; /* likewise, of the arg's text */
	uint32_t *text_of_stack; /* by stack, likewise */
	/* of graph launches; origins without a trace: there are none */
	struct ht_origins origins;
	uint32_t *group_of_site; /* likewise */
	struct moved *moved;     /* by node */
	uint8_t *is_counted;     /* by row: a graph launch that was counted */
};

/* What a node launched by a graph and an operator of the graph has as its own. */
struct moved {
	int64_t ns, tc_ns;
};

/* ---- shapes ---- */

/* Lists of JSON with one blank after each comma; a text of Ascend as such a list. */
static const char *spell_shape(struct ht_arena *arena, const char *raw)
{
	bool is_list = raw[strspn(raw, " \t\r\n")] == '[';
	size_t n = 0, n_raw = strlen(raw);
	char *text = ht_arena_alloc(arena, 3 * n_raw + 8);
	if (!text)
		return NULL;
	if (!is_list)
		text[n++] = '[', text[n++] = '[';
	for (size_t i = 0; i < n_raw; i++) {
		if (strchr(" \t\r\n\"", raw[i]))
			continue;
		if (raw[i] == ';' && !is_list) {
			memcpy(text + n, "], [", 4);
			n += 4;
			continue;
		}
		text[n++] = raw[i];
		if (raw[i] == ',')
			text[n++] = ' ';
	}
	if (!is_list)
		text[n++] = ']', text[n++] = ']';
	return text;
}

static const char *shape_of(struct grouper *g, uint32_t row)
{
	const char *text = ht_arg_cursor_str(&g->dims, row);
	return text ? text : ht_arg_cursor_str(&g->other_dims, row);
}

/* Texts that come from the trace's own pool are known by their place in it. */
static bool add_shape(struct grouper *g, uint32_t row, uint32_t *ret_text)
{
	const char *raw = shape_of(g, row);
	if (!raw)
		return ht_pooled_text(&g->pooled, "[]", ret_text);
	uint32_t id = ht_str_find(g->t, raw);
	uint32_t *known = id == HT_NO_STR ? NULL : &g->text_of_shape[id];
	if (known && *known) {
		*ret_text = *known - 1;
		return true;
	}
	const char *text = spell_shape(g->run->scratch, raw);
	if (!text || !ht_pooled_text(&g->pooled, text, ret_text))
		return false;
	if (known)
		*known = *ret_text + 1;
	return true;
}

/* ---- stacks ---- */

static bool is_python(const struct ht_trace *t, uint32_t row, const void *user)
{
	(void)user;
	return t->kind[row] == HT_KIND_PYTHON;
}

/* Without addresses: a place that makes an object in each call is one place. NULL stays none. */
static bool pool_stack(struct grouper *g, const char *text, uint32_t *ret_text)
{
	if (text && !(text = ht_without_addresses(g->run->ctx->mem, &g->room, text)))
		return false;
	return ht_pooled_text(&g->pooled, text, ret_text);
}

/* As the profiler wrote it, else the Python functions around; innermost first. */
static bool add_stack(struct grouper *g, uint32_t row, uint32_t *ret_text)
{
	static const struct ht_stack_spelling spelling = { .between = ";",
		.innermost_first = true };
	const char *text = ht_arg_cursor_str(&g->stack, row);
	uint32_t stack = g->stacks.of[row];
	if (text || stack == HT_NONE)
		return pool_stack(g, text && *text ? text : NULL, ret_text);
	if (!g->text_of_stack[stack]) {
		text = ht_stacks_text(&g->stacks, stack, &spelling);
		if (!text || !pool_stack(g, text, ret_text))
			return false;
		g->text_of_stack[stack] = *ret_text + 1;
	}
	*ret_text = g->text_of_stack[stack] - 1;
	return true;
}

/* ---- groups ---- */

/* By texts, HT_NONE where one is not asked for or missing. */
static bool group_by(
        struct grouper *g, uint32_t name, uint32_t shape, uint32_t stack, size_t *ret_group)
{
	ht_pooled_set_key(&g->pooled, HT_OP_NAME, name);
	ht_pooled_set_key(&g->pooled, HT_OP_SHAPE, shape);
	ht_pooled_set_key(&g->pooled, HT_OP_STACK, stack);
	return ht_pooled_group(&g->pooled, ret_group);
}

static bool find_group(struct grouper *g, uint32_t row, size_t *ret_group)
{
	uint32_t name, shape = HT_NONE, stack = HT_NONE, id = g->t->name[row];
	uint32_t *known =
	        g->by_shape || g->by_stack || id == HT_NO_STR ? NULL : &g->group_of_name[id];
	if (known && *known) {
		*ret_group = *known - 1;
		return true;
	}
	if (!ht_pooled_name(&g->pooled, g->t, id, g->text_of_name, &name) ||
	        (g->by_shape && !add_shape(g, row, &shape)) ||
	        (g->by_stack && !add_stack(g, row, &stack)) ||
	        !group_by(g, name, shape, stack, ret_group))
		return false;
	if (known)
		*known = (uint32_t)*ret_group + 1;
	return true;
}

static bool add_op(struct grouper *g, const struct ht_op_node *node, const struct moved *moved)
{
	struct ht_pooled *p = &g->pooled;
	size_t group;
	if (!find_group(g, node->row, &group))
		return false;
	ht_pooled_set(p, HT_OP_CALLS, 1);
	ht_pooled_set(p, HT_OP_DEVICE_SELF, node->device_self_ns - moved->ns);
	ht_pooled_set(p, HT_OP_DEVICE_TOTAL, node->device_total_ns);
	ht_pooled_set(p, HT_OP_HOST_SELF, node->host_self_ns);
	ht_pooled_set(p, HT_OP_HOST_TOTAL, node->host_total_ns);
	ht_pooled_set(p, HT_OP_TC_SELF, node->tc_self_ns - moved->tc_ns);
	ht_pooled_set(p, HT_OP_TC_TOTAL, node->tc_total_ns);
	ht_pooled_set(p, HT_OP_TC_ELIGIBLE, node->tc_eligible);
	ht_pooled_set(p, HT_OP_OF_TABLE, 0);
	ht_pooled_add(p, group, 0);
	return true;
}

/* A call that the exporter lists. */
static bool add_detail(struct grouper *g, const struct ht_op_detail *op)
{
	struct ht_pooled *p = &g->pooled;
	uint32_t name, shape = HT_NONE, stack = HT_NONE;
	const char *spelled =
	        g->by_shape && op->shape ? spell_shape(g->run->scratch, op->shape) : "[]";
	size_t group;
	if (!spelled || !ht_pooled_text(p, op->name, &name) ||
	        (g->by_shape && !ht_pooled_text(p, spelled, &shape)) ||
	        (g->by_stack && !pool_stack(g, op->stack, &stack)) ||
	        !group_by(g, name, shape, stack, &group))
		return false;
	ht_pooled_set(p, HT_OP_CALLS, 1);
	ht_pooled_set(p, HT_OP_DEVICE_SELF, op->device_self_ns);
	ht_pooled_set(p, HT_OP_DEVICE_TOTAL, op->device_total_ns);
	ht_pooled_set(p, HT_OP_HOST_SELF, op->host_self_ns);
	ht_pooled_set(p, HT_OP_HOST_TOTAL, op->host_total_ns);
	ht_pooled_set(p, HT_OP_TC_SELF, op->tc_self_ns);
	ht_pooled_set(p, HT_OP_TC_TOTAL, op->tc_total_ns);
	ht_pooled_set(p, HT_OP_TC_ELIGIBLE, op->tc_total_ns > 0);
	ht_pooled_set(p, HT_OP_OF_TABLE, 1);
	ht_pooled_add(p, group, 0);
	return true;
}

/* ---- graph launches ---- */

/* The Python functions around a row, innermost first, with ; between; the length of the text, which is written where there is room. */
static size_t spell_functions(const struct ht_trace *t, uint32_t row, char *room)
{
	size_t n = 0, n_names = 0;
	for (; row != HT_NONE && n_names < HT_STACK_DEEP; row = t->parent[row]) {
		if (t->kind[row] != HT_KIND_PYTHON)
			continue;
		const char *name = ht_str(t, t->name[row]);
		size_t n_name = strlen(name);
		if (n_names && room)
			room[n] = ';';
		n += n_names > 0;
		if (room)
			memcpy(room + n, name, n_name);
		n += n_name;
		n_names++;
	}
	return n;
}

/* Those around an operator of a recording; else the line that is known. */
static bool recorded_stack(struct grouper *g, const struct ht_origin *site, uint32_t *ret_text)
{
	const struct ht_trace *t = site->op_trace;
	size_t n = t ? spell_functions(t, site->op_row, NULL) : 0;
	char *text = n ? ht_mem_alloc(g->run->ctx->mem, n + 1) : NULL;
	if (n && !text)
		return false;
	if (n)
		text[spell_functions(t, site->op_row, text)] = '\0';
	bool ok = pool_stack(g, n ? text : site->source, ret_text);
	ht_mem_free(g->run->ctx->mem, text, n ? n + 1 : 0);
	return ok;
}

static bool find_site_group(struct grouper *g, const struct ht_origin *site, size_t *ret_group)
{
	uint32_t name, shape = HT_NONE, stack = HT_NONE;
	uint32_t *known = &g->group_of_site[site - g->origins.sites];
	if (!*known) {
		const char *spelled = site->shapes && g->by_shape
		                              ? spell_shape(g->run->scratch, site->shapes)
		                              : "[]";
		size_t group;
		if (!spelled || !ht_pooled_text(&g->pooled, site->op, &name) ||
		        (g->by_shape && !ht_pooled_text(&g->pooled, spelled, &shape)) ||
		        (g->by_stack && !recorded_stack(g, site, &stack)) ||
		        !group_by(g, name, shape, stack, &group))
			return false;
		*known = (uint32_t)group + 1;
	}
	*ret_group = *known - 1;
	return true;
}

static void add_activity(struct ht_pooled *p, size_t group, bool is_call, int64_t ns, int64_t tc_ns,
        bool is_eligible)
{
	ht_pooled_set(p, HT_OP_CALLS, is_call);
	ht_pooled_set(p, HT_OP_DEVICE_SELF, ns);
	ht_pooled_set(p, HT_OP_DEVICE_TOTAL, ns);
	ht_pooled_set(p, HT_OP_HOST_SELF, 0);
	ht_pooled_set(p, HT_OP_HOST_TOTAL, 0);
	ht_pooled_set(p, HT_OP_TC_SELF, tc_ns);
	ht_pooled_set(p, HT_OP_TC_TOTAL, tc_ns);
	ht_pooled_set(p, HT_OP_TC_ELIGIBLE, is_eligible);
	ht_pooled_set(p, HT_OP_OF_TABLE, 0);
	ht_pooled_add(p, group, 0);
}

/* An activity of a graph launch is of the operator that it is known to be of, else of the one around the launch, else of the launch
 * itself: so all of them are in the table, whatever is known. */
static bool add_graph_activity(
        struct grouper *g, struct ht_traits *traits, const struct ht_op_tree *tree, size_t i_gpu)
{
	const struct ht_gpu *gpu = &g->t->gpu[i_gpu];
	const struct ht_origin *site = ht_origin_in_graph(&g->origins, i_gpu);
	uint32_t node = tree->of_gpu[i_gpu];
	bool is_owned =
	        node != HT_NONE && tree->nodes[node].is_counted && g->in[tree->nodes[node].row];
	bool is_known = site && site->op;
	bool on_tc = g->t->kind[gpu->row] == HT_KIND_KERNEL &&
	             ht_traits_runs_on(traits, gpu->row, true) == HT_CORE_TENSOR;
	int64_t ns = g->t->dur_ns[gpu->row], tc_ns = on_tc ? ns : 0;
	size_t group;
	if (!is_known && (is_owned || gpu->launch == HT_NONE))
		return true;
	if (is_owned) {
		ht_sum(&g->moved[node].ns, ns);
		ht_sum(&g->moved[node].tc_ns, tc_ns);
	}
	if (is_known ? !find_site_group(g, site, &group) : !find_group(g, gpu->launch, &group))
		return false;
	bool starts = is_known ? site->starts_call : !g->is_counted[gpu->launch];
	if (!is_known)
		g->is_counted[gpu->launch] = 1;
	bool is_eligible = on_tc || (is_known && (ht_name_traits(site->op) & HT_TRAIT_TC_OP));
	add_activity(&g->pooled, group, starts, ns, tc_ns, is_eligible);
	return true;
}

static enum ht_status add_graphs(struct grouper *g, const struct ht_frame *frame,
        struct ht_traits *traits, const struct ht_op_tree *tree)
{
	struct ht_arena *scratch = g->run->scratch;
	g->moved = ht_arena_alloc(scratch, (tree->n + 1) * sizeof *g->moved);
	if (!g->moved)
		return ht_fail_nomem(g->run->ctx);
	if (!ht_has_graph_launches(g->t))
		return HT_OK;
	HT_TRY(ht_origins_make(g->run, false, &g->origins));
	g->group_of_site =
	        ht_arena_alloc(scratch, (g->origins.n_sites + 1) * sizeof *g->group_of_site);
	g->is_counted = ht_arena_alloc(scratch, ht_n_events(g->t) + (size_t)1);
	if (!g->group_of_site || !g->is_counted)
		return ht_fail_nomem(g->run->ctx);
	for (size_t i = 0; i < frame->n_gpu; i++)
		if (g->origins.of_graph[frame->gpu[i]] &&
		        !add_graph_activity(g, traits, tree, frame->gpu[i]))
			return ht_fail_nomem(g->run->ctx);
	return HT_OK;
}

static enum ht_status make_room(struct grouper *g)
{
	size_t n = g->t->n_string_offsets * sizeof(uint32_t);
	g->dims = ht_arg_cursor(g->t, "Input Dims");
	g->other_dims = ht_arg_cursor(g->t, "Input dims");
	g->stack = ht_arg_cursor(g->t, "Call stack");
	g->text_of_name = ht_arena_alloc(g->run->scratch, n);
	g->group_of_name = ht_arena_alloc(g->run->scratch, n);
	g->text_of_shape = g->by_shape ? ht_arena_alloc(g->run->scratch, n) : NULL;
	if (!g->text_of_name || !g->group_of_name || (g->by_shape && !g->text_of_shape))
		return ht_fail_nomem(g->run->ctx);
	if (!g->by_stack)
		return HT_OK;
	HT_TRY(ht_stacks_init(g->run, g->t, NULL, is_python, NULL, &g->stacks));
	g->text_of_stack =
	        ht_arena_alloc(g->run->scratch, (ht_stacks_n(&g->stacks) + 1) * sizeof(uint32_t));
	return g->text_of_stack ? HT_OK : ht_fail_nomem(g->run->ctx);
}

static enum ht_status group_ops(struct grouper *g, ht_table *table)
{
	struct ht_frame frame = { 0 };
	struct ht_traits traits = { 0 };
	struct ht_op_tree tree = { 0 };
	const struct ht_side_table *details = NULL;
	struct ht_op_detail op;
	HT_TRY(make_room(g));
	HT_TRY(ht_op_details_of_all(g->run, &details));
	for (uint64_t row = 0; details && row < details->n_rows; row++)
		if (ht_op_detail_read(g->t, details, row, &op) && !add_detail(g, &op))
			return ht_fail_nomem(g->run->ctx);
	if (details)
		return ht_pooled_put(&g->pooled, table);
	HT_TRY(ht_frame_make(g->run, &frame));
	HT_TRY(ht_frame_marks(g->run, &frame, &g->in));
	HT_TRY(ht_traits_init(g->run, g->t, &traits));
	HT_TRY(ht_op_tree_make(g->run, &traits, &tree));
	HT_TRY(add_graphs(g, &frame, &traits, &tree));
	for (size_t i = 0; i < tree.n; i++)
		if (tree.nodes[i].is_counted && g->in[tree.nodes[i].row] &&
		        !add_op(g, &tree.nodes[i], &g->moved[i]))
			return ht_fail_nomem(g->run->ctx);
	return ht_pooled_put(&g->pooled, table);
}

enum ht_status ht_op_groups_put(struct ht_run *run, bool by_shape, bool by_stack, ht_table *table)
{
	struct grouper g = {
		.run = run, .t = run->trace, .by_shape = by_shape, .by_stack = by_stack
	};
	ht_pooled_init(&g.pooled, run, HT_N_OP_KEYS, 1, ht_op_rules, HT_N_OP_VALUES);
	enum ht_status status = group_ops(&g, table);
	ht_pooled_done(&g.pooled);
	ht_stacks_done(&g.stacks);
	ht_vec_free(run->ctx->mem, &g.room, 1);
	return status;
}
