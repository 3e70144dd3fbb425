/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_work.h - the GPU work of a frame as the breakdowns read it.
 *
 * Kernels, copies and sets, by category, unless the policy collects otherwise.
 */
#ifndef HT_MODEL_DEVICE_GPU_WORK_H
#define HT_MODEL_DEVICE_GPU_WORK_H

#include "model/rows/frame.h"
#include "model/numbers/interval.h"

struct ht_work {
	int64_t start, end; /* ns, the trace's own clock */
	int64_t stream;     /* -1 unknown */
	uint32_t row;
	uint32_t launch; /* HT_NONE: none */
	int32_t device;  /* -1 unknown */
	uint8_t class_;  /* enum ht_class; work that is nothing else is HT_CLASS_SYNC */
};

struct ht_work_list {
	struct ht_work *items; /* in frame order */
	size_t n;
};

enum ht_status ht_work_collect(struct ht_run *run, const struct ht_frame *frame,
        struct ht_work_list *ret_work) HT_MUST_USE;

/* Indexes into gpu[] of the trace by device, stream and start, or by device and start; equal ones keep their order. */
enum ht_status ht_gpu_by_stream(struct ht_run *run, const uint32_t **ret_order) HT_MUST_USE;
enum ht_status ht_gpu_by_device(struct ht_run *run, const uint32_t **ret_order) HT_MUST_USE;

/* Sort by start; equal starts keep their order. Memory in run->scratch. */
enum ht_status ht_work_sort(struct ht_run *run, struct ht_work_list *work) HT_MUST_USE;

/* The work of one device of the rank. */
struct ht_device_work {
	int32_t device; /* -1: unknown, or all together (policy one_device) */
	struct ht_work_list work;
	const struct ht_interval *all; /* merged: whatever runs on the device, chosen or not */
	int64_t *all_sums;             /* of their lengths */
	size_t n_all;
	int64_t first_launch_ns; /* first launch call in the file for it; INT64_MAX: none */
};

struct ht_devices {
	const struct ht_device_work *list; /* by number, ascending */
	size_t n;
};

/* Where the GPU rows of a device are in the order by device: [*ret_first, *ret_end). */
void ht_gpu_of_device(const struct ht_trace *t, const uint32_t *by_device, int32_t device,
        size_t *ret_first, size_t *ret_end);

/* The work of a frame by start, apart by device: work of several devices of one process never hides each other's. */
enum ht_status ht_devices_find(struct ht_run *run, const struct ht_frame *frame,
        struct ht_devices *ret_devices) HT_MUST_USE;
/* Length of what runs on the device within [from, to). */
int64_t ht_device_busy_ns(const struct ht_device_work *device, int64_t from, int64_t to);

/* Bit of a class in a mask. */
static inline unsigned ht_class_bit(uint8_t class_)
{
	return 1u << class_;
}

/* Merged intervals of the work whose class is in the mask; memory in run->scratch. */
enum ht_status ht_work_union(struct ht_run *run, const struct ht_work_list *work, unsigned classes,
        struct ht_interval **ret_merged, size_t *ret_n) HT_MUST_USE;

#endif
