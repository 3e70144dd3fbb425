/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_step.h - one step that takes much longer than the others of its rank, and with what.
 *
 * A step is slow when it takes HT_SLOW_STEP times the median of the rank's steps, of which there must be three besides the first; that
 * one is as long as it takes from its own start on, or from where work of before it was over. What it has
 * more of is found in two stages: the role (step_roles.h) that grew most against the mean of the other steps, then, of what
 * runs in the place of that role (step_profile.h), the name that grew most against a step as long as the median, when that is half of what it takes above the median. Names of all
 * steps would cost a rank of many steps more than all other rules together.
 *
 * Example: steps of 10, 10, 40 and 10 us; in the third checkpoint_save takes 30 us on the host: it is slow, with checkpoint_save.
 */
#ifndef HT_MODEL_ADVICE_SLOW_STEP_H
#define HT_MODEL_ADVICE_SLOW_STEP_H

#include "model/run.h"
#include "model/steps/step_roles.h"

#define HT_SLOW_STEP        1.5
#define HT_SLOW_STEPS_LEAST 3

static inline bool ht_step_is_slow(int64_t length_ns, int64_t median_ns)
{
	return median_ns > 0 && (double)length_ns >= HT_SLOW_STEP * (double)median_ns;
}

/* A first step beside which the device is at work for calls of before is as long as that: its own part is not known. Those calls'
 * work ends at unlaunched_ns (store/earlier_work.h). */
bool ht_step_is_behind(const struct ht_bound *bound, int64_t unlaunched_ns);

struct ht_slow_step {
	size_t i_bound; /* SIZE_MAX: no step is slow */
	int64_t median_ns;
	int64_t excess_ns; /* over the median, of all slow steps */
	size_t n;          /* slow steps */
	enum ht_busy role; /* that grew most in the longest of them */
	const char *name;  /* what grew most there; NULL: nothing that has a name */
	int64_t name_ns;   /* by so much, no more than the step is longer by */
	uint32_t
	        row; /* the longest event of that name in it, with what is around that and hardly longer; HT_NONE */
	const char *around; /* name of that row where it is another; NULL: it is not */
};

/* Of the rank in hand; ns is the split of its steps into roles. Names lie in the arena. */
enum ht_status ht_slow_step_find(struct ht_run *run, const struct ht_bounds *bounds,
        const int64_t (*ns)[HT_N_BUSY], struct ht_arena *arena,
        struct ht_slow_step *ret_slow) HT_MUST_USE;

#endif
