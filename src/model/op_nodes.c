/*
 * op_nodes.c - see op_nodes.h. Names are looked at once each; the rest is two walks down the tracks.
 */
#include "model/op_nodes.h"

#include "model/row_names.h"
#include "store/tree.h"

#include <string.h>

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), n_end = strlen(end);
	return n >= n_end && !strcmp(text + n - n_end, end);
}

bool ht_is_data_loader_name(const char *name)
{
	return (starts_with(name, "enumerate(DataLoader)#") && ends_with(name, ".__next__")) ||
	       starts_with(name, "enumerate(DataPipe)#");
}

/* What a name makes of a row, whatever its kind. */
enum name_says { SAYS_NOTHING, SAYS_OTHER, SAYS_MODULE };

static uint8_t look_at(const char *name)
{
	if (starts_with(name, "nn.Module: "))
		return SAYS_MODULE;
	bool other = ht_is_step_name(name) || ht_is_data_loader_name(name) ||
	             starts_with(name, "Optimizer.") || !strcmp(name, "DataParallel.forward") ||
	             !strcmp(name, "DistributedDataParallel.forward");
	return other ? SAYS_OTHER : SAYS_NOTHING;
}

static uint8_t node_of(const struct ht_trace *t, const uint8_t *says, uint32_t row)
{
	uint8_t name = t->name[row] == HT_NO_STR ? SAYS_NOTHING : says[t->name[row]];
	if (!ht_is_span(t, row))
		return HT_NODE_NONE;
	switch (t->kind[row]) {
	case HT_KIND_CPU_OP: return name == SAYS_OTHER ? HT_NODE_OTHER : HT_NODE_OPERATOR;
	case HT_KIND_ANNOTATION: return name == SAYS_OTHER ? HT_NODE_OTHER : HT_NODE_NONE;
	case HT_KIND_PYTHON: return name == SAYS_MODULE ? HT_NODE_OTHER : HT_NODE_NONE;
	default: return HT_NODE_NONE;
	}
}

static bool is_node(const struct ht_trace *t, uint32_t row, const void *user)
{
	const uint8_t *node = user;
	(void)t;
	return node[row] != HT_NODE_NONE;
}

/* An only child of the same name is one call with what is around it. */
static void join_calls(const struct ht_trace *t, const struct ht_op_nodes *nodes,
        uint32_t *n_inside, uint32_t *op, uint32_t *call)
{
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (nodes->node[row] != HT_NODE_NONE && nodes->around[row] != HT_NONE)
			n_inside[nodes->around[row]]++;
	/* a row's parent stands before it in its track */
	for (size_t i = 0; i < t->n_track_rows; i++) {
		uint32_t row = t->track_rows[i], up = nodes->around[row];
		bool joins = nodes->node[row] == HT_NODE_OPERATOR && up != HT_NONE &&
		             nodes->node[up] == HT_NODE_OPERATOR && n_inside[up] == 1 &&
		             t->name[up] == t->name[row];
		call[row] = joins ? call[up] : row;
		op[row] = up == HT_NONE || nodes->node[up] == HT_NODE_OPERATOR ? up : op[up];
	}
}

enum ht_status ht_op_nodes_make(struct ht_run *run, struct ht_op_nodes *ret_nodes)
{
	const struct ht_trace *t = run->trace;
	size_t n = ht_n_events(t), n_strings = t->n_string_offsets;
	uint8_t *says = ht_arena_alloc(run->scratch, n_strings + 1);
	uint8_t *node = ht_arena_alloc(run->scratch, n + 1);
	uint32_t *n_inside = ht_arena_alloc(run->scratch, (n + 1) * sizeof *n_inside);
	uint32_t *op = ht_arena_alloc(run->scratch, (n + 1) * sizeof *op);
	uint32_t *call = ht_arena_alloc(run->scratch, (n + 1) * sizeof *call), *around = NULL;
	if (!says || !node || !n_inside || !op || !call)
		return ht_fail_nomem(run->ctx);
	for (uint32_t id = 0; id + 1 < n_strings; id++)
		says[id] = look_at(ht_str(t, id));
	for (uint32_t row = 0; row < n; row++)
		node[row] = node_of(t, says, row);
	HT_TRY(ht_tree_nearest(run->ctx, t, is_node, node, run->scratch, &around));
	struct ht_op_nodes nodes = { node, around, op, call };
	join_calls(t, &nodes, n_inside, op, call);
	*ret_nodes = nodes;
	return HT_OK;
}
