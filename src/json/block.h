/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block.h - find the next byte that matters, a block at a time.
 *
 * Included by one file per instruction set: HT_SIMD_AVX2, HT_SIMD_SSE2, HT_SIMD_NEON, or none for the scalar twin;
 * block_base.h takes what every processor of the architecture has. All return the same pointers. Text must be followed by HT_PADDING zero bytes: reads may run
 * past the end, and the zero stops every search.
 */
#ifndef HT_JSON_BLOCK_H
#define HT_JSON_BLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HT_PADDING 64

#if defined(HT_SIMD_AVX2)
#include <immintrin.h>

/* First byte that is a quote, a backslash, a control byte or not ASCII. */
static inline const char *ht_string_stop(const char *p)
{
	const __m256i quote = _mm256_set1_epi8('"'), slash = _mm256_set1_epi8('\\');
	const __m256i space = _mm256_set1_epi8(' ');
	for (;; p += 32) {
		__m256i b = _mm256_loadu_si256((const __m256i *)(const void *)p);
		/* signed compare: control bytes and bytes from 0x80 are both below ' ' */
		__m256i hit = _mm256_or_si256(_mm256_cmpgt_epi8(space, b),
		        _mm256_or_si256(_mm256_cmpeq_epi8(b, quote), _mm256_cmpeq_epi8(b, slash)));
		uint32_t mask = (uint32_t)_mm256_movemask_epi8(hit);
		if (mask)
			return p + __builtin_ctz(mask);
	}
}

/* First byte that is a quote, a bracket or brace, or zero. */
static inline const char *ht_structure_stop(const char *p)
{
	const __m256i quote = _mm256_set1_epi8('"'), fold = _mm256_set1_epi8(0x20);
	const __m256i open = _mm256_set1_epi8('{'), close = _mm256_set1_epi8('}');
	const __m256i zero = _mm256_setzero_si256();
	for (;; p += 32) {
		__m256i b = _mm256_loadu_si256((const __m256i *)(const void *)p);
		__m256i f = _mm256_or_si256(b, fold);
		__m256i hit = _mm256_or_si256(
		        _mm256_or_si256(_mm256_cmpeq_epi8(f, open), _mm256_cmpeq_epi8(f, close)),
		        _mm256_or_si256(_mm256_cmpeq_epi8(b, quote), _mm256_cmpeq_epi8(b, zero)));
		uint32_t mask = (uint32_t)_mm256_movemask_epi8(hit);
		if (mask)
			return p + __builtin_ctz(mask);
	}
}

/* What matters in a block of HT_BLOCK bytes, a bit per byte. */
#define HT_BLOCK 32
struct ht_block {
	uint32_t quotes, opens, closes, stops; /* stops: backslashes and zeros */
};

static inline struct ht_block ht_block_read(const char *p)
{
	const __m256i fold = _mm256_set1_epi8(0x20), zero = _mm256_setzero_si256();
	__m256i b = _mm256_loadu_si256((const __m256i *)(const void *)p);
	__m256i f = _mm256_or_si256(b, fold);
	__m256i stop = _mm256_or_si256(
	        _mm256_cmpeq_epi8(b, _mm256_set1_epi8('\\')), _mm256_cmpeq_epi8(b, zero));
	return (struct ht_block){
		(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, _mm256_set1_epi8('"'))),
		(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(f, _mm256_set1_epi8('{'))),
		(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(f, _mm256_set1_epi8('}'))),
		(uint32_t)_mm256_movemask_epi8(stop),
	};
}

/* Do n bytes agree, 1 to HT_PADDING? Both need HT_PADDING readable bytes. One answer for all lengths: the places of
 * events differ in theirs. */
static inline bool ht_same_text(const char *p, const char *q, uint32_t n)
{
	__m256i a = _mm256_loadu_si256((const __m256i *)(const void *)p);
	__m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));
	a = _mm256_cmpeq_epi8(a, _mm256_loadu_si256((const __m256i *)(const void *)q));
	b = _mm256_cmpeq_epi8(b, _mm256_loadu_si256((const __m256i *)(const void *)(q + 32)));
	uint64_t same = (uint32_t)_mm256_movemask_epi8(a) |
	                (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32;
	return !(~same << (64 - n));
}

#elif defined(HT_SIMD_SSE2)
#include <emmintrin.h>

static inline const char *ht_string_stop(const char *p)
{
	const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
	const __m128i space = _mm_set1_epi8(' ');
	for (;; p += 16) {
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i hit = _mm_or_si128(_mm_cmplt_epi8(b, space),
		        _mm_or_si128(_mm_cmpeq_epi8(b, quote), _mm_cmpeq_epi8(b, slash)));
		unsigned mask = (unsigned)_mm_movemask_epi8(hit);
		if (mask)
			return p + __builtin_ctz(mask);
	}
}

static inline const char *ht_structure_stop(const char *p)
{
	const __m128i quote = _mm_set1_epi8('"'), fold = _mm_set1_epi8(0x20);
	const __m128i open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}');
	for (;; p += 16) {
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i f = _mm_or_si128(b, fold);
		__m128i hit = _mm_or_si128(
		        _mm_or_si128(_mm_cmpeq_epi8(f, open), _mm_cmpeq_epi8(f, close)),
		        _mm_or_si128(
		                _mm_cmpeq_epi8(b, quote), _mm_cmpeq_epi8(b, _mm_setzero_si128())));
		unsigned mask = (unsigned)_mm_movemask_epi8(hit);
		if (mask)
			return p + __builtin_ctz(mask);
	}
}

/* What arrays are made of in a block of HT_BRACKETS bytes, a bit per byte. */
#define HT_BRACKETS 32
struct ht_brackets {
	uint32_t quotes, opens, closes;
	uint32_t objects; /* braces and colons */
	uint32_t stops;   /* backslashes and zeros */
};

/* Bits of the bytes that are c, of two halves of a block. */
static inline uint32_t ht_bits_of(__m128i low, __m128i high, char c)
{
	const __m128i wanted = _mm_set1_epi8(c);
	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(low, wanted)) |
	       (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(high, wanted)) << 16;
}

static inline struct ht_brackets ht_brackets_read(const char *p)
{
	__m128i low = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i high = _mm_loadu_si128((const __m128i *)(const void *)(p + 16));
	return (struct ht_brackets){
		ht_bits_of(low, high, '"'),
		ht_bits_of(low, high, '['),
		ht_bits_of(low, high, ']'),
		ht_bits_of(low, high, '{') | ht_bits_of(low, high, '}') |
		        ht_bits_of(low, high, ':'),
		ht_bits_of(low, high, '\\') | ht_bits_of(low, high, 0),
	};
}

static inline bool ht_same_text(const char *p, const char *q, uint32_t n)
{
	for (;; p += 16, q += 16, n -= 16) {
		__m128i a = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)q);
		unsigned differ = ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) & 0xffff;
		if (n <= 16)
			return !(n < 16 ? differ & ((1u << n) - 1) : differ);
		if (differ)
			return false;
	}
}

#elif defined(HT_SIMD_NEON)
#include <arm_neon.h>

/* Four bits per byte of a comparison result. */
static inline uint64_t ht_neon_mask(uint8x16_t hit)
{
	return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(hit), 4)), 0);
}

static inline const char *ht_string_stop(const char *p)
{
	const uint8x16_t quote = vdupq_n_u8('"'), slash = vdupq_n_u8('\\');
	const int8x16_t space = vdupq_n_s8(' ');
	for (;; p += 16) {
		uint8x16_t b = vld1q_u8((const uint8_t *)p);
		uint8x16_t hit = vorrq_u8(vcltq_s8(vreinterpretq_s8_u8(b), space),
		        vorrq_u8(vceqq_u8(b, quote), vceqq_u8(b, slash)));
		uint64_t mask = ht_neon_mask(hit);
		if (mask)
			return p + (__builtin_ctzll(mask) >> 2);
	}
}

static inline const char *ht_structure_stop(const char *p)
{
	const uint8x16_t quote = vdupq_n_u8('"'), fold = vdupq_n_u8(0x20);
	const uint8x16_t open = vdupq_n_u8('{'), close = vdupq_n_u8('}');
	for (;; p += 16) {
		uint8x16_t b = vld1q_u8((const uint8_t *)p);
		uint8x16_t f = vorrq_u8(b, fold);
		uint8x16_t hit = vorrq_u8(vorrq_u8(vceqq_u8(f, open), vceqq_u8(f, close)),
		        vorrq_u8(vceqq_u8(b, quote), vceqzq_u8(b)));
		uint64_t mask = ht_neon_mask(hit);
		if (mask)
			return p + (__builtin_ctzll(mask) >> 2);
	}
}

static inline bool ht_same_text(const char *p, const char *q, uint32_t n)
{
	for (;; p += 16, q += 16, n -= 16) {
		uint8x16_t a = vld1q_u8((const uint8_t *)p), b = vld1q_u8((const uint8_t *)q);
		uint64_t differ = ~ht_neon_mask(vceqq_u8(a, b));
		if (n <= 16)
			return !(n < 16 ? differ & (((uint64_t)1 << 4 * n) - 1) : differ);
		if (differ)
			return false;
	}
}

#else

static inline bool ht_same_text(const char *p, const char *q, uint32_t n)
{
	return memcmp(p, q, n) == 0;
}

static inline const char *ht_string_stop(const char *p)
{
	while ((signed char)*p >= ' ' && *p != '"' && *p != '\\')
		p++;
	return p;
}

static inline const char *ht_structure_stop(const char *p)
{
	while (*p && *p != '"' && (*p | 0x20) != '{' && (*p | 0x20) != '}')
		p++;
	return p;
}

#endif

/* Bit i: is the number of ones up to bit i odd? */
static inline uint32_t ht_prefix_xor(uint32_t bits)
{
#if defined(HT_SIMD_AVX2)
	__m128i word = _mm_cvtsi32_si128((int)bits);
	return (uint32_t)_mm_cvtsi128_si32(_mm_clmulepi64_si128(word, _mm_set1_epi8(-1), 0));
#else
	for (int shift = 1; shift < 32; shift *= 2)
		bits ^= bits << shift;
	return bits;
#endif
}

static inline const char *ht_skip_space(const char *p)
{
	if ((unsigned char)*p > ' ')
		return p;
	for (;;) {
		/* line breaks are followed by indentation: four at a time */
		uint32_t four;
		memcpy(&four, p, sizeof four);
		if (four == 0x20202020)
			p += 4;
		else if (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
			p++;
		else
			return p;
	}
}

#endif
