/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - texts of verdicts: they lie in an arena and are never NULL; that there was no memory for one is remembered, and
 * asked for at the end.
 */
#ifndef HT_VERDICT_WORDS_H
#define HT_VERDICT_WORDS_H

#include "base/arena.h"

struct ht_words {
	struct ht_arena *arena;
	bool no_memory;
};

const char *ht_words_keep(struct ht_words *words, const char *text);
/* s is a pointer to something that has words. */
#define HT_SAY(s, ...) ht_words_keep(&(s)->words, ht_arena_printf((s)->words.arena, __VA_ARGS__))
const char *ht_words_time(struct ht_words *words, int64_t ns);

/* 0 of nothing. */
static inline double ht_ratio(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

#endif
