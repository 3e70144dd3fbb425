/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_answer.h - whole tables kept in the cache: a question that was asked before about the same ranks needs no parts.
 */
#ifndef HT_REGISTRY_KEPT_ANSWER_H
#define HT_REGISTRY_KEPT_ANSWER_H

#include "analysis/analysis.h"

struct ht_set;

/* The table that the run would make, before anything is chosen of it; NULL: it was not kept. The caller's. */
ht_table *ht_kept_answer_take(const struct ht_run *run, const struct ht_set *set);
/* Keep such a table for runs to come. That it cannot be is no failure. */
void ht_kept_answer_give(const struct ht_run *run, const struct ht_set *set, const ht_table *table);

#endif
