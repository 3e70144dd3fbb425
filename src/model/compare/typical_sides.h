/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typical_sides.h - typical times of GPU work (typical_time.h) of two sides, over their ranks: what accidents do not move.
 */
#ifndef HT_MODEL_COMPARE_TYPICAL_SIDES_H
#define HT_MODEL_COMPARE_TYPICAL_SIDES_H

#include "model/steps/step_profile.h"

/* Typical time of a name on both sides, both ways. */
struct ht_typical_name {
	const char *name;
	double ns[2][2]; /* by way and side, base first; NaN: cannot be told */
};

struct ht_typical_sides {
	struct ht_typical_name *list; /* by name */
	size_t n;
};

/* k: which table of the parts has typical times; n_base: how many of the sets are the base, from the first. Memory in scratch. */
enum ht_status ht_typical_sides_find(struct ht_run *run, const struct ht_parts *parts, size_t k,
        size_t n_base, struct ht_typical_sides *ret_sides) HT_MUST_USE;
/* How much the typical time changed, of a name and of all names together; NaN: not known. */
double ht_typical_sides_growth_of(const struct ht_typical_sides *sides, const char *name);
double ht_typical_sides_growth(const struct ht_typical_sides *sides);

#endif
