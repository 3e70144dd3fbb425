/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_mtia.h - HTA's own selection of rows in traces of MTIA, where it has another than for GPUs.
 *
 * It keeps the host rows between the start of the first and the end of the last step (no step is cut off), the
 * device rows that they launched, and copies inside a step: those have neither stream nor correlation in the
 * file, so that it gives them their thread's number as stream and the step they start in.
 */
#ifndef HT_HTA_HTA_MTIA_H
#define HT_HTA_HTA_MTIA_H

#include "model/rows/frame.h"

/* By the backend of its process groups (mtia:hccl), else by the call that submits jobs there, unless CUDA or HIP launch something too. */
bool ht_hta_is_mtia(const struct ht_trace *trace);
/* Fill rows, gpu and cut of a frame whose trace is set. */
enum ht_status ht_hta_mtia_fill(struct ht_run *run, struct ht_frame *frame) HT_MUST_USE;
/* Give copies without a stream theirs, and their steps when iteration is not NULL. */
enum ht_status ht_hta_mtia_mend(struct ht_run *run, const struct ht_trace *trace, int64_t *stream,
        int64_t *iteration) HT_MUST_USE;

#endif
