/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_ranges.h - steps of recordings in which no profiler marks them: ranges that the program names so.
 */
#ifndef HT_STORE_STEP_RANGES_H
#define HT_STORE_STEP_RANGES_H

#include "base/status.h"
#include "store/event.h"

struct ht_trace;

struct ht_step_range {
	uint32_t row;
	int64_t number;
};

/* The ranges that are the steps, by start, in the arena; none when no name fits, or they do not repeat regularly. */
enum ht_status ht_step_ranges_find(ht_ctx *ctx, const struct ht_trace *trace,
        struct ht_arena *arena, struct ht_step_range **ret_ranges, size_t *ret_n) HT_MUST_USE;

#endif
