/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_part.h - the part of the rank in hand, and what has to be known before it is made.
 */
#ifndef HT_REGISTRY_RUN_PART_H
#define HT_REGISTRY_RUN_PART_H

#include "registry/registry.h"

/* The tables of the part of the rank in hand; has_common: those of analysis->common are there. */
enum ht_status ht_run_fill_part(
        struct ht_run *run, bool has_common, struct ht_part *part) HT_MUST_USE;
/* The same for another analysis, from the start. */
enum ht_status ht_run_fill(
        struct ht_run *run, const struct ht_analysis *analysis, struct ht_part *part) HT_MUST_USE;
/* Whether finishing needs clocks: to compare ranks, or to show their times together. */
bool ht_run_needs_clocks(const struct ht_run *run);
/* What lists communication calls; no verb. */
extern const struct ht_analysis ht_calls_analysis;
/* Whether the policy or a column needs facts of all ranks. */
bool ht_run_wants_facts(const struct ht_run *run);

#endif
