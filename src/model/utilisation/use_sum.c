/* SPDX-License-Identifier: Apache-2.0 */
/*
 * use_sum.c - see use_sum.h.
 */
#include "model/utilisation/use_sum.h"

#include "store/args.h"
#include "table/optional.h"

#include <math.h>

enum ht_status ht_use_facts_put(struct ht_run *run, bool by_step, ht_table *table)
{
	const struct ht_efficiency_options options = { .causal = HT_CAUSAL_EXACT };
	const struct ht_model_spec spec = { 0 };
	struct ht_frame frame = { 0 };
	struct ht_op_calls calls = { 0 };
	struct ht_step_uses uses = { 0 };
	struct ht_arg_cursor dims = ht_arg_cursor(run->trace, "Input Dims");
	if (!run->trace->n_gpu || !ht_arg_cursor_n(&dims))
		return HT_OK;
	HT_TRY(ht_frame_make_gpu(run, &frame));
	HT_TRY(ht_op_calls_make(run, &frame, &options, &calls));
	HT_TRY(ht_step_uses_make(run, &calls, &spec, &uses));
	if (!by_step) {
		uses.list += uses.n - 1;
		uses.n = 1;
	}
	ht_step_uses_put(run, &uses, &spec, table);
	return HT_OK;
}

/* A mean in the making. */
struct mean {
	double sum, weight;
};

static void add(struct mean *mean, const ht_table *t, size_t row, size_t column, double weight)
{
	if (ht_table_is_null(t, row, column) || !(weight > 0))
		return;
	mean->sum += weight * ht_table_f64(t, row, column);
	mean->weight += weight;
}

static double mean_of(const struct mean *mean)
{
	return mean->weight > 0 ? mean->sum / mean->weight : NAN;
}

struct ht_use_sum ht_use_sum(const struct ht_parts *parts, size_t side, size_t k)
{
	struct ht_use_sum sum = { 0 };
	struct mean hfu = { 0 }, mfu = { 0 }, modelled = { 0 }, near_roof = { 0 }, copy = { 0 },
	            one_peak = { 0 };
	double flops = 0, recomputed = 0;
	for (size_t p = 0; p < parts->n; p++) {
		const ht_table *t = parts->list[p].facts[k];
		if (parts->list[p].side != side || !ht_table_n_rows(t))
			continue;
		/* the first row is all of a rank */
		double gpu = (double)ht_table_i64(t, 0, HT_USE_GPU_NS);
		double time = ht_table_is_null(t, 0, HT_USE_STEP_NS)
		                      ? 0
		                      : (double)ht_table_i64(t, 0, HT_USE_STEP_NS) *
		                                (double)ht_table_i64(t, 0, HT_USE_N_DEVICES);
		sum.n_ranks++;
		sum.has_products |= ht_table_i64(t, 0, HT_USE_FLOPS) > 0;
		flops += (double)ht_table_i64(t, 0, HT_USE_FLOPS);
		recomputed += (double)ht_table_i64(t, 0, HT_USE_RECOMPUTED);
		add(&hfu, t, 0, HT_USE_HFU, time);
		add(&mfu, t, 0, HT_USE_MFU, time);
		add(&one_peak, t, 0, HT_USE_MFU_ONE_PEAK, time);
		if (!sum.dtype)
			sum.dtype = ht_table_str_or_null(t, 0, HT_USE_DTYPE);
		add(&modelled, t, 0, HT_USE_MODELLED_SHARE, gpu);
		add(&near_roof, t, 0, HT_USE_NEAR_ROOF, gpu);
		add(&copy, t, 0, HT_USE_COPY, gpu);
	}
	sum.hfu = mean_of(&hfu);
	sum.mfu = mean_of(&mfu);
	sum.one_peak = mean_of(&one_peak);
	sum.modelled = mean_of(&modelled);
	sum.near_roof = mean_of(&near_roof);
	sum.copy = mean_of(&copy);
	sum.recomputed = flops > 0 ? recomputed / flops : 0;
	return sum;
}

bool ht_use_is_mixed(const struct ht_use_sum *sum)
{
	return sum->dtype && sum->mfu - sum->one_peak > 0.1 * sum->mfu;
}

struct ht_finding ht_use_finding(const struct ht_use_sum *sum)
{
	bool known = !isnan(sum->mfu) || !isnan(sum->near_roof);
	struct ht_finding f = ht_finding("efficiency", known ? HT_STATE_FOUND : HT_STATE_UNKNOWN);
	ht_finding_next(&f, "efficiency");
	if (!known) {
		f.variant = sum->has_products ? "no_peak" : "no_products";
		return f;
	}
	ht_finding_arg(&f, "view", "totals");
	if (!isnan(sum->mfu))
		ht_finding_value(&f, sum->mfu, "ratio");
	ht_finding_ratio(&f, "mfu", sum->mfu);
	if (ht_use_is_mixed(sum)) {
		ht_finding_ratio(&f, "one_peak", sum->one_peak);
		ht_finding_text(&f, "dtype", sum->dtype);
	}
	ht_finding_ratio(&f, "hfu", sum->hfu);
	ht_finding_ratio(&f, "recomputed", ht_use_recomputes(sum) ? sum->recomputed : NAN);
	ht_finding_ratio(&f, "near_roof", sum->near_roof);
	ht_finding_ratio(&f, "copy", sum->copy);
	ht_finding_ratio(&f, "modelled", sum->modelled);
	return f;
}
