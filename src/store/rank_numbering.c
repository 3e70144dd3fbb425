/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_numbering.c - see rank_numbering.h.
 */
#include "store/rank_numbering.h"

#include "store/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct wish {
	int64_t rank;
	size_t i; /* which trace */
};

static int compare_wishes(const void *x, const void *y)
{
	const struct wish *a = x, *b = y;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->i < b->i ? -1 : a->i > b->i;
}

/* The first that claims a number has it; taken lists those numbers, ascending. */
static size_t grant(
        const struct ht_claim *claims, size_t n_claims, struct wish *taken, int64_t *ranks)
{
	size_t n = 0, n_taken = 0;
	for (size_t i = 0; i < n_claims; i++) {
		ranks[i] = HT_NO_I64;
		if (claims[i].rank != HT_NO_I64)
			taken[n++] = (struct wish){ claims[i].rank, i };
	}
	qsort(taken, n, sizeof *taken, compare_wishes);
	for (size_t k = 0; k < n; k++) {
		if (n_taken && taken[n_taken - 1].rank == taken[k].rank)
			continue;
		ranks[taken[k].i] = taken[k].rank;
		taken[n_taken++] = taken[k];
	}
	return n_taken;
}

static enum ht_status note_number(ht_ctx *ctx, const struct ht_claim *claim, int64_t number,
        struct ht_arena *arena, struct ht_vec *notes)
{
	const char *slash = strrchr(claim->path, '/'), *name = slash ? slash + 1 : claim->path;
	char *note;
	if (claim->rank != HT_NO_I64)
		note = ht_arena_printf(arena,
		        "%s also claims rank %" PRId64 "; it is shown as rank %" PRId64, name,
		        claim->rank, number);
	else
		note = ht_arena_printf(arena,
		        "%s does not say its rank; it is shown as rank %" PRId64, name, number);
	if (!note || !HT_VEC_PUSH(ctx->mem, notes, const char *, note))
		return ht_fail_nomem(ctx);
	return HT_OK;
}

enum ht_status ht_rank_numbering_make(ht_ctx *ctx, const struct ht_claim *claims, size_t n,
        struct ht_arena *arena, struct ht_vec *notes, int64_t *ret_ranks)
{
	struct wish *taken = ht_arena_alloc(arena, (n + 1) * sizeof *taken);
	size_t k = 0;
	if (!taken)
		return ht_fail_nomem(ctx);
	size_t n_taken = grant(claims, n, taken, ret_ranks);
	int64_t next = 0;
	for (size_t i = 0; i < n; i++) {
		if (ret_ranks[i] != HT_NO_I64)
			continue;
		for (; k < n_taken && taken[k].rank <= next; k++)
			next += taken[k].rank == next;
		if (claims[i].rank != HT_NO_I64 || n > 1)
			HT_TRY(note_number(ctx, &claims[i], next, arena, notes));
		ret_ranks[i] = next++;
	}
	return HT_OK;
}

enum ht_status ht_given_check(ht_ctx *ctx, struct ht_arena *arena, const int64_t *given,
        const char *const *paths, size_t n)
{
	struct wish *wishes = ht_arena_alloc(arena, (n + 1) * sizeof *wishes);
	size_t n_wishes = 0;
	if (!wishes)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++)
		if (given[i] != HT_NO_I64)
			wishes[n_wishes++] = (struct wish){ given[i], i };
	qsort(wishes, n_wishes, sizeof *wishes, compare_wishes);
	for (size_t k = 1; k < n_wishes; k++)
		if (wishes[k].rank == wishes[k - 1].rank)
			return ht_fail(ctx, HT_USAGE, NULL, -1, "give each file its own rank",
			        "rank %" PRId64 " is given twice: %s and %s", wishes[k].rank,
			        paths[wishes[k - 1].i], paths[wishes[k].i]);
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
