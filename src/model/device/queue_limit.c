/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_limit.c - see queue_limit.h.
 */
#include "model/device/queue_limit.h"

#include "model/numbers/stats.h"

#define MIN_CALLS       16
#define LONG_CALL_RATIO 4

enum ht_status ht_queue_limit_find(
        struct ht_run *run, const struct ht_queue_call *calls, size_t n, int64_t *ret_limit)
{
	int64_t max = 0;
	size_t n_high = 0, n_low = 0;
	*ret_limit = 0;
	for (size_t i = 0; i < n; i++)
		max = calls[i].length > max ? calls[i].length : max;
	if (max < HT_QUEUE_MIN_LIMIT)
		return HT_OK;
	int64_t band = max / 64 > 2 ? max / 64 : 2;
	int64_t *high = ht_arena_room(run->scratch, n * sizeof *high);
	int64_t *low = ht_arena_room(run->scratch, n * sizeof *low);
	if (!high || !low)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++)
		if (calls[i].length >= max - band)
			high[n_high++] = calls[i].dur_ns;
		else
			low[n_low++] = calls[i].dur_ns;
	if (n_high >= MIN_CALLS && n_low >= MIN_CALLS &&
	        ht_median_i64(high, n_high) >= LONG_CALL_RATIO * ht_median_i64(low, n_low))
		*ret_limit = max - band;
	return HT_OK;
}
