/*
 * breakdown.h - how the time of a device is divided: idle, computing, communicating, copying.
 *
 * Per rank and device (or per rank, device and step), over the chosen GPU work:
 *   span           last end - first start
 *   compute        |union of compute kernels|
 *   communication  what of the union of communication kernels no compute hides; waiting for the last rank, and
 *                  transfer, when all ranks of its collectives are there (exposed.h)
 *   copies, sets, the rest  what nothing of the above hides
 *   outside        only work of steps that were not chosen
 *   idle           nothing runs on the device at all; leading is the part of it before the first launch call
 * so that the parts add up to the span.
 */
#ifndef HT_MODEL_DEVICE_BREAKDOWN_H
#define HT_MODEL_DEVICE_BREAKDOWN_H

#include "model/communication/exposed.h"

extern const struct ht_column ht_breakdown_columns[];
enum {
	HT_BREAKDOWN_RANK,
	HT_BREAKDOWN_DEVICE,
	HT_BREAKDOWN_STEP,
	HT_BREAKDOWN_SPAN,
	HT_BREAKDOWN_IDLE,
	HT_BREAKDOWN_OUTSIDE,
	HT_BREAKDOWN_LEADING,
	HT_BREAKDOWN_COMPUTE,
	HT_BREAKDOWN_NON_COMPUTE,
	HT_BREAKDOWN_COMM,
	HT_BREAKDOWN_WAIT,
	HT_BREAKDOWN_TRANSFER,
	HT_BREAKDOWN_MEMCPY,
	HT_BREAKDOWN_MEMSET,
	HT_BREAKDOWN_OTHER,
	HT_BREAKDOWN_IDLE_SHARE,
	HT_BREAKDOWN_COMPUTE_SHARE,
	HT_BREAKDOWN_NON_COMPUTE_SHARE,
	HT_BREAKDOWN_COMM_SHARE,
	HT_BREAKDOWN_MEMORY_SHARE,
	HT_BREAKDOWN_N_WORK,
	HT_N_BREAKDOWN_COLUMNS
};

/* The rows of the rank in hand are facts[0]; the facts of exposed.h at calls_k and gaps_k. A rank without GPU work has a
 * row without a span. */
enum ht_status ht_breakdown_put(struct ht_run *run, bool by_step, struct ht_part *part,
        size_t calls_k, size_t gaps_k) HT_MUST_USE;
/* The facts of exposed.h alone, with the number of a device as key. */
enum ht_status ht_breakdown_put_exposed(
        struct ht_run *run, ht_table *call_facts, ht_table *gap_facts) HT_MUST_USE;
/* Append the rows of a part, with waits where they are known, to a table of these columns. */
enum ht_status ht_breakdown_rows(struct ht_run *run, const struct ht_part *part, size_t calls_k,
        size_t gaps_k, ht_table *table) HT_MUST_USE;

#endif
