/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_rules.h - categories of the user's own for blocks of memory snapshots: by the option, or a file that joins a snapshot.
 *
 *     [memory categories]                     the first line tells the file
 *     # comment
 *     cache = kv_cache.py                     category, text of a frame ("train.py:62 step", innermost first)
 *     optimizer ~ (my_adam|shampoo)\.py       category, extended regular expression
 *
 * Rules are tried in their order on each frame, those of the option first, and before the rules that are built in. The option
 * has texts alone: "category=text,category=text".
 */
#ifndef HT_MODEL_SNAPSHOT_MEM_RULES_H
#define HT_MODEL_SNAPSHOT_MEM_RULES_H

#include "model/run.h"

#include <regex.h>

struct ht_mem_rule {
	const char *category;
	const char *text;     /* that is in the frame; NULL: see regex */
	const regex_t *regex; /* that fits it */
};

struct ht_mem_rules {
	const struct ht_mem_rule *own; /* of the option */
	size_t n_own;
	const struct ht_mem_rule *attached;
	size_t n_attached;
};

/* option may be NULL. Memory in scratch. */
enum ht_status ht_mem_rules_make(
        struct ht_run *run, const char *option, struct ht_mem_rules *ret_rules) HT_MUST_USE;
static inline bool ht_mem_rules_any(const struct ht_mem_rules *rules)
{
	return rules->n_own || rules->n_attached;
}
/* The category of a frame, NULL when no rule knows it. */
const char *ht_mem_rules_say(const struct ht_mem_rules *rules, const char *frame);

#endif
