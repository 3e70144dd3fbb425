/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_size.h - how many ranks a job and its process groups have, where kernels do not say so themselves.
 *
 * A file's header may tell the size of the job. Ascend's exporter lists, per group, the links over which a rank moved data;
 * ranks are numbered there within their group, so the largest number is below its size. Its kernels name their group by
 * the last three digits: hcom_allReduce__586_0_1 is of group 17522688603477080586.
 */
#ifndef HT_MODEL_COMMUNICATION_GROUP_SIZE_H
#define HT_MODEL_COMMUNICATION_GROUP_SIZE_H

#include "model/run.h"

#define HT_GROUP_SUFFIXES 1000

struct ht_group_sizes {
	int64_t job; /* at least; 0: nothing says */
	int64_t *
	        of; /* by the last three digits of the group, at least; 0: nothing says; NULL: of none */
};

/* Of the rank in hand; in scratch. */
enum ht_status ht_group_sizes_make(
        struct ht_run *run, struct ht_group_sizes *ret_sizes) HT_MUST_USE;
/* Of the group of a kernel of that name; of the job where nothing tells its group; HT_NO_I64: nothing says. */
int64_t ht_group_size_of(const struct ht_group_sizes *sizes, const char *name);

#endif
