/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.c - ht_set_join: ranks of other sets as a set of its own.
 *
 * Traces are shared, not read again; numbers are given as if the files were opened together, so that a run that is
 * read file by file ends as the set that ht_open makes of it. Nothing of the other sets is needed afterwards.
 */
#include "read/discover.h"
#include "store/rank_numbering.h"
#include "read/reload.h"
#include "read/set_make.h"
#include "store/trace_refs.h"

#include <stdlib.h>

/* A rank on its way into the set. */
struct entry {
	const struct ht_member *member;
	const char *path;
	int64_t claim, number;
};

static int compare_paths(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	int order = ht_natural_compare(a->path, b->path);
	return order ? order : (a->claim > b->claim) - (a->claim < b->claim);
}

static int compare_numbers(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Number them in the order of their paths, then order by number. */
static enum ht_status number(
        ht_ctx *ctx, struct ht_set *set, struct entry *entries, size_t n, struct ht_vec *notes)
{
	int64_t *numbers = ht_arena_alloc(&set->arena, (n + 1) * sizeof *numbers);
	struct ht_claim *claims = ht_arena_alloc(&set->arena, (n + 1) * sizeof *claims);
	if (!numbers || !claims)
		return ht_fail_nomem(ctx);
	qsort(entries, n, sizeof *entries, compare_paths);
	for (size_t i = 0; i < n; i++)
		claims[i] = (struct ht_claim){ entries[i].path, entries[i].claim };
	HT_TRY(ht_rank_numbering_make(ctx, claims, n, &set->arena, notes, numbers));
	for (size_t i = 0; i < n; i++)
		entries[i].number = numbers[i];
	qsort(entries, n, sizeof *entries, compare_numbers);
	return HT_OK;
}

/* The trace that the other set keeps, and whether it can be had again. */
static struct ht_kept share(struct ht_set *set, size_t i)
{
	pthread_mutex_lock(&set->lock);
	struct ht_kept kept = set->kept[i];
	if (kept.trace)
		(void)ht_trace_retain(kept.trace);
	pthread_mutex_unlock(&set->lock);
	return kept;
}

/* Lists of the set before any rank is in them, so that it can be closed at any time. */
static enum ht_status make_lists(ht_ctx *ctx, struct ht_set *set, size_t n, int64_t **ret_claims)
{
	struct ht_arena *arena = &set->arena;
	set->roster.ranks = ht_arena_alloc(arena, (n + 1) * sizeof *set->roster.ranks);
	set->kept = ht_arena_alloc(arena, (n + 1) * sizeof *set->kept);
	int64_t *claims = ht_arena_alloc(arena, (n + 1) * sizeof *claims);
	struct ht_reload **list = ht_arena_alloc(arena, (n + 1) * sizeof(*list));
	if (!set->roster.ranks || !set->kept || !claims || !list)
		return ht_fail_nomem(ctx);
	set->claims = *ret_claims = claims;
	ht_reload_use(set, list);
	return HT_OK;
}

static enum ht_status add_ranks(
        ht_ctx *ctx, struct ht_set *set, const struct entry *entries, size_t n)
{
	int64_t *claims = NULL;
	HT_TRY(make_lists(ctx, set, n, &claims));
	struct ht_reload **list = set->load_user;
	set->roster.n = n;
	for (size_t i = 0; i < n; i++) {
		const struct ht_member *from = entries[i].member;
		struct ht_rank *rank = &set->roster.ranks[i];
		if (!ht_rank_copy(&set->arena, &from->set->roster.ranks[from->i], rank))
			return ht_fail_nomem(ctx);
		rank->number = entries[i].number;
		claims[i] = entries[i].claim;
		list[i] = ht_reload_retain(ht_reload_of(from->set, from->i));
		struct ht_kept kept = share(from->set, from->i);
		set->kept[i].cached = kept.cached;
		if (kept.trace)
			ht_set_keep(set, i, kept.trace, kept.for_good);
	}
	return HT_OK;
}

static enum ht_status join(ht_ctx *ctx, struct ht_set *set, const struct ht_member *members,
        size_t n, struct ht_vec *notes)
{
	struct entry *entries = ht_arena_alloc(&set->arena, (n + 1) * sizeof *entries);
	if (!entries)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++) {
		const struct ht_set *from = members[i].set;
		if (members[i].i >= from->roster.n)
			return ht_fail(ctx, HT_USAGE, NULL, -1, NULL, "the set has %zu ranks",
			        from->roster.n);
		entries[i] = (struct entry){ .member = &members[i],
			.path = from->roster.ranks[members[i].i].path,
			.claim = from->claims[members[i].i] };
	}
	HT_TRY(number(ctx, set, entries, n, notes));
	HT_TRY(add_ranks(ctx, set, entries, n));
	return ht_set_finish(ctx, set, notes);
}

enum ht_status ht_set_join(
        ht_ctx *ctx, const struct ht_member *members, size_t n_members, ht_set **ret_set)
{
	struct ht_set *set;
	struct ht_vec notes = { 0 };
	ht_error_clear(ctx);
	if (!n_members)
		return ht_fail(ctx, HT_USAGE, NULL, -1, NULL, "a set needs a rank");
	HT_TRY(ht_set_new(ctx, &set));
	/* who joins ranks as they come is a server, which keeps answers and timelines beside them */
	set->keep_bytes = HT_SET_KEEP_BYTES / 2;
	enum ht_status status = join(ctx, set, members, n_members, &notes);
	ht_vec_free(ctx->mem, &notes, sizeof(const char *));
	if (status != HT_OK) {
		ht_close(set);
		return status;
	}
	*ret_set = set;
	return HT_OK;
}
