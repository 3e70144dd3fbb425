/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.h - what rules of advice have in common: facts of ranks (model/advice/rule_facts.h), words, verdicts.
 *
 * A rule looks at the facts of all ranks, mostly at the rank where something has the largest share, and says whether it
 * fires, what it found, and what that costs. A rule whose facts are missing is unknown. Words are the templates'.
 */
#ifndef HT_VERDICT_RULES_H
#define HT_VERDICT_RULES_H

#include "verdict/findings.h"
#include "verdict/words.h"
#include "model/finding/finding.h"
#include "model/advice/rule_facts.h"
#include "model/stragglers/votes.h"

/* Where parts have the facts of rules; findings are in front of them. */
enum { HT_ADVICE_FACTS = HT_N_FOUND };

/* A metric of one rank. */
struct ht_rule_fact {
	bool is_known;
	size_t i_part;
	int64_t device, part, whole, count, row, row_ns; /* HT_NO_I64: none */
	const char *name, *more, *place;                 /* NULL: none */
	int64_t aux[HT_N_FACT_AUX];                      /* what else the metric says of itself */
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

/* What shares of steps are of: steps, or what was recorded without any. */
const char *ht_rule_steps(const struct ht_advice *advice);
int64_t ht_rule_rank(const struct ht_advice *advice, size_t i_part);
/* A rank as the subject of a finding. */
void ht_rule_subject_rank(struct ht_advice *advice, struct ht_finding *finding, int64_t rank);

struct ht_rule_verdict {
	struct ht_finding f;  /* of the rule's kind; unknown until something was measured */
	size_t i_part;        /* SIZE_MAX: none */
	int64_t row;          /* HT_NO_I64: none */
	int64_t cost_ns;      /* of all steps of the rank; HT_NO_I64: none */
	int64_t step_cost_ns; /* of a step, where that is known instead */
};

struct ht_rule_verdict ht_rule_no_verdict(void);
/* About what was measured, which costs its part; unknown when it was not. */
struct ht_rule_verdict ht_rule_verdict_on(const struct ht_rule_fact *fact);

/* Most rules: a share above a threshold. of is a term of the templates. */
struct ht_rule_verdict ht_rule_judge(
        struct ht_advice *advice, struct ht_rule_fact fact, double threshold, const char *of);
struct ht_rule_verdict ht_rule_above(
        struct ht_advice *advice, enum ht_metric metric, double threshold, const char *of);
enum ht_state ht_rule_state(bool fires);

/* What of the critical path a rule is about: it saves no more than the path would without that. */
#define HT_RULE_PATH(name) (1u << HT_CP_BOUND_##name)
#define HT_RULE_CPU        (HT_RULE_PATH(CPU) | HT_RULE_PATH(LAUNCH_DELAY) | HT_RULE_PATH(KERNEL_DELAY))
#define HT_RULE_DATA       (HT_RULE_PATH(DATA_LOADING) | HT_RULE_PATH(CPU))
#define HT_RULE_COPY       (HT_RULE_PATH(GPU_MEMORY) | HT_RULE_PATH(CPU))
#define HT_RULE_COMM       (HT_RULE_PATH(GPU_COMMUNICATION) | HT_RULE_PATH(CPU))
#define HT_RULE_DEVICE     HT_RULE_PATH(GPU_COMPUTE)
#define HT_RULE_IDLE       HT_CP_IDLE_BOUNDS

/* Its words are those of its name (model/finding/templates.def). */
struct ht_rule {
	const char *name;
	struct ht_rule_verdict (*judge)(struct ht_advice *advice);
	const char *next;      /* verb */
	struct ht_arg args[2]; /* of it; name NULL: none */
	unsigned
	        bounds; /* HT_RULE_...: what of the path it could shorten; 0: no single part of it */
};

/* The rules about ranks that communicate (rules_ranks.c). */
/* What a rank communicates alone, without its waits for others where those are known; HT_NO_I64: not known. */
int64_t ht_rule_transfer_ns(const struct ht_advice *advice, size_t i_part);
struct ht_rule_verdict ht_rule_communication(struct ht_advice *advice);
struct ht_rule_verdict ht_rule_waiting(struct ht_advice *advice);
struct ht_rule_verdict ht_rule_slow_rank(struct ht_advice *advice);
struct ht_rule_verdict ht_rule_late_votes(struct ht_advice *advice);
struct ht_rule_verdict ht_rule_imbalance(struct ht_advice *advice);

/* The rules about kernels (rules_device.c). */
struct ht_rule_verdict ht_rule_tensor_cores(struct ht_advice *advice);
struct ht_rule_verdict ht_rule_small_grids(struct ht_advice *advice);
struct ht_rule_verdict ht_rule_layout_changes(struct ht_advice *advice);
struct ht_rule_verdict ht_rule_misaligned_products(struct ht_advice *advice);
struct ht_rule_verdict ht_rule_type_casts(struct ht_advice *advice);
struct ht_rule_verdict ht_rule_below_roof(struct ht_advice *advice);

/* The rules about memory snapshots (rules_memory.c); none without one. */
const struct ht_rule *ht_rules_memory(const struct ht_advice *advice, size_t *ret_n);
/* The rules about NPUs; none when the traces are of no NPU. */
const struct ht_rule *ht_rules_npu(const struct ht_advice *advice, size_t *ret_n);

#endif
