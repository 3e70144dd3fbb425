/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earlier_work.h - GPU activity of before a step, or before the recording, that keeps the device when it begins.
 *
 * Recorded or not: activity without its call was launched before the recording. And where the first activity of all was launched
 * long before it began, it was in a queue behind activity that is not in the file; of a step only where the device is behind its CPU to the end.
 */
#ifndef HT_STORE_EARLIER_WORK_H
#define HT_STORE_EARLIER_WORK_H

#include "base/arena.h"
#include "base/status.h"
#include "store/columns.h"

/* From the end of a launch to the first work of its device: no launch takes so long. */
#define HT_QUEUED_NS 1000000

/* Whether the first activity of a device was in a queue behind activities that were launched before the recording: it was
 * launched long before it began, and nothing that was recorded explains why. */
bool ht_was_queued(const struct ht_trace *trace, uint32_t launch, int64_t start_ns);

/* Where GPU activity of before ends that a step, or with HT_NONE all that was recorded, waits for; ts_ns, where it begins, when it
 * waits for none. Only what ends before its own first activity counts. */
int64_t ht_earlier_end(const struct ht_trace *trace, uint32_t step, int64_t ts_ns);

/* Where the last activity ends that was launched before the recording, on any stream: it has no call, and comes before all of its
 * stream that have one. HT_NO_I64: there is none. */
enum ht_status ht_unlaunched_end(ht_ctx *ctx, struct ht_arena *scratch,
        const struct ht_trace *trace, int64_t *ret_ns) HT_MUST_USE;

#endif
