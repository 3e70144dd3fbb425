/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waves.c - see waves.h.
 */
#include "model/efficiency/waves.h"

#include "json/json_text.h"
#include "store/columns.h"
#include "store/trace_meta.h"

#include <math.h>
#include <string.h>

/* How registers are given out, and shared memory that every block has besides its own. */
#define REGISTERS_OF_WARP 256
#define SHARED_OF_BLOCK   1024
#define MAX_BLOCKS        32
/* No device has more of anything, and products of two still fit. */
#define MAX_LIMIT ((int64_t)1 << 31)

struct ht_sm_limits ht_sm_limits_read(const struct ht_trace *trace, const struct ht_device *device)
{
	struct ht_sm_limits limits = { .n_sms = device->n_sms > 0 ? device->n_sms : 0 };
	const struct {
		const char *key;
		int64_t *at;
	} fields[] = { { "maxThreadsPerMultiprocessor", &limits.threads },
		{ "regsPerMultiprocessor", &limits.registers },
		{ "sharedMemPerMultiprocessor", &limits.shared_bytes },
		{ "warpSize", &limits.warp } };
	const char *text = ht_str(trace, device->properties);
	if (!ht_json_valid(text, strlen(text)))
		return limits;
	struct ht_json reader = { text };
	struct ht_json_value object = ht_json_next(&reader);
	for (size_t i = 0; object.type == HT_JSON_OBJECT && i < HT_COUNT(fields); i++) {
		struct ht_json_value value = ht_json_get(&object, fields[i].key);
		int64_t number;
		if (ht_json_i64(&value, &number) && number > 0 && number <= MAX_LIMIT)
			*fields[i].at = number;
	}
	return limits;
}

static int64_t round_up(int64_t value, int64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Blocks that an SM runs at once; 0: not known. */
static int64_t resident_blocks(
        const struct ht_sm_limits *limits, const struct ht_launch_shape *shape)
{
	if (limits->threads <= 0 || limits->warp <= 0 || shape->threads <= 0 ||
	        shape->threads > MAX_LIMIT || shape->registers > MAX_LIMIT ||
	        shape->shared_bytes > MAX_LIMIT)
		return 0;
	int64_t warps = round_up(shape->threads, limits->warp) / limits->warp;
	int64_t n = least(MAX_BLOCKS, limits->threads / (warps * limits->warp));
	if (limits->registers > 0 && shape->registers > 0) {
		int64_t each = round_up(shape->registers * limits->warp, REGISTERS_OF_WARP);
		n = least(n, limits->registers / each / warps);
	}
	if (limits->shared_bytes > 0 && shape->shared_bytes > 0)
		n = least(n, limits->shared_bytes / (shape->shared_bytes + SHARED_OF_BLOCK));
	return n > 0 ? n : 0;
}

double ht_wave_loss(const struct ht_sm_limits *limits, const struct ht_launch_shape *shape)
{
	int64_t resident = resident_blocks(limits, shape);
	if (!(shape->blocks >= 1) || limits->n_sms <= 0)
		return NAN;
	double sms = (double)limits->n_sms, slots = sms * (double)resident;
	if (shape->blocks <= sms)
		return 1 - shape->blocks / sms;
	if (!resident)
		return NAN;
	double waves = ceil(shape->blocks / slots);
	return waves <= 1 ? 0 : 1 - shape->blocks / (waves * slots);
}
