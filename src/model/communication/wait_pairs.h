/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_pairs.h - which rank waits for which.
 *
 * A call waits for the rank whose start ends its wait: the last to arrive, of a broadcast and the like the last that came
 * before the call ended. A call that waits for nobody counts for its own rank.
 */
#ifndef HT_MODEL_COMMUNICATION_WAIT_PAIRS_H
#define HT_MODEL_COMMUNICATION_WAIT_PAIRS_H

#include "model/communication/chosen_calls.h"

struct ht_wait_pair {
	size_t i_rank, i_last; /* who waits, and for whom: indexes in the roster */
	int64_t n_calls, bytes, wait_ns, transfer_ns; /* bytes HT_NO_I64: not known of every call */
};

/* Ascending by rank, then by the rank waited for. Calls come as ht_chosen_calls_get orders them; those whose wait is not
 * known are left out. O(n log n). Memory in scratch. */
enum ht_status ht_wait_pairs_make(struct ht_run *run, const struct ht_chosen_call *calls, size_t n,
        const struct ht_wait_pair **ret_pairs, size_t *ret_n) HT_MUST_USE;

#endif
