/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_facts.h - the steps of one rank as findings.h brings them together: how long, and what they go to where no GPU
 * work tells.
 */
#ifndef HT_VERDICT_STEP_FACTS_H
#define HT_VERDICT_STEP_FACTS_H

#include "verdict/findings.h"

/* The roles that a step of the host alone can have, as the columns have them. */
enum {
	HT_FOUND_STEP_ROLES = HT_FOUND_STEP_COMMUNICATION_NS,
	HT_N_HOST_ROLES = HT_N_FOUND_STEP_COLUMNS - HT_FOUND_STEP_ROLES
};
extern const enum ht_busy ht_found_host_roles[HT_N_HOST_ROLES];

/* Of the rank in hand; those of its exporter where it has no events. */
enum ht_status ht_found_steps_put(
        struct ht_run *run, const struct ht_bounds *bounds, ht_table *table) HT_MUST_USE;

#endif
