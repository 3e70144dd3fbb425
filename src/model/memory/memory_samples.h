/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_samples.h - what tensors of each category hold over time, from the rows of a memory timeline.
 *
 * A sample stands for a run of rows with the same time. Memory from before the recording is a sample of its own,
 * though it has the time of the first change.
 */
#ifndef HT_MODEL_MEMORY_MEMORY_SAMPLES_H
#define HT_MODEL_MEMORY_MEMORY_SAMPLES_H

#include "base/status.h"
#include "store/event.h"

struct ht_trace;

/* In the order of the files. */
enum ht_memory_category {
	HT_MEMORY_PARAMETER,
	HT_MEMORY_OPTIMIZER_STATE,
	HT_MEMORY_INPUT,
	HT_MEMORY_TEMPORARY,
	HT_MEMORY_ACTIVATION,
	HT_MEMORY_GRADIENT,
	HT_MEMORY_AUTOGRAD_DETAIL,
	HT_MEMORY_UNKNOWN,
	HT_N_MEMORY_CATEGORIES
};

struct ht_memory_sample {
	int64_t ts_ns;
	int64_t bytes[HT_N_MEMORY_CATEGORIES]; /* held from this time on */
};

/* In file order; none when the trace has no such rows. Memory in the arena. */
/* The same by the rows that export_memory_timeline sums up: those of the file where it is summed up, else by microseconds, cut as
 * Python does (the quotient rounded to a double); what was there before has the smallest time. ts_ns is in microseconds. */
enum ht_status ht_memory_rows_find(ht_ctx *ctx, const struct ht_trace *trace,
        struct ht_arena *arena, const struct ht_memory_sample **ret_samples,
        size_t *ret_n) HT_MUST_USE;
enum ht_status ht_memory_samples_find(ht_ctx *ctx, const struct ht_trace *trace,
        struct ht_arena *arena, const struct ht_memory_sample **ret_samples,
        size_t *ret_n) HT_MUST_USE;

/* "parameter", "optimizer_state", ...; category below HT_N_MEMORY_CATEGORIES. */
const char *ht_memory_category_name(size_t category);

/* The sum of all categories. */
int64_t ht_memory_sample_total(const struct ht_memory_sample *sample);

#endif
