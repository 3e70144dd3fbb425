/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_facts.h - what rules about NPUs are decided by, of one rank: further metrics of rule_facts.h.
 *
 * From the columns of kernel details that became args of kernels (Accelerator Core, OP State, shapes, the ratios of
 * pipes), calls of CANN on the host, counters, tasks of communication, tables of the exporter and what the recording says
 * about its environment. Kernels are those that start in the steps. A metric is there only when the trace has what it
 * takes.
 *
 *   AI_CPU      kernels that run on the AI CPU, of all that say where they run; row_ns: the longest
 *   STATIC      kernels of static shape, of all that say; name: one of dynamic shape
 *   NO_BOUND    kernels > HT_LONG_KERNEL_NS none of whose pipes is busy > 0.8: time in which its busiest pipe is not
 *   VECTOR      kernels of vector cores, of types with 1 % of kernel time: time in which neither vector nor memory pipes
 *               work, unless one of them has 0.7 or all 0.9
 *   CUBE        matrix products of HT_LARGE_PRODUCT_BYTES: what they lack to 0.8 of cube or 0.95 of memory time; count:
 *               those with an inner axis that is no multiple of 256
 *   ATTENTION   kernels of flash attention: what they lack to 0.8 of memory time, or to 0.75 of vector time (forward) or of
 *               fixpipe time (backward), whichever is nearer; count: those whose sequence or head is no multiple of 128
 *   FORMAT      kernels that change formats (TransData), of the time of all kernels
 *   FREQUENCY   time that kernels lose as the AI core's clock is below its highest, of their time
 *   BLOCKS      kernels whose blocks leave cores idle: that share of their time; name: the one that costs most, with its
 *               blocks and cores (npu_blocks.c)
 *   SEQUENCES   kernels that follow each other again and again and could be one: what that costs; name: the sequence that
 *               costs most, count: how often it comes (npu_sequences.c)
 *   AFFINITY    operators that NPUs have a fused one for: what that would save; name: which (npu_affinity.c)
 *   COMPILE     calls that compile operators (aclopCompileAndExecute)
 *   BLOCKING    calls that wait for a stream directly after a launch: their time; LAUNCHES: all launches
 *   GC          Python's garbage collections of more than a millisecond
 *   OPTIMIZER   optimizers of PyTorch's own, not fused for NPUs
 *   UNALIGNED   transfers over SDMA of more than 512 bytes that are no multiple of that, of all
 *   CONTENTION  transfers over SDMA below 0.8 of 18 GB/s while a matrix product runs, of all; part is time
 *   SMALL_SDMA, SMALL_RDMA   packets that are small (exporter.h), of all; count: bytes of them all
 *   SDMA_RATE, RDMA_RATE     bytes per transit time: part bytes, whole ns
 *   RDMA_LONGEST             the longest transit of an operation over RDMA, in part; name: the operation
 *   FREE, COMPUTING, EXPOSED of the exporter's steps, of their time; count: steps
 *   ENVIRONMENT name: settings that are not as recommended; count: how many; part: how many are recorded
 */
#ifndef HT_MODEL_ADVICE_NPU_FACTS_H
#define HT_MODEL_ADVICE_NPU_FACTS_H

#include "model/advice/rule_facts.h"

#define HT_LONG_KERNEL_NS      20000
#define HT_LARGE_PRODUCT_BYTES ((int64_t)100000000)

/* Of the rank in hand, in the steps of bounds; a rank without any has what its exporter says. */
enum ht_status ht_npu_facts_put(
        struct ht_run *run, const struct ht_bounds *bounds, ht_table *table) HT_MUST_USE;

#endif
