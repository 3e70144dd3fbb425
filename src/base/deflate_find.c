/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deflate_find.c - where a deflate block starts, in the middle of a stream; see deflate.h.
 *
 * Blocks are not marked, and start at any bit. A dynamic block that is not the last starts with bits 0 0 1, numbers of
 * codes that are in range, and three codes that leave no bits without a meaning. Of random bits about one place in nine
 * passes the first two tests, which look at 48 places at a time, one in two thousand the first code, and practically none
 * all three. What is found may still be none, so that whoever uses it has to check it against where the block before ends.
 */
#include "base/deflate.h"

#define N_PLACES 48 /* looked at at once: 64 bits less those that a test looks ahead */

/* The places in a word where a header may start: bits 0 0 1, then five and five bits that are less than 30. */
static uint64_t likely_places(uint64_t w)
{
	uint64_t type = ~w & ~(w >> 1) & w >> 2;
	uint64_t many_literals = w >> 4 & w >> 5 & w >> 6 & w >> 7;
	uint64_t many_distances = w >> 9 & w >> 10 & w >> 11 & w >> 12;
	return type & ~many_literals & ~many_distances;
}

/* A length of a code takes a share of all codes, in 128ths; those of four lengths of three bits together. */
#define ONE(a)           ((a) ? 128 >> (a) : 0)
#define FOUR(a, b, c, d) (uint16_t)(ONE(a) + ONE(b) + ONE(c) + ONE(d))
#define OF_3(b, c, d)                                                                              \
	FOUR(0, b, c, d), FOUR(1, b, c, d), FOUR(2, b, c, d), FOUR(3, b, c, d), FOUR(4, b, c, d),  \
	        FOUR(5, b, c, d), FOUR(6, b, c, d), FOUR(7, b, c, d)
#define OF_2(c, d)                                                                                 \
	OF_3(0, c, d), OF_3(1, c, d), OF_3(2, c, d), OF_3(3, c, d), OF_3(4, c, d), OF_3(5, c, d),  \
	        OF_3(6, c, d), OF_3(7, c, d)
#define OF_1(d)                                                                                    \
	OF_2(0, d), OF_2(1, d), OF_2(2, d), OF_2(3, d), OF_2(4, d), OF_2(5, d), OF_2(6, d),        \
	        OF_2(7, d)

static const uint16_t shares[1 << 12] = { OF_1(0), OF_1(1), OF_1(2), OF_1(3), OF_1(4), OF_1(5),
	OF_1(6), OF_1(7) };

/* Do the lengths of the first code, at most 19 of three bits each, take all bits and no more? */
static bool has_whole_code(const uint8_t *bytes, uint64_t pos)
{
	unsigned n = ((unsigned)(ht_load_u64(bytes + (pos + 13) / 8) >> (pos + 13) % 8) & 15) + 4;
	uint64_t lengths = ht_load_u64(bytes + (pos + 17) / 8) >> (pos + 17) % 8;
	lengths &= ((uint64_t)1 << (3 * n)) - 1;
	return shares[lengths & 4095] + shares[lengths >> 12 & 4095] +
	               shares[lengths >> 24 & 4095] + shares[lengths >> 36 & 4095] +
	               shares[lengths >> 48] ==
	       128;
}

bool ht_deflate_find(
        struct ht_codes *scratch, struct ht_bits *in, uint64_t from, uint64_t to, uint64_t *ret_at)
{
	uint64_t n_bits = (uint64_t)(in->end - in->base) * 8;
	if (to > n_bits)
		to = n_bits;
	for (uint64_t word = from / 8 * 8; word < to; word += N_PLACES) {
		uint64_t places = likely_places(ht_load_u64(in->base + word / 8));
		places &= ((uint64_t)1 << N_PLACES) - 1;
		if (word < from)
			places &= ~(uint64_t)0 << (from - word);
		for (; places; places &= places - 1) {
			uint64_t pos = word + (unsigned)__builtin_ctzll(places);
			if (pos >= to)
				return false;
			if (!has_whole_code(in->base, pos))
				continue;
			ht_bits_seek(in, pos + 3);
			if (ht_codes_read(scratch, in) == HT_DEFLATE_OK && !ht_bits_are_over(in)) {
				*ret_at = pos;
				return true;
			}
		}
	}
	return false;
}
