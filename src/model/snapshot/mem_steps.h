/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_steps.h - where the steps of a snapshot end, and what grows from one to the next.
 *
 * Steps are told by annotations: ProfilerStep#N; else the names that are equal but for one number which rises, those that
 * are most; else the ends of Optimizer.step. Or pieces of equal length, where the user says how long.
 *
 * A stack leaks when what its blocks hold at the ends of steps grows in at least 80 % of them, over at least four steps, by
 * 1 MiB and 0.5 % of the peak at least, and never falls back by more than half of what has piled up: a cache that is emptied now and then
 * grows in most steps, too. So does a line of the user's with all of its stacks that do not leak alone. Its bytes per step are Theil and Sen's: the median of the slopes of all pairs.
 */
#ifndef HT_MODEL_SNAPSHOT_MEM_STEPS_H
#define HT_MODEL_SNAPSHOT_MEM_STEPS_H

#include "model/snapshot/mem_names.h"

struct ht_mem_step {
	int64_t number;
	int64_t last; /* event that is the last in it, or before its end */
	int64_t end_ns;
};

struct ht_mem_steps {
	struct ht_mem_step *list;
	size_t n;
	const char *what; /* how they were told */
};

/* All that annotations tell; which event is the last in each depends on the device. Memory in scratch. */
enum ht_status ht_mem_steps_list(struct ht_run *run, const struct ht_mem_scopes *scopes,
        struct ht_mem_steps *ret_steps) HT_MUST_USE;
/* Those of one device: of all, or every_ns > 0: pieces of that length. Memory in scratch. */
enum ht_status ht_mem_steps_of(struct ht_run *run, const struct ht_mem_steps *all,
        const struct ht_mem_history *history, const struct ht_mem_device *device, int64_t every_ns,
        struct ht_mem_steps *ret_steps) HT_MUST_USE;

struct ht_mem_leak {
	uint32_t stack;
	double bytes_per_step;
	int64_t first_bytes, last_bytes; /* held at the ends of the first and of the last step */
	int64_t n_growing;               /* steps that end with more than the one before */
	int64_t blocks; /* held at the end of the last step, younger than the first */
	int64_t n_steps;
};

/* Largest bytes per step first. Memory in scratch. */
enum ht_status ht_mem_leaks_find(struct ht_run *run, const struct ht_mem_device *device,
        const struct ht_mem_steps *steps, struct ht_mem_leak **ret_leaks,
        size_t *ret_n) HT_MUST_USE;

#endif
