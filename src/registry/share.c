/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.c - a set of which other processes hold the rest: what is told of ranks, and all of it joined.
 *
 * Each process describes the ranks it has; who has all descriptions knows what one process with all files would
 * know, and numbers, clocks and notes come out the same. A joined set borrows the traces of its own ranks and
 * refuses those of the others, so parts can be made of it, but no tables.
 */
#include "base/mem.h"
#include "base/memo.h"
#include "base/sealed_bytes.h"
#include "base/hash.h"
#include "base/natural.h"
#include "hta/hta_facts.h"
#include "store/rank_numbering.h"
#include "store/set.h"

#include <stdlib.h>
#include <string.h>

/* ---- describing ---- */

static void put_finding(const struct ht_hta_finding *f, struct ht_bytes_out *out)
{
	ht_bytes_put_i64(out, f->first_ts_ns);
	ht_bytes_put_i64(out, f->first_timed_ns);
	ht_bytes_put_i64(out, f->first_span_ns);
	ht_bytes_put_str(out, f->step);
	ht_bytes_put_u64(out, f->two_steps);
}

enum ht_status ht_set_describe(
        ht_ctx *ctx, ht_set *set, bool with_facts, const struct ht_sink *sink)
{
	struct ht_bytes_out out = { .mem = ctx->mem };
	struct ht_arena scratch;
	struct ht_hta_finding *findings = NULL;
	struct ht_roster roster = set->roster;
	ht_error_clear(ctx);
	/* the other notes are about numbers, which are given again when sets are joined */
	roster.n_notes = set->n_found_notes;
	ht_arena_init(&scratch, ctx->mem);
	enum ht_status status = with_facts ? ht_hta_findings(ctx, &scratch, set, &findings) : HT_OK;
	if (status == HT_OK) {
		ht_sealed_begin(&out, &ht_roster_kind);
		ht_roster_put(&roster, &out);
		ht_bytes_put_u64(&out, with_facts);
		for (size_t i = 0; findings && i < roster.n; i++)
			put_finding(&findings[i], &out);
		status = ht_sealed_write(ctx, &out, &ht_roster_kind, sink);
	}
	ht_arena_done(&scratch);
	return status;
}

enum ht_status ht_missing_describe(
        ht_ctx *ctx, const char *const *lines, size_t n_lines, const struct ht_sink *sink)
{
	ht_error_clear(ctx);
	struct ht_roster roster = { .missing = (const char **)(uintptr_t)lines,
		.n_missing = n_lines };
	return ht_roster_write(ctx, &roster, sink);
}

/* ---- joining ---- */

/* One process's ranks. */
struct share {
	struct ht_roster roster;
	struct ht_hta_finding *findings; /* NULL: told without facts */
};

/* A rank of all: whose it is, and which of his. */
struct member {
	const struct share *share;
	size_t i_share, i;
};

struct joining {
	ht_ctx *ctx;
	struct ht_set *set;
	struct share *shares;
	size_t n_shares;
	struct member *members; /* in natural order of path */
	size_t n;
	struct ht_vec notes;
};

static bool get_finding(struct ht_bytes_in *in, struct ht_arena *arena, struct ht_hta_finding *f)
{
	f->first_ts_ns = ht_bytes_get_i64(in);
	f->first_timed_ns = ht_bytes_get_i64(in);
	f->first_span_ns = ht_bytes_get_i64(in);
	const char *step = ht_bytes_get_str(in, arena);
	f->two_steps = ht_bytes_get_u64(in);
	if (in->failed || !step || strlen(step) >= sizeof f->step)
		return false;
	memcpy(f->step, step, strlen(step) + 1);
	return true;
}

static enum ht_status read_share(
        struct joining *j, const struct ht_description *bytes, struct share *share)
{
	struct ht_arena *arena = &j->set->arena;
	struct ht_bytes_in in = { bytes->data, bytes->n, false };
	HT_TRY(ht_sealed_open(j->ctx, &in, arena, &ht_roster_kind));
	bool ok = ht_roster_get(&in, arena, &share->roster);
	if (ok && ht_bytes_get_u64(&in)) {
		share->findings =
		        ht_arena_alloc(arena, (share->roster.n + 1) * sizeof *share->findings);
		ok = share->findings != NULL;
		for (size_t i = 0; ok && i < share->roster.n; i++)
			ok = get_finding(&in, arena, &share->findings[i]);
	}
	if (ok && !in.failed && !in.n)
		return HT_OK;
	return ht_fail(j->ctx, HT_FORMAT, NULL, -1, NULL,
	        "the description of ranks does not hold what it should");
}

static enum ht_status read_shares(
        struct joining *j, const struct ht_description *descriptions, size_t n)
{
	j->shares = ht_arena_alloc(&j->set->arena, (n + 1) * sizeof *j->shares);
	if (!j->shares)
		return ht_fail_nomem(j->ctx);
	j->n_shares = n;
	for (size_t i = 0; i < n; i++) {
		HT_TRY(read_share(j, &descriptions[i], &j->shares[i]));
		j->set->joined_hash = ht_hash_mix(
		        j->set->joined_hash, ht_hash(descriptions[i].data, descriptions[i].n));
		j->n += j->shares[i].roster.n;
	}
	j->set->joined_hash |= 1;
	return HT_OK;
}

static const struct ht_rank *rank_of(const struct member *member)
{
	return &member->share->roster.ranks[member->i];
}

/* As files are found; the same name on two machines in the order of the processes. */
static int compare_members(const void *x, const void *y)
{
	const struct member *a = x, *b = y;
	const struct ht_rank *left = rank_of(a), *right = rank_of(b);
	int order = ht_natural_compare(left->path, right->path);
	if (order)
		return order;
	if (left->given != right->given)
		return left->given < right->given ? -1 : 1;
	if (a->i_share != b->i_share)
		return a->i_share < b->i_share ? -1 : 1;
	return a->i < b->i ? -1 : a->i > b->i;
}

/* All ranks, in natural order of path. */
static enum ht_status line_up(struct joining *j)
{
	struct ht_roster *roster = &j->set->roster;
	struct ht_arena *arena = &j->set->arena;
	size_t n = 0;
	j->members = ht_arena_alloc(arena, (j->n + 1) * sizeof *j->members);
	roster->ranks = ht_arena_alloc(arena, (j->n + 1) * sizeof *roster->ranks);
	int64_t *given = ht_arena_alloc(arena, (j->n + 1) * sizeof *given);
	const char **paths = ht_arena_alloc(arena, (j->n + 1) * sizeof *paths);
	if (!j->members || !roster->ranks || !given || !paths)
		return ht_fail_nomem(j->ctx);
	for (size_t s = 0; s < j->n_shares; s++)
		for (size_t i = 0; i < j->shares[s].roster.n; i++)
			j->members[n++] = (struct member){ &j->shares[s], s, i };
	qsort(j->members, n, sizeof *j->members, compare_members);
	for (size_t i = 0; i < n; i++) {
		roster->ranks[i] = *rank_of(&j->members[i]);
		given[i] = roster->ranks[i].given;
		paths[i] = roster->ranks[i].path;
	}
	roster->n = n;
	return ht_given_check(j->ctx, arena, given, paths, n);
}

/* Lines of all, in the order of the processes. */
static enum ht_status gather_lines(struct joining *j)
{
	struct ht_roster *roster = &j->set->roster;
	size_t n_missing = 0;
	for (size_t s = 0; s < j->n_shares; s++)
		n_missing += j->shares[s].roster.n_missing;
	roster->missing = ht_arena_alloc(&j->set->arena, (n_missing + 1) * sizeof *roster->missing);
	if (!roster->missing)
		return ht_fail_nomem(j->ctx);
	for (size_t s = 0; s < j->n_shares; s++) {
		const struct ht_roster *from = &j->shares[s].roster;
		roster->n_repeated += from->n_repeated;
		for (size_t i = 0; i < from->n_missing; i++)
			roster->missing[roster->n_missing++] = from->missing[i];
		for (size_t i = 0; i < from->n_notes; i++)
			if (!HT_VEC_PUSH(j->ctx->mem, &j->notes, const char *, from->notes[i]))
				return ht_fail_nomem(j->ctx);
	}
	j->set->n_found_notes = j->notes.n;
	return HT_OK;
}

static enum ht_status keep_notes(struct joining *j)
{
	struct ht_roster *roster = &j->set->roster;
	roster->notes = ht_arena_alloc(&j->set->arena, (j->notes.n + 1) * sizeof *roster->notes);
	if (!roster->notes)
		return ht_fail_nomem(j->ctx);
	if (j->notes.n)
		memcpy(roster->notes, j->notes.data, j->notes.n * sizeof *roster->notes);
	roster->n_notes = j->notes.n;
	return HT_OK;
}

/* When every process told its facts, those of all. */
static enum ht_status keep_facts(struct joining *j, const size_t *was_at)
{
	struct ht_hta_finding *findings =
	        ht_arena_alloc(&j->set->arena, (j->n + 1) * sizeof *findings);
	if (!findings)
		return ht_fail_nomem(j->ctx);
	for (size_t i = 0; i < j->n; i++) {
		const struct member *member = &j->members[was_at[i]];
		if (!member->share->findings)
			return HT_OK;
		findings[i] = member->share->findings[member->i];
	}
	return ht_hta_facts_keep(j->ctx, j->set, findings);
}

static enum ht_status join(struct joining *j, const ht_set *own, size_t i_own)
{
	struct ht_set *set = j->set;
	const size_t *was_at;
	HT_TRY(line_up(j));
	HT_TRY(gather_lines(j));
	if (!j->n)
		return ht_fail(j->ctx, HT_MISSING, NULL, -1, NULL, "no trace could be read: %s",
		        set->roster.n_missing ? set->roster.missing[0] : "none was found");
	HT_TRY(ht_roster_number(j->ctx, &set->roster, &set->arena, &j->notes, &was_at));
	HT_TRY(keep_notes(j));
	if (ht_roster_complete(&set->roster, &set->arena) != HT_OK)
		return ht_fail_nomem(j->ctx);
	size_t *at = ht_arena_alloc(&set->arena, (j->n + 1) * sizeof *at), n_own = 0;
	set->memo = ht_arena_alloc(&set->arena, sizeof *set->memo);
	if (!at || !set->memo)
		return ht_fail_nomem(j->ctx);
	ht_memo_init(set->memo, set->arena.mem);
	for (size_t i = 0; i < j->n; i++) {
		const struct member *member = &j->members[was_at[i]];
		bool is_own = own && member->i_share == i_own;
		at[i] = is_own ? member->i : SIZE_MAX;
		n_own += is_own;
	}
	if (own && n_own != own->roster.n)
		return ht_fail(
		        j->ctx, HT_USAGE, NULL, -1, NULL, "the description is not that of the set");
	set->origin = own;
	set->origin_at = at;
	return keep_facts(j, was_at);
}

enum ht_status ht_shares_join(ht_ctx *ctx, const ht_set *own, size_t i_own,
        const struct ht_description *descriptions, size_t n_descriptions, ht_set **ret_set)
{
	ht_error_clear(ctx);
	struct ht_set *set = ht_mem_zalloc(ctx->mem, sizeof *set);
	if (!set)
		return ht_fail_nomem(ctx);
	ht_arena_init(&set->arena, ht_mem_retain(ctx->mem));
	pthread_mutex_init(&set->lock, NULL);
	struct joining j = { .ctx = ctx, .set = set };
	enum ht_status status = read_shares(&j, descriptions, n_descriptions);
	if (status == HT_OK)
		status = join(&j, own, i_own);
	ht_vec_free(ctx->mem, &j.notes, sizeof(const char *));
	if (status != HT_OK) {
		ht_close(set);
		return status;
	}
	*ret_set = set;
	return HT_OK;
}
