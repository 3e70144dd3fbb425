/*
 * rules.h - what rules of advice have in common: facts of ranks (model/advice/rule_facts.h), words, verdicts.
 *
 * A rule looks at the facts of all ranks, mostly at the rank where something has the largest share, and says whether it
 * fires, what it found, and what that costs. A rule whose facts are missing cannot tell.
 */
#ifndef HT_VERDICT_RULES_H
#define HT_VERDICT_RULES_H

#include "verdict/findings.h"
#include "verdict/words.h"
#include "model/advice/rule_facts.h"
#include "model/stragglers/votes.h"

/* Where parts have the facts of rules; findings are in front of them. */
enum { HT_ADVICE_FACTS = HT_N_FOUND };

/* A metric of one rank. */
struct ht_rule_fact {
	bool is_known;
	size_t i_part;
	int64_t device, part, whole, count, row, row_ns; /* HT_NO_I64: none */
	const char *name;                                /* NULL: none */
};

struct ht_advice {
	struct ht_run *run;
	const struct ht_parts *parts;
	struct ht_findings f;
	struct ht_votes votes; /* of NULL: ranks cannot be compared */
	ht_table *table;
	bool all; /* rules that do not fire are listed, too */
	struct ht_words words;
};

/* Of a rank, by its part; is_known is false when it has no such fact. */
struct ht_rule_fact ht_rule_fact_of(
        const struct ht_advice *advice, size_t i_part, enum ht_metric metric);
/* The fact of the rank, or device, where the metric has the largest share. */
struct ht_rule_fact ht_rule_worst(const struct ht_advice *advice, enum ht_metric metric);
/* Of its whole, or of the rank's steps when the metric is time without a whole of its own. */
double ht_rule_share(const struct ht_advice *advice, const struct ht_rule_fact *fact);

const char *ht_rule_percent(struct ht_advice *advice, double share);
/* "the steps", or what was recorded without any. */
const char *ht_rule_steps(const struct ht_advice *advice);

enum ht_rule_state { HT_RULE_CANNOT_TELL, HT_RULE_NO, HT_RULE_FIRES };

struct ht_rule_verdict {
	enum ht_rule_state state;
	const char *finding;
	const char *advice;   /* NULL: that of the rule */
	size_t i_part;        /* SIZE_MAX: none */
	int64_t row;          /* HT_NO_I64: none */
	int64_t cost_ns;      /* of all steps of the rank; HT_NO_I64: none */
	int64_t step_cost_ns; /* of a step, where that is known instead */
};

#define HT_NO_VERDICT                                                                              \
	{                                                                                          \
		.i_part = SIZE_MAX, .row = HT_NO_I64, .cost_ns = HT_NO_I64,                        \
		.step_cost_ns = HT_NO_I64                                                          \
	}

/* Most rules: a share above a threshold. */
struct ht_rule_verdict ht_rule_judge(struct ht_advice *advice, struct ht_rule_fact fact,
        double threshold, const char *what, const char *of);
struct ht_rule_verdict ht_rule_above(struct ht_advice *advice, enum ht_metric metric,
        double threshold, const char *what, const char *of);

struct ht_rule {
	const char *name;
	struct ht_rule_verdict (*judge)(struct ht_advice *advice);
	const char *advice, *next, *needs;
};

/* The rules about ranks that communicate (rules_ranks.c). */
struct ht_rule_verdict ht_rule_communication(struct ht_advice *advice);
struct ht_rule_verdict ht_rule_waiting(struct ht_advice *advice);
struct ht_rule_verdict ht_rule_slow_rank(struct ht_advice *advice);
struct ht_rule_verdict ht_rule_late_votes(struct ht_advice *advice);
struct ht_rule_verdict ht_rule_imbalance(struct ht_advice *advice);

/* The rules about NPUs; none when the traces are of no NPU. */
const struct ht_rule *ht_rules_npu(const struct ht_advice *advice, size_t *ret_n);

#endif
