/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - what the parts of the timeline share; see holotrace.h for the questions.
 */
#ifndef HT_REGISTRY_TIMELINE_H
#define HT_REGISTRY_TIMELINE_H

#include "attach/attach.h"
#include "model/calls/row_owners.h"
#include "model/efficiency/row_costs.h"
#include "model/origin/origin.h"
#include "store/ranges.h"
#include "table/table.h"

#include <pthread.h>

/* A call of a collective on this rank, and those of the same on others. */
struct ht_timeline_call {
	uint32_t row;
	int64_t wait_ns; /* until the last rank had started, HT_NO_I64: unknown */
	int64_t bytes, sequence;
	int64_t last_rank; /* the one that started last */
	const char *group;
	const int64_t *peers; /* events */
	size_t n_peers;
};

struct ht_timeline {
	struct ht_mem *mem;
	struct ht_arena arena;
	const struct ht_trace *trace;
	struct ht_timeline_info info;
	struct ht_time_move move; /* own time to set time */
	struct ht_ranges ranges;
	struct ht_timeline_call *calls; /* ascending by row */
	size_t n_calls;
	/* made by the first who asks for an event, under the lock; never changed after */
	pthread_mutex_t lock;
	struct ht_attribution attribution;
	bool has_attribution;
	struct ht_origins origins;          /* with the attribution */
	struct ht_row_costs costs;          /* likewise */
	struct ht_reload *held;             /* keeps what is attached */
	const struct ht_attached *attached; /* NULL: nothing is */
};

/* The first instant of the trace's own clock that is not before a set time. */
int64_t ht_timeline_own_ns(const ht_timeline *timeline, int64_t set_ns);
/* The collective that a row is a call of; NULL: none that is known. */
const struct ht_timeline_call *ht_timeline_call(const ht_timeline *timeline, uint32_t row);

#endif
