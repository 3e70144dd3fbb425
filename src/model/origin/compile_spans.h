/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compile_spans.h - what torch.compile did when, by its structured log: entire_frame_compile, backend_compile, inductor_compile, ...
 *
 * The log has beginnings and ends (chromium_event, ph B and E) in microseconds of Unix time; those of one name and thread that follow each
 * other are a span. A trace with a base time has the same clock; one without is taken to be in Unix time itself, as older profilers write
 * it. A span of which the trace has an event of the same name, begun within a millisecond, is that event's.
 */
#ifndef HT_MODEL_ORIGIN_COMPILE_SPANS_H
#define HT_MODEL_ORIGIN_COMPILE_SPANS_H

#include "model/origin/compile_span.h"
#include "model/run.h"

/* Of the rank in hand, by start, whatever lies around the time of the trace included. Memory in scratch. */
enum ht_status ht_compile_spans_find(
        struct ht_run *run, struct ht_compile_span **ret_list, size_t *ret_n) HT_MUST_USE;
/* Whether a span is at a time that the trace has. */
bool ht_compile_span_is_inside(const struct ht_trace *trace, const struct ht_compile_span *span);

#endif
