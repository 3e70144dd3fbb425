/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bit_tree.h - a set of small numbers that is asked for the next one, or the one before: 64 numbers a word, 64 words a word above it.
 */
#ifndef HT_MODEL_SNAPSHOT_BIT_TREE_H
#define HT_MODEL_SNAPSHOT_BIT_TREE_H

#include "base/arena.h"

#define HT_BIT_LEVELS 6

struct ht_bit_tree {
	uint64_t *levels[HT_BIT_LEVELS]; /* the lowest first; NULL beyond the top */
	size_t n_words[HT_BIT_LEVELS];
};

/* Empty, for numbers below n < 2^36. False when out of memory, which is the arena's. */
bool ht_bit_tree_init(struct ht_bit_tree *tree, struct ht_arena *arena, size_t n);
void ht_bit_tree_add(struct ht_bit_tree *tree, size_t i);
void ht_bit_tree_remove(struct ht_bit_tree *tree, size_t i);
/* The least number of the set that is at least i; SIZE_MAX when there is none. */
size_t ht_bit_tree_next(const struct ht_bit_tree *tree, size_t i);
/* The greatest number of the set that is at most i, which is below n; SIZE_MAX when there is none. */
size_t ht_bit_tree_prev(const struct ht_bit_tree *tree, size_t i);

#endif
