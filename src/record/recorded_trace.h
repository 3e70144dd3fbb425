/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded_trace.h - a recording as a trace of the kind that PyTorch's profiler writes: calls and annotations
 * by thread, CUDA calls, GPU work by device and stream, and what launched what.
 */
#ifndef HT_RECORD_RECORDED_TRACE_H
#define HT_RECORD_RECORDED_TRACE_H

#include "record/replay.h"
#include "record/values.h"

/* A call that has ended; the GPU side looks up who launched it. */
struct ht_rec_span {
	int64_t begin_ns, end_ns;
	uint64_t record_id;
	uint64_t name;
	uint32_t thread; /* the system's */
	uint32_t is_annotation;
};

struct ht_rec_timeline {
	ht_ctx *ctx;
	const struct ht_image *image;
	struct ht_emit *out;
	struct ht_values values;
	struct ht_vec spans; /* struct ht_rec_span; only when there is a GPU side */
	bool has_gpu;
	uint64_t n_events;
	int64_t first_ns; /* of all events */
};

void ht_rec_timeline_init(
        struct ht_rec_timeline *timeline, const struct ht_image *image, struct ht_emit *out);
void ht_rec_timeline_done(struct ht_rec_timeline *timeline);
struct ht_replay_sink ht_rec_timeline_sink(struct ht_rec_timeline *timeline);
enum ht_status ht_rec_timeline_head(struct ht_rec_timeline *timeline) HT_MUST_USE;
/* After the calls: the GPU side, names of threads, and the end. */
enum ht_status ht_rec_timeline_tail(struct ht_rec_timeline *timeline) HT_MUST_USE;

/* Nanoseconds of the recorder's clock as microseconds of the file. */
void ht_rec_timeline_ts(struct ht_rec_timeline *timeline, int64_t ns);
/* `{"ph":"X","cat":"CAT","name":"` after the comma, if any; then ht_rec_timeline_at ends the name. */
void ht_rec_timeline_open(struct ht_rec_timeline *timeline, const char *category);
/* `","pid":..,"tid":..,"ts":..,"dur":..,"args":{` */
void ht_rec_timeline_at(struct ht_rec_timeline *timeline, int64_t pid, int64_t tid,
        int64_t begin_ns, int64_t end_ns);
/* A name of a process or thread: `what` is "process_name" or the like. */
void ht_rec_timeline_meta(struct ht_rec_timeline *timeline, const char *what, int64_t pid,
        int64_t tid, const char *key, const char *text);

/* gpu_events.c: what the devices can do, as objects with commas between; CUDA calls and GPU work. */
enum ht_status ht_rec_timeline_devices(struct ht_rec_timeline *timeline) HT_MUST_USE;
enum ht_status ht_rec_timeline_gpu(struct ht_rec_timeline *timeline) HT_MUST_USE;

#endif
