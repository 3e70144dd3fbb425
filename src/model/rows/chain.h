/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain.h - the rows around something, outermost first, as a text of bounded length.
 *
 * A file may nest as deep as it likes, so the paths of all its rows together could be as long as the square
 * of the file. Of more than 16 rows a chain keeps the 8 outermost and the 8 innermost:
 * "a / b / … 90 more … / y / z".
 */
#ifndef HT_MODEL_ROWS_CHAIN_H
#define HT_MODEL_ROWS_CHAIN_H

#include "store/tree.h"

#define HT_CHAIN_HALF 8

struct ht_chain {
	uint32_t n;                       /* how many there are; may exceed what is kept */
	uint32_t rows[2 * HT_CHAIN_HALF]; /* all, or the first and the last half */
};

/* The chain with one more row inside. */
struct ht_chain ht_chain_push(const struct ht_chain *chain, uint32_t row);
/* One chain inside another. */
struct ht_chain ht_chain_join(const struct ht_chain *outer, const struct ht_chain *inner);
/* The innermost row of a chain that is not empty. */
uint32_t ht_chain_last(const struct ht_chain *chain);
/* Its names, joined by a text such as " / "; NULL when out of memory. */
const char *ht_chain_text(struct ht_arena *arena, const struct ht_trace *trace,
        const struct ht_chain *chain, const char *between);

/* The chains of all rows that match: of each the matching rows around it, itself last. */
struct ht_chains {
	struct ht_chain *list; /* the first is empty */
	uint32_t *of;          /* by row: which chain; 0 for rows that do not match */
};

/* nearest has the innermost matching row around each row, over threads too: rows for which late (may be NULL)
 * is not HT_NONE are looked at last, after those of the threads that theirs goes on to. */
enum ht_status ht_chains_make(ht_ctx *ctx, const struct ht_trace *trace, ht_tree_match *match,
        const void *user, const uint32_t *nearest, const uint32_t *late, struct ht_arena *arena,
        struct ht_chains *ret_chains) HT_MUST_USE;

#endif
