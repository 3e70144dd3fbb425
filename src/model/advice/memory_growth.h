/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_growth.h - memory that grows from step to step, and who keeps it.
 *
 * Of a device (and component of its allocator): allocated bytes before the first step and at the end of each. It grows when
 * there are three steps and each of them leaves more than the one before, by HT_GROWTH_SHARE of the peak at least: what is
 * allocated once, as the state of an optimizer, is no growth. Who: of what is allocated in the steps and not freed in the
 * recording the operator with most bytes, and the annotation around it.
 *
 * Example: after three steps 1, 2 and 3 MiB are allocated, of 0 before, each by aten::empty in leaky: it grows by 1 MiB.
 */
#ifndef HT_MODEL_ADVICE_MEMORY_GROWTH_H
#define HT_MODEL_ADVICE_MEMORY_GROWTH_H

#include "model/memory/allocations.h"
#include "model/steps/step_roles.h"

#define HT_GROWTH_SHARE 0.001

struct ht_memory_growth {
	bool is_known;       /* there are three steps, and totals */
	int64_t least_bytes; /* of the steps; 0: it does not grow */
	int64_t peak_bytes;
	const char *operator_;  /* of the trace; NULL: nobody */
	const char *annotation; /* around it; NULL: none but steps */
	int64_t kept_bytes;     /* by that operator */
	uint32_t row;           /* its largest allocation; HT_NONE: none */
};

/* Of the events of one curve, [first, end); pairs are those of all events. Memory in scratch. */
struct ht_growth_look {
	const struct ht_memory_events *events;
	const struct ht_memory_op *ops;
	const struct ht_op_tree *tree;
	const bool *is_kept; /* by event: allocated and not freed in the recording */
};
enum ht_status ht_memory_growth_find(struct ht_run *run, const struct ht_bounds *bounds,
        const struct ht_growth_look *look, size_t first, size_t end,
        struct ht_memory_growth *ret) HT_MUST_USE;

#endif
