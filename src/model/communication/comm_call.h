/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm_call.h - one communication call of one rank, as it is matched with those of others.
 */
#ifndef HT_MODEL_COMMUNICATION_COMM_CALL_H
#define HT_MODEL_COMMUNICATION_COMM_CALL_H

#include "base/checked.h"
#include "store/event.h"

#include <stddef.h>

struct ht_comm_call {
	size_t i_rank; /* index in the roster */
	int64_t row;   /* of the kernel */
	/* set time; by the files' clocks until clocks.c has fitted them */
	int64_t start_ns, end_ns;
	int64_t launch_ns; /* the same for the launch call, HT_NO_I64 when unknown */
	int64_t step;      /* of the launch, HT_NO_I64 outside steps */
	int64_t bytes;     /* HT_NO_I64 when unknown */
	int64_t wait_ns;   /* until the last had arrived; HT_NO_I64 unless all ranks are there */
	int tie;           /* enum ht_comm_tie */
};

static inline int64_t ht_comm_duration_ns(const struct ht_comm_call *call)
{
	return ht_sub_sat(call->end_ns, call->start_ns);
}

/* What is left of the duration without the wait; HT_NO_I64 when that is unknown. */
static inline int64_t ht_comm_transfer_ns(const struct ht_comm_call *call)
{
	return call->wait_ns == HT_NO_I64 ? HT_NO_I64
	                                  : ht_sub_sat(ht_comm_duration_ns(call), call->wait_ns);
}

/* Unknown plus anything is unknown. */
static inline void ht_comm_sum_known(int64_t *sum, int64_t value)
{
	*sum = *sum == HT_NO_I64 || value == HT_NO_I64 ? HT_NO_I64 : ht_add_sat(*sum, value);
}

#endif
