/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_match.h - which launch, or operator, each piece of device work of a call forest belongs to. For call_forest.c.
 */
#ifndef HT_MODEL_CALLS_CALL_MATCH_H
#define HT_MODEL_CALLS_CALL_MATCH_H

#include "model/calls/forest.h"

struct ht_run;

struct ht_match {
	struct ht_run *run;
	const struct ht_trace *t;
	const struct ht_forest_options *options;
	bool *monitor, *launch, *device; /* by row: asked for, and in */
	uint32_t *works;                 /* rows of device work, by start */
	uint32_t *owner;                 /* of each: row of launch or operator, HT_NONE */
	size_t n_works;
};

/* Find the rows whose categories the options name, of those that are in. */
enum ht_status ht_match_rows(struct ht_match *match, const bool *in) HT_MUST_USE;
/* List the launches, sorted, with their work. */
enum ht_status ht_match_launches(struct ht_match *match, struct ht_forest *forest) HT_MUST_USE;
/* Count the work of launches that no row took. */
void ht_match_count_unmatched(
        const struct ht_match *match, const bool *taken, struct ht_forest *forest);

#endif
