/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimals.c - see decimals.h: for every processor, eight digits of a word at once; and the choice between the two.
 */
#include "read/decimals.h"

#include "base/cpu.h"
#include "base/number.h"
#include "store/bit_pack.h"

static inline uint64_t find_points(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101u;
	word ^= ones * '.';
	return (word - ones) & ~word & (ones * 0x80);
}

/* A decimal of 1 to 8 bytes: value / 10^scale. The point is taken out and zeros are put in front, so that it is eight
 * digits; nothing here depends on where the point is, which cannot be guessed. */
static inline bool read_short(uint64_t word, size_t n, int64_t *ret_value, uint8_t *ret_scale)
{
	const uint64_t zeros = 0x3030303030303030u;
	size_t n_digits = n, scale = 0;
	uint64_t point = find_points(word);
	if (n > 1 && (word & 0xff) == '0' && (word >> 8 & 0xff) != '.')
		return false;
	if (point) {
		size_t at = (size_t)__builtin_ctzll(point) / 8;
		uint64_t before = ht_first_bytes(word, at);
		n_digits = n - 1;
		scale = n_digits - at;
		if (!at || !scale)
			return false;
		word = before | (word >> (at * 8) >> 8) << (at * 8);
	}
	if (n_digits < 8)
		word = word << (64 - n_digits * 8) | zeros >> (n_digits * 8);
	*ret_value = ht_eight_digits_of(word);
	*ret_scale = (uint8_t)scale;
	return *ret_value >= 0;
}

/* The same of 9 to 16 bytes, of which 15 are digits at most. */
static inline bool read_long(const char *p, size_t n, int64_t *ret_value, uint8_t *ret_scale)
{
	const uint64_t zeros = 0x3030303030303030u;
	uint64_t low = ht_eight_bytes(p), high = ht_first_bytes(ht_eight_bytes(p + 8), n - 8);
	uint64_t low_points = find_points(low), high_points = find_points(high);
	unsigned __int128 digits = (unsigned __int128)high << 64 | low;
	size_t n_digits = n, scale = 0;
	if (*p == '0' && p[1] != '.')
		return false;
	if (low_points || high_points) {
		size_t at = low_points ? (size_t)__builtin_ctzll(low_points) / 8
		                       : 8 + (size_t)__builtin_ctzll(high_points) / 8;
		unsigned __int128 before = digits & (((unsigned __int128)1 << at * 8) - 1);
		n_digits = n - 1;
		scale = n_digits - at;
		if (!at || !scale)
			return false;
		digits = before | (digits >> (at * 8) >> 8) << (at * 8);
	}
	if (n_digits > 15)
		return false;
	digits = digits << (128 - n_digits * 8) |
	         ((unsigned __int128)zeros << 64 | zeros) >> (n_digits * 8);
	int64_t first = ht_eight_digits_of((uint64_t)digits);
	int64_t second = ht_eight_digits_of((uint64_t)(digits >> 64));
	*ret_value = first * 100000000 + second;
	*ret_scale = (uint8_t)scale;
	return first >= 0 && second >= 0;
}

bool ht_decimal_read(const char *p, size_t n, int64_t *ret_value, uint8_t *ret_scale)
{
	if (n - 1 < 8)
		return read_short(ht_first_bytes(ht_eight_bytes(p), n), n, ret_value, ret_scale);
	return n && n <= 16 && read_long(p, n, ret_value, ret_scale);
}

size_t ht_decimals_base(const char *text, const uint32_t *const *rows, size_t n, size_t column,
        uint8_t scale, int64_t *ret_values)
{
	for (size_t i = 0; i < n; i++) {
		const uint32_t *stop = rows[i] + column;
		uint32_t start = stop[-1] + 1, n_bytes = *stop - start;
		uint8_t own;
		if (!ht_decimal_read(text + start, n_bytes, &ret_values[i], &own) || own > scale ||
		        n_bytes - (own > 0) + scale - own > 15)
			return i;
		ret_values[i] *= ht_pack_factors[scale - own];
	}
	return n;
}

ht_decimals_fn ht_decimals_best(void)
{
#if defined(__x86_64__)
	if (ht_cpu_has_avx2())
		return ht_decimals_avx2;
#endif
	return ht_decimals_base;
}
