/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_rules.h - formulas of the user's own, for operators that no table lists: one per line of a text.
 *
 *     # comment
 *     my::fused_mlp   flops = 4 * n0 * d1[1]   bytes = 2 * (n0 + n1 + n2)
 *     vllm::*         vector = 3 * n0          bytes = 2 * n0 * e0
 *
 * A name may have * and ?; the first line that fits counts, before any formula of ours. flops are of matrix products, vector of
 * everything else; what is not given is 0, without bytes the roof is not known. Expressions have whole numbers, + - * / and
 * brackets, and of argument i: d<i>[k] its k-th size (negative: from the end), n<i> its elements, e<i> bytes per element, c<i> the value
 * of a scalar. Division cuts. What an argument does not have, a negative result or one beyond 63 bits makes the call unmodelled.
 */
#ifndef HT_MODEL_EFFICIENCY_OP_RULES_H
#define HT_MODEL_EFFICIENCY_OP_RULES_H

#include "base/status.h"
#include "model/efficiency/op_cost.h"

struct ht_op_rule {
	const char *name;                   /* pattern */
	const char *flops, *vector, *bytes; /* expressions; NULL: not given */
};

struct ht_op_rules {
	struct ht_op_rule *list;
	size_t n;
};

/* Read a text; HT_FORMAT with the line when it is none such. Memory in the arena. */
enum ht_status ht_op_rules_read(ht_ctx *ctx, const char *file, const char *text,
        struct ht_arena *arena, struct ht_op_rules *ret) HT_MUST_USE;
/* The first that fits a name, NULL: none. */
const struct ht_op_rule *ht_op_rules_find(const struct ht_op_rules *rules, const char *name);
/* Those that were attached to the rank in hand; NULL: none. */
struct ht_run;
enum ht_status ht_op_rules_attached(
        struct ht_run *run, const struct ht_op_rules **ret_rules) HT_MUST_USE;
struct ht_op_cost ht_op_rule_cost(const struct ht_op_rule *rule, const struct ht_op_args *args);

#endif
