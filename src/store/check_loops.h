/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_loops.h - the loops of check.c over whole columns, for the best instructions of this CPU.
 *
 * Each includer gets the loops as its compiler flags make them: check_loops.c for any CPU, check_loops_avx2.c
 * for those with AVX2. Loops run over blocks, which compilers turn into vector code at any level.
 */
#ifndef HT_STORE_CHECK_LOOPS_H
#define HT_STORE_CHECK_LOOPS_H

#include "base/status.h"
#include "store/event.h"

struct ht_check_loops {
	/* All values are below limit, or HT_NONE where that is allowed. n is not 0. */
	bool (*all_below)(const uint32_t *values, size_t n, uint32_t limit, bool none_allowed);
	bool (*all_u16_below)(const uint16_t *values, size_t n, size_t limit);
	bool (*all_bytes_below)(const uint8_t *values, size_t n, uint8_t limit);
	bool (*is_ascending)(const uint32_t *values, size_t n);
	/* Times of rows that have one, and durations, are within their bounds. */
	bool (*are_times)(const int64_t *ts_ns, size_t n);
	bool (*are_durations)(const int64_t *dur_ns, size_t n);
	/* Parents come before their rows in the file, where there are any: rows of a list; rows from one on. */
	bool (*are_above)(const uint32_t *parents, const uint32_t *rows, size_t n);
	bool (*are_above_from)(const uint32_t *parents, uint32_t first_row, size_t n);
};

/* The loops for this CPU. */
const struct ht_check_loops *ht_check_loops(void);
extern const struct ht_check_loops ht_check_loops_any, ht_check_loops_avx2;

#ifdef HT_CHECK_LOOPS_NAME

#define BLOCK 64

/* Run body for i = from .. n - 1, in blocks first. */
#define FOR_BLOCKS(from, n, body)                                                                  \
	do {                                                                                       \
		size_t at_ = (from);                                                               \
		for (; at_ + BLOCK <= (n); at_ += BLOCK)                                           \
			for (size_t k_ = 0; k_ < BLOCK; k_++) {                                    \
				size_t i = at_ + k_;                                               \
				body;                                                              \
			}                                                                          \
		for (size_t i = at_; i < (n); i++)                                                 \
			body;                                                                      \
	} while (0)

/* Adding one turns HT_NONE into 0. */
static bool all_below(const uint32_t *values, size_t n, uint32_t limit, bool none_allowed)
{
	uint32_t add = none_allowed, top = none_allowed ? limit : limit - 1, bad = 0;
	if (!limit && !none_allowed)
		return false;
	FOR_BLOCKS(0, n, bad |= values[i] + add > top);
	return !bad;
}

static bool all_u16_below(const uint16_t *values, size_t n, size_t limit)
{
	uint16_t bad = 0;
	if (limit > UINT16_MAX)
		return true;
	FOR_BLOCKS(0, n, bad |= values[i] >= (uint16_t)limit);
	return !bad;
}

static bool all_bytes_below(const uint8_t *values, size_t n, uint8_t limit)
{
	uint8_t bad = 0;
	FOR_BLOCKS(0, n, bad |= values[i] >= limit);
	return !bad;
}

static bool is_ascending(const uint32_t *values, size_t n)
{
	uint32_t bad = 0;
	FOR_BLOCKS(1, n, bad |= values[i] <= values[i - 1]);
	return !bad;
}

static bool are_times(const int64_t *ts_ns, size_t n)
{
	uint64_t bad = 0;
	/* shifted, so that one comparison does for both ends */
	const int64_t most = HT_MAX_TIME_NS - 1;
	const uint64_t low = (uint64_t)-most, width = 2 * (uint64_t)most;
	FOR_BLOCKS(0, n, bad |= (uint64_t)((uint64_t)ts_ns[i] - low > width));
	return !bad;
}

static bool are_durations(const int64_t *dur_ns, size_t n)
{
	uint64_t bad = 0;
	FOR_BLOCKS(0, n, bad |= (uint64_t)dur_ns[i] > (uint64_t)HT_MAX_DURATION_NS);
	return !bad;
}

/* HT_NONE turns into 0 again. */
static bool are_above(const uint32_t *parents, const uint32_t *rows, size_t n)
{
	uint32_t bad = 0;
	FOR_BLOCKS(0, n, bad |= parents[i] + 1 > rows[i]);
	return !bad;
}

static bool are_above_from(const uint32_t *parents, uint32_t first_row, size_t n)
{
	uint32_t bad = 0;
	FOR_BLOCKS(0, n, bad |= parents[i] + 1 > first_row + (uint32_t)i);
	return !bad;
}

const struct ht_check_loops HT_CHECK_LOOPS_NAME = { all_below, all_u16_below, all_bytes_below,
	is_ascending, are_times, are_durations, are_above, are_above_from };

#endif
#endif
