/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_change.h - the conclusion of a comparison: how much longer a step is, and what that comes from.
 *
 * Causes, not consequences (causes.h): communication is longer where a rank is waited for, calls that wait for the device are longer
 * where it has more to do, and neither did anything. What is named explains a fifth of the change or more, with rank, line of
 * the user's code and cost.
 *
 * Example: 4 ranks, a step takes 54.6 ms in control and 172 ms in test; rank 1 of test runs a kernel for 117 ms that nobody
 * ran before: "step time +117 ms (+215.0 %), 54.6 ms → 172 ms: kernel gemm (added) takes 117 ms more per step on rank 1 alone,
 * launched at train.py(65): forward". Where no name explains as much, the function of the user's code whose own time grew most does:
 * "in model.py(9): forward, 6.1 ms more CPU time per step". A call that launches kernels is not named where an operator or a line explains as much: there
 * are more of them because those launch more. Where the step takes as long as before and the GPU has more to do, the kernel with most of that is named.
 */
#ifndef HT_MODEL_COMPARE_STEP_CHANGE_H
#define HT_MODEL_COMPARE_STEP_CHANGE_H

#include "model/compare/causes.h"
#include "model/compare/line_change.h"

/* As a note of the table. */
enum ht_status ht_step_change_note(struct ht_step_samples *samples, const struct ht_causes *causes,
        const struct ht_line_change *line, ht_table *table) HT_MUST_USE;

#endif
