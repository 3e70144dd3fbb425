/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md5.c - see md5.h. Four rounds of sixteen steps over blocks of 64 bytes; the constants are the sines of the step numbers.
 */
#include "base/md5.h"

#include <stdio.h>
#include <string.h>

static const uint32_t sines[64] = {
	0xd76aa478,
	0xe8c7b756,
	0x242070db,
	0xc1bdceee,
	0xf57c0faf,
	0x4787c62a,
	0xa8304613,
	0xfd469501,
	0x698098d8,
	0x8b44f7af,
	0xffff5bb1,
	0x895cd7be,
	0x6b901122,
	0xfd987193,
	0xa679438e,
	0x49b40821,
	0xf61e2562,
	0xc040b340,
	0x265e5a51,
	0xe9b6c7aa,
	0xd62f105d,
	0x02441453,
	0xd8a1e681,
	0xe7d3fbc8,
	0x21e1cde6,
	0xc33707d6,
	0xf4d50d87,
	0x455a14ed,
	0xa9e3e905,
	0xfcefa3f8,
	0x676f02d9,
	0x8d2a4c8a,
	0xfffa3942,
	0x8771f681,
	0x6d9d6122,
	0xfde5380c,
	0xa4beea44,
	0x4bdecfa9,
	0xf6bb4b60,
	0xbebfbc70,
	0x289b7ec6,
	0xeaa127fa,
	0xd4ef3085,
	0x04881d05,
	0xd9d4d039,
	0xe6db99e5,
	0x1fa27cf8,
	0xc4ac5665,
	0xf4292244,
	0x432aff97,
	0xab9423a7,
	0xfc93a039,
	0x655b59c3,
	0x8f0ccc92,
	0xffeff47d,
	0x85845dd1,
	0x6fa87e4f,
	0xfe2ce6e0,
	0xa3014314,
	0x4e0811a1,
	0xf7537e82,
	0xbd3af235,
	0x2ad7d2bb,
	0xeb86d391,
};

static uint32_t word_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static void mix(uint32_t state[static 4], const uint8_t *block)
{
	static const uint8_t turns[4][4] = { { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 },
		{ 6, 10, 15, 21 } };
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
	for (unsigned i = 0; i < 64; i++) {
		uint32_t f;
		unsigned round = i / 16, at;
		if (round == 0) {
			f = (b & c) | (~b & d);
			at = i;
		} else if (round == 1) {
			f = (d & b) | (~d & c);
			at = (5 * i + 1) % 16;
		} else if (round == 2) {
			f = b ^ c ^ d;
			at = (3 * i + 5) % 16;
		} else {
			f = c ^ (b | ~d);
			at = (7 * i) % 16;
		}
		f += a + sines[i] + word_at(block + 4 * (size_t)at);
		a = d;
		d = c;
		c = b;
		b += f << turns[round][i % 4] | f >> (32 - turns[round][i % 4]);
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}

void ht_md5(const void *bytes, size_t n, char ret_hex[static 33])
{
	uint32_t state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
	const uint8_t *at = bytes;
	uint8_t last[128] = { 0 };
	size_t n_whole = n / 64 * 64, rest = n - n_whole, n_last = rest < 56 ? 64 : 128;
	for (size_t i = 0; i < n_whole; i += 64)
		mix(state, at + i);
	if (rest)
		memcpy(last, at + n_whole, rest);
	last[rest] = 0x80;
	for (size_t i = 0; i < 8; i++)
		last[n_last - 8 + i] = (uint8_t)((uint64_t)n * 8 >> 8 * i);
	for (size_t i = 0; i < n_last; i += 64)
		mix(state, last + i);
	for (size_t i = 0; i < 16; i++)
		snprintf(ret_hex + 2 * i, 3, "%02x", (unsigned)(state[i / 4] >> 8 * (i % 4) & 255));
}
