/*
 * diff_sides.h - which ranks and steps of two sets are compared with each other.
 *
 * By default like is compared with like: the ranks that both sets have (the first of each when they
 * share none), and the same number of steps, counted from the first; the last step is left out as
 * everywhere when there are two or more. A set without steps counts whole. HTA compares the first rank
 * and the first step.
 */
#ifndef HT_MODEL_DIFF_SIDES_H
#define HT_MODEL_DIFF_SIDES_H

#include "model/run.h"

/* A run over one of the sets, and its choice in words. */
struct ht_diff_side {
	struct ht_run run;
	const char *ranks_text; /* "rank 0", "ranks 0-3" */
	const char *steps_text; /* "step 1", "steps 1,2", "whole trace" */
};

/* Reads the parameters control-rank, test-rank, control-step and test-step of the run. A rank that is
 * not there is HT_USAGE. Memory in scratch. */
enum ht_status ht_diff_sides_make(struct ht_run *run, struct ht_diff_side ret_sides[2]) HT_MUST_USE;

#endif
