/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operators.c - which operators take the time, on the host and on the device.
 *
 * Per operator name (and input shape, and call stack), summed over calls and ranks (op_tree.h):
 *   host total    length of the operator            host self    without operators and runtime calls inside it
 *   device total  GPU work launched from inside it  device self  launched by itself, not by an operator inside it
 *   tc            share of that GPU work that runs on tensor cores
 * An operator whose only child has its own name counts once. Device times are sums of durations: work that runs
 * at the same time counts twice. The backward pass counts under its own operators.
 * Reads operators, runtime and driver calls, kernels, copies and sets. O(n log n). Unless steps are chosen, all of
 * the trace.
 * Example: aten::linear [0,100) us around aten::addmm [10,60) which launches (5 us) a gemm of 30 us: linear host self
 * 50, total 100, device self 0, total 30; addmm host self 45, total 50, device self and total 30.
 */
#include "analysis/analysis.h"
#include "model/rows/frame.h"
#include "model/groups/op_groups.h"
#include "table/shorten.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status group(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define NAME(COLUMN, BY) COLUMN(BY##_NAME, "name", HT_STR, HT_KEY, "operator", NULL)
#define SHAPE(COLUMN, BY)                                                                          \
	COLUMN(BY##_INPUT_SHAPE, "input_shape", HT_STR, HT_KEY, "shapes of its inputs", NULL)
#define STACK(COLUMN, BY)                                                                          \
	COLUMN(BY##_CALL_STACK, "call_stack", HT_STR, HT_KEY,                                      \
	        "frames around it without addresses of objects, innermost first, ; between",       \
	        HT_UNIT_INNERMOST_FIRST)
/* The last columns of every view. */
#define MEASURES(COLUMN, BY)                                                                       \
	COLUMN(BY##_CALLS, "calls", HT_I64, HT_MEASURE, "events", NULL)                            \
	COLUMN(BY##_DEVICE_SELF_NS, "device_self_ns", HT_DURATION, HT_MEASURE,                     \
	        "GPU activity that it launched itself", NULL)                                      \
	COLUMN(BY##_DEVICE_TOTAL_NS, "device_total_ns", HT_DURATION, HT_MEASURE,                   \
	        "GPU activity launched from inside it", NULL)                                      \
	COLUMN(BY##_HOST_SELF_NS, "host_self_ns", HT_DURATION, HT_MEASURE,                         \
	        "its time without operators and runtime calls inside", NULL)                       \
	COLUMN(BY##_HOST_TOTAL_NS, "host_total_ns", HT_DURATION, HT_MEASURE, "its time", NULL)     \
	COLUMN(BY##_TC_ELIGIBLE, "tc_eligible", HT_BOOL, HT_MEASURE,                               \
	        "it, or an operator inside it, can run on tensor cores, or did", NULL)             \
	COLUMN(BY##_TC_SELF_PCT, "tc_self_pct", HT_F64, HT_MEASURE,                                \
	        "share of device_self_ns known to be on tensor cores, 0 without any", "%")         \
	COLUMN(BY##_TC_TOTAL_PCT, "tc_total_pct", HT_F64, HT_MEASURE,                              \
	        "share of device_total_ns known to be on tensor cores, 0 without any", "%")        \
	COLUMN(BY##_DEVICE_SHARE, "device_share", HT_RATIO, HT_DETAIL,                             \
	        "device_self_ns over that of all rows", NULL)                                      \
	COLUMN(BY##_HOST_SHARE, "host_share", HT_RATIO, HT_DETAIL,                                 \
	        "host_self_ns over that of all rows", NULL)
enum { MEASURES(HT_COLUMN_NUMBER, MEASURE) N_MEASURES };

#define NAME_COLUMNS(COLUMN) NAME(COLUMN, NAME) MEASURES(COLUMN, NAME)
HT_COLUMNS(by_name, NAME_COLUMNS);
#define SHAPE_COLUMNS(COLUMN) NAME(COLUMN, SHAPE) SHAPE(COLUMN, SHAPE) MEASURES(COLUMN, SHAPE)
HT_COLUMNS(by_shape, SHAPE_COLUMNS);
#define STACK_COLUMNS(COLUMN) NAME(COLUMN, STACK) STACK(COLUMN, STACK) MEASURES(COLUMN, STACK)
HT_COLUMNS(by_stack, STACK_COLUMNS);
#define BOTH_COLUMNS(COLUMN)                                                                       \
	NAME(COLUMN, BOTH) SHAPE(COLUMN, BOTH) STACK(COLUMN, BOTH) MEASURES(COLUMN, BOTH)
HT_COLUMNS(by_both, BOTH_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "name", by_name, HT_COUNT(by_name) },
	{ "shape", by_shape, HT_COUNT(by_shape) },
	{ "stack", by_stack, HT_COUNT(by_stack) },
	{ "shape-stack", by_both, HT_COUNT(by_both) },
};

static const struct ht_param params[] = {
	{ "by", HT_STR, "name",
	        "one row per name; name and input shapes; name and call stack; or all three",
	        "name|shape|stack|shape-stack" },
};

const struct ht_analysis ht_analysis_operators = {
	.info = {
		.name = "operators",
		.group = "views",
		.page_view = "operators",
		.title = "Operators",
		.question = "Which operators take the time, on the host and on the device?",
		.method = "Times of operators summed over calls: total with and self without what is inside; device "
			  "times are the GPU activity that was launched there. Largest device_self_ns first, "
			  "host_self_ns when there is no GPU activity.",
		.schemas = schemas,
		.n_schemas = HT_COUNT(schemas),
		.chosen_by = "by",
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
	},
	.facts = { { "operators", ht_op_group_columns, HT_N_OP_GROUP_COLUMNS } },
	.per_rank = group,
	.finish = finish,
};

static enum ht_status group(struct ht_run *run, struct ht_part *part)
{
	bool both = ht_run_is(run, "by", "shape-stack");
	return ht_op_groups_put(run, both || ht_run_is(run, "by", "shape"),
	        both || ht_run_is(run, "by", "stack"), part->facts[0]);
}

static double share(int64_t part, int64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static void put_rows(struct ht_run *run, const struct ht_pooled *p, const size_t *order,
        const int64_t *sums, ht_table *table)
{
	bool both = ht_run_is(run, "by", "shape-stack");
	size_t at = ht_table_n_columns(table) - N_MEASURES;
	for (size_t i = 0; i < ht_pooled_n(p); i++) {
		int64_t v[HT_N_OP_VALUES];
		for (size_t k = 0; k < HT_N_OP_VALUES; k++)
			v[k] = ht_pooled_i64(p, order[i], 0, k);
		ht_table_row(table);
		ht_table_put_str(table, NAME_NAME, ht_pooled_key(p, order[i], HT_OP_NAME));
		if (both || ht_run_is(run, "by", "shape"))
			ht_table_put_str(
			        table, SHAPE_INPUT_SHAPE, ht_pooled_key(p, order[i], HT_OP_SHAPE));
		if (both || ht_run_is(run, "by", "stack"))
			ht_table_put_str(table, both ? BOTH_CALL_STACK : STACK_CALL_STACK,
			        ht_pooled_key(p, order[i], HT_OP_STACK));
		for (size_t k = HT_OP_CALLS; k <= HT_OP_HOST_TOTAL; k++)
			ht_table_put_i64(table, at + MEASURE_CALLS + k, v[k]);
		ht_table_put_i64(table, at + MEASURE_TC_ELIGIBLE, v[HT_OP_TC_ELIGIBLE]);
		ht_table_put_f64(table, at + MEASURE_TC_SELF_PCT,
		        100 * share(v[HT_OP_TC_SELF], v[HT_OP_DEVICE_SELF]));
		ht_table_put_f64(table, at + MEASURE_TC_TOTAL_PCT,
		        100 * share(v[HT_OP_TC_TOTAL], v[HT_OP_DEVICE_TOTAL]));
		ht_table_put_f64(table, at + MEASURE_DEVICE_SHARE,
		        share(v[HT_OP_DEVICE_SELF], sums[HT_OP_DEVICE_SELF]));
		ht_table_put_f64(table, at + MEASURE_HOST_SHARE,
		        share(v[HT_OP_HOST_SELF], sums[HT_OP_HOST_SELF]));
	}
}

static enum ht_status put_groups(
        struct ht_run *run, const struct ht_parts *parts, struct ht_pooled *p, ht_table *table)
{
	int64_t sums[HT_N_OP_VALUES] = { 0 };
	HT_TRY(ht_pooled_parts(p, parts, 0));
	for (size_t i = 0; i < ht_pooled_n(p); i++)
		for (size_t k = 0; k < HT_N_OP_VALUES; k++)
			ht_sum(&sums[k], ht_pooled_i64(p, i, 0, k));
	const size_t *order = ht_pooled_order(p);
	if (!order)
		return ht_fail_nomem(run->ctx);
	put_rows(run, p, order, sums, table);
	HT_TRY(ht_frame_set_method(run, table, "sums over calls and ranks"));
	bool device = sums[HT_OP_DEVICE_SELF] > 0;
	ht_table_set_bar(table, ht_table_n_columns(table) - N_MEASURES +
	                                (device ? MEASURE_DEVICE_SHARE : MEASURE_HOST_SHARE));
	/* rows are by their keys so far, and sorting keeps that where times are equal */
	HT_TRY(ht_table_sort(
	        run->ctx, table, device ? "-device_self_ns,-host_self_ns" : "-host_self_ns"));
	if (sums[HT_OP_OF_TABLE] > 0)
		HT_TRY(ht_table_add_note(table,
		        "as the exporter's operator_details.csv lists them, also outside of steps; --step chooses "
		        "from the timeline, where host self time is without runtime calls"));
	if (!ht_pooled_n(p))
		return ht_table_add_note(table, "no operators: record with ProfilerActivity.CPU");
	if (!device)
		return ht_table_add_note(
		        table, "no GPU activity below operators: device columns are 0");
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct ht_pooled pooled;
	ht_pooled_init(&pooled, run, HT_N_OP_KEYS, 1, ht_op_rules, HT_N_OP_VALUES);
	enum ht_status status = put_groups(run, parts, &pooled, table);
	ht_pooled_done(&pooled);
	return status;
}
