/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_steps.h - which steps of a run take so long that they say nothing of the others.
 *
 * A step is slow when it takes HT_SLOW_STEP times the median of its rank's steps (model/advice/slow_step.h) on some rank: a
 * checkpoint, compiling, a stall. What bounds the run is said of the others, as a step of seconds would hide what the
 * usual ones of milliseconds spend their time on, and of the slow ones what they have more of. Where slow steps recur,
 * as a loader's that waits for each second batch, they are what bounds the run: it is said of all steps then.
 */
#ifndef HT_VERDICT_SLOW_STEPS_H
#define HT_VERDICT_SLOW_STEPS_H

#include "verdict/findings.h"

/* Fills in slow. Memory in scratch. */
enum ht_status ht_found_slow_steps(struct ht_findings *findings) HT_MUST_USE;
/* HT_NO_I64 is none. */
bool ht_findings_is_slow(const struct ht_findings *findings, int64_t number);

/* The mean of steps that are not slow; 0: there are none. */
int64_t ht_findings_usual_step(const struct ht_findings *findings);

/* Slow, and looked at apart from the others. */
bool ht_findings_is_apart(const struct ht_findings *findings, int64_t number);
/* The mean of the steps that what bounds the run is said of. */
int64_t ht_findings_bound_step(const struct ht_findings *findings);

/* What slow steps have more of than others. */
struct ht_slow_cause {
	const struct ht_path_bound *of; /* NULL: nothing */
	int64_t ns;                     /* of the path of a slow step */
};
struct ht_slow_cause ht_findings_slow_cause(const struct ht_findings *findings);

#endif
