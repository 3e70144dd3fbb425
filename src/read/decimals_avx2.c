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

/* Which byte comes where, by the place of the point. */
struct moves {
	uint8_t from[NO_POINT + 1][16]; /* of a byte beyond 127 a zero */
};

static inline __m128i load(const void *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

/* Two of sixteen bytes. */
static inline __m256i load_two(const void *low, const void *high)
{
	return _mm256_inserti128_si256(_mm256_castsi128_si256(load(low)), load(high), 1);
}

/* For so many digits behind the point. A point that has more behind it, or none, stays where it is, and is seen to be no
 * digit. */
static void make_moves(struct moves *moves, int scale)
{
	const __m128i stay = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	const __m128i is_behind = _mm_cmpgt_epi8(stay, _mm_set1_epi8((char)(15 - scale)));
	for (int at = 0; at <= NO_POINT; at++) {
		/* behind the point digits come from one place further */
		__m128i from = _mm_add_epi8(stay, _mm_set1_epi8((char)(at + scale - 16)));
		from = _mm_sub_epi8(from, is_behind);
		from = _mm_or_si128(from, _mm_cmpgt_epi8(from, _mm_set1_epi8(15)));
		if (at == 15 || at + scale < 15)
			from = stay;
		_mm_storeu_si128((__m128i *)(void *)moves->from[at], from);
	}
}

/* How long the cell is that ends at a stop. */
static inline uint32_t length(const uint32_t *stop)
{
	return *stop - (uint32_t)(stop[-1] + 1);
}

/* The digits of two cells at their places, fours of them as one number, and where their points are; *bad has bits where
 * they are no digits. */
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
	digits = _mm256_shuffle_epi8(digits, load_two(moves->from[point_a], moves->from[point_b]));
	*bad = _mm256_or_si256(*bad, _mm256_subs_epu8(digits, nine));
	*ret_point_a = point_a;
	*ret_point_b = point_b;
	return _mm256_madd_epi16(_mm256_maddubs_epi16(digits, tens), hundreds);
}

/* Below zero when the cell has too many digits for most of them before the point, or none there, or a zero that should not
 * be there. */
static inline int32_t find_fault(const char *end, uint32_t n, uint32_t point, int32_t most)
{
	int32_t more = (int32_t)(n + point) - 17; /* digits before the point but the first */
	int32_t starts_with_zero = (end[-(ptrdiff_t)n] ^ '0') - 1;
	return more | (most - more) | (starts_with_zero & -more);
}

/* Four cells from a stop on; false when one of them is no decimal. */
static inline bool read_four(const struct ht_decimals *cells, const uint32_t *stop, int32_t most,
        const struct moves *moves, int64_t *ret_values)
{
	const __m256i ten_thousands = _mm256_set1_epi32(0x00012710);
	const __m256i eight_places = _mm256_set1_epi64x(100000000);
	const size_t stride = cells->stride;
	uint32_t n0 = length(stop), n1 = length(stop + stride), n2 = length(stop + 2 * stride);
	uint32_t n3 = length(stop + 3 * stride), p0, p1, p2, p3;
	const char *end0 = cells->text + *stop, *end1 = cells->text + stop[stride];
	const char *end2 = cells->text + stop[2 * stride], *end3 = cells->text + stop[3 * stride];
	if ((n0 | n1 | n2 | n3) > 15)
		return false;
	__m256i bad = _mm256_setzero_si256();
	/* packing takes them in turns */
	__m256i even = read_two(end0, n0, end2, n2, moves, &bad, &p0, &p2);
	__m256i odd = read_two(end1, n1, end3, n3, moves, &bad, &p1, &p3);
	int32_t fault = find_fault(end0, n0, p0, most) | find_fault(end1, n1, p1, most) |
	                find_fault(end2, n2, p2, most) | find_fault(end3, n3, p3, most);
	if (fault < 0 || !_mm256_testz_si256(bad, bad))
		return false;
	__m256i eights = _mm256_madd_epi16(_mm256_packus_epi32(even, odd), ten_thousands);
	__m256i sum = _mm256_add_epi64(
	        _mm256_mul_epu32(eights, eight_places), _mm256_srli_epi64(eights, 32));
	_mm256_storeu_si256((__m256i *)(void *)ret_values, sum);
	return true;
}

size_t ht_decimals_avx2(const struct ht_decimals *cells, uint8_t scale, int64_t *ret_values)
{
	struct ht_decimals rest = *cells;
	struct moves moves;
	size_t i = 0;
	if (scale > 14)
		return 0;
	make_moves(&moves, scale);
	while (i + 4 <= cells->n &&
	        read_four(cells, rest.stops, 14 - scale, &moves, ret_values + i)) {
		rest.stops += 4 * cells->stride;
		i += 4;
	}
	rest.n = cells->n - i < 4 ? cells->n - i : 4;
	return i + ht_decimals_base(&rest, scale, ret_values + i);
}
