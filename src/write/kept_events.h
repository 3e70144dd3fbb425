/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_events.h - which events of a trace are written.
 *
 * A row is written when it passes all of: time window (it overlaps it), steps, categories, threads,
 * documents. Metadata events are written always, as they name what the others refer to; only another
 * document's are left out. Work of a step is what the store says (GPU work: the step that launched it).
 */
#ifndef HT_WRITE_KEPT_EVENTS_H
#define HT_WRITE_KEPT_EVENTS_H

#include "base/list.h"
#include "base/status.h"
#include "store/event.h"

struct ht_trace;

/* The options as read; the same for all traces. Texts are not owned. */
struct ht_filter {
	struct ht_list steps, documents;
	const char *categories, *threads; /* comma lists, NULL: all */
	int64_t from_ns, to_ns;           /* both included */
	bool has_window;
};

/* The filter for one trace. */
struct ht_row_filter {
	const struct ht_filter *filter;
	const struct ht_trace *trace;
	bool *step, *category, *track; /* by index: may pass */
	bool all;                      /* nothing is left out */
};

enum ht_status ht_filter_init(ht_ctx *ctx, const struct ht_convert_options *options,
        struct ht_filter *ret_filter) HT_MUST_USE;
void ht_filter_done(ht_ctx *ctx, struct ht_filter *filter);

enum ht_status ht_row_filter_init(ht_ctx *ctx, const struct ht_filter *filter,
        const struct ht_trace *trace, struct ht_row_filter *ret_filter) HT_MUST_USE;
void ht_row_filter_done(ht_ctx *ctx, struct ht_row_filter *filter);
bool ht_row_filter_keeps(const struct ht_row_filter *filter, uint32_t row);

#endif
