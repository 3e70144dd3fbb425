/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_work.h - what HTA takes for GPU work.
 */
#ifndef HT_HTA_HTA_WORK_H
#define HT_HTA_HTA_WORK_H

#include "model/device/gpu_work.h"
#include "model/device/idle.h"

/* Every row that has a stream, classed by its name, which is how waits and host-side Triton operators get into
 * HTA's tables; OTHER is HT_CLASS_SYNC. */
enum ht_status ht_hta_work_collect(struct ht_run *run, const struct ht_frame *frame,
        struct ht_work_list *ret_work) HT_MUST_USE;

/* Rows with stream and correlation, and the waits on events and contexts. */
enum ht_status ht_hta_work_annotated(struct ht_run *run, const struct ht_frame *frame,
        struct ht_work_list *ret_work) HT_MUST_USE;

/* Sums by mask of types, in HTA's arithmetic: doubles of microseconds, every moment cut to whole ones. */
enum ht_status ht_hta_work_types(struct ht_run *run, const struct ht_work_list *work,
        unsigned types, int64_t *sums_ns, bool *seen) HT_MUST_USE;

/* Gaps of streams in order of appearance: the whole gap has one category and is measured from the end of the
 * previous row even when an earlier one is still running; the first row is a gap without length. */
enum ht_status ht_hta_idle_collect(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_idle_options *options, const struct ht_idle_stream **ret_streams,
        size_t *ret_n) HT_MUST_USE;

#endif
