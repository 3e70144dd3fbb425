/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.c - which kernels take the device's time, with what properties, launched by what.
 *
 * Kernels of the chosen ranks and steps, grouped by name; by name, launching operator, grid, block, registers and
 * shared memory, on an NPU accelerator core and blocks; by name and stream; by the core that they ran on; by type, or type and
 * shapes of inputs; or the numbers that were recorded with them, by name and counter. Durations are added over single kernels, so
 * kernels that run at the same time count twice; copies, sets and control are not kernels. Blocks per SM and achieved
 * occupancy are the profiler's estimates, weighted by duration, 0 for kernels without one.
 * Tensor cores are told by the kernel's name, or the types of its operator (tensor_cores.def), cores of an NPU by the trace.
 * O(n log n). Unless steps are chosen, all of the trace.
 * Example: gemm_h1688 for 4 and 6 us with occupancy 50 and 100 %: calls 2, total 10, mean 5, max 6, min 4, occupancy 80 %.
 */
#include "analysis/analysis.h"
#include "model/rows/frame.h"
#include "model/device/kernel_counters.h"
#include "model/groups/kernel_groups.h"

#include <math.h>
#include <stdlib.h>

static enum ht_status group(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define ESTIMATES        1e6 /* estimates are counted in millionths */

#define NAME(COLUMN, BY) COLUMN(BY##_NAME, "name", HT_STR, HT_KEY, "kernel", NULL)
#define ON_TC(COLUMN, BY)                                                                          \
	COLUMN(BY##_TENSOR_CORES, "tensor_cores", HT_BOOL, HT_MEASURE,                             \
	        "whether it runs on tensor cores, by its name or the types of its operator; null " \
	        "when neither tells",                                                              \
	        NULL)
/* The last columns of all views but that of counters. */
#define MEASURES(COLUMN, BY)                                                                       \
	COLUMN(BY##_CALLS, "calls", HT_I64, HT_MEASURE, "kernels", NULL)                           \
	COLUMN(BY##_TOTAL_NS, "total_ns", HT_DURATION, HT_MEASURE, "sum of their durations", NULL) \
	COLUMN(BY##_MEAN_NS, "mean_ns", HT_DURATION_F64, HT_MEASURE, "mean duration", NULL)        \
	COLUMN(BY##_MAX_NS, "max_ns", HT_DURATION, HT_MEASURE, "longest", NULL)                    \
	COLUMN(BY##_MIN_NS, "min_ns", HT_DURATION, HT_MEASURE, "shortest", NULL)                   \
	COLUMN(BY##_MEAN_BLOCKS_PER_SM, "mean_blocks_per_sm", HT_F64, HT_MEASURE,                  \
	        "blocks per SM, weighted by duration; null when no kernel says", NULL)             \
	COLUMN(BY##_MEAN_OCCUPANCY_PCT, "mean_occupancy_pct", HT_F64, HT_MEASURE,                  \
	        "estimated achieved occupancy, weighted by duration; null when no kernel "         \
	        "says",                                                                            \
	        "%")                                                                               \
	COLUMN(BY##_SHARE, "share", HT_RATIO, HT_DETAIL, "total_ns over that of all rows", NULL)
enum { MEASURES(HT_COLUMN_NUMBER, MEASURE) N_MEASURES };

#define NAME_COLUMNS(COLUMN) NAME(COLUMN, NAME) ON_TC(COLUMN, NAME) MEASURES(COLUMN, NAME)
HT_COLUMNS(by_name, NAME_COLUMNS);
#define PROPERTIES_COLUMNS(COLUMN)                                                                 \
	NAME(COLUMN, PROPERTIES)                                                                   \
	COLUMN(PROPERTIES_OPERATOR, "operator", HT_STR, HT_KEY,                                    \
	        "operator that launched it, null when none is known", NULL)                        \
	COLUMN(PROPERTIES_GRID, "grid", HT_STR, HT_KEY, "blocks of the grid", NULL)                \
	COLUMN(PROPERTIES_BLOCK, "block", HT_STR, HT_KEY, "threads of a block", NULL)              \
	COLUMN(PROPERTIES_REGISTERS, "registers", HT_I64, HT_KEY, "registers per thread", NULL)    \
	COLUMN(PROPERTIES_SHARED_MEMORY, "shared_memory", HT_BYTES, HT_KEY,                        \
	        "shared memory of a block", NULL)                                                  \
	COLUMN(PROPERTIES_CORE, "core", HT_STR, HT_KEY, "accelerator core of an NPU", NULL)        \
	COLUMN(PROPERTIES_BLOCK_DIM, "block_dim", HT_I64, HT_KEY,                                  \
	        "blocks of an NPU's kernel, one for each core", NULL)                              \
	COLUMN(PROPERTIES_MIX_BLOCK_DIM, "mix_block_dim", HT_I64, HT_KEY,                          \
	        "the same on the other kind of cores", NULL)                                       \
	ON_TC(COLUMN, PROPERTIES)                                                                  \
	COLUMN(PROPERTIES_OP_TC_ELIGIBLE, "op_tc_eligible", HT_BOOL, HT_MEASURE,                   \
	        "whether the operator can run on tensor cores, by its name", NULL)                 \
	MEASURES(COLUMN, PROPERTIES)
HT_COLUMNS(by_properties, PROPERTIES_COLUMNS);
#define STREAM_COLUMNS(COLUMN)                                                                     \
	NAME(COLUMN, STREAM)                                                                       \
	COLUMN(STREAM_DEVICE, "device", HT_I64, HT_KEY,                                            \
	        "GPU index, null when the file does not say", NULL)                                \
	COLUMN(STREAM_STREAM, "stream", HT_I64, HT_KEY, "stream, null when the file does not say", \
	        NULL)                                                                              \
	ON_TC(COLUMN, STREAM)                                                                      \
	MEASURES(COLUMN, STREAM)
HT_COLUMNS(by_stream, STREAM_COLUMNS);
#define CORE_COLUMNS(COLUMN)                                                                       \
	COLUMN(CORE_CORE, "core", HT_STR, HT_KEY,                                                  \
	        "tensor cores, other cores or unknown; on an NPU the "                             \
	        "accelerator core",                                                                \
	        NULL)                                                                              \
	MEASURES(COLUMN, CORE)
HT_COLUMNS(by_core, CORE_COLUMNS);

#define TYPE(COLUMN, BY)                                                                           \
	COLUMN(BY##_TYPE, "type", HT_STR, HT_KEY, "type of an NPU's kernel; else the kernel", NULL)
#define TYPE_COLUMNS(COLUMN) TYPE(COLUMN, TYPE) MEASURES(COLUMN, TYPE)
HT_COLUMNS(by_type, TYPE_COLUMNS);
#define SHAPE_COLUMNS(COLUMN)                                                                      \
	TYPE(COLUMN, SHAPE)                                                                        \
	COLUMN(SHAPE_INPUT_SHAPES, "input_shapes", HT_STR, HT_KEY,                                 \
	        "shapes of the inputs of an NPU's kernel", NULL)                                   \
	MEASURES(COLUMN, SHAPE)
HT_COLUMNS(by_shape, SHAPE_COLUMNS);
#define COUNTER_COLUMNS(COLUMN)                                                                    \
	NAME(COLUMN, COUNTER)                                                                      \
	COLUMN(COUNTER_CORE, "core", HT_STR, HT_KEY, "accelerator core of an NPU", NULL)           \
	COLUMN(COUNTER_COUNTER, "counter", HT_STR, HT_KEY,                                         \
	        "number that was recorded, as the file names it", NULL)                            \
	COLUMN(COUNTER_CALLS, "calls", HT_I64, HT_MEASURE, "kernels that have it", NULL)           \
	COLUMN(COUNTER_MEAN, "mean", HT_F64, HT_MEASURE, "mean, weighted by duration", NULL)       \
	COLUMN(COUNTER_MIN, "min", HT_F64, HT_MEASURE, "smallest", NULL)                           \
	COLUMN(COUNTER_MAX, "max", HT_F64, HT_MEASURE, "largest", NULL)                            \
	COLUMN(COUNTER_TOTAL_NS, "total_ns", HT_DURATION, HT_MEASURE,                              \
	        "sum of the durations of these kernels", NULL)
HT_COLUMNS(by_counters, COUNTER_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "name", by_name, HT_COUNT(by_name) },
	{ "properties", by_properties, HT_COUNT(by_properties) },
	{ "stream", by_stream, HT_COUNT(by_stream) },
	{ "core", by_core, HT_COUNT(by_core) },
	{ "type", by_type, HT_COUNT(by_type) },
	{ "shape", by_shape, HT_COUNT(by_shape) },
	{ "counters", by_counters, HT_COUNT(by_counters) },
};

static const struct ht_param params[] = {
	{ "by", HT_STR, "name",
	        "one row per name; name, launching operator and launch properties; name and stream; core; type; "
	        "type and shapes of inputs; or name and recorded number",
	        "name|properties|stream|core|type|shape|counters" },
};

const struct ht_analysis ht_analysis_kernels = {
	.info = {
		.name = "kernels",
		.group = "views",
		.page_view = "kernels",
		.title = "Kernels",
		.question = "Which kernels take the device's time, and how well do they fill it?",
		.method = "Durations of single kernels by name, or by name, operator and launch properties; estimates "
			  "of blocks per SM and occupancy are weighted by duration. Largest total_ns first.",
		.schemas = schemas,
		.n_schemas = HT_COUNT(schemas),
		.chosen_by = "by",
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
	},
	.facts = { { "kernels", ht_kernel_group_columns, HT_N_KERNEL_GROUP_COLUMNS },
	        { "counters", ht_kernel_counter_columns, HT_N_KERNEL_COUNTER_COLUMNS } },
	.per_rank = group,
	.finish = finish,
};

/* Keys of a view in the order of its columns; HT_N_KG_KEYS ends them. */
struct view {
	const char *name;
	uint8_t keys[10];
};
static const struct view views[] = {
	{ "name", { HT_KG_NAME, HT_N_KG_KEYS } },
	{ "properties",
	        { HT_KG_NAME, HT_KG_OPERATOR, HT_KG_GRID, HT_KG_BLOCK, HT_KG_REGISTERS,
	                HT_KG_SHARED, HT_KG_UNIT, HT_KG_BLOCKS, HT_KG_MIX_BLOCKS, HT_N_KG_KEYS } },
	{ "stream", { HT_KG_NAME, HT_KG_DEVICE, HT_KG_STREAM, HT_N_KG_KEYS } },
	{ "core", { HT_KG_CORE, HT_N_KG_KEYS } },
	{ "type", { HT_KG_TYPE, HT_N_KG_KEYS } },
	{ "shape", { HT_KG_TYPE, HT_KG_SHAPES, HT_N_KG_KEYS } },
};

static const struct view *view_of(const struct ht_run *run)
{
	size_t i = 0;
	while (i + 1 < HT_COUNT(views) && !ht_run_is(run, "by", views[i].name))
		i++;
	return &views[i];
}

static enum ht_status group(struct ht_run *run, struct ht_part *part)
{
	const struct view *view = view_of(run);
	unsigned keys = 0;
	if (ht_run_is(run, "by", "counters"))
		return ht_kernel_counters_put(run, part->facts[1]);
	for (size_t i = 0; view->keys[i] != HT_N_KG_KEYS; i++)
		keys |= 1u << view->keys[i];
	return ht_kernel_groups_put(run, keys, part->facts[0]);
}

static void put_key(ht_table *table, size_t column, const char *text, unsigned key)
{
	bool is_number = (key >= HT_KG_REGISTERS && key <= HT_KG_STREAM) || key == HT_KG_BLOCKS ||
	                 key == HT_KG_MIX_BLOCKS;
	if (is_number)
		ht_table_put_known(
		        table, column, text ? strtoll(text, NULL, 10) : HT_NO_I64, HT_NO_I64);
	else
		ht_table_put_str(table, column, text);
}

static void put_on_tc(const struct ht_pooled *p, size_t i, size_t column, ht_table *table)
{
	int64_t on_tc = ht_pooled_i64(p, i, 0, HT_KG_TC);
	bool is_known = on_tc || !ht_pooled_i64(p, i, 0, HT_KG_TC_UNKNOWN);
	ht_table_put_known(table, column, is_known ? on_tc : HT_NO_I64, HT_NO_I64);
}

static void put_row(
        const struct ht_pooled *p, const struct view *view, size_t i, int64_t sum, ht_table *table)
{
	int64_t calls = ht_pooled_i64(p, i, 0, HT_KG_CALLS);
	int64_t total = ht_pooled_i64(p, i, 0, HT_KG_TOTAL);
	double weight = total ? (double)total * ESTIMATES : NAN;
	ht_table_row(table);
	for (size_t k = 0; view->keys[k] != HT_N_KG_KEYS; k++)
		put_key(table, k, ht_pooled_key(p, i, view->keys[k]), view->keys[k]);
	bool is_by_properties = view->keys[1] == HT_KG_OPERATOR;
	size_t at = ht_table_n_columns(table) - N_MEASURES;
	if (view->keys[0] == HT_KG_NAME)
		put_on_tc(p, i, at - 1 - is_by_properties, table);
	if (is_by_properties)
		ht_table_put_i64(table, PROPERTIES_OP_TC_ELIGIBLE,
		        ht_pooled_i64(p, i, 0, HT_KG_OP_ELIGIBLE));
	ht_table_put_i64(table, at + MEASURE_CALLS, calls);
	ht_table_put_i64(table, at + MEASURE_TOTAL_NS, total);
	ht_table_put_f64(table, at + MEASURE_MEAN_NS, (double)total / (double)calls);
	ht_table_put_i64(table, at + MEASURE_MAX_NS, ht_pooled_i64(p, i, 0, HT_KG_MAX));
	ht_table_put_i64(table, at + MEASURE_MIN_NS, ht_pooled_i64(p, i, 0, HT_KG_MIN));
	for (size_t k = 0; k < 2; k++) {
		double area = (double)ht_pooled_value(p, i, 0, HT_KG_BLOCKS_NS + k);
		bool known = ht_pooled_i64(p, i, 0, HT_KG_HAS_BLOCKS + k);
		ht_table_put_f64(
		        table, at + MEASURE_MEAN_BLOCKS_PER_SM + k, known ? area / weight : NAN);
	}
	ht_table_put_f64(table, at + MEASURE_SHARE, sum ? (double)total / (double)sum : NAN);
}

static enum ht_status put_groups(
        struct ht_run *run, const struct ht_parts *parts, struct ht_pooled *p, ht_table *table)
{
	int64_t sum = 0;
	HT_TRY(ht_pooled_parts(p, parts, 0));
	for (size_t i = 0; i < ht_pooled_n(p); i++)
		ht_sum(&sum, ht_pooled_i64(p, i, 0, HT_KG_TOTAL));
	const size_t *order = ht_pooled_order(p);
	if (!order)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < ht_pooled_n(p); i++)
		put_row(p, view_of(run), order[i], sum, table);
	HT_TRY(ht_frame_set_method(run, table, "sums over kernels and ranks"));
	ht_table_set_bar(table, ht_table_n_columns(table) - N_MEASURES + MEASURE_SHARE);
	HT_TRY(ht_table_sort(run->ctx, table, "-total_ns"));
	if (!ht_pooled_n(p))
		return ht_table_add_note(
		        table, "no kernels in the selection: record with ProfilerActivity.CUDA");
	return HT_OK;
}

static void put_counter(const struct ht_pooled *p, size_t i, ht_table *table)
{
	int64_t calls = ht_pooled_i64(p, i, 0, HT_KC_CALLS);
	int64_t total = ht_pooled_i64(p, i, 0, HT_KC_TOTAL);
	/* kernels without a duration weigh the same */
	double sum = (double)ht_pooled_value(p, i, 0, total ? HT_KC_SUM_NS : HT_KC_SUM);
	ht_table_row(table);
	for (size_t k = 0; k < HT_N_KC_KEYS; k++)
		ht_table_put_str(table, COUNTER_NAME + k, ht_pooled_key(p, i, k));
	ht_table_put_i64(table, COUNTER_CALLS, calls);
	ht_table_put_f64(table, COUNTER_MEAN, sum / HT_KC_ONE / (double)(total ? total : calls));
	ht_table_put_f64(table, COUNTER_MIN, (double)ht_pooled_i64(p, i, 0, HT_KC_MIN) / HT_KC_ONE);
	ht_table_put_f64(table, COUNTER_MAX, (double)ht_pooled_i64(p, i, 0, HT_KC_MAX) / HT_KC_ONE);
	ht_table_put_i64(table, COUNTER_TOTAL_NS, total);
}

static enum ht_status put_counters(
        struct ht_run *run, const struct ht_parts *parts, struct ht_pooled *p, ht_table *table)
{
	HT_TRY(ht_pooled_parts(p, parts, 1));
	const size_t *order = ht_pooled_order(p);
	if (!order)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < ht_pooled_n(p); i++)
		put_counter(p, order[i], table);
	HT_TRY(ht_frame_set_method(run, table, "over kernels and ranks"));
	HT_TRY(ht_table_sort(run->ctx, table, "-total_ns"));
	if (!ht_pooled_n(p))
		return ht_table_add_note(table, "no numbers were recorded with kernels");
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct ht_pooled pooled;
	if (ht_run_is(run, "by", "counters")) {
		ht_pooled_init(
		        &pooled, run, HT_N_KC_KEYS, 1, ht_kernel_counter_rules, HT_N_KC_VALUES);
		enum ht_status counted = put_counters(run, parts, &pooled, table);
		ht_pooled_done(&pooled);
		return counted;
	}
	ht_pooled_init(&pooled, run, HT_N_KG_KEYS, 1, ht_kernel_rules, HT_N_KG_VALUES);
	enum ht_status status = put_groups(run, parts, &pooled, table);
	ht_pooled_done(&pooled);
	return status;
}
