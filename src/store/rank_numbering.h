/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_numbering.h - which number each trace of a set gets.
 *
 * The first in order that claims a number has it; what claims nothing, or what another has already, gets the lowest
 * free numbers in order. Whoever is shown under a number that nobody said gets a note.
 */
#ifndef HT_STORE_RANK_NUMBERING_H
#define HT_STORE_RANK_NUMBERING_H

#include "base/status.h"

/* A trace that wants a number. */
struct ht_claim {
	const char *path;
	int64_t rank; /* given, else in the file, else in its name; HT_NO_I64 when nobody says */
};

/* Numbers for all, in their order; notes, in the arena, are appended to a vector of const char *. */
enum ht_status ht_rank_numbering_make(ht_ctx *ctx, const struct ht_claim *claims, size_t n,
        struct ht_arena *arena, struct ht_vec *notes, int64_t *ret_ranks) HT_MUST_USE;

#endif
