/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waves.h - what a kernel loses because its blocks do not fill the device evenly.
 *
 * As many blocks run at once as SMs have room for: by threads, registers and shared memory of the launch and the limits of the
 * device. They come in waves, and the last wave may be nearly empty:
 *     slots = SMs * blocks per SM        waves = ceil(blocks / slots)
 *     loss = 1 - blocks / (waves * slots); of a single wave 1 - blocks / SMs, the SMs that have nothing to do
 * Kernels that ask for exactly as many blocks as there are slots lose nothing. That blocks take equally long is assumed.
 */
#ifndef HT_MODEL_EFFICIENCY_WAVES_H
#define HT_MODEL_EFFICIENCY_WAVES_H

#include "base/status.h"
#include "store/event.h"

struct ht_trace;
struct ht_device;

/* What an SM has room for; 0: not recorded. */
struct ht_sm_limits {
	int64_t n_sms, threads, registers, shared_bytes, warp;
};

struct ht_sm_limits ht_sm_limits_read(const struct ht_trace *trace, const struct ht_device *device);

/* How a kernel was launched; 0: not recorded, or none. */
struct ht_launch_shape {
	double blocks;
	int64_t threads;   /* of a block */
	int64_t registers; /* of a thread */
	int64_t shared_bytes;
};

/* From 0 to 1; NAN: not known. */
double ht_wave_loss(const struct ht_sm_limits *limits, const struct ht_launch_shape *shape);

#endif
