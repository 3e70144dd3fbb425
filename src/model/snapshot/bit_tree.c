/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bit_tree.c - see bit_tree.h.
 */
#include "model/snapshot/bit_tree.h"

bool ht_bit_tree_init(struct ht_bit_tree *tree, struct ht_arena *arena, size_t n)
{
	*tree = (struct ht_bit_tree){ 0 };
	for (size_t level = 0; level < HT_BIT_LEVELS; level++) {
		n = n / 64 + 1;
		tree->n_words[level] = n;
		tree->levels[level] = ht_arena_alloc(arena, n * sizeof(uint64_t));
		if (!tree->levels[level])
			return false;
		if (n == 1)
			break;
	}
	return true;
}

void ht_bit_tree_add(struct ht_bit_tree *tree, size_t i)
{
	for (size_t level = 0; level < HT_BIT_LEVELS && tree->levels[level]; level++, i /= 64)
		tree->levels[level][i / 64] |= (uint64_t)1 << i % 64;
}

void ht_bit_tree_remove(struct ht_bit_tree *tree, size_t i)
{
	for (size_t level = 0; level < HT_BIT_LEVELS && tree->levels[level]; level++, i /= 64) {
		tree->levels[level][i / 64] &= ~((uint64_t)1 << i % 64);
		if (tree->levels[level][i / 64])
			return;
	}
}

size_t ht_bit_tree_next(const struct ht_bit_tree *tree, size_t i)
{
	size_t level = 0;
	uint64_t later = 0;
	/* up to a word with a later bit, then down along the first bits */
	for (; level < HT_BIT_LEVELS && i / 64 < tree->n_words[level]; level++) {
		later = tree->levels[level][i / 64] >> i % 64;
		if (later)
			break;
		i = i / 64 + 1;
	}
	if (!later)
		return SIZE_MAX;
	i += (size_t)__builtin_ctzll(later);
	for (; level > 0; level--)
		i = i * 64 + (size_t)__builtin_ctzll(tree->levels[level - 1][i]);
	return i;
}

size_t ht_bit_tree_prev(const struct ht_bit_tree *tree, size_t i)
{
	size_t level = 0;
	uint64_t earlier = 0;
	/* the same along the last bits */
	for (; level < HT_BIT_LEVELS && tree->levels[level]; level++) {
		earlier = tree->levels[level][i / 64] << (63 - i % 64);
		if (earlier || i < 64)
			break;
		i = i / 64 - 1;
	}
	if (!earlier)
		return SIZE_MAX;
	i -= (size_t)__builtin_clzll(earlier);
	for (; level > 0; level--)
		i = i * 64 + 63 - (size_t)__builtin_clzll(tree->levels[level - 1][i]);
	return i;
}
