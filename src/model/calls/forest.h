/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forest.h - call trees as data: rows, launches and device work; see call_forest.h.
 */
#ifndef HT_MODEL_CALLS_FOREST_H
#define HT_MODEL_CALLS_FOREST_H

#include "base/status.h"
#include "store/event.h"

struct ht_trace;

/* Lists of categories, separated by commas. Events of Ascend's exporter that have none are chosen by their process. */
struct ht_forest_options {
	const char *monitor, *launch, *device;
	/* of an NPU's trace instead, when nobody has asked for others */
	const char *npu_launch; /* NULL: launch */
	bool npu_kernels,
	        npu_copies; /* its kernels, whatever they are called; and its copies and sets */
	bool modules_only;  /* monitored are only names that start with nn.Module */
	bool any_thread;    /* launches match events of all threads */
};

/* How many names of a path stay at each end when some are left out. */
#define HT_FOREST_HALF 8

/* A monitored event. */
struct ht_forest_row {
	uint32_t row;
	uint32_t parent; /* index, HT_NONE for a root */
	uint32_t depth;  /* 1 for a root */
	uint32_t head;   /* what is around it at depth HT_FOREST_HALF, or itself */
	uint32_t n_works;
	int64_t device_ns, launch_ns;
	bool later_touches; /* a sibling starts where it ends */
};

struct ht_forest_launch {
	uint32_t row;            /* HT_NONE: no launch, device work of an operator by External id */
	uint32_t first, n_works; /* slice of works, by start */
	int64_t start, end;
	int64_t own_ns, device_ns; /* own: 0 inside another launch */
};

struct ht_forest_slice {
	size_t first, n;
};

struct ht_forest {
	const struct ht_trace *trace;
	struct ht_forest_row
	        *rows; /* threads by first start, then parents before children by start */
	size_t n_rows;
	struct ht_forest_launch *launches; /* per thread by start, longer first */
	size_t n_launches;
	uint32_t *works; /* rows of device work */
	const struct ht_forest_slice
	        *slices; /* by track: its launches; the first one: all, with any_thread */
	bool any_thread;
	uint32_t deepest; /* depth of the deepest row */
	int64_t slack_ns; /* how far an event may end after what it is inside of */
	/* what was matched how, and what was not */
	size_t n_by_correlation, n_by_flow, n_by_op, n_by_external, n_shared_correlations;
	size_t n_unmatched_launches, n_unmatched_works; /* in no row */
	int64_t unmatched_launch_ns, unmatched_work_ns, work_ns;
	int64_t missed_ns; /* of the unmatched work, that of calls in categories that were not asked for */
	const char *missed; /* such a category, NULL: none */
};

#endif
