/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_device.c - rules of advice about kernels: what they run on, how well they fill the device, what they only prepare.
 */
#include "verdict/rules.h"

#include "table/optional.h"

#include <string.h>

/* There capabilities are numbers of another kind, and names of kernels say of matrix cores that they run, never that they do
 * not. */
static bool is_amd(const struct ht_advice *a)
{
	const struct ht_roster *roster = a->run->rosters[0];
	for (size_t i = 0; i < roster->n; i++)
		if (ht_job_is_amd(&roster->ranks[i].job))
			return true;
	return false;
}

/* Few kernels on tensor cores, such as those of attention alone, do not make up for the products that are not; nor do many make up for some products that take
 * long without them, as a layer in full precision does inside of a model in half. */
struct ht_rule_verdict ht_rule_tensor_cores(struct ht_advice *a)
{
	static const double few = 0.1;  /* of the time of operators that could */
	static const double much = 0.1; /* of the time of all kernels */
	struct ht_rule_verdict v = ht_rule_no_verdict();
	const struct ht_gpu_use *gpu = &a->f.gpu;
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_TENSOR);
	if (!gpu->kernel_ns || gpu->major == HT_NO_I64 || (!gpu->tc_ns && is_amd(a)))
		return v;
	double share = fact.is_known ? ht_rule_share(a, &fact) : 0;
	double used = ht_ratio(gpu->tc_ns, gpu->kernel_ns),
	       unclear = ht_ratio(gpu->unclear_ns, gpu->kernel_ns);
	bool is_unused = used <= few * share;
	if (is_unused && unclear > few * share)
		return v;
	if (!is_unused) {
		fact.part = fact.is_known ? fact.aux[0] : 0;
		share = fact.is_known ? ht_rule_share(a, &fact) : 0;
	}
	bool could = gpu->major >= 7 && (is_unused ? share > 0 : share >= much);
	v.f.state = ht_rule_state(could);
	ht_finding_share(&v.f, could ? share : used, could ? "of.gpu_time" : "of.kernel_time",
	        could ? ht_rule_rank(a, fact.i_part) : HT_NO_I64);
	if (could && gpu->tc_ns)
		ht_finding_ratio(&v.f, "used", used);
	if (could && fact.name)
		ht_finding_text(&v.f, "op", fact.name);
	v.i_part = fact.is_known ? fact.i_part : SIZE_MAX;
	v.row = fact.is_known ? fact.row : HT_NO_I64;
	v.cost_ns = fact.is_known ? fact.part : HT_NO_I64;
	return v;
}

struct ht_rule_verdict ht_rule_small_grids(struct ht_advice *a)
{
	return ht_rule_above(a, HT_METRIC_GRID, 0.2, "of.kernel_time");
}

struct ht_rule_verdict ht_rule_layout_changes(struct ht_advice *a)
{
	return ht_rule_above(a, HT_METRIC_LAYOUT, 0.05, "of.kernel_time");
}

/* Totals of the rank that something takes the largest share of GPU time on; NULL: shapes or peaks are not known of any. */
static const ht_table *most_of(const struct ht_advice *a, size_t column, struct ht_rule_verdict *v)
{
	const ht_table *most = NULL;
	double share = -1;
	for (size_t p = 0; p < a->parts->n; p++) {
		const ht_table *use = a->parts->list[p].facts[HT_FOUND_USE];
		if (!ht_table_n_rows(use) || !ht_table_i64(use, 0, HT_USE_ROOFED))
			continue;
		int64_t ns = ht_table_i64_or(use, 0, column, 0);
		double own = ht_ratio(ns, ht_table_i64(use, 0, HT_USE_GPU_NS));
		if (own <= share)
			continue;
		most = use;
		share = own;
		v->i_part = p;
		v->cost_ns = ns;
	}
	return most;
}

/* A column as a share of GPU time, with the event behind it; and whether the cost is above a share of that time. */
static void judge_gpu_time(struct ht_advice *a, const ht_table *use, size_t column, size_t event,
        double threshold, struct ht_rule_verdict *v)
{
	int64_t ns = ht_table_i64_or(use, 0, column, 0);
	int64_t gpu_ns = ht_table_i64(use, 0, HT_USE_GPU_NS);
	ht_finding_share(&v->f, ht_ratio(ns, gpu_ns), "of.gpu_time", ht_rule_rank(a, v->i_part));
	v->row = ht_table_is_null(use, 0, event) ? HT_NO_I64
	                                         : ht_event_row(ht_table_i64(use, 0, event));
	v->f.state = ht_rule_state(ht_ratio(v->cost_ns, gpu_ns) > threshold);
	ht_finding_ratio(&v->f, "threshold", threshold);
}

struct ht_rule_verdict ht_rule_misaligned_products(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	const ht_table *use = most_of(a, HT_USE_MISALIGNED_EXCESS, &v);
	if (!use)
		return v;
	judge_gpu_time(a, use, HT_USE_MISALIGNED, HT_USE_MISALIGNED_EVENT, 0.05, &v);
	ht_finding_ratio(
	        &v.f, "lost", ht_ratio(v.cost_ns, ht_table_i64(use, 0, HT_USE_MISALIGNED)));
	ht_finding_text(&v.f, "op", ht_table_str_or_null(use, 0, HT_USE_MISALIGNED_OP));
	ht_finding_count(&v.f, "size", ht_table_i64_or(use, 0, HT_USE_MISALIGNED_SIZE, HT_NO_I64));
	return v;
}

struct ht_rule_verdict ht_rule_type_casts(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	const ht_table *use = most_of(a, HT_USE_CAST, &v);
	if (!use)
		return v;
	judge_gpu_time(a, use, HT_USE_CAST, HT_USE_CAST_EVENT, 0.1, &v);
	ht_finding_text(&v.f, "from", ht_table_str_or_null(use, 0, HT_USE_CAST_FROM));
	ht_finding_text(&v.f, "to", ht_table_str_or_null(use, 0, HT_USE_CAST_TO));
	return v;
}

struct ht_rule_verdict ht_rule_below_roof(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	const ht_table *use = most_of(a, HT_USE_WORST_EXCESS, &v);
	if (!use)
		return v;
	judge_gpu_time(a, use, HT_USE_WORST_EXCESS, HT_USE_WORST_EVENT, 0.1, &v);
	ht_finding_text(&v.f, "op", ht_table_str_or_null(use, 0, HT_USE_WORST));
	/* what takes no time to speak of has no such limit */
	const char *limit = ht_table_str_or_null(use, 0, HT_USE_WORST_BOUND);
	ht_finding_text(&v.f, "limit",
	        limit && strcmp(limit, ht_roof_bound_name(HT_BOUND_LATENCY)) ? limit : NULL);
	if (!ht_table_is_null(use, 0, HT_USE_WORST_EFFICIENCY))
		ht_finding_ratio(&v.f, "attains", ht_table_f64(use, 0, HT_USE_WORST_EFFICIENCY));
	return v;
}
