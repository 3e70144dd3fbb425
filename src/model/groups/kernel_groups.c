/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_groups.c - see kernel_groups.h.
 */
#include "model/groups/kernel_groups.h"

#include "base/checked.h"
#include "model/device/gpu_work.h"
#include "model/calls/op_tree.h"
#include "model/origin/find_origins.h"
#include "model/origin/replays.h"
#include "model/device/launch.h"
#include "model/rows/work_names.h"

#include <stdio.h>
#include <string.h>

#define ONE 1000000
#define MAX 1e6 /* blocks per SM, or percent: more is no estimate */

const uint8_t ht_kernel_rules[HT_N_KG_VALUES] = HT_POOL_RULES(HT_KG_VALUES);
const struct ht_column ht_kernel_group_columns[HT_N_KERNEL_GROUP_COLUMNS] =
        HT_POOL_COLUMNS(HT_KG_KEYS, HT_KG_VALUES);

struct grouper {
	struct ht_run *run;
	const struct ht_trace *t;
	struct ht_pooled pooled;
	struct ht_traits traits;
	struct ht_op_tree tree; /* only when operators are asked for */
	struct ht_origins
	        origins; /* of graph launches, when operators or shapes are; no trace: none */
	struct ht_arg_cursor blocks, occupancy;
	struct ht_arg_cursor args[HT_N_KG_KEYS]; /* of the keys that are args */
	uint32_t *text_of_name;                  /* see ht_pooled_name */
	unsigned keys;
};

static const char *const key_args[HT_N_KG_KEYS] = {
	[HT_KG_GRID] = "grid",
	[HT_KG_BLOCK] = "block",
	[HT_KG_REGISTERS] = "registers per thread",
	[HT_KG_SHARED] = "shared memory",
	[HT_KG_UNIT] = "Accelerator Core",
	[HT_KG_BLOCKS] = "Block Dim",
	[HT_KG_MIX_BLOCKS] = "Mix Block Dim",
	[HT_KG_TYPE] = "Type",
	[HT_KG_SHAPES] = "Input Shapes",
};

static bool wants(const struct grouper *g, unsigned key)
{
	return g->keys >> key & 1;
}

/* A number as the text of a key; missing when the row does not have it. */
static bool add_number(struct grouper *g, int64_t value, int64_t unknown, uint32_t *ret_text)
{
	char text[24];
	if (value == unknown)
		return ht_pooled_text(&g->pooled, NULL, ret_text);
	snprintf(text, sizeof text, "%lld", (long long)value);
	return ht_pooled_text(&g->pooled, text, ret_text);
}

static const struct ht_op_node *launcher_of(const struct grouper *g, uint32_t i_gpu)
{
	uint32_t node = g->tree.of_gpu ? g->tree.of_gpu[i_gpu] : HT_NONE;
	if (node == HT_NONE || g->tree.nodes[node].kind != HT_NODE_OPERATOR)
		return NULL;
	return &g->tree.nodes[node];
}

/* What a recording of its graph says; NULL: nothing. */
static const struct ht_origin *site_of(const struct grouper *g, uint32_t i_gpu)
{
	return g->origins.trace ? ht_origin_in_graph(&g->origins, i_gpu) : NULL;
}

static bool is_eligible(const struct grouper *g, uint32_t i_gpu, const struct ht_op_node *op)
{
	const struct ht_origin *site = site_of(g, i_gpu);
	if (site && site->op)
		return ht_name_traits(site->op) & HT_TRAIT_TC_OP;
	return op && op->tc_listed;
}

static const char *core_of(struct grouper *g, uint32_t row, enum ht_core on)
{
	static const char *const names[] = { [HT_CORE_TENSOR] = "tensor cores",
		[HT_CORE_OTHER] = "other cores",
		[HT_CORE_UNKNOWN] = "unknown" };
	const char *core = ht_traits_core(&g->traits, row, false);
	return core ? core : names[on];
}

/* Of an NPU's kernel; else its name. */
static const char *type_of(struct grouper *g, uint32_t row)
{
	const char *type = ht_arg_cursor_str(&g->args[HT_KG_TYPE], row);
	bool is_known = type && *type && strcmp(type, "N/A") != 0;
	return is_known ? type : ht_str(g->t, g->t->name[row]);
}

static bool add_name(struct grouper *g, uint32_t row, uint32_t *ret_text)
{
	return ht_pooled_name(&g->pooled, g->t, g->t->name[row], g->text_of_name, ret_text);
}

static bool add_key(struct grouper *g, unsigned key, uint32_t i_gpu, const struct ht_op_node *op,
        enum ht_core on, uint32_t *ret_text)
{
	const struct ht_gpu *gpu = &g->t->gpu[i_gpu];
	switch (key) {
	case HT_KG_REGISTERS:
	case HT_KG_SHARED:
	case HT_KG_BLOCKS:
	case HT_KG_MIX_BLOCKS:
		return add_number(g, ht_arg_cursor_i64(&g->args[key], gpu->row, HT_NO_I64),
		        HT_NO_I64, ret_text);
	case HT_KG_DEVICE: return add_number(g, gpu->device, -1, ret_text);
	case HT_KG_STREAM: return add_number(g, gpu->stream, -1, ret_text);
	case HT_KG_COMMON: {
		const char *name = ht_str(g->t, g->t->name[gpu->row]);
		name = ht_name_common(g->run->scratch, name);
		return name && ht_pooled_text(&g->pooled, name, ret_text);
	}
	case HT_KG_NAME: return add_name(g, gpu->row, ret_text);
	case HT_KG_OPERATOR: {
		const struct ht_origin *site = site_of(g, i_gpu);
		if (site && site->op)
			return ht_pooled_text(&g->pooled, site->op, ret_text);
		return !op || add_name(g, op->row, ret_text);
	}
	case HT_KG_SHAPES: {
		const char *shapes = ht_arg_cursor_str(&g->args[key], gpu->row);
		const struct ht_origin *site = site_of(g, i_gpu);
		return ht_pooled_text(
		        &g->pooled, shapes || !site ? shapes : site->shapes, ret_text);
	}
	case HT_KG_CORE: return ht_pooled_text(&g->pooled, core_of(g, gpu->row, on), ret_text);
	case HT_KG_TYPE: return ht_pooled_text(&g->pooled, type_of(g, gpu->row), ret_text);
	default:
		return ht_pooled_text(
		        &g->pooled, ht_arg_cursor_str(&g->args[key], gpu->row), ret_text);
	}
}

static bool add_keys(
        struct grouper *g, uint32_t i_gpu, const struct ht_op_node *op, enum ht_core on)
{
	for (unsigned k = 0; k < HT_N_KG_KEYS; k++) {
		uint32_t text = HT_NONE;
		if (wants(g, k) && !add_key(g, k, i_gpu, op, on, &text))
			return false;
		ht_pooled_set_key(&g->pooled, k, text);
	}
	return true;
}

/* An estimate in millionths, -1 when the row has none. */
static int64_t estimate(struct ht_arg_cursor *arg, uint32_t row)
{
	double value = ht_arg_cursor_f64(arg, row, -1);
	return value >= 0 && value < MAX ? ht_round_sat(value * ONE) : -1;
}

static bool add_kernel(struct grouper *g, uint32_t i_gpu)
{
	const struct ht_trace *t = g->t;
	struct ht_pooled *p = &g->pooled;
	uint32_t row = t->gpu[i_gpu].row;
	enum ht_core on = ht_traits_runs_on(&g->traits, row, false);
	const struct ht_op_node *op = launcher_of(g, i_gpu);
	int64_t blocks = estimate(&g->blocks, row), occupancy = estimate(&g->occupancy, row),
	        dur = t->dur_ns[row];
	size_t group;
	if (!add_keys(g, i_gpu, op, on) || !ht_pooled_group(p, &group))
		return false;
	ht_pooled_set(p, HT_KG_CALLS, 1);
	ht_pooled_set(p, HT_KG_TOTAL, dur);
	ht_pooled_set(p, HT_KG_MIN, dur);
	ht_pooled_set(p, HT_KG_MAX, dur);
	ht_pooled_set(p, HT_KG_BLOCKS_NS, (__int128)(blocks > 0 ? blocks : 0) * dur);
	ht_pooled_set(p, HT_KG_OCCUPANCY_NS, (__int128)(occupancy > 0 ? occupancy : 0) * dur);
	ht_pooled_set(p, HT_KG_HAS_BLOCKS, blocks > 0);
	ht_pooled_set(p, HT_KG_HAS_OCCUPANCY, occupancy >= 0);
	ht_pooled_set(p, HT_KG_TC, on == HT_CORE_TENSOR);
	ht_pooled_set(p, HT_KG_TC_UNKNOWN, on == HT_CORE_UNKNOWN);
	ht_pooled_set(p, HT_KG_OP_ELIGIBLE, is_eligible(g, i_gpu, op));
	ht_pooled_add(p, group, 0);
	return true;
}

static enum ht_status group_kernels(struct grouper *g, ht_table *table)
{
	struct ht_frame frame = { 0 };
	HT_TRY(ht_frame_make_gpu(g->run, &frame));
	HT_TRY(ht_traits_init(g->run, g->t, &g->traits));
	g->text_of_name = ht_arena_alloc(
	        g->run->scratch, (g->t->n_string_offsets + 1) * sizeof *g->text_of_name);
	if (!g->text_of_name)
		return ht_fail_nomem(g->run->ctx);
	g->blocks = ht_arg_cursor(g->t, "blocks per SM");
	g->occupancy = ht_arg_cursor(g->t, "est. achieved occupancy %");
	for (unsigned k = 0; k < HT_N_KG_KEYS; k++)
		if (key_args[k] && wants(g, k))
			g->args[k] = ht_arg_cursor(g->t, key_args[k]);
	if (wants(g, HT_KG_OPERATOR))
		HT_TRY(ht_op_tree_make(g->run, &g->traits, &g->tree));
	if ((wants(g, HT_KG_OPERATOR) || wants(g, HT_KG_SHAPES)) && ht_has_graph_launches(g->t))
		HT_TRY(ht_origins_make(g->run, false, &g->origins));
	for (size_t i = 0; i < frame.n_gpu; i++)
		if (ht_is_counted_kernel(g->t, &g->t->gpu[frame.gpu[i]]) &&
		        !add_kernel(g, frame.gpu[i]))
			return ht_fail_nomem(g->run->ctx);
	return ht_pooled_put(&g->pooled, table);
}

enum ht_status ht_kernel_groups_put(struct ht_run *run, unsigned keys, ht_table *table)
{
	struct grouper g = { .run = run, .t = run->trace, .keys = keys };
	ht_pooled_init(&g.pooled, run, HT_N_KG_KEYS, 1, ht_kernel_rules, HT_N_KG_VALUES);
	enum ht_status status = group_kernels(&g, table);
	ht_pooled_done(&g.pooled);
	return status;
}
