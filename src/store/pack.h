/*
 * pack.h - columns of many values in few bits: blocks of HT_PACK_VALUES, each with the bits that its range needs.
 *
 *   value i of a block = base + the i-th group of n_bits bits of the words from first_word on
 *
 * A double with few decimals, as tables have them, is the whole number without its point, over 10^scale: the quotient of
 * two numbers that a double holds exactly is the double nearest to the decimal, which is what reading it gives. A block
 * in which one is not like that has scale HT_PACK_RAW and the bits of doubles. Blocks of one value take no words.
 */
#ifndef HT_STORE_PACK_H
#define HT_STORE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HT_PACK_VALUES    256
#define HT_PACK_MAX_SCALE 15
#define HT_PACK_RAW       255

struct ht_pack_block {
	int64_t base;
	uint64_t first_word : 48;
	uint64_t n_bits : 8;
	uint64_t scale : 8;
};
_Static_assert(sizeof(struct ht_pack_block) == 16, "blocks are written as they are");

/* Powers of ten, and the whole numbers that are at most 2^53 when they are multiplied by them. */
extern const double ht_pack_powers[HT_PACK_MAX_SCALE + 1];
extern const int64_t ht_pack_factors[HT_PACK_MAX_SCALE + 1], ht_pack_rooms[HT_PACK_MAX_SCALE + 1];

static inline uint64_t ht_pack_n_blocks(uint64_t n_values)
{
	return n_values / HT_PACK_VALUES + (n_values % HT_PACK_VALUES != 0);
}

/* The value of a block as a whole number; words has one more behind those of the block. */
static inline int64_t ht_pack_i64(
        const struct ht_pack_block *block, const uint64_t *words, unsigned i)
{
	uint64_t at = (uint64_t)i * block->n_bits, shift = at % 64;
	if (!block->n_bits)
		return block->base;
	const uint64_t *word = words + block->first_word + at / 64;
	uint64_t bits = *word >> shift;
	if (shift)
		bits |= word[1] << (64 - shift);
	bits &= ~(uint64_t)0 >> (64 - block->n_bits);
	return (int64_t)((uint64_t)block->base + bits);
}

/* The same of a column of doubles. */
static inline double ht_pack_f64(
        const struct ht_pack_block *block, const uint64_t *words, unsigned i)
{
	int64_t whole = ht_pack_i64(block, words, i);
	double value;
	if (block->scale != HT_PACK_RAW)
		return (double)whole / ht_pack_powers[block->scale];
	memcpy(&value, &whole, sizeof value);
	return value;
}

#endif
