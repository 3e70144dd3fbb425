/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.c - see policy.h.
 */
#include "model/policy.h"

#include "model/run.h"

const struct ht_policy ht_own_policy;

int64_t ht_run_series_zero(const struct ht_run *run)
{
	return run->policy->series_zero ? run->policy->series_zero(run) : 0;
}
