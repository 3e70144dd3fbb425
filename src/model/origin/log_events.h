/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_events.h - beginnings and ends of a structured log (chromium_event) as spans.
 */
#ifndef HT_MODEL_ORIGIN_LOG_EVENTS_H
#define HT_MODEL_ORIGIN_LOG_EVENTS_H

#include "base/status.h"
#include "json/json_text.h"

/* The text of a string, decoded; NULL when it is none, or without memory. */
char *ht_log_string(struct ht_arena *arena, const struct ht_json_value *value);

/* Spans that have begun and not ended. Zero-initialise. */
struct ht_log_events {
	struct ht_vec open; /* by thread and time */
};

/* Take a payload, the JSON of a Chrome event: spans (struct ht_compile_span, Unix time) grows by what ends with it. False when it is no
 * such event; texts are kept in the arena. */
enum ht_status ht_log_events_take(ht_ctx *ctx, struct ht_log_events *events, const char *payload,
        struct ht_arena *arena, struct ht_vec *spans, bool *ret_is_good) HT_MUST_USE;
void ht_log_events_done(ht_ctx *ctx, struct ht_log_events *events);

#endif
