/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - whether a finding is there.
 */
#ifndef HT_MODEL_FINDING_STATE_H
#define HT_MODEL_FINDING_STATE_H

/* In the order of what is worth more to the reader. */
enum ht_state { HT_STATE_UNKNOWN, HT_STATE_NONE, HT_STATE_FOUND };

#endif
