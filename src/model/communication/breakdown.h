/* SPDX-License-Identifier: Apache-2.0 */
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
#ifndef HT_MODEL_COMMUNICATION_BREAKDOWN_H
#define HT_MODEL_COMMUNICATION_BREAKDOWN_H

#include "model/communication/exposed.h"

#define HT_BREAKDOWN_COLUMNS(COLUMN)                                                               \
	COLUMN(HT_BREAKDOWN_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)               \
	COLUMN(HT_BREAKDOWN_DEVICE, "device", HT_I64, HT_KEY,                                      \
	        "GPU index; null when the file does not say", NULL)                                \
	COLUMN(HT_BREAKDOWN_STEP, "step", HT_I64, HT_KEY,                                          \
	        "profiler step that launched the work; null for all of it", NULL)                  \
	COLUMN(HT_BREAKDOWN_SPAN, "span_ns", HT_DURATION, HT_MEASURE,                              \
	        "first start to last end of GPU activity", NULL)                                   \
	COLUMN(HT_BREAKDOWN_IDLE, "idle_ns", HT_DURATION, HT_MEASURE,                              \
	        "time inside the span with nothing on the GPU", NULL)                              \
	COLUMN(HT_BREAKDOWN_OUTSIDE, "outside_ns", HT_DURATION, HT_DETAIL,                         \
	        "time inside the span with only work of steps that were not chosen", NULL)         \
	COLUMN(HT_BREAKDOWN_LEADING, "leading_ns", HT_DURATION, HT_DETAIL,                         \
	        "idle time before the first launch call in the file", NULL)                        \
	COLUMN(HT_BREAKDOWN_COMPUTE, "compute_ns", HT_DURATION, HT_MEASURE,                        \
	        "time with a compute kernel running", NULL)                                        \
	COLUMN(HT_BREAKDOWN_NON_COMPUTE, "non_compute_ns", HT_DURATION, HT_MEASURE,                \
	        "busy time without a compute kernel", NULL)                                        \
	COLUMN(HT_BREAKDOWN_COMM, "exposed_ns", HT_DURATION, HT_MEASURE,                           \
	        "communication that no compute kernel hides", NULL)                                \
	COLUMN(HT_BREAKDOWN_WAIT, "exposed_wait_ns", HT_DURATION, HT_MEASURE,                      \
	        "of that, waiting for a rank; null unless all ranks are there", NULL)              \
	COLUMN(HT_BREAKDOWN_TRANSFER, "exposed_transfer_ns", HT_DURATION, HT_DETAIL,               \
	        "of that, the rest: data can move; null unless all ranks are there", NULL)         \
	COLUMN(HT_BREAKDOWN_MEMCPY, "memcpy_ns", HT_DURATION, HT_MEASURE,                          \
	        "copies that neither compute nor communication hides", NULL)                       \
	COLUMN(HT_BREAKDOWN_MEMSET, "memset_ns", HT_DURATION, HT_DETAIL,                           \
	        "fills that nothing of the above hides", NULL)                                     \
	COLUMN(HT_BREAKDOWN_OTHER, "other_ns", HT_DURATION, HT_DETAIL,                             \
	        "kernels that only synchronise or control, alone on the GPU", NULL)                \
	COLUMN(HT_BREAKDOWN_IDLE_SHARE, "idle_share", HT_RATIO, HT_MEASURE, "idle over span",      \
	        NULL)                                                                              \
	COLUMN(HT_BREAKDOWN_COMPUTE_SHARE, "compute_share", HT_RATIO, HT_MEASURE,                  \
	        "compute over span", NULL)                                                         \
	COLUMN(HT_BREAKDOWN_NON_COMPUTE_SHARE, "non_compute_share", HT_RATIO, HT_MEASURE,          \
	        "non-compute over span", NULL)                                                     \
	COLUMN(HT_BREAKDOWN_COMM_SHARE, "exposed_share", HT_RATIO, HT_DETAIL,                      \
	        "exposed communication over span", NULL)                                           \
	COLUMN(HT_BREAKDOWN_MEMORY_SHARE, "memory_share", HT_RATIO, HT_DETAIL,                     \
	        "exposed memcpy and memset over span", NULL)                                       \
	COLUMN(HT_BREAKDOWN_N_WORK, "n_work", HT_I64, HT_DETAIL, "kernels, memcpy and memset", NULL)
HT_COLUMN_NUMBERS(HT_BREAKDOWN_COLUMNS, HT_N_BREAKDOWN_COLUMNS);
extern const struct ht_column ht_breakdown_columns[HT_N_BREAKDOWN_COLUMNS];

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
