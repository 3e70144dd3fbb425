/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_numbering.h - which number each trace of a set gets.
 *
 * The first in order that claims a number has it; what claims nothing, or what another has already, gets the lowest
 * free numbers in order. Whoever is shown under a number that nobody said gets a note.
 */
#ifndef HT_STORE_RANK_NUMBERING_H
#define HT_STORE_RANK_NUMBERING_H

#include "store/roster.h"

/* A trace that wants a number. */
struct ht_claim {
	const char *path;
	int64_t rank; /* given, else in the file, else in its name; HT_NO_I64 when nobody says */
};

/* Numbers for all, in their order; notes, in the arena, are appended to a vector of const char *. */
enum ht_status ht_rank_numbering_make(ht_ctx *ctx, const struct ht_claim *claims, size_t n,
        struct ht_arena *arena, struct ht_vec *notes, int64_t *ret_ranks) HT_MUST_USE;
/* Refuse a rank that is given to two of n files: HT_USAGE. given has HT_NO_I64 where the user says nothing. */
enum ht_status ht_given_check(ht_ctx *ctx, struct ht_arena *arena, const int64_t *given,
        const char *const *paths, size_t n) HT_MUST_USE;
/* Give every rank its number and bring them into that order; they come in natural order of path. Adds to the
 * notes (const char *, in the arena) what is not as the files say; ret_was_at tells where each was. */
enum ht_status ht_roster_number(ht_ctx *ctx, struct ht_roster *roster, struct ht_arena *arena,
        struct ht_vec *notes, const size_t **ret_was_at) HT_MUST_USE;

#endif
