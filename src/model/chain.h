/*
 * chain.h - the rows around something, outermost first, as a text of bounded length.
 *
 * A file may nest as deep as it likes, so the paths of all its rows together could be as long as the square
 * of the file. Of more than 16 rows a chain keeps the 8 outermost and the 8 innermost:
 * "a / b / … 90 more … / y / z".
 */
#ifndef HT_MODEL_CHAIN_H
#define HT_MODEL_CHAIN_H

#include "store/trace.h"

#define HT_CHAIN_HALF 8

struct ht_chain {
	uint32_t n;                       /* how many there are; may exceed what is kept */
	uint32_t rows[2 * HT_CHAIN_HALF]; /* all, or the first and the last half */
};

/* The chain with one more row inside. */
struct ht_chain ht_chain_push(const struct ht_chain *chain, uint32_t row);
/* One chain inside another. */
struct ht_chain ht_chain_join(const struct ht_chain *outer, const struct ht_chain *inner);
/* Its names joined by " / "; NULL when out of memory. */
const char *ht_chain_text(
        struct ht_arena *arena, const struct ht_trace *trace, const struct ht_chain *chain);

#endif
