/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_index.inc.h - the index of csv_index.h, compiled once per instruction set.
 *
 * The includer defines HT_CSV_INDEX, the function's name, and HT_SIMD_AVX2 where it may be used. What every
 * processor of its kind has (SSE2, NEON) is used unasked.
 */
#include "read/csv_index.h"

#if defined(HT_SIMD_AVX2)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* Bytes of a block of 64 that matter, a bit each. */
struct marks {
	uint64_t commas, lines, quotes;
};

#if defined(HT_SIMD_AVX2)
static inline uint64_t equal(__m256i low, __m256i high, char c)
{
	const __m256i wanted = _mm256_set1_epi8(c);
	uint32_t first = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted));
	uint32_t second = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted));
	return (uint64_t)second << 32 | first;
}

static inline struct marks read_marks(const char *p)
{
	__m256i low = _mm256_loadu_si256((const __m256i *)(const void *)p);
	__m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));
	return (struct marks){ equal(low, high, ','), equal(low, high, '\n'),
		equal(low, high, '"') };
}
#elif defined(__SSE2__)
static inline uint64_t equal(__m128i bytes, char c)
{
	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
}

static inline struct marks read_marks(const char *p)
{
	struct marks marks = { 0, 0, 0 };
	for (unsigned i = 0; i < 64; i += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		marks.commas |= equal(bytes, ',') << i;
		marks.lines |= equal(bytes, '\n') << i;
		marks.quotes |= equal(bytes, '"') << i;
	}
	return marks;
}
#elif defined(__ARM_NEON)
/* One bit per byte: each keeps the bit of its place among eight, which are then added up. */
static inline uint64_t equal(const uint8x16_t *bytes, char c)
{
	static const uint8_t places[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64,
		128 };
	const uint8x16_t place = vld1q_u8(places), wanted = vdupq_n_u8((uint8_t)c);
	uint8x16_t first = vpaddq_u8(vandq_u8(vceqq_u8(bytes[0], wanted), place),
	        vandq_u8(vceqq_u8(bytes[1], wanted), place));
	uint8x16_t second = vpaddq_u8(vandq_u8(vceqq_u8(bytes[2], wanted), place),
	        vandq_u8(vceqq_u8(bytes[3], wanted), place));
	first = vpaddq_u8(first, second);
	return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(first, first)), 0);
}

static inline struct marks read_marks(const char *p)
{
	uint8x16_t bytes[4];
	for (unsigned i = 0; i < 4; i++)
		bytes[i] = vld1q_u8((const uint8_t *)p + 16 * i);
	return (struct marks){ equal(bytes, ','), equal(bytes, '\n'), equal(bytes, '"') };
}
#else
static inline struct marks read_marks(const char *p)
{
	struct marks marks = { 0, 0, 0 };
	for (unsigned i = 0; i < 64; i++) {
		marks.commas |= (uint64_t)(p[i] == ',') << i;
		marks.lines |= (uint64_t)(p[i] == '\n') << i;
		marks.quotes |= (uint64_t)(p[i] == '"') << i;
	}
	return marks;
}
#endif

/* Bit i: is the number of ones up to bit i odd? */
static inline uint64_t prefix_xor(uint64_t bits)
{
#if defined(HT_SIMD_AVX2)
	return (uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128(
	        _mm_set_epi64x(0, (long long)bits), _mm_set1_epi8((char)0xff), 0));
#else
	for (int shift = 1; shift < 64; shift *= 2)
		bits ^= bits << shift;
	return bits;
#endif
}

/* What a block has to know of the one before. */
struct carry {
	uint64_t inside;     /* all ones: it ended between quotes */
	uint64_t may_open;   /* 1: its last byte was a stop or a quote */
	uint64_t must_close; /* 1: its last byte was a quote that closes */
};

/* The stops of a block; *ret_odd: quotes that are not where they should be. */
static inline uint64_t find_stops(const struct marks *marks, struct carry *carry, uint64_t *ret_odd)
{
	uint64_t quotes = marks->quotes, inside = prefix_xor(quotes) ^ carry->inside;
	uint64_t stops = (marks->commas | marks->lines) & ~inside;
	uint64_t closes = quotes & ~inside;
	uint64_t opens_badly = quotes & inside & ~((stops | quotes) << 1 | carry->may_open);
	uint64_t goes_on = (closes << 1 | carry->must_close) & ~(stops | quotes);
	carry->inside = 0 - (inside >> 63);
	carry->may_open = (stops | quotes) >> 63;
	carry->must_close = closes >> 63;
	*ret_odd = opens_badly | goes_on;
	return stops;
}

/* The place of the lowest bit, which is taken away; of none some place. */
static inline uint32_t take_lowest(uint64_t *bits)
{
#if defined(HT_SIMD_AVX2)
	uint32_t place = (uint32_t)_tzcnt_u64(*bits);
#else
	uint32_t place = (uint32_t)__builtin_ctzll(*bits | (uint64_t)1 << 63);
#endif
	*bits &= *bits - 1;
	return place;
}

static inline void put_four(uint32_t *out, uint32_t base, uint64_t *bits)
{
	out[0] = base + take_lowest(bits);
	out[1] = base + take_lowest(bits);
	out[2] = base + take_lowest(bits);
	out[3] = base + take_lowest(bits);
}

/* The places of n bits and some more: how many there are cannot be guessed, whether they are many can. */
static inline void put_stops(uint32_t *out, uint32_t base, uint64_t bits, unsigned n)
{
	put_four(out, base, &bits);
	put_four(out + 4, base, &bits);
	put_four(out + 8, base, &bits);
	for (unsigned i = 12; i < n; i += 4)
		put_four(out + i, base, &bits);
}

/* Which stops of a block end rows, counted from first on; mostly there is one or none. */
static inline size_t put_lines(uint32_t *out, uint32_t first, uint64_t stops, uint64_t lines)
{
	size_t n = lines != 0;
	do {
		uint64_t before = stops & ((lines & (0 - lines)) - 1);
		*out++ = first + (uint32_t)__builtin_popcountll(before);
		lines &= lines - 1;
		n += lines != 0;
	} while (lines);
	return n;
}

void HT_CSV_INDEX(const char *text, size_t n, struct ht_csv_index *index)
{
	struct carry carry = { 0, 1, 0 };
	uint32_t *stop = index->stops;
	index->n_lines = 0;
	index->before = UINT32_MAX;
	for (size_t at = 0; at < n; at += 64) {
		struct marks marks = read_marks(text + at);
		uint64_t odd, stops = find_stops(&marks, &carry, &odd);
		if (odd || n - at < 64) {
			uint64_t own = n - at < 64 ? ((uint64_t)1 << (n - at)) - 1 : ~(uint64_t)0;
			odd &= own;
			stops &= odd ? own & ((odd & (0 - odd)) - 1) : own;
		}
		index->n_lines += put_lines(index->lines + index->n_lines,
		        (uint32_t)(stop - index->stops), stops, marks.lines & stops);
		unsigned n_new = (unsigned)__builtin_popcountll(stops);
		put_stops(stop, (uint32_t)at, stops, n_new);
		stop += n_new;
		if (odd)
			break;
	}
	index->n_stops = (size_t)(stop - index->stops);
}
