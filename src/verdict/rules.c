/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.c - see rules.h.
 */
#include "verdict/rules.h"

#include "table/format.h"
#include "table/optional.h"

static struct ht_rule_fact read_fact(const struct ht_advice *a, size_t p, size_t row)
{
	const ht_table *facts = a->parts->list[p].facts[HT_ADVICE_FACTS];
	return (struct ht_rule_fact){ .is_known = true,
		.i_part = p,
		.device = ht_table_i64_or(facts, row, HT_FACT_DEVICE, HT_NO_I64),
		.part = ht_table_i64_or(facts, row, HT_FACT_PART, HT_NO_I64),
		.whole = ht_table_i64_or(facts, row, HT_FACT_WHOLE, HT_NO_I64),
		.count = ht_table_i64_or(facts, row, HT_FACT_COUNT, HT_NO_I64),
		.row = ht_table_i64_or(facts, row, HT_FACT_ROW, HT_NO_I64),
		.row_ns = ht_table_i64_or(facts, row, HT_FACT_ROW_NS, HT_NO_I64),
		.name = ht_table_str_or_null(facts, row, HT_FACT_NAME),
		.more = ht_table_str_or_null(facts, row, HT_FACT_MORE),
		.place = ht_table_str_or_null(facts, row, HT_FACT_PLACE),
		.aux = { ht_table_i64_or(facts, row, HT_FACT_AUX, HT_NO_I64),
		        ht_table_i64_or(facts, row, HT_FACT_AUX + 1, HT_NO_I64),
		        ht_table_i64_or(facts, row, HT_FACT_AUX + 2, HT_NO_I64),
		        ht_table_i64_or(facts, row, HT_FACT_AUX + 3, HT_NO_I64) } };
}

struct ht_rule_fact ht_rule_fact_of(const struct ht_advice *a, size_t p, enum ht_metric metric)
{
	const ht_table *facts = a->parts->list[p].facts[HT_ADVICE_FACTS];
	for (size_t i = 0; i < ht_table_n_rows(facts); i++)
		if (ht_table_i64(facts, i, HT_FACT_METRIC) == (int64_t)metric)
			return read_fact(a, p, i);
	return (struct ht_rule_fact){ .part = 0, .whole = HT_NO_I64, .row = HT_NO_I64 };
}

double ht_rule_share(const struct ht_advice *a, const struct ht_rule_fact *fact)
{
	if (fact->whole != HT_NO_I64)
		return ht_ratio(fact->part, fact->whole);
	return ht_ratio(fact->part, ht_rule_fact_of(a, fact->i_part, HT_METRIC_STEPS).part);
}

struct ht_rule_fact ht_rule_worst(const struct ht_advice *a, enum ht_metric metric)
{
	struct ht_rule_fact most = { .row = HT_NO_I64 };
	for (size_t p = 0; p < a->parts->n; p++) {
		const ht_table *facts = a->parts->list[p].facts[HT_ADVICE_FACTS];
		for (size_t i = 0; i < ht_table_n_rows(facts); i++) {
			if (ht_table_i64(facts, i, HT_FACT_METRIC) != (int64_t)metric)
				continue;
			struct ht_rule_fact fact = read_fact(a, p, i);
			if (!most.is_known || ht_rule_share(a, &fact) > ht_rule_share(a, &most))
				most = fact;
		}
	}
	return most;
}

const char *ht_rule_steps(const struct ht_advice *a)
{
	return a->f.has_steps ? "of.step_time" : "of.recording";
}

int64_t ht_rule_rank(const struct ht_advice *a, size_t i_part)
{
	return i_part < a->parts->n ? a->parts->list[i_part].rank : HT_NO_I64;
}

void ht_rule_subject_rank(struct ht_advice *a, struct ht_finding *f, int64_t rank)
{
	ht_finding_subject(f, "rank", HT_SAY(a, "%lld", (long long)rank));
}

struct ht_rule_verdict ht_rule_no_verdict(void)
{
	return (struct ht_rule_verdict){ .f = ht_finding("", HT_STATE_UNKNOWN),
		.i_part = SIZE_MAX,
		.row = HT_NO_I64,
		.cost_ns = HT_NO_I64,
		.step_cost_ns = HT_NO_I64 };
}

struct ht_rule_verdict ht_rule_verdict_on(const struct ht_rule_fact *fact)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	if (!fact->is_known)
		return v;
	v.i_part = fact->i_part;
	v.row = fact->row;
	v.cost_ns = fact->part;
	return v;
}

enum ht_state ht_rule_state(bool fires)
{
	return fires ? HT_STATE_FOUND : HT_STATE_NONE;
}

struct ht_rule_verdict ht_rule_judge(
        struct ht_advice *a, struct ht_rule_fact fact, double threshold, const char *of)
{
	struct ht_rule_verdict v = ht_rule_verdict_on(&fact);
	double share = ht_rule_share(a, &fact);
	if (!fact.is_known)
		return v;
	v.f.state = ht_rule_state(share > threshold);
	ht_finding_share(&v.f, share, of, ht_rule_rank(a, fact.i_part));
	ht_finding_ratio(&v.f, "threshold", threshold);
	return v;
}

struct ht_rule_verdict ht_rule_above(
        struct ht_advice *a, enum ht_metric metric, double threshold, const char *of)
{
	return ht_rule_judge(a, ht_rule_worst(a, metric), threshold, of);
}
