/*
 * rules.c - see rules.h.
 */
#include "verdict/rules.h"

#include "table/format.h"

static int64_t cell(const ht_table *table, size_t row, size_t column)
{
	return ht_table_is_null(table, row, column) ? HT_NO_I64 : ht_table_i64(table, row, column);
}

static struct ht_rule_fact read_fact(const struct ht_advice *a, size_t p, size_t row)
{
	const ht_table *facts = a->parts->list[p].facts[HT_ADVICE_FACTS];
	return (struct ht_rule_fact){ .is_known = true,
		.i_part = p,
		.device = cell(facts, row, HT_FACT_DEVICE),
		.part = cell(facts, row, HT_FACT_PART),
		.whole = cell(facts, row, HT_FACT_WHOLE),
		.count = cell(facts, row, HT_FACT_COUNT),
		.row = cell(facts, row, HT_FACT_ROW),
		.row_ns = cell(facts, row, HT_FACT_ROW_NS),
		.name = ht_table_is_null(facts, row, HT_FACT_NAME)
		                ? NULL
		                : ht_table_str(facts, row, HT_FACT_NAME) };
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

const char *ht_rule_percent(struct ht_advice *a, double share)
{
	return HT_SAY(a, "%.1f %%", 100 * share);
}

const char *ht_rule_steps(const struct ht_advice *a)
{
	return a->f.has_steps ? "the steps" : "the time that was recorded";
}

struct ht_rule_verdict ht_rule_judge(struct ht_advice *a, struct ht_rule_fact fact,
        double threshold, const char *what, const char *of)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	double share = ht_rule_share(a, &fact);
	if (!fact.is_known)
		return v;
	v.state = share > threshold ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = HT_SAY(a, "%s %s of %s%s", what, ht_rule_percent(a, share), of,
	        v.state == HT_RULE_FIRES
	                ? ""
	                : HT_SAY(a, ", no more than %s", ht_rule_percent(a, threshold)));
	v.i_part = fact.i_part;
	v.row = fact.row;
	v.cost_ns = fact.part;
	return v;
}

struct ht_rule_verdict ht_rule_above(struct ht_advice *a, enum ht_metric metric, double threshold,
        const char *what, const char *of)
{
	return ht_rule_judge(a, ht_rule_worst(a, metric), threshold, what, of);
}
