/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.h - the gaps between GPU work of a stream (or of a whole device), and what they waited for.
 *
 * A gap lies between the latest end so far and the next start. While the next piece of work was not
 * launched yet the GPU waits for the host; the rest of the gap is the launch on its way (kernel wait)
 * when shorter than the threshold, else something else: an event, a collective, another process.
 *
 *        prev end        launch          start
 *   ████████|---------------|---------------|██████
 *             host wait        kernel wait (short) or other (long)
 *
 * Of a long rest, the time in which a communication kernel runs on another stream of the device is its own
 * category: the work is queued, and most often waits for the collective's result.
 *
 * Work that was launched before the recording began can be followed by a long gap in which the recording shows
 * nobody at work: what idles before the first launch call in the file for the device is leading, whatever comes
 * next. As that of the device belongs to no stream, it also stands as a stream of its own, without a number.
 *
 * The policy may measure otherwise, also with gaps that have no length or a negative one.
 */
#ifndef HT_MODEL_DEVICE_IDLE_H
#define HT_MODEL_DEVICE_IDLE_H

#include "model/device/gpu_work.h"

enum ht_idle_category {
	HT_IDLE_HOST_WAIT,
	HT_IDLE_KERNEL_WAIT,
	HT_IDLE_COMMUNICATION,
	HT_IDLE_OTHER,
	HT_IDLE_LEADING,
	HT_IDLE_N
};

/* "host_wait", "kernel_wait", "communication_wait", "other", "leading". */
const char *ht_idle_category_name(enum ht_idle_category category);

struct ht_idle_gap {
	int64_t length_ns; /* negative only by another policy */
	uint8_t category;  /* enum ht_idle_category */
	bool unmeasured;   /* only by another policy: there is no gap */
	uint32_t row;      /* the work that ends it; HT_NONE: none is said */
};

struct ht_idle_stream {
	int32_t device;  /* -1 unknown */
	int64_t stream;  /* HT_NO_I64: all streams of the device */
	int64_t span_ns; /* first start to last end */
	struct ht_idle_gap *gaps;
	size_t n;
	bool is_leading; /* no stream: what the device idles before its first launch */
};

/* What launches take at most, unless the user says otherwise. */
#define HT_IDLE_THRESHOLD_TEXT "30us"
#define HT_IDLE_THRESHOLD_NS   30000

struct ht_idle_options {
	int64_t threshold_ns;
	const char *streams; /* "7,16-18", NULL: all */
	bool by_device;
};

/* The parameters threshold, streams and by, which both idle analyses have. */
enum ht_status ht_idle_options(struct ht_run *run, struct ht_idle_options *ret_options) HT_MUST_USE;

/* Streams of one rank by device and number. */
enum ht_status ht_idle_collect(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_idle_options *options, const struct ht_idle_stream **ret_streams,
        size_t *ret_n) HT_MUST_USE;

/* Of the time before work starts, how long the host was still in the call that launches it, where the work waited for that:
 * it starts when the call is over, or sooner after it than launches take. Else 0. */
int64_t ht_idle_in_call_ns(
        const struct ht_trace *trace, uint32_t launch, int64_t from_ns, int64_t start_ns);

#endif
