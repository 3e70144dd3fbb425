/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - do these traces belong together? What each tells about its job, and a sentence when they differ.
 *
 * Files that lie in one directory are taken for the ranks of one job. Traces of two jobs, models or makers of
 * devices would be summed and compared as if they were one, so every result says so. Told apart are: the maker
 * of the device (by the names of its runtime's calls), the number of ranks that the job says it has, operators
 * of another model, and recordings that lie more than a minute apart.
 */
#ifndef HT_STORE_JOB_H
#define HT_STORE_JOB_H

#include <stdbool.h>
#include <stdint.h>

struct ht_job {
	int64_t world_size; /* HT_NO_I64 when the file does not say */
	uint64_t maker;     /* of the device, an enum in job.c; 0: cannot be told */
	uint64_t operators; /* bits: which of those that tell models apart */
};

struct ht_trace;

void ht_job_describe(const struct ht_trace *trace, struct ht_job *ret_job);
/* Do the calls of its runtime say that the device is AMD's? */
bool ht_job_is_amd(const struct ht_job *job);
/* Is the device an NPU of Ascend? */
bool ht_job_is_ascend(const struct ht_job *job);
/* The maker of the device, "" when it cannot be told. */
const char *ht_job_maker(const struct ht_job *job);
/* Do the operators of two traces say that they run different models? */
bool ht_job_is_other_model(const struct ht_job *a, const struct ht_job *b);

#endif
