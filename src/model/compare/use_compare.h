/* SPDX-License-Identifier: Apache-2.0 */
/*
 * use_compare.h - utilisation of two runs side by side, from the totals of their ranks (utilisation/use_sum.h).
 */
#ifndef HT_MODEL_COMPARE_USE_COMPARE_H
#define HT_MODEL_COMPARE_USE_COMPARE_H

#include "model/compare/step_samples.h"
#include "model/utilisation/use_sum.h"

/* MFU and the like of both sides as a note; facts[k] of the parts has the totals. No note where neither side has them. */
enum ht_status ht_use_change_note(
        struct ht_run *run, const struct ht_parts *parts, size_t k, ht_table *table) HT_MUST_USE;

/* By sample: GPU time per rank that the work of the base would take as efficiently as the sample's own work, that is GPU time
 * over ideal time, times the mean ideal time of the base. NAN where a sample has no roof. n_base: sets of the base. Memory in scratch. */
enum ht_status ht_use_samples_make(const struct ht_step_samples *samples,
        const struct ht_parts *parts, size_t k, size_t n_base, double **ret_values) HT_MUST_USE;

#endif
