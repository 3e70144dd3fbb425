/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_memo.h - what several runs have to find out about the rank in hand, found once.
 *
 * Where runs share a rank (registry/batch.c) the memo is of that rank and dies with it, so that call trees and other
 * arrays over all rows may stay in it. A run by itself keeps nothing: what it has found dies in its scratch.
 */
#ifndef HT_MODEL_RUN_MEMO_H
#define HT_MODEL_RUN_MEMO_H

#include "model/run.h"

/* Fill in a value from what of points to; all it points to lies in run->scratch. */
typedef enum ht_status (*ht_make_fn)(struct ht_run *run, const void *of, void *ret_value);

/* A kind of value: kind is an address that only its maker has, variant what it depends on beside the trace. */
struct ht_memoized {
	const void *kind;
	uint32_t variant;
	ht_make_fn make;
	size_t n_bytes;
};

/* The value as the first run made it; nobody may change it or what it points to. */
enum ht_status ht_run_memoize(struct ht_run *run, const struct ht_memoized *how, const void *of,
        void *ret_value) HT_MUST_USE;

#endif
