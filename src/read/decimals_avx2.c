/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimals_avx2.c - see decimals.h: four cells at once, of each the sixteen bytes that end with it; built for x86-64 only.
 *
 *     bytes of the text    ....,31.62       the cell is at the end
 *     of the cell only     00000031.62      what is before it counts as zeros
 *     over 10^3            0000000031620    what is before and behind the point moves to where its digits belong
 *
 * Nothing depends on how long a cell is or where its point is, which cannot be guessed. When one of four is no decimal, all
 * four are left to the other way.
 */
#include "read/decimals.h"

#include <immintrin.h>

#define NO_POINT 16 /* where the point of a whole number would be */

/* Sixteen bytes from 16 - n on: which of sixteen are the last n. */
static const uint8_t lasts[32] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 };

/* Which byte comes where, by the place of the point; of a byte beyond 127 a zero. */
struct moves {
	uint8_t from[NO_POINT + 1][16];
};

/* For so many digits behind the point: those behind it come from one place further. A point that has more behind it, or
 * none, stays where it is, and is seen to be no digit. */
#define PLACE(scale, at, to) ((to) + (at) + (scale)-16 + ((to) > 15 - (scale)))
#define IN_RANGE(place)      ((place) < 0 || (place) > 15 ? 255 : (place))
#define STAYS(scale, at)     ((at) == 15 || (at) + (scale) < 15)
#define FROM(scale, at, to)  (STAYS(scale, at) ? (to) : IN_RANGE(PLACE(scale, at, to)))
#define FOUR(scale, at, to)                                                                        \
	FROM(scale, at, to), FROM(scale, at, (to) + 1), FROM(scale, at, (to) + 2),                 \
	        FROM(scale, at, (to) + 3)
#define MOVE(scale, at)                                                                            \
	{                                                                                          \
		FOUR(scale, at, 0), FOUR(scale, at, 4), FOUR(scale, at, 8), FOUR(scale, at, 12)    \
	}
#define MOVES(scale)                                                                               \
	{                                                                                          \
		{                                                                                  \
			MOVE(scale, 0), MOVE(scale, 1), MOVE(scale, 2), MOVE(scale, 3),            \
			        MOVE(scale, 4), MOVE(scale, 5), MOVE(scale, 6), MOVE(scale, 7),    \
			        MOVE(scale, 8), MOVE(scale, 9), MOVE(scale, 10), MOVE(scale, 11),  \
			        MOVE(scale, 12), MOVE(scale, 13), MOVE(scale, 14),                 \
			        MOVE(scale, 15), MOVE(scale, 16)                                   \
		}                                                                                  \
	}
#define MAX_SCALE  14
#define MAX_DIGITS 15
static const struct moves moves_of[MAX_SCALE + 1] = { MOVES(0), MOVES(1), MOVES(2), MOVES(3),
	MOVES(4), MOVES(5), MOVES(6), MOVES(7), MOVES(8), MOVES(9), MOVES(10), MOVES(11), MOVES(12),
	MOVES(13), MOVES(14) };

static inline __m128i load(const void *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

/* Two of sixteen bytes. */
static inline __m256i load_two(const void *low, const void *high)
{
	return _mm256_inserti128_si256(_mm256_castsi128_si256(load(low)), load(high), 1);
}

/* How long the cell is that ends at a stop. */
static inline uint32_t length(const uint32_t *stop)
{
	return *stop - (uint32_t)(stop[-1] + 1);
}

/* The digits of two cells at their places, fours of them as one number, and where their points are; *bad has bits where
 * they are no digits, or begin with a point or with a zero that should not be there. */
static inline __m256i read_two(const char *end_a, uint32_t n_a, const char *end_b, uint32_t n_b,
        const struct moves *moves, __m256i *bad, uint32_t *ret_point_a, uint32_t *ret_point_b)
{
	const __m256i point = _mm256_set1_epi8('.'), zero = _mm256_set1_epi8('0');
	const __m256i nine = _mm256_set1_epi8(9), tens = _mm256_set1_epi16(0x010a);
	const __m256i hundreds = _mm256_set1_epi32(0x00010064);
	__m256i own = load_two(lasts + n_a, lasts + n_b);
	__m256i bytes = load_two(end_a - 16, end_b - 16);
	__m256i points = _mm256_and_si256(_mm256_cmpeq_epi8(bytes, point), own);
	__m256i digits = _mm256_and_si256(_mm256_sub_epi8(bytes, zero), own);
	uint32_t marks = (uint32_t)_mm256_movemask_epi8(points);
	uint32_t point_a = _tzcnt_u32(marks | 1u << NO_POINT);
	uint32_t point_b = _tzcnt_u32(marks >> 16 | 1u << NO_POINT);
	/* a zero in front that another digit follows */
	__m256i first = _mm256_andnot_si256(_mm256_slli_si256(own, 1), own);
	__m256i followed = _mm256_srli_si256(_mm256_andnot_si256(points, own), 1);
	__m256i zeros = _mm256_and_si256(_mm256_cmpeq_epi8(bytes, zero), followed);
	__m256i odd = _mm256_and_si256(first, _mm256_or_si256(points, zeros));
	digits = _mm256_shuffle_epi8(digits, load_two(moves->from[point_a], moves->from[point_b]));
	*bad = _mm256_or_si256(*bad, _mm256_or_si256(odd, _mm256_subs_epu8(digits, nine)));
	*ret_point_a = point_a;
	*ret_point_b = point_b;
	return _mm256_madd_epi16(_mm256_maddubs_epi16(digits, tens), hundreds);
}

/* Four cells of a column; false when one of them is no decimal. most: n and point of a cell with as many digits as there
 * may be. */
static inline bool read_four(const char *text, const uint32_t *const *rows, size_t column,
        uint32_t most, const struct moves *moves, int64_t *ret_values)
{
	const __m256i ten_thousands = _mm256_set1_epi32(0x00012710);
	const __m256i eight_places = _mm256_set1_epi64x(100000000);
	const uint32_t *stop0 = rows[0] + column, *stop1 = rows[1] + column;
	const uint32_t *stop2 = rows[2] + column, *stop3 = rows[3] + column;
	uint32_t n0 = length(stop0), n1 = length(stop1), n2 = length(stop2), n3 = length(stop3);
	uint32_t p0, p1, p2, p3;
	if (((n0 - 1) | (n1 - 1) | (n2 - 1) | (n3 - 1)) > 15)
		return false;
	__m256i bad = _mm256_setzero_si256();
	/* packing takes them in turns */
	__m256i even = read_two(text + *stop0, n0, text + *stop2, n2, moves, &bad, &p0, &p2);
	__m256i odd = read_two(text + *stop1, n1, text + *stop3, n3, moves, &bad, &p1, &p3);
	/* below zero: it is too long */
	uint32_t left = (most - n0 - p0) | (most - n1 - p1) | (most - n2 - p2) | (most - n3 - p3);
	if (left >> 31 || !_mm256_testz_si256(bad, bad))
		return false;
	__m256i eights = _mm256_madd_epi16(_mm256_packus_epi32(even, odd), ten_thousands);
	__m256i sum = _mm256_add_epi64(
	        _mm256_mul_epu32(eights, eight_places), _mm256_srli_epi64(eights, 32));
	_mm256_storeu_si256((__m256i *)(void *)ret_values, sum);
	return true;
}

size_t ht_decimals_avx2(const char *text, const uint32_t *const *rows, size_t n, size_t column,
        uint8_t scale, int64_t *ret_values)
{
	const struct moves *moves = &moves_of[scale <= MAX_SCALE ? scale : 0];
	const uint32_t most = MAX_DIGITS + NO_POINT - scale;
	size_t i = 0;
	while (scale <= MAX_SCALE && n >= 4 && i < n) {
		/* the last up to three are read with some before them once more */
		size_t first = i < n - 4 ? i : n - 4;
		if (!read_four(text, rows + first, column, most, moves, ret_values + first))
			break;
		i = first + 4;
	}
	return i + ht_decimals_base(
	                   text, rows + i, n - i < 4 ? n - i : 4, column, scale, ret_values + i);
}
