/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_view.h - the tables of memory-snapshot, a function each: they append the rows of the rank in hand.
 */
#ifndef HT_MODEL_SNAPSHOT_MEM_VIEW_H
#define HT_MODEL_SNAPSHOT_MEM_VIEW_H

#include "model/part.h"
#include "model/snapshot/mem_names.h"

struct ht_mem_steps;

/* Events from first on, before end. */
struct ht_mem_span {
	int64_t first, end;
};

struct ht_mem_view {
	struct ht_run *run; /* with the snapshot in hand */
	ht_table *table;
	const struct ht_mem_history *history;
	struct ht_mem_names names;
	const struct ht_trace
	        *kineto;  /* of the same run, for the size of devices; the snapshot's own: none */
	int64_t every_ns; /* length of steps, 0: told by annotations */
	bool by_source;   /* groups of one category are apart by who says it */
	const struct ht_mem_span *spans; /* by device, events that are looked at; NULL: all */
	struct ht_mem_steps *steps;      /* that annotations tell; NULL: not looked for yet */
};

typedef enum ht_status (*ht_mem_view_fn)(struct ht_mem_view *view);

/* A view of the snapshot of the rank in hand, its own or attached; *ret_is_there is false when it has none. Blocks are called
 * as by says, rules are the user's or NULL. Memory in scratch. */
enum ht_status ht_mem_view_make(struct ht_run *run, enum ht_mem_by by, const char *rules,
        struct ht_mem_view *ret_view, bool *ret_is_there) HT_MUST_USE;
/* Blocks of the view, which are called by category, have those of the [memory] events that allocate them: by row of the rank's own trace, which run
 * has in hand. */
enum ht_status ht_mem_view_use_derived(struct ht_run *run, const struct ht_mem_derived *by_row,
        struct ht_mem_view *view) HT_MUST_USE;
/* The rows of ht_mem_view_summary of the rank in hand, by the user's own lines; none without a snapshot. */
enum ht_status ht_mem_summary_put(struct ht_run *run, ht_table *table) HT_MUST_USE;

enum ht_status ht_mem_view_summary(struct ht_mem_view *view) HT_MUST_USE;
enum ht_status ht_mem_view_peak(struct ht_mem_view *view) HT_MUST_USE;
enum ht_status ht_mem_view_leaks(struct ht_mem_view *view) HT_MUST_USE;
enum ht_status ht_mem_view_oom(struct ht_mem_view *view) HT_MUST_USE;
enum ht_status ht_mem_view_fragmentation(struct ht_mem_view *view) HT_MUST_USE;
enum ht_status ht_mem_view_segments(struct ht_mem_view *view) HT_MUST_USE;
enum ht_status ht_mem_view_churn(struct ht_mem_view *view) HT_MUST_USE;
enum ht_status ht_mem_view_pools(struct ht_mem_view *view) HT_MUST_USE;
enum ht_status ht_mem_view_blocks(struct ht_mem_view *view) HT_MUST_USE;
/* The same for pictures: at most some 32 rows for each of the parameter "points", which together cover the 64 largest segments. */
enum ht_status ht_mem_view_map(struct ht_mem_view *view) HT_MUST_USE;
enum ht_status ht_mem_view_events(struct ht_mem_view *view) HT_MUST_USE;
enum ht_status ht_mem_view_timeline(struct ht_mem_view *view) HT_MUST_USE;
/* The timeline of the device with the highest peak alone. */
enum ht_status ht_mem_view_fullest(struct ht_mem_view *view) HT_MUST_USE;

/* The event after which a view looks, as the parameter "at" says: peak, end, oom, the number of an event, or a time since
 * the first one. HT_MEM_BEFORE: before the first; false: the device has no such moment. */
bool ht_mem_view_moment(
        const struct ht_mem_view *view, const struct ht_mem_device *device, int64_t *ret_event);
/* Whether a text is such a moment; HT_USAGE when not. */
enum ht_status ht_mem_moment_check(struct ht_run *run, const char *at) HT_MUST_USE;

/* Look at a part of the history only, as the parameter "range" says: all, or "A:B" of two moments (peak, oom, number of an event, time),
 * either of which may be missing. The peak is then that of the part. For views other than summary, segments and pools, which are of the
 * whole file. */
enum ht_status ht_mem_view_narrow(struct ht_mem_view *view) HT_MUST_USE;
struct ht_mem_span ht_mem_view_span(
        const struct ht_mem_view *view, const struct ht_mem_device *device);
/* Whether a text is such a range; HT_USAGE when not. */
enum ht_status ht_mem_range_check(struct ht_run *run, const char *range) HT_MUST_USE;
/* The steps of a device whose last event is looked at (mem_steps.h). */
enum ht_status ht_mem_view_steps(struct ht_mem_view *view, const struct ht_mem_device *device,
        struct ht_mem_steps *ret_steps) HT_MUST_USE;
/* "(1, 0)", "default"; "0x7f..."; NULL when out of memory. */
const char *ht_mem_pool_text(struct ht_run *run, const uint32_t *pool);
const char *ht_mem_address_text(struct ht_run *run, uint64_t addr);
/* What the block of a life is after an event, in the words of the file; NULL: a free piece. */
const char *ht_mem_piece_state(const struct ht_mem_life *life, int64_t event);
/* Time of an event since the first one of its device, HT_NO_I64 when unknown. */
int64_t ht_mem_view_time(
        const struct ht_mem_view *view, const struct ht_mem_device *device, int64_t event);
/* Capacity of a device where the trace says it, else HT_NO_I64. */
int64_t ht_mem_capacity(const struct ht_trace *trace, uint32_t device);

/* What lives after an event, by key: most bytes first. */
struct ht_mem_group {
	const char *key;
	const char *source; /* of categories, who says them; NULL: unknown, or not asked for */
	int64_t bytes, requested, blocks;
};
enum ht_status ht_mem_groups_find(struct ht_mem_view *view, const struct ht_mem_device *device,
        int64_t event, struct ht_mem_group **ret_groups, size_t *ret_n) HT_MUST_USE;

#endif
