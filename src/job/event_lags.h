/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_lags.h - what passes at least between a launch and its work, and between two pieces of work of a stream, by name.
 */
#ifndef HT_JOB_EVENT_LAGS_H
#define HT_JOB_EVENT_LAGS_H

#include "graph/cp_model.h"

struct ht_event_lags {
	const struct ht_cp_model *m;
	int64_t *
	        latency_ns; /* by name: the least from launch to start on an idle stream; HT_NO_I64: never seen */
	int64_t *
	        pause_ns; /* by name: the median after the work before it, of those that were queued; the same */
	int64_t usual_pause_ns;
};

/* Memory in run->scratch. */
enum ht_status ht_event_lags_make(
        struct ht_run *run, const struct ht_cp_model *model, struct ht_event_lags *ret) HT_MUST_USE;
/* For a piece of work that has a launch. Never more than was recorded. */
int64_t ht_event_latency_ns(const struct ht_event_lags *lags, uint32_t work);
/* For a piece of work that has one before it on its stream. */
int64_t ht_event_pause_ns(const struct ht_event_lags *lags, uint32_t work);

#endif
