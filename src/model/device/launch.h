/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.h - launch calls told by name alone, kernels that count, where work was asked for, and the track of GPU work as cells.
 */
#ifndef HT_MODEL_DEVICE_LAUNCH_H
#define HT_MODEL_DEVICE_LAUNCH_H

#include "base/status.h"
#include "store/event.h"
#include "table/table.h"

struct ht_trace;
struct ht_gpu;

/* A host call that launches a kernel, whether or not its kernel is in the file: cudaLaunchKernel,
 * cuLaunchKernelEx, cudaLaunchCooperativeKernel, hipModuleLaunchKernel, ... */
bool ht_is_kernel_launch_name(const char *name);

/* Whether a piece of work is a kernel that computes or communicates, as lists of kernels have them. */
bool ht_is_counted_kernel(const struct ht_trace *t, const struct ht_gpu *gpu);

/* A host call that returns when the device has come to an end of something: cudaStreamSynchronize, hipDeviceSynchronize,
 * zeEventHostSynchronize, urQueueFinish, ... Copies may wait as well: their work tells. */
bool ht_is_wait_name(const char *name);
/* So is the own time of such a call, and of one that copies: it waits in itself where memory is pageable. */
bool ht_may_wait_for_device(const char *name);

/* The row of the host that GPU work stands for: its launch, or HT_NONE. CANN's calls are on threads of their own process, so
 * that nothing is around them: work of an NPU stands where its operator is. */
uint32_t ht_host_place(const struct ht_trace *trace, const struct ht_gpu *gpu);

/* pid and tid of a row's track as cells of a column and the next: integers, null when text or absent. */
void ht_put_track(ht_table *table, size_t column, const struct ht_trace *trace, uint32_t row);

/* An index as cell, null when negative (unknown). */
void ht_put_index(ht_table *table, size_t column, int64_t index);

#endif
