/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_bands.h - what the operators of a trace hold of a device's memory over time, where no snapshot tells it by stack.
 *
 * A band is an operator, by the name that memory-events shows; the heaviest have one each, by bytes times how long they are held,
 * all others share one. What the allocator's total has beyond them was allocated before the recording, or is not in it.
 */
#ifndef HT_MODEL_MEMORY_MEMORY_BANDS_H
#define HT_MODEL_MEMORY_MEMORY_BANDS_H

#include "model/memory/allocations.h"
#include "model/part.h"

struct ht_memory_bands {
	const char **names; /* the heaviest first, others last */
	size_t n;
	/* by event of the curve: the band that changes, HT_NONE, and by how much */
	uint32_t *band_of;
	int64_t *bytes;
};

/* Allocations of the events, whose they are. */
struct ht_memory_owners {
	const struct ht_memory_events *events;
	const struct ht_memory_op *ops; /* by event */
	const struct ht_memory_pair *pairs;
	size_t n_pairs;
};

/* Of the events [first, end), which are a curve; at most so many bands, and one of others. Memory in scratch. */
enum ht_status ht_memory_bands_make(struct ht_run *run, const struct ht_memory_owners *owners,
        size_t first, size_t end, size_t max_bands, struct ht_memory_bands *ret_bands) HT_MUST_USE;

/* Of parts whose first table is a curve: the one that goes highest by the values of a column, the first where equal. There is one part or
 * more. */
struct ht_part *ht_memory_fullest(const struct ht_parts *parts, size_t column);

#endif
