/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_bytes.h - columns of many values in few bits: blocks of HT_PACK_VALUES, each with the bits that its range needs.
 *
 *   value i of a block = base + the i-th group of n_bits bits of the words from first_word on
 *
 * A double with few decimals, as tables have them, is the whole number without its point, over 10^scale: the quotient of
 * two numbers that a double holds exactly is the double nearest to the decimal, which is what reading it gives. A block
 * in which one is not like that has scale HT_PACK_RAW and the bits of doubles. Blocks of one value take no words.
 *
 * A block with many zeros, as counters of units that a kernel does not use are, has groups for the others only (n_bits
 * has HT_PACK_SPARSE). Before them stands which values these are: a word that says how many there are before each
 * 64 values, 16 bits each, then a bit for every value.
 */
#ifndef HT_STORE_BIT_PACK_H
#define HT_STORE_BIT_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HT_PACK_VALUES    256
#define HT_PACK_MAX_SCALE 15
#define HT_PACK_RAW       255
#define HT_PACK_SPARSE    128
#define HT_PACK_MASKS     (HT_PACK_VALUES / 64)

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

/* Loops over the HT_PACK_VALUES values of a block, for every processor and for some. They agree. */
struct ht_pack_loops {
	/* the bits that some value has, and those that all have */
	void (*measure)(const uint64_t *values, uint64_t *ret_any, uint64_t *ret_all);
	/* HT_PACK_MASKS words: which values are not zero */
	void (*mark)(const uint64_t *values, uint64_t *ret_masks);
};
extern const struct ht_pack_loops ht_pack_loops_any, ht_pack_loops_avx2;
/* The best ones for this CPU. */
const struct ht_pack_loops *ht_pack_loops(void);

/* How a block will be written. */
struct ht_pack_plan {
	struct ht_pack_block block; /* but for its first word */
	unsigned n_values, n_others;
	uint64_t others[HT_PACK_MASKS]; /* of a sparse one: which values are not zero */
	size_t n_words;
	bool is_sparse;
};

/* Of 1 to HT_PACK_VALUES values over 10^scale; zeros that all decimals end with are dropped. There is room for
 * HT_PACK_VALUES, and what lies behind them is lost. */
void ht_pack_plan(int64_t *values, unsigned n, uint8_t scale, struct ht_pack_plan *ret_plan);
/* The words of a block that has some; the values are lost. */
void ht_pack_write(const struct ht_pack_plan *plan, int64_t *values, uint64_t *ret_words);

/* The i-th group of bits; words has one more behind those of the block. */
static inline uint64_t ht_pack_group(const uint64_t *words, unsigned n_bits, unsigned i)
{
	uint64_t at = (uint64_t)i * n_bits, shift = at % 64;
	const uint64_t *word = words + at / 64;
	uint64_t bits = *word >> shift;
	if (shift)
		bits |= word[1] << (64 - shift);
	return bits & ~(uint64_t)0 >> (64 - n_bits);
}

/* The number of ones, without the instruction that some processors lack. */
static inline unsigned ht_pack_count(uint64_t bits)
{
	bits -= bits >> 1 & 0x5555555555555555u;
	bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
	bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (unsigned)(bits * 0x0101010101010101u >> 56);
}

/* The value of a block as a whole number. */
static inline int64_t ht_pack_i64(
        const struct ht_pack_block *block, const uint64_t *words, unsigned i)
{
	if (!block->n_bits)
		return block->base;
	words += block->first_word;
	if (block->n_bits < HT_PACK_SPARSE)
		return (int64_t)((uint64_t)block->base + ht_pack_group(words, block->n_bits, i));
	uint64_t mask = words[1 + i / 64], bit = (uint64_t)1 << i % 64;
	if (!(mask & bit))
		return block->base;
	unsigned before = (words[0] >> i / 64 * 16 & 0xffff) + ht_pack_count(mask & (bit - 1));
	return (int64_t)((uint64_t)block->base + ht_pack_group(words + 1 + HT_PACK_MASKS,
	                                                 block->n_bits - HT_PACK_SPARSE, before));
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
