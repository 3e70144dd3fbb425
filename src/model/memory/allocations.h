/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocations.h - what a rank's trace says about memory: allocations, frees, totals, and who asked.
 *
 * An event is a [memory] row: bytes that were allocated (positive) or freed (negative) on a device, with the
 * allocator's totals after it where the profiler wrote them. Allocators that report apart (PTA, GE, ...) name
 * themselves in the arg Component; their totals are curves of their own. A row without bytes is a sample of totals.
 *
 * Whose   the operator (op_tree.h) that is running on the event's thread at its time: start <= ts < end. Time
 *         that is inside a module, an optimizer's step or a data loader, but in no operator of it, is nobody's.
 *         Where the file names the operator itself (arg Operator) that name counts.
 * Pairs   an allocation and the next free of its address on its device. An allocation whose address is allocated
 *         again before was released without a record; of frees without an allocation the last of an address counts.
 */
#ifndef HT_MODEL_MEMORY_ALLOCATIONS_H
#define HT_MODEL_MEMORY_ALLOCATIONS_H

#include "model/calls/op_tree.h"

struct ht_memory_event {
	int64_t device_type, device_id;
	int64_t ts_ns;
	int64_t bytes;                       /* 0: a sample of totals */
	int64_t addr;                        /* HT_NO_I64 when absent */
	int64_t allocated, reserved, active; /* totals after it, HT_NO_I64 when absent */
	const char *component;               /* of the trace; NULL: the only one */
	uint32_t row;
};

struct ht_memory_events {
	struct ht_memory_event *list; /* by device type and id, component, time, row */
	size_t n;
};

/* Those of the rank in hand; all of them unless steps or an annotation are chosen, then those inside their host time, or of
 * steps that only work names in the time of that work. Memory in scratch. */
enum ht_status ht_memory_events_collect(
        struct ht_run *run, struct ht_memory_events *ret_events) HT_MUST_USE;
/* Why there are none. */
const char *ht_memory_none_note(const struct ht_run *run);
/* Are the two of one device; of one device and component? */
bool ht_memory_same_device(const struct ht_memory_event *a, const struct ht_memory_event *b);
bool ht_memory_same_curve(const struct ht_memory_event *a, const struct ht_memory_event *b);
/* "cpu", "cuda:0", ...; NULL when out of memory. */
const char *ht_memory_device_name(struct ht_run *run, const struct ht_memory_event *event);
/* Fill in the allocated totals that the file lacks, of the events of one curve: the running sum of bytes. A sample
 * without that total has none. */
void ht_memory_fill_totals(struct ht_memory_event *events, size_t n);

/* Who asked, by event. */
struct ht_memory_op {
	uint32_t node;     /* of the operator in the tree, HT_NONE: nobody, or not in the tree */
	const char *name;  /* of the operator, NULL: nobody */
	const char *outer; /* of the operator or module around it, NULL: none */
	bool is_told;      /* the file names it: of a release, too, it is the one that allocated */
};
enum ht_status ht_memory_ops_find(struct ht_run *run, const struct ht_memory_events *events,
        const struct ht_op_tree *tree, const struct ht_memory_op **ret_ops) HT_MUST_USE;
/* By row of a memory event: the innermost operator, annotation or Python frame of its thread that is open at its time, HT_NONE; rows of other
 * kinds have 0. Memory in scratch. */
enum ht_status ht_memory_around_find(
        struct ht_run *run, const struct ht_op_tree *tree, uint32_t **ret_around) HT_MUST_USE;
/* As it is shown: of aten::empty and its kin, which others allocate through, with the one around it; "<unknown>" for nobody and
 * NULL. NULL when out of memory. */
const char *ht_memory_op_name(struct ht_run *run, const struct ht_memory_op *op);

/* An allocation with its release: indexes of events, SIZE_MAX where one of the two is not in the selection. */
struct ht_memory_pair {
	size_t alloc, free;
	bool is_kept; /* nothing says that it was freed: no free, and the address is not allocated again */
};
/* Of events with an address: by device, then time of the earlier half. Memory in scratch. */
enum ht_status ht_memory_pairs_find(struct ht_run *run, const struct ht_memory_events *events,
        struct ht_memory_pair **ret_pairs, size_t *ret_n) HT_MUST_USE;
/* By event: an allocation of which nothing says that it was freed. Memory in scratch. */
enum ht_status ht_memory_kept_find(
        struct ht_run *run, const struct ht_memory_events *events, bool **ret_is_kept) HT_MUST_USE;

#endif
