/*
 * numbering.c - which rank each file is: as given, else as the file says, else by its name; else a number that is
 * free. See set.h.
 */
#include "store/set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* HT_NO_I64 when nobody says. */
static int64_t claim_of(const struct ht_rank *rank)
{
	if (rank->given != HT_NO_I64)
		return rank->given;
	return rank->claimed != HT_NO_I64 ? rank->claimed : rank->named;
}

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

/* The first file that claims a number has it; taken lists those numbers, ascending. */
static size_t grant_claims(struct ht_roster *roster, struct claim *taken)
{
	size_t n = 0, n_taken = 0;
	for (size_t i = 0; i < roster->n; i++) {
		roster->ranks[i].number = HT_NO_I64;
		int64_t rank = claim_of(&roster->ranks[i]);
		if (rank != HT_NO_I64)
			taken[n++] = (struct claim){ rank, i };
	}
	qsort(taken, n, sizeof *taken, compare_claims);
	for (size_t k = 0; k < n; k++) {
		if (n_taken && taken[n_taken - 1].rank == taken[k].rank)
			continue;
		roster->ranks[taken[k].i].number = taken[k].rank;
		taken[n_taken++] = taken[k];
	}
	return n_taken;
}

static enum ht_status note_number(ht_ctx *ctx, const struct ht_roster *roster, size_t i,
        struct ht_arena *arena, struct ht_vec *notes)
{
	const struct ht_rank *rank = &roster->ranks[i];
	const char *slash = strrchr(rank->path, '/'), *name = slash ? slash + 1 : rank->path;
	int64_t claim = claim_of(rank);
	const char *note;
	if (claim != HT_NO_I64)
		note = ht_arena_printf(arena,
		        "%s also claims rank %" PRId64 "; it is shown as rank %" PRId64, name,
		        claim, rank->number);
	else if (roster->n < 2)
		return HT_OK;
	else
		note = ht_arena_printf(arena,
		        "%s does not say its rank; it is shown as rank %" PRId64, name,
		        rank->number);
	return note && HT_VEC_PUSH(ctx->mem, notes, const char *, note) ? HT_OK
	                                                                : ht_fail_nomem(ctx);
}

/* Claims first, then the rest gets the lowest free numbers in order of path. */
static enum ht_status give_numbers(
        ht_ctx *ctx, struct ht_roster *roster, struct ht_arena *arena, struct ht_vec *notes)
{
	struct claim *taken = ht_arena_alloc(arena, (roster->n + 1) * sizeof *taken);
	if (!taken)
		return ht_fail_nomem(ctx);
	size_t n_taken = grant_claims(roster, taken), k = 0;
	int64_t next = 0;
	for (size_t i = 0; i < roster->n; i++) {
		if (roster->ranks[i].number != HT_NO_I64)
			continue;
		for (; k < n_taken && taken[k].rank <= next; k++)
			next += taken[k].rank == next;
		roster->ranks[i].number = next++;
		HT_TRY(note_number(ctx, roster, i, arena, notes));
	}
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
	if (!was_at)
		return ht_fail_nomem(ctx);
	HT_TRY(give_numbers(ctx, roster, arena, notes));
	for (size_t i = 0; i < n; i++)
		roster->ranks[i].offset_ns = (int64_t)i; /* until clocks are chosen */
	qsort(roster->ranks, n, sizeof *roster->ranks, compare_numbers);
	for (size_t i = 0; i < n; i++)
		was_at[i] = (size_t)roster->ranks[i].offset_ns;
	*ret_was_at = was_at;
	return HT_OK;
}
