/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen_time.h - the time that the chosen steps and annotations cover, for events that belong to none by themselves:
 * memory events, samples of counters.
 */
#ifndef HT_MODEL_ROWS_CHOSEN_TIME_H
#define HT_MODEL_ROWS_CHOSEN_TIME_H

#include "model/numbers/interval.h"
#include "model/rows/frame.h"

struct ht_chosen_time {
	struct ht_interval *list; /* merged; NULL: everything counts */
	size_t n;
};

/* Of the rank in hand. Memory in scratch. */
enum ht_status ht_chosen_time_make(struct ht_run *run, struct ht_chosen_time *ret_time) HT_MUST_USE;
/* The end counts: the last free of a step is written when it ends. */
bool ht_chosen_has(const struct ht_chosen_time *time, int64_t t);

#endif
