/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_limit.h - where the launch queue of a stream is full, from the data.
 *
 * A queue that is full stays within a 64th of its largest length, and the launch calls that are made there wait, so they are
 * long. So when the largest length is 64 or more, at least 16 launch calls were made within that band, and their median
 * duration is at least four times that of the other calls, of which there are 16 as well, the lower end of the band is the
 * limit.
 */
#ifndef HT_MODEL_DEVICE_QUEUE_LIMIT_H
#define HT_MODEL_DEVICE_QUEUE_LIMIT_H

#include "model/run.h"

#define HT_QUEUE_MIN_LIMIT 64

/* A launch call of a stream. */
struct ht_queue_call {
	int64_t length; /* of the queue, itself included */
	int64_t dur_ns;
};

/* 0: none shows. */
enum ht_status ht_queue_limit_find(struct ht_run *run, const struct ht_queue_call *calls, size_t n,
        int64_t *ret_limit) HT_MUST_USE;

#endif
