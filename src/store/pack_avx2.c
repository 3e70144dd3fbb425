/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_avx2.c - see table_bytes.h: looking at the values of a block, four at a time; built for x86-64 only.
 */
#include "store/bit_pack.h"

#include <immintrin.h>

static inline __m256i load(const uint64_t *values)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)values);
}

static void measure(const uint64_t *values, uint64_t *ret_any, uint64_t *ret_all)
{
	uint64_t any[4], all[4];
	__m256i sum = load(values), common = sum;
	for (unsigned i = 4; i < HT_PACK_VALUES; i += 4) {
		__m256i four = load(values + i);
		sum = _mm256_or_si256(sum, four);
		common = _mm256_and_si256(common, four);
	}
	_mm256_storeu_si256((__m256i *)(void *)any, sum);
	_mm256_storeu_si256((__m256i *)(void *)all, common);
	*ret_any = any[0] | any[1] | any[2] | any[3];
	*ret_all = all[0] & all[1] & all[2] & all[3];
}

static void mark(const uint64_t *values, uint64_t *ret_masks)
{
	const __m256i zero = _mm256_setzero_si256();
	for (unsigned first = 0; first < HT_PACK_VALUES; first += 64) {
		uint64_t zeros = 0;
		for (unsigned i = 0; i < 64; i += 4) {
			__m256i is_zero = _mm256_cmpeq_epi64(load(values + first + i), zero);
			uint64_t four = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(is_zero));
			zeros |= four << i;
		}
		ret_masks[first / 64] = ~zeros;
	}
}

const struct ht_pack_loops ht_pack_loops_avx2 = { measure, mark };
