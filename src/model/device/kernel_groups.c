/*
 * kernel_groups.c - see kernel_groups.h.
 */
#include "model/device/kernel_groups.h"

#include "model/device/gpu_work.h"
#include "model/calls/op_tree.h"

#include <math.h>
#include <stdio.h>

#define ONE 1000000
#define MAX 1e6 /* blocks per SM, or percent: more is no estimate */

const uint8_t ht_kernel_rules[HT_N_KG_VALUES] = {
	[HT_KG_MIN] = HT_POOL_MIN,
	[HT_KG_MAX] = HT_POOL_MAX,
	[HT_KG_BLOCKS_NS] = HT_POOL_SUM_WIDE,
	[HT_KG_OCCUPANCY_NS] = HT_POOL_SUM_WIDE,
	[HT_KG_HAS_BLOCKS] = HT_POOL_ANY,
	[HT_KG_HAS_OCCUPANCY] = HT_POOL_ANY,
	[HT_KG_TC] = HT_POOL_ANY,
	[HT_KG_OP_ELIGIBLE] = HT_POOL_ANY,
};

const struct ht_column ht_kernel_group_columns[] = {
	{ "name", HT_STR, HT_KEY, "kernel", NULL },
	{ "operator", HT_STR, HT_KEY, "operator that launched it", NULL },
	{ "grid", HT_STR, HT_KEY, "blocks", NULL },
	{ "block", HT_STR, HT_KEY, "threads", NULL },
	{ "registers", HT_STR, HT_KEY, "registers per thread", NULL },
	{ "shared_memory", HT_STR, HT_KEY, "bytes of shared memory", NULL },
	{ "device", HT_STR, HT_KEY, "device", NULL },
	{ "stream", HT_STR, HT_KEY, "stream", NULL },
	{ "core", HT_STR, HT_KEY, "what it ran on", NULL },
	{ "calls", HT_I64, HT_MEASURE, "kernels", NULL },
	{ "total_ns", HT_DURATION, HT_MEASURE, "sum of durations", NULL },
	{ "min_ns", HT_DURATION, HT_MEASURE, "shortest", NULL },
	{ "max_ns", HT_DURATION, HT_MEASURE, "longest", NULL },
	{ "blocks_high", HT_I64, HT_MEASURE, "blocks per SM times duration, upper 64 bits", NULL },
	{ "blocks_low", HT_I64, HT_MEASURE, "and lower", NULL },
	{ "occupancy_high", HT_I64, HT_MEASURE, "occupancy times duration, upper 64 bits", NULL },
	{ "occupancy_low", HT_I64, HT_MEASURE, "and lower", NULL },
	{ "has_blocks", HT_I64, HT_MEASURE, "whether blocks per SM are known", NULL },
	{ "has_occupancy", HT_I64, HT_MEASURE, "whether occupancy is known", NULL },
	{ "tensor_cores", HT_I64, HT_MEASURE, "runs on tensor cores", NULL },
	{ "op_eligible", HT_I64, HT_MEASURE, "its operator can", NULL },
};

struct grouper {
	struct ht_run *run;
	const struct ht_trace *t;
	struct ht_pooled pooled;
	struct ht_traits traits;
	struct ht_op_tree tree; /* only when operators are asked for */
	unsigned keys;
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

static const char *core_of(struct grouper *g, uint32_t row, bool on_tc)
{
	const char *core = ht_arg_str(g->t, "Accelerator Core", row);
	if (!core)
		core = ht_arg_str(g->t, "Task Type", row);
	return core ? core : on_tc ? "tensor cores" : "other cores";
}

static bool add_text(struct grouper *g, unsigned key, const char *text, uint32_t *texts)
{
	return ht_pooled_text(&g->pooled, wants(g, key) ? text : NULL, &texts[key]);
}

static bool add_keys(struct grouper *g, uint32_t i_gpu, bool on_tc, uint32_t *texts)
{
	const struct ht_trace *t = g->t;
	const struct ht_gpu *gpu = &t->gpu[i_gpu];
	uint32_t row = gpu->row;
	const struct ht_op_node *op = launcher_of(g, i_gpu);
	static const char *const numbers[HT_N_KG_KEYS] = {
		[HT_KG_REGISTERS] = "registers per thread", [HT_KG_SHARED] = "shared memory"
	};
	for (size_t k = 0; k < HT_N_KG_KEYS; k++)
		texts[k] = HT_NONE;
	for (unsigned k = HT_KG_REGISTERS; k <= HT_KG_SHARED; k++)
		if (wants(g, k) && !add_number(g, ht_arg_i64(t, numbers[k], row, HT_NO_I64),
		                           HT_NO_I64, &texts[k]))
			return false;
	return add_text(g, HT_KG_NAME, ht_str(t, t->name[row]), texts) &&
	       add_text(g, HT_KG_OPERATOR, op ? ht_str(t, t->name[op->row]) : NULL, texts) &&
	       add_text(g, HT_KG_GRID, ht_arg_str(t, "grid", row), texts) &&
	       add_text(g, HT_KG_BLOCK, ht_arg_str(t, "block", row), texts) &&
	       add_text(g, HT_KG_CORE, core_of(g, row, on_tc), texts) &&
	       (!wants(g, HT_KG_DEVICE) || add_number(g, gpu->device, -1, &texts[HT_KG_DEVICE])) &&
	       (!wants(g, HT_KG_STREAM) || add_number(g, gpu->stream, -1, &texts[HT_KG_STREAM]));
}

/* An estimate in millionths, -1 when the row has none. */
static int64_t estimate(const struct ht_trace *t, const char *arg, uint32_t row)
{
	double value = ht_arg_f64(t, arg, row, -1);
	return value >= 0 && value < MAX ? (int64_t)llround(value * ONE) : -1;
}

static bool add_kernel(struct grouper *g, uint32_t i_gpu)
{
	const struct ht_trace *t = g->t;
	uint32_t row = t->gpu[i_gpu].row, texts[HT_N_KG_KEYS];
	bool on_tc = ht_traits_on_tc(&g->traits, row, false);
	const struct ht_op_node *op = launcher_of(g, i_gpu);
	int64_t blocks = estimate(t, "blocks per SM", row),
	        occupancy = estimate(t, "est. achieved occupancy %", row), dur = t->dur_ns[row];
	size_t group;
	if (!add_keys(g, i_gpu, on_tc, texts) || !ht_pooled_group(&g->pooled, texts, &group))
		return false;
	const __int128 values[HT_N_KG_VALUES] = { 1, dur, dur, dur,
		(__int128)(blocks > 0 ? blocks : 0) * dur,
		(__int128)(occupancy > 0 ? occupancy : 0) * dur, blocks > 0, occupancy >= 0, on_tc,
		op && op->tc_listed };
	for (size_t v = 0; v < HT_N_KG_VALUES; v++)
		ht_pooled_add(&g->pooled, group, 0, v, values[v]);
	return true;
}

static bool is_kernel(const struct ht_trace *t, const struct ht_gpu *gpu)
{
	/* copies that run as kernels are copies here as everywhere */
	bool works = gpu->class_ == HT_CLASS_COMPUTE || gpu->class_ == HT_CLASS_COMM;
	return t->kind[gpu->row] == HT_KIND_KERNEL && works;
}

static enum ht_status group_kernels(struct grouper *g, ht_table *table)
{
	struct ht_frame frame = { 0 };
	HT_TRY(ht_frame_make_gpu(g->run, &frame));
	HT_TRY(ht_traits_init(g->run, g->t, &g->traits));
	if (wants(g, HT_KG_OPERATOR))
		HT_TRY(ht_op_tree_make(g->run, &g->traits, &g->tree));
	for (size_t i = 0; i < frame.n_gpu; i++)
		if (is_kernel(g->t, &g->t->gpu[frame.gpu[i]]) && !add_kernel(g, frame.gpu[i]))
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
