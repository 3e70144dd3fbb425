/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_events.h - queue length and copy bandwidth as counter events, for a trace that viewers draw.
 *
 * As HTA writes them: "Queue Length" with the stream as id, one per change point; the kind of copy
 * ("Memcpy HtoD") as name with the key "Memcpy BW" in GB/s. Streams of several devices keep apart by
 * the pid of their work.
 */
#ifndef HT_MODEL_DEVICE_COUNTER_EVENTS_H
#define HT_MODEL_DEVICE_COUNTER_EVENTS_H

#include "store/set.h"

struct ht_counter_event {
	int64_t ts_ns;    /* trace clock */
	int64_t pid;      /* of the GPU work; -1 when it is no number */
	int64_t id;       /* stream, -1: none */
	const char *name; /* of the counter */
	const char *key;  /* of its one value in args */
	double value;
};

/* Counters of one trace of a set, ascending by time within each counter. all_steps: the whole trace;
 * else what analyses look at by default. Memory in the arena. */
enum ht_status ht_counter_events(ht_ctx *ctx, const struct ht_set *set, size_t i_trace,
        const struct ht_trace *trace, bool all_steps, struct ht_arena *arena,
        const struct ht_counter_event **ret_events, size_t *ret_n) HT_MUST_USE;

#endif
