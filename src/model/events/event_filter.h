/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_filter.h - which events a request means: steps, annotations, the call tree, time.
 */
#ifndef HT_MODEL_EVENTS_EVENT_FILTER_H
#define HT_MODEL_EVENTS_EVENT_FILTER_H

#include "model/run.h"

/* keep[row] for the rank in hand, or NULL when everything is meant. Memory in run->scratch. */
enum ht_status ht_event_filter_make(struct ht_run *run, const uint8_t **ret_keep) HT_MUST_USE;

#endif
