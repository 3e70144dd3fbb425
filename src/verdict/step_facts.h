/*
 * step_facts.h - the steps of one rank as findings.h brings them together: how long, and what they go to where no GPU
 * work tells.
 */
#ifndef HT_VERDICT_STEP_FACTS_H
#define HT_VERDICT_STEP_FACTS_H

#include "verdict/findings.h"

/* Columns of the steps of a part. */
enum {
	HT_FOUND_STEP_NUMBER,
	HT_FOUND_STEP_HOST,
	HT_FOUND_STEP_DEVICE,
	HT_FOUND_STEP_ROW,
	HT_FOUND_STEP_COMPUTING,
	HT_FOUND_STEP_EXPOSED,
	HT_FOUND_STEP_FREE,
	HT_FOUND_STEP_ROLES /* one for each of the roles below */
};

/* The roles that a step of the host alone can have, as the columns have them. */
enum { HT_N_HOST_ROLES = 4 };
extern const enum ht_busy ht_found_host_roles[HT_N_HOST_ROLES];

/* Of the rank in hand; those of its exporter where it has no events. */
enum ht_status ht_found_steps_put(
        struct ht_run *run, const struct ht_bounds *bounds, ht_table *table) HT_MUST_USE;

#endif
