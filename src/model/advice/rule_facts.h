/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_facts.h - what rules of advice are decided by, of one rank: sums over its steps, with the event that stands for each.
 *
 * A metric is there only when the trace has what it takes; so a rule whose metric is missing cannot fire.
 *
 *   STEPS      the steps: count, their time
 *   LOADER     time of the steps in data loaders and nothing else (step_roles.h); the longest call
 *   LOADS      the longest call of a data loader alone
 *   COMM       time of the steps in communication and nothing that computes or copies
 *   DP, DDP    calls of the wrapper's forward; for DP whole is the number of devices that worked
 *   NCCL, GLOO communication: kernels of NCCL and its kin and their calls; calls of Gloo or MPI
 *   TENSOR     GPU time of the lowest operators that could run on tensor cores, of that of all kernels (op_tree.h); aux: of kernels of theirs that run
 *              on other cores, of a call that also uses tensor cores products alone: what prepares them is no product; row: the operator
 *              with most of that
 *   LAYOUT     time of kernels that convert between NCHW and NHWC, of that of all kernels
 *   MEMORY     per device: most allocated bytes, of the bytes that it has
 *   GROWTH     per device: bytes that every step leaves (memory_growth.h), of the peak; 0: memory does not grow; name:
 *              operator that keeps most of them, "" for none, aux: how many; more: annotation around it; place: device
 *   GRID       time of kernels times the share of SMs without a block, of that of all kernels that say
 *   SYNC       time that the device idles after calls that wait for it (…Synchronize, and copies whose call returns when
 *              they are done), until the next work starts, data loaders not counted; no more of each gap than the calls
 *              before it took: by so much the host could have been ahead
 *   SLOW_STEP  what slow steps (slow_step.h) take above the median step; row: the event that it has more of, else the longest of them; name: what it
 *              has more of, "" for nothing, more: what that is inside; aux: its number, the median, what the name takes more
 *   SLOW_COMM  the same, when it is communication that they have more of: another rank may be the cause
 *   MALLOC     time of the steps in calls that allocate or free device or pinned memory
 *   LAUNCH     device time idle because nothing was launched, of all from first to last work (idle.h); not while the host
 *              is in a call that waits for a device, in a data loader or in communication; aux: of that in long stretches without operators and calls
 *              inside nothing, and inside Python (host_doing.h; 0 where the rest is no tenth of the device's time), the device with
 *              most of it, how many devices there are
 *              LAUNCH, UNDER_WAY, SLOW_CALL and SYNC are without slow steps: SLOW_STEP says what those have more of
 *   UNDER_WAY  device time idle while a launch of one piece of work was under way, of the same
 *   SLOW_CALL  device time idle in calls that launch a kernel and take long: launched, and on its way for longer than
 *              launches take (idle.h), until the call is over; row: the longest call
 *   TINY       kernels of less than HT_TINY_NS, of all kernels
 *   PAGEABLE   time of copies from and to pageable memory
 *   COPY       time of the steps in copies and no kernel; the longest of the kind with most time, aux: see copy_facts.h
 *   MESSAGES   communication kernels with less than HT_SMALL_BYTES, of those that say their size
 *   BATCHNORM  operators of synchronised batch norm
 */
#ifndef HT_MODEL_ADVICE_RULE_FACTS_H
#define HT_MODEL_ADVICE_RULE_FACTS_H

#include "model/advice/rule_sum.h"
#include "model/part.h"
#include "model/steps/step_roles.h"

#define HT_TINY_NS     10000
#define HT_SMALL_BYTES ((int64_t)1 << 20)

enum ht_metric {
	HT_METRIC_STEPS,
	HT_METRIC_LOADER,
	HT_METRIC_LOADS,
	HT_METRIC_COMM,
	HT_METRIC_DP,
	HT_METRIC_DDP,
	HT_METRIC_NCCL,
	HT_METRIC_GLOO,
	HT_METRIC_TENSOR,
	HT_METRIC_LAYOUT,
	HT_METRIC_MEMORY,
	HT_METRIC_GROWTH,
	HT_METRIC_GRID,
	HT_METRIC_SYNC,
	HT_METRIC_SLOW_STEP,
	HT_METRIC_SLOW_COMM,
	HT_METRIC_MALLOC,
	HT_METRIC_LAUNCH,
	HT_METRIC_UNDER_WAY,
	HT_METRIC_SLOW_CALL,
	HT_METRIC_TINY,
	HT_METRIC_PAGEABLE,
	HT_METRIC_COPY,
	HT_METRIC_MESSAGES,
	HT_METRIC_BATCHNORM,
	/* see npu_facts.h */
	HT_METRIC_AI_CPU,
	HT_METRIC_STATIC,
	HT_METRIC_NO_BOUND,
	HT_METRIC_VECTOR,
	HT_METRIC_CUBE,
	HT_METRIC_ATTENTION,
	HT_METRIC_FORMAT,
	HT_METRIC_FREQUENCY,
	HT_METRIC_BLOCKS,
	HT_METRIC_SEQUENCES,
	HT_METRIC_AFFINITY,
	HT_METRIC_COMPILE,
	HT_METRIC_BLOCKING,
	HT_METRIC_LAUNCHES,
	HT_METRIC_GC,
	HT_METRIC_OPTIMIZER,
	HT_METRIC_UNALIGNED,
	HT_METRIC_CONTENTION,
	HT_METRIC_SMALL_SDMA,
	HT_METRIC_SMALL_RDMA,
	HT_METRIC_SDMA_RATE,
	HT_METRIC_RDMA_RATE,
	HT_METRIC_RDMA_LONGEST,
	HT_METRIC_FREE,
	HT_METRIC_COMPUTING,
	HT_METRIC_EXPOSED,
	HT_METRIC_ENVIRONMENT,
	HT_N_METRICS
};

#define HT_RULE_FACT_COLUMNS(COLUMN)                                                               \
	COLUMN(HT_FACT_METRIC, "metric", HT_I64, HT_KEY, "what is measured", NULL)                 \
	COLUMN(HT_FACT_DEVICE, "device", HT_I64, HT_KEY, "of which device; null: all", NULL)       \
	COLUMN(HT_FACT_PART, "part", HT_I64, HT_MEASURE, "how much", NULL)                         \
	COLUMN(HT_FACT_WHOLE, "whole", HT_I64, HT_MEASURE, "of how much", NULL)                    \
	COLUMN(HT_FACT_COUNT, "count", HT_I64, HT_MEASURE, "events", NULL)                         \
	COLUMN(HT_FACT_ROW, "row", HT_I64, HT_MEASURE, "row of the largest", NULL)                 \
	COLUMN(HT_FACT_ROW_NS, "row_ns", HT_I64, HT_MEASURE, "its time", NULL)                     \
	COLUMN(HT_FACT_NAME, "name", HT_STR, HT_MEASURE, "its name", NULL)                         \
	COLUMN(HT_FACT_MORE, "more", HT_STR, HT_MEASURE, "another name that belongs to it", NULL)  \
	COLUMN(HT_FACT_PLACE, "place", HT_STR, HT_MEASURE, "where", NULL)                          \
	COLUMN(HT_FACT_AUX, "aux_1", HT_I64, HT_MEASURE, "a number of the metric's own", NULL)     \
	COLUMN(HT_FACT_AUX_2, "aux_2", HT_I64, HT_MEASURE, "a number of the metric's own", NULL)   \
	COLUMN(HT_FACT_AUX_3, "aux_3", HT_I64, HT_MEASURE, "a number of the metric's own", NULL)   \
	COLUMN(HT_FACT_AUX_4, "aux_4", HT_I64, HT_MEASURE, "a number of the metric's own", NULL)
HT_COLUMN_NUMBERS(HT_RULE_FACT_COLUMNS, HT_N_FACT_COLUMNS);
extern const struct ht_column ht_rule_fact_columns[HT_N_FACT_COLUMNS];

void ht_rule_fact_put(const struct ht_trace *trace, ht_table *table, enum ht_metric metric,
        int64_t device, const struct ht_rule_sum *sum);
/* Does a time lie in one of the steps? */
bool ht_bounds_hold(const struct ht_bounds *bounds, int64_t time_ns);

/* Of the rank in hand, in the steps of bounds. */
enum ht_status ht_rule_facts_put(
        struct ht_run *run, const struct ht_bounds *bounds, ht_table *table) HT_MUST_USE;

#endif
