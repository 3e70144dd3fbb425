/*
 * decimals_avx2.c - see decimals.h: sixteen bytes at once, those that end with the cell; built for x86-64 only.
 *
 *     bytes of the text    ....,31.620      the cell is at the end
 *     of the cell only     0000031.620      what is before it counts as zeros
 *     without its point    0000003 1620     what is before the point moves behind it
 *
 * Nothing depends on how long a cell is or where its point is, which cannot be guessed.
 */
#include "read/decimals.h"

#include "store/pack.h"

#include <immintrin.h>

/* Sixteen bytes from 16 - n on: which of sixteen are the last n. */
static const uint8_t lasts[32] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 };

/* Which byte comes where when byte i is left out, the last: none is; 255: a zero. */
static const uint8_t without[16][16] = {
	{ 255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 255, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 255, 0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 255, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 255, 0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 255, 0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 255, 0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 255, 0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 255, 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15 },
	{ 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15 },
	{ 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15 },
	{ 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15 },
	{ 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15 },
	{ 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15 },
	{ 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15 },
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
};

static inline __m128i load(const void *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

/* What to multiply by to have 15 more digits behind the point than i; 0: it has too many already. */
static const int64_t factors[31] = { [15] = 1,
	10,
	100,
	1000,
	10000,
	100000,
	1000000,
	10000000,
	100000000,
	1000000000,
	10000000000,
	100000000000,
	1000000000000,
	10000000000000,
	100000000000000,
	1000000000000000 };

#define ZERO 0x302e30u /* "0.0" */

/* Begins with a point, or with a zero but is no "0" and no "0.", which is not how numbers are written. What the first digit
 * is cannot be guessed. */
static inline bool begins_badly(uint32_t four, size_t n)
{
	uint32_t first = four & 0xff;
	return (first == '.') | ((first == '0') & ((four & 0xff00) != '.' << 8) & (n > 1));
}

/* Sixteen digits as two numbers of eight each. */
static inline uint64_t join_digits(__m128i digits)
{
	const __m128i tens = _mm_set1_epi16(0x010a), hundreds = _mm_set1_epi32(0x00010064);
	const __m128i ten_thousands = _mm_set1_epi32(0x00012710);
	__m128i twos = _mm_maddubs_epi16(digits, tens), fours = _mm_madd_epi16(twos, hundreds);
	__m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), ten_thousands);
	return (uint64_t)_mm_cvtsi128_si64(eights);
}

size_t ht_decimals_avx2(const struct ht_decimals *cells, uint8_t scale, int64_t *ret_values)
{
	const __m128i point = _mm_set1_epi8('.'), zero = _mm_set1_epi8('0');
	const __m128i nine = _mm_set1_epi8(9);
	const uint32_t *stop = cells->stops;
	const char *text = cells->text;
	const size_t n_cells = cells->n, stride = cells->stride, wanted = scale;
	for (size_t i = 0; i < n_cells; i++, stop += stride) {
		uint32_t start = stop[-1] + 1, four;
		size_t n = *stop - start;
		/* half of the counters of a kernel are those of units that it does not use */
		memcpy(&four, text + start, sizeof four);
		if (n == 3 && wanted && (four & 0xffffff) == ZERO) {
			ret_values[i] = 0;
			continue;
		}
		if (n - 1 > 14)
			return i;
		__m128i own = load(lasts + n), bytes = load(text + *stop - 16);
		__m128i points = _mm_and_si128(_mm_cmpeq_epi8(bytes, point), own);
		__m128i digits = _mm_and_si128(_mm_sub_epi8(bytes, zero), own);
		/* where the point is; that none is there is one at the end, which is bad */
		uint32_t marks = (uint32_t)_mm_movemask_epi8(points), end = 0x8000;
		size_t at = _tzcnt_u32(marks | end);
		digits = _mm_shuffle_epi8(digits, load(without[at]));
		__m128i large = _mm_subs_epu8(digits, nine);
		int64_t factor = factors[wanted + at];
		if (!_mm_testz_si128(large, large) || (marks & end) | (factor == 0) |
		                                              (n + wanted + at > 30) |
		                                              begins_badly(four, n))
			return i;
		uint64_t pair = join_digits(digits);
		ret_values[i] = (int64_t)((pair & UINT32_MAX) * 100000000 + (pair >> 32)) * factor;
	}
	return n_cells;
}
