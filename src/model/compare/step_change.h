/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_change.h - the conclusion of a comparison: how much longer a step is, and the kernel that it comes from.
 *
 * Causes, not consequences: what is named computes. Communication is longer where a rank is waited for, calls that wait for
 * the device are longer where it has more to do, and neither did anything.
 * Over the mean of all ranks one slow rank of many hardly shows, so each rank is looked at by itself: a kernel that
 * changed on one rank by more than twice what it did on the others is that rank's, with what it costs there.
 *
 * Example: 4 ranks, a step takes 54.6 ms in control and 172 ms in test; rank 1 of test runs a kernel for 117 ms that nobody
 * ran before: "step time +117 ms (+215.0 %), 54.6 ms → 172 ms: kernel gemm (added) takes 117 ms more per step on rank 1 alone".
 */
#ifndef HT_MODEL_COMPARE_STEP_CHANGE_H
#define HT_MODEL_COMPARE_STEP_CHANGE_H

#include "model/compare/step_samples.h"

/* As a note of the table. Names of the samples are those of rows, not paths. */
enum ht_status ht_step_change_note(struct ht_step_samples *samples, ht_table *table) HT_MUST_USE;

#endif
