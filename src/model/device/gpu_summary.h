/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_summary.h - how well each device of a rank was used between two times, as the profiler estimates it.
 *
 *   busy         time with a kernel running; copies and sets do not count, nor kernels that only wait
 *   SM           integral of the blocks per SM of what runs, at most 1 at any time
 *   occupancy    mean of the kernels' estimated achieved occupancy, weighted by their time
 *   tensor cores time of kernels that run on them, of the time of all (sums of durations)
 * Each is over the part of a kernel inside the window, but the last, which is over the kernels of the chosen steps, as kernels lists them. What no
 * kernel says is not estimated.
 */
#ifndef HT_MODEL_DEVICE_GPU_SUMMARY_H
#define HT_MODEL_DEVICE_GPU_SUMMARY_H

#include "model/rows/frame.h"
#include "model/rows/name_traits.h"

struct ht_gpu_summary {
	int32_t device; /* -1 unknown */
	uint32_t n_kernels;
	const struct ht_device *properties; /* NULL: the file does not have them */
	int64_t window_ns, busy_ns;
	int64_t kernel_ns, tc_ns,
	        unclear_ns;   /* the last: multiplies matrices, nothing says on what */
	double sm_efficiency; /* 0 to 1, NaN: unknown */
	double occupancy_pct; /* 0 to 100, NaN: unknown */
};

struct ht_gpu_window {
	int64_t start, end;
	bool only_times; /* sm_efficiency and occupancy_pct are not asked for, and NaN */
};

/* One per device that ran a kernel in the window or of the chosen steps, ascending. Memory in scratch. */
enum ht_status ht_gpu_summary_make(struct ht_run *run, struct ht_traits *traits,
        const struct ht_gpu_window *window, struct ht_gpu_summary **ret_list,
        size_t *ret_n) HT_MUST_USE;
/* "9.0", NULL: the file does not say. Memory in scratch. */
const char *ht_gpu_capability(
        struct ht_run *run, const struct ht_trace *trace, const struct ht_device *device);

#endif
