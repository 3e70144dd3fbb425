/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_memory.h - what allocations are for: categories that the execution trace of the same window shows.
 *
 * A Kineto trace has allocations with addresses and no tensors; an execution trace has tensors with numbers for their storages and
 * no times. Nodes and operators are the same calls (et_join.h). An allocation inside an operator that gives exactly one new storage of its
 * size tells the address of that storage, and then every node that takes or gives the storage at a time when
 * the block lives says what the block is for. A storage with two addresses is left out. In this order:
 *
 *   temporary        allocated and freed inside one Optimizer.step
 *   gradient         AccumulateGrad takes it, or an operator below it changes it in place
 *   parameter        an operator below Optimizer.step changes it in place, and the forward pass reads it
 *   optimizer state  the same, and the forward pass does not read it
 *   activation       an operator of the forward pass gives it, and the backward pass reads it
 *   temporary        allocated and freed inside one operator of a thread
 *   unknown          everything else
 *
 * Backward is what runs below a node of scope 1 (backward function); forward is what runs neither there nor below an
 * optimizer. Changed in place is what the schema of an operator marks "!". Parameters and optimizer state that were there before
 * the first event have no allocation: their bytes are those of their tensors, as long as the device's first total has room for them.
 *
 * Example: aten::mm allocates 4 MiB and gives storage 7; an operator below MmBackward0 takes storage 7 before the block is freed:
 * the 4 MiB are an activation.
 */
#ifndef HT_ET_ET_MEMORY_H
#define HT_ET_ET_MEMORY_H

#include "et/et.h"
#include "model/memory/allocations.h"
#include "model/memory/memory_samples.h"

/* What a device had before its first event, by category; the rest of its total is unknown. */
struct ht_et_memory_before {
	int64_t bytes[HT_N_MEMORY_CATEGORIES];
};

struct ht_et_memory {
	struct ht_memory_events events; /* all of the rank in hand */
	uint8_t *category;              /* by event: of the block, enum ht_memory_category */
	struct ht_et_memory_before *
	        before; /* by event: that of its device, at the first event of each; zero elsewhere */
	bool is_there; /* false: no execution trace joins the rank, or it is of another run */
};

/* Of the rank in hand and the execution trace that joins it. Memory in scratch. */
enum ht_status ht_et_memory_derive(struct ht_run *run, struct ht_et_memory *ret_memory) HT_MUST_USE;

/* What each category of a device holds after each of its events: those from first on, before end, of one curve, whose totals are filled in.
 * The sum is the device's total. Memory in scratch. */
enum ht_status ht_et_memory_samples(struct ht_run *run, const struct ht_et_memory *memory,
        size_t first, size_t end, struct ht_memory_sample **ret_samples) HT_MUST_USE;

#endif
