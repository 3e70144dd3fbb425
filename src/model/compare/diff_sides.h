/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_sides.h - which ranks and steps of two or more sets are compared with each other.
 *
 * By default like is compared with like: the ranks that all sets have (the first of each when they
 * share none), and, where sums are compared, the same number of steps, counted from the first; the last step is
 * left out as everywhere when there are two or more. A set without steps counts whole. HTA compares the
 * first rank and the first step.
 */
#ifndef HT_MODEL_COMPARE_DIFF_SIDES_H
#define HT_MODEL_COMPARE_DIFF_SIDES_H

#include "model/run.h"

/* Sets the chosen ranks and steps of both sides from the parameters control-rank, test-rank, control-step and
 * test-step. A rank that is not there is HT_USAGE. Memory in scratch. */
enum ht_status ht_diff_choose(struct ht_run *run) HT_MUST_USE;
/* Sets the chosen ranks of all sets, and the steps of each from its own. Memory in scratch. */
enum ht_status ht_sides_choose(struct ht_run *run) HT_MUST_USE;
/* A side in words: "rank 0, steps 1,2"; NULL when out of memory. */
const char *ht_diff_describe(struct ht_run *run, size_t side);

#endif
