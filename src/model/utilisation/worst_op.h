/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worst_op.h - the operator that loses most GPU time against well-tuned kernels.
 *
 * Excess is that of op_calls.h: GPU time above an attainable part of the roof. Calls with an odd size are left out, as their size is the cause and
 * is told apart (cost_groups.h). Of equals the first by name.
 */
#ifndef HT_MODEL_UTILISATION_WORST_OP_H
#define HT_MODEL_UTILISATION_WORST_OP_H

#include "model/efficiency/op_calls.h"

struct ht_worst_op {
	/* of it, with most excess; NULL: no operator loses anything */
	const struct ht_op_call *call;
	int64_t excess_ns; /* of all its calls, and their time and roof */
	int64_t gpu_ns, ideal_ns;
};

/* Of the operators of the rank's own trace. O(n log n). */
enum ht_status ht_worst_op_find(
        struct ht_run *run, const struct ht_op_calls *calls, struct ht_worst_op *ret) HT_MUST_USE;

#endif
