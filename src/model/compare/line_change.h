/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_change.h - the line of the user's own code whose time changed most between two runs.
 *
 * A change of the code adds and removes many operators, each of them small: by name none explains the step, by the function that calls
 * them one does. Functions that edits have moved are the same (line_pairs.h).
 */
#ifndef HT_MODEL_COMPARE_LINE_CHANGE_H
#define HT_MODEL_COMPARE_LINE_CHANGE_H

#include "model/compare/step_samples.h"

struct ht_line_change {
	const char *line; /* as in this run; in scratch. NULL: none is known to have changed */
	bool on_gpu;      /* its GPU activities, else its time on the CPU */
	double ns;        /* test minus control, per step */
};

/* Of the rank in hand: its time by line and step (step_profile.h); nothing without Python functions. */
enum ht_status ht_line_times_put(struct ht_run *run, ht_table *table) HT_MUST_USE;
/* k: the table of the parts that has these. step_ns: the change of the step; of lines that change the same way, the one with most of it. On the CPU
 * or the GPU: see ht_cpu_comes_first. */
enum ht_status ht_line_change_find(struct ht_run *run, const struct ht_parts *parts, size_t k,
        double step_ns, struct ht_line_change *ret_change) HT_MUST_USE;

#endif
