/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbering.c - which rank each file is: as given, else as the file says, else by its name; else a number that is
 * free. See set.h.
 */
#include "store/rank_numbering.h"
#include "store/set.h"

#include <inttypes.h>
#include <stdlib.h>

struct claim {
	int64_t rank;
	size_t i; /* which file */
};

static int compare_claims(const void *x, const void *y)
{
	const struct claim *a = x, *b = y;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->i < b->i ? -1 : a->i > b->i;
}

enum ht_status ht_given_check(ht_ctx *ctx, struct ht_arena *arena, const int64_t *given,
        const char *const *paths, size_t n)
{
	struct claim *claims = ht_arena_alloc(arena, (n + 1) * sizeof *claims);
	size_t n_claims = 0;
	if (!claims)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++)
		if (given[i] != HT_NO_I64)
			claims[n_claims++] = (struct claim){ given[i], i };
	qsort(claims, n_claims, sizeof *claims, compare_claims);
	for (size_t k = 1; k < n_claims; k++)
		if (claims[k].rank == claims[k - 1].rank)
			return ht_fail(ctx, HT_USAGE, NULL, -1, "give each file its own rank",
			        "rank %" PRId64 " is given twice: %s and %s", claims[k].rank,
			        paths[claims[k - 1].i], paths[claims[k].i]);
	return HT_OK;
}

static int compare_numbers(const void *x, const void *y)
{
	const struct ht_rank *a = x, *b = y;
	return a->number < b->number ? -1 : a->number > b->number;
}

enum ht_status ht_roster_number(ht_ctx *ctx, struct ht_roster *roster, struct ht_arena *arena,
        struct ht_vec *notes, const size_t **ret_was_at)
{
	size_t n = roster->n;
	size_t *was_at = ht_arena_alloc(arena, (n + 1) * sizeof *was_at);
	int64_t *numbers = ht_arena_alloc(arena, (n + 1) * sizeof *numbers);
	struct ht_claim *claims = ht_arena_alloc(arena, (n + 1) * sizeof *claims);
	if (!was_at || !numbers || !claims)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++)
		claims[i] = (struct ht_claim){ roster->ranks[i].path,
			ht_rank_claim(&roster->ranks[i]) };
	HT_TRY(ht_rank_numbering_make(ctx, claims, n, arena, notes, numbers));
	for (size_t i = 0; i < n; i++) {
		roster->ranks[i].number = numbers[i];
		roster->ranks[i].offset_ns = (int64_t)i; /* until clocks are chosen */
	}
	qsort(roster->ranks, n, sizeof *roster->ranks, compare_numbers);
	for (size_t i = 0; i < n; i++)
		was_at[i] = (size_t)roster->ranks[i].offset_ns;
	*ret_was_at = was_at;
	return HT_OK;
}
