/* SPDX-License-Identifier: Apache-2.0 */
/*
 * use_table.c - see use_table.h.
 */
#include "model/utilisation/use_table.h"

#include "base/sort.h"
#include "model/finding/hint.h"

#include <math.h>
#include <string.h>

const struct ht_column ht_use_columns[] = HT_COLUMN_ENTRIES(HT_USE_COLUMNS);
const struct ht_column ht_unmodelled_columns[] = HT_COLUMN_ENTRIES(HT_UNMODELLED_COLUMNS);

static double ratio(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : NAN;
}

/* ---- steps ---- */

/* The first that is missing, else what the figures rest on. */
static const char *method_of(const struct ht_step_use *use, const struct ht_model_spec *spec)
{
	const char *why = ht_use_why(ht_step_use_state(use));
	if (!why && spec->is_given)
		why = ht_use_why(ht_step_palm_state(use, spec));
	if (why)
		return why;
	if (use->sum.flops_max > use->sum.flops)
		return "lower bound: lengths of sequences are not recorded";
	return use->sum.modelled_ns < use->sum.gpu_ns ? "lower bound: not all GPU time is modelled"
	                                              : "all GPU time is modelled";
}

/* The longest activity of a call, null: there is none. */
static void put_call_event(
        struct ht_run *run, ht_table *table, size_t column, const struct ht_op_call *call)
{
	ht_table_put_known(
	        table, column, call ? ht_event_id(run->rank, call->longest) : HT_NO_I64, HT_NO_I64);
}

static void put_misaligned(struct ht_run *run, const struct ht_cost_group *sum, ht_table *table)
{
	const struct ht_op_call *call = sum->misaligned;
	ht_table_put_i64(table, HT_USE_MISALIGNED, sum->misaligned_ns);
	ht_table_put_i64(table, HT_USE_MISALIGNED_EXCESS, sum->misaligned_excess_ns);
	ht_table_put_str(table, HT_USE_MISALIGNED_OP, call ? ht_op_call_name(call) : NULL);
	ht_table_put_known(table, HT_USE_MISALIGNED_SIZE,
	        call ? (int64_t)call->cost.odd_size : HT_NO_I64, HT_NO_I64);
	put_call_event(run, table, HT_USE_MISALIGNED_EVENT, call);
}

static void put_casts(struct ht_run *run, const struct ht_cost_group *sum, ht_table *table)
{
	const struct ht_op_cost *cost = sum->cast ? &sum->cast->cost : NULL;
	ht_table_put_i64(table, HT_USE_CAST, sum->cast_ns);
	ht_table_put_str(table, HT_USE_CAST_FROM,
	        cost ? ht_dtype_name((enum ht_dtype)cost->cast_from) : NULL);
	ht_table_put_str(
	        table, HT_USE_CAST_TO, cost ? ht_dtype_name((enum ht_dtype)cost->dtype) : NULL);
	put_call_event(run, table, HT_USE_CAST_EVENT, sum->cast);
}

/* NULL: the row is of one step. */
static void put_worst(struct ht_run *run, const struct ht_worst_op *worst, ht_table *table)
{
	const struct ht_op_call *call = worst ? worst->call : NULL;
	ht_table_put_str(table, HT_USE_WORST, call ? ht_op_call_name(call) : NULL);
	ht_table_put_known(
	        table, HT_USE_WORST_EXCESS, call ? worst->excess_ns : HT_NO_I64, HT_NO_I64);
	ht_table_put_f64(
	        table, HT_USE_WORST_EFFICIENCY, call ? ratio(worst->ideal_ns, worst->gpu_ns) : NAN);
	ht_table_put_str(table, HT_USE_WORST_BOUND, call ? ht_roof_bound_name(call->bound) : NULL);
	put_call_event(run, table, HT_USE_WORST_EVENT, call);
}

static void put_use(struct ht_run *run, const struct ht_step_use *use,
        const struct ht_worst_op *worst, const struct ht_model_spec *spec, ht_table *table)
{
	const struct ht_cost_group *sum = &use->sum;
	bool palm = ht_step_palm_state(use, spec) == HT_USE_OK;
	ht_table_row(table);
	ht_table_put_i64(table, HT_USE_RANK, run->rank);
	ht_table_put_known(table, HT_USE_STEP, use->number, HT_NO_I64);
	ht_table_put_known(
	        table, HT_USE_STEP_NS, use->time_ns > 0 ? use->time_ns : HT_NO_I64, HT_NO_I64);
	ht_table_put_i64(table, HT_USE_GPU_NS, sum->gpu_ns);
	ht_table_put_f64(table, HT_USE_MODELLED_SHARE, ratio(sum->modelled_ns, sum->gpu_ns));
	ht_table_put_i64(table, HT_USE_FLOPS, sum->flops);
	ht_table_put_f64(table, HT_USE_FLOPS_PER_S, 1e9 * ratio(sum->flops, use->time_ns));
	ht_table_put_f64(table, HT_USE_HFU, ht_step_hfu(use));
	ht_table_put_f64(table, HT_USE_MFU, ht_step_mfu(use));
	ht_table_put_f64(table, HT_USE_PALM_MFU, ht_step_palm_mfu(use, spec));
	ht_table_put_str(table, HT_USE_METHOD, method_of(use, spec));
	ht_table_put_str(table, HT_USE_DTYPE, ht_dtype_name(use->dtype));
	ht_table_put_f64(table, HT_USE_PEAK, use->peak > 0 ? use->peak : NAN);
	ht_table_put_f64(table, HT_USE_MFU_ONE_PEAK, ht_step_mfu_of_one_peak(use));
	ht_table_put_i64(table, HT_USE_RECOMPUTED, sum->recomputed_flops);
	ht_table_put_f64(table, HT_USE_NEAR_ROOF,
	        sum->roofed_ns > 0 ? ratio(sum->near_roof_ns, sum->gpu_ns) : NAN);
	ht_table_put_i64(table, HT_USE_ROOFED, sum->roofed_ns);
	ht_table_put_i64(table, HT_USE_IDEAL, sum->ideal_ns);
	ht_table_put_f64(table, HT_USE_COPY, ratio(sum->copy_ideal_ns, sum->copy_ns));
	put_misaligned(run, sum, table);
	put_casts(run, sum, table);
	put_worst(run, worst, table);
	ht_table_put_known(
	        table, HT_USE_TOKENS, spec->is_given ? use->tokens : HT_NO_I64, HT_NO_I64);
	ht_table_put_f64(table, HT_USE_MODEL_FLOPS,
	        palm ? (double)use->tokens * ht_model_flops_per_token(spec) : NAN);
	ht_table_put_i64(table, HT_USE_N_STEPS, use->n_steps);
	ht_table_put_i64(table, HT_USE_N_DEVICES, use->n_devices);
}

void ht_step_uses_put(struct ht_run *run, const struct ht_step_uses *uses,
        const struct ht_model_spec *spec, ht_table *table)
{
	/* all of them first */
	for (size_t i = 0; i < uses->n; i++)
		put_use(run, &uses->list[i ? i - 1 : uses->n - 1], i ? NULL : &uses->worst, spec,
		        table);
}

/* ---- what has no formula ---- */

static int64_t unmodelled_ns(const struct ht_cost_group *group)
{
	return group->gpu_ns - group->modelled_ns;
}

static int by_unmodelled(const void *left, const void *right)
{
	const struct ht_cost_group *a = left, *b = right;
	int order = ht_order_i64(unmodelled_ns(b), unmodelled_ns(a));
	return order ? order : strcmp(a->key ? a->key : "", b->key ? b->key : "");
}

enum ht_status ht_unmodelled_put(
        struct ht_run *run, const struct ht_cost_groups *groups, ht_table *table)
{
	int64_t gpu_ns = 0;
	for (size_t i = 0; i < groups->n; i++)
		ht_sum(&gpu_ns, groups->list[i].gpu_ns);
	ht_sort_items(run->ctx->mem, groups->list, groups->n, sizeof *groups->list, by_unmodelled);
	for (size_t i = 0; i < groups->n && i < HT_MOST_UNMODELLED; i++) {
		const struct ht_cost_group *g = &groups->list[i];
		if (unmodelled_ns(g) <= 0)
			break;
		size_t state = ht_cost_most(g->state_ns, HT_COST_NO_FORMULA, HT_N_COST_STATES);
		ht_table_row(table);
		ht_table_put_i64(table, HT_UNMODELLED_RANK, run->rank);
		ht_table_put_str(table, HT_UNMODELLED_KEY, g->key);
		ht_table_put_i64(table, HT_UNMODELLED_CALLS, g->calls - g->n_modelled);
		ht_table_put_i64(table, HT_UNMODELLED_GPU_NS, unmodelled_ns(g));
		ht_table_put_f64(table, HT_UNMODELLED_SHARE, ratio(unmodelled_ns(g), gpu_ns));
		ht_table_put_str(
		        table, HT_UNMODELLED_METHOD, ht_cost_method((enum ht_cost_state)state));
		ht_table_put_known(table, HT_UNMODELLED_EVENT,
		        g->longest == HT_NONE ? HT_NO_I64 : ht_event_id(run->rank, g->longest),
		        HT_NO_I64);
	}
	return HT_OK;
}

/* ---- notes ---- */

enum ht_status ht_use_note(struct ht_run *run, const ht_table *unmodelled, ht_table *table)
{
	double least = 1, share = 0;
	const char *name = NULL;
	for (size_t i = 0; i < ht_table_n_rows(table); i++)
		if (!ht_table_is_null(table, i, HT_USE_MODELLED_SHARE))
			least = fmin(least, ht_table_f64(table, i, HT_USE_MODELLED_SHARE));
	for (size_t i = 0; i < ht_table_n_rows(unmodelled); i++)
		if (ht_table_f64(unmodelled, i, HT_UNMODELLED_SHARE) > share) {
			share = ht_table_f64(unmodelled, i, HT_UNMODELLED_SHARE);
			name = ht_table_str(unmodelled, i, HT_UNMODELLED_KEY);
		}
	HT_TRY(ht_table_add_note(table,
	        "HFU and MFU count GEMM, convolution and attention at the dense peak of their type; MFU leaves "
	        "out what the backward pass recomputes; step time includes the overhead of profiling"));
	if (ht_run_str(run, "model"))
		HT_TRY(ht_table_add_note(table,
		        "palm_mfu counts 6 N + 12 L H Q T per token, without recomputation and without a discount for "
		        "causal masks; N is what a rank has of the model"));
	if (!name)
		return HT_OK;
	return ht_table_add_note(table,
	        "at least %s of GPU time is modelled; of the rest most is %s (%s): --view unmodelled",
	        ht_share_text(least).text, name, ht_share_text(share).text);
}
