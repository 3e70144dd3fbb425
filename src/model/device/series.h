/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - step functions over time: work waiting per stream, copy bandwidth per kind.
 *
 * Queue length of a stream: +1 when a launch call starts, -1 when its work starts on the GPU; a graph
 * launch with n kernels on the stream adds n. A launch and a start at the same time count the launch
 * first, so that the length never goes below zero because of a tie. The queue holds all work of the trace,
 * whichever was chosen, and what was launched before the recording began (work without a launch that precedes
 * all launched work of its stream); a series runs from the first to the last change of chosen work.
 *
 *   launches  L1   L2           L3            length  1  2  1  0  1  0
 *   starts              K1  K2       K3
 *
 * Bandwidth of a kind: every copy adds its GB/s from start to end. Sums are in fixed point (2^-60), so
 * that what is added is taken off again exactly and no residue looks like traffic. At equal times ends
 * come before starts: back-to-back copies do not overlap.
 *
 * Points are in the trace's own clock. O(n log n).
 */
#ifndef HT_MODEL_DEVICE_SERIES_H
#define HT_MODEL_DEVICE_SERIES_H

#include "model/rows/frame.h"

struct ht_queue_point {
	int64_t ts_ns;
	int64_t length; /* from here to the next point */
	uint32_t row;   /* launch call or GPU row */
	bool is_launch;
	uint32_t gpu; /* index into trace->gpu: the work, or the first of it */
};

struct ht_queue_series {
	int32_t device; /* -1: unknown, or all devices together (policy streams_by_number) */
	int64_t stream;
	const struct ht_queue_point *points;
	size_t n;
};

/* One series per device and stream that has work with a known launch, ascending by stream, then
 * device. Memory in scratch. */
enum ht_status ht_queue_series_make(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_queue_series **ret_series, size_t *ret_n) HT_MUST_USE;

struct ht_bandwidth_point {
	int64_t ts_ns;
	double gbps;  /* from here to the next point */
	uint32_t row; /* the copy or set that starts or ends here */
	bool is_end;
};

struct ht_bandwidth_series {
	int32_t device;     /* -1: unknown, or all devices together (policy streams_by_number) */
	const char *kind;   /* "Memcpy HtoD", ..., "Memset" */
	const char *memory; /* "Pageable -> Device"; "": the names do not say, or all together */
	int64_t bytes;      /* moved or set, 0 when the file does not say */
	size_t n_copies;
	const struct ht_bandwidth_point *points;
	size_t n;
};

/* Where each run of sorted events that belong together starts, and then where the last one ends: n + 1 places.
 * Memory in scratch. */
enum ht_status ht_series_starts(struct ht_run *run, const void *events, size_t n_events,
        size_t n_bytes, bool (*same)(const void *a, const void *b), size_t **ret_starts,
        size_t *ret_n) HT_MUST_USE;

/* How series of a kind are written into a table. */
struct ht_series_rows {
	size_t n_bytes; /* of one series */
	void (*put_points)(ht_table *table, const struct ht_frame *frame, const void *series);
	enum ht_status (*put_summary)(struct ht_run *run, ht_table *table,
	        const struct ht_frame *frame, const void *series);
};

/* The rows of n series: every point, or a summary of each, as the parameter view says. */
enum ht_status ht_series_put(struct ht_run *run, const struct ht_series_rows *how,
        const struct ht_frame *frame, const void *series, size_t n, ht_table *table) HT_MUST_USE;

/* One series per device and kind, ascending by kind, memory where those are kept apart, then device. */
enum ht_status ht_bandwidth_series_make(struct ht_run *run, const struct ht_frame *frame,
        bool by_memory, const struct ht_bandwidth_series **ret_series, size_t *ret_n) HT_MUST_USE;

#endif
