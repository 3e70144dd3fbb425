/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.c - parts that leave the process: made, merged and finished; see holotrace.h.
 *
 * A bundle is finished by reading its question again over the merged roster, so the answer is that of a run
 * over all ranks at once. Where what a rank contributed depends on the other ranks (the default steps of a
 * comparison, HTA's rules), the choice it was made with is kept and must still hold.
 */
#include "registry/bundle.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/text_compare.h"
#include "model/policy.h"
#include "registry/question.h"
#include "registry/run_steps.h"
#include "hta/hta_facts.h"
#include "store/set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void ht_bundle_free(ht_bundle *bundle)
{
	if (!bundle)
		return;
	struct ht_mem *mem = bundle->mem;
	ht_parts_done(&bundle->parts);
	ht_parts_done(&bundle->calls);
	ht_arena_done(&bundle->arena);
	ht_mem_free(mem, bundle, sizeof *bundle);
	ht_mem_release(mem);
}

const char *ht_bundle_name(const ht_bundle *bundle)
{
	return bundle->question.name;
}

static enum ht_status new_bundle(ht_ctx *ctx, struct ht_bundle **ret_bundle)
{
	struct ht_bundle *bundle = ht_mem_zalloc(ctx->mem, sizeof *bundle);
	if (!bundle)
		return ht_fail_nomem(ctx);
	bundle->mem = ht_mem_retain(ctx->mem);
	ht_arena_init(&bundle->arena, bundle->mem);
	bundle->calls.mem = bundle->mem;
	*ret_bundle = bundle;
	return HT_OK;
}

/* ---- making ---- */

/* The ranks and notes of two rosters, ranks in ascending order; b may be NULL. */
static bool copy_rosters(struct ht_arena *arena, const struct ht_roster *a,
        const struct ht_roster *b, struct ht_roster *ret)
{
	static const struct ht_roster none;
	if (!b)
		b = &none;
	struct ht_roster all = { .n = a->n + b->n,
		.n_notes = a->n_notes + b->n_notes,
		.n_missing = a->n_missing + b->n_missing,
		.n_repeated = a->n_repeated + b->n_repeated };
	all.ranks = ht_arena_alloc(arena, (all.n + 1) * sizeof *all.ranks);
	all.notes = ht_arena_alloc(arena, (all.n_notes + 1) * sizeof *all.notes);
	all.missing = ht_arena_alloc(arena, (all.n_missing + 1) * sizeof *all.missing);
	bool ok = all.ranks && all.notes && all.missing;
	for (size_t i = 0, k = 0; ok && i + k < all.n;) {
		bool first = k == b->n || (i < a->n && a->ranks[i].number < b->ranks[k].number);
		size_t at = i + k;
		ok = ht_rank_copy(arena, first ? &a->ranks[i++] : &b->ranks[k++], &all.ranks[at]);
	}
	for (size_t i = 0; ok && i < all.n_notes; i++)
		ok = ht_text_copy(arena, i < a->n_notes ? a->notes[i] : b->notes[i - a->n_notes],
		        &all.notes[i]);
	for (size_t i = 0; ok && i < all.n_missing; i++)
		ok = ht_text_copy(arena,
		        i < a->n_missing ? a->missing[i] : b->missing[i - a->n_missing],
		        &all.missing[i]);
	*ret = all;
	return ok && ht_roster_complete(ret, arena) == HT_OK;
}

/* Which descriptions the sets were joined of; 0 when they were not. */
static enum ht_status hash_sets(ht_ctx *ctx, ht_set *const *sets, size_t n_sets, uint64_t *ret_hash)
{
	uint64_t hash = 0;
	size_t n_joined = 0;
	for (size_t i = 0; i < n_sets; i++) {
		n_joined += sets[i]->joined_hash != 0;
		hash = ht_hash_mix(hash, sets[i]->joined_hash);
	}
	if (n_joined && n_joined < n_sets)
		return ht_fail(
		        ctx, HT_USAGE, NULL, -1, NULL, "either all sets are joined, or none");
	*ret_hash = n_joined ? hash | 1 : 0;
	return HT_OK;
}

static bool has_steps(const struct ht_roster *roster)
{
	for (size_t i = 0; i < roster->n; i++)
		if (roster->ranks[i].n_steps)
			return true;
	return false;
}

static enum ht_status fill(struct ht_bundle *bundle, struct ht_run *run, ht_set *const *sets)
{
	struct ht_question *q = &bundle->question;
	struct ht_arena *arena = &bundle->arena;
	HT_TRY(ht_run_read_args(run, q->args, q->n_args));
	HT_TRY(ht_run_find_facts(run, sets));
	HT_TRY(ht_run_compute(
	        run, sets, &bundle->parts, ht_run_needs_clocks(run) ? &bundle->calls : NULL));
	bundle->n_sets = run->n_sets;
	for (size_t i = 0; !bundle->joined_hash && i < run->n_sets; i++) {
		if (!copy_rosters(arena, run->rosters[i], NULL, &bundle->rosters[i]) ||
		        !ht_text_copy(arena, run->steps[i], &bundle->steps[i]))
			return ht_fail_nomem(run->ctx);
		bundle->one_step[i] = has_steps(run->rosters[i]) && !run->rosters[i]->has_two_steps;
		if (!run->facts_of[i])
			continue;
		bundle->facts_of[i] = ht_arena_alloc(arena, sizeof *bundle->facts_of[i]);
		if (!bundle->facts_of[i])
			return ht_fail_nomem(run->ctx);
		*bundle->facts_of[i] = *run->facts_of[i];
	}
	return HT_OK;
}

enum ht_status ht_bundle_make(ht_ctx *ctx, ht_set *const *sets, size_t n_sets,
        const struct ht_query *query, ht_bundle **ret_bundle)
{
	struct ht_query q;
	struct ht_bundle *bundle = NULL;
	struct ht_arena scratch;
	struct ht_run run = { .ctx = ctx, .policy = &ht_own_policy, .scratch = &scratch };
	struct ht_view taken;
	ht_set *input;
	ht_error_clear(ctx);
	HT_TRY(ht_query_take(ctx, query, &q));
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_view, offset, q.view, &taken));
	HT_TRY(ht_run_open_input(ctx, q.name, sets, n_sets, q.args, q.n_args, &input));
	if (input) {
		sets = &input;
		n_sets = 1;
	}
	ht_arena_init(&scratch, ctx->mem);
	enum ht_status status = ht_run_start(&run, q.name, sets, n_sets);
	if (status == HT_OK)
		status = new_bundle(ctx, &bundle);
	if (status == HT_OK && !ht_question_copy(&bundle->arena, q.name, q.args, q.n_args, &taken,
	                               &bundle->question))
		status = ht_fail_nomem(ctx);
	if (status == HT_OK)
		status = hash_sets(ctx, sets, n_sets, &bundle->joined_hash);
	if (status == HT_OK) {
		run.view = &bundle->question.view;
		run.question = &bundle->question;
		/* who was joined knows of all ranks */
		run.is_partial = !bundle->joined_hash;
		status = fill(bundle, &run, sets);
	}
	ht_arena_done(&scratch);
	ht_close(input);
	if (status != HT_OK) {
		ht_bundle_free(bundle);
		return status == HT_NOMEM ? ht_fail_nomem(ctx) : status;
	}
	*ret_bundle = bundle;
	return HT_OK;
}

/* ---- merging ---- */

static int compare_parts(const void *left, const void *right)
{
	const struct ht_part *a = left, *b = right;
	if (a->side != b->side)
		return a->side < b->side ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static const struct ht_part *find_part(const struct ht_parts *parts, size_t side, int64_t rank)
{
	struct ht_part key = { .side = side, .rank = rank };
	return parts->n ? bsearch(&key, parts->list, parts->n, sizeof key, compare_parts) : NULL;
}

/* Joined sets agree on all but who computed what. */
static enum ht_status check_joined(
        ht_ctx *ctx, const struct ht_bundle *a, const struct ht_bundle *b)
{
	if (a->joined_hash != b->joined_hash)
		return ht_fail(ctx, HT_USAGE, NULL, -1, "join all sets of the same descriptions",
		        "the parts are of sets that were joined otherwise");
	for (size_t i = 0; i < b->parts.n; i++) {
		const struct ht_part *part = &b->parts.list[i];
		if (find_part(&a->parts, part->side, part->rank))
			return ht_fail(ctx, HT_USAGE, NULL, -1, NULL,
			        "rank %" PRId64 " is in two parts", part->rank);
	}
	return HT_OK;
}

static enum ht_status check_fit(ht_ctx *ctx, const struct ht_bundle *a, const struct ht_bundle *b)
{
	if (!ht_question_same(&a->question, &b->question) || a->n_sets != b->n_sets)
		return ht_fail(ctx, HT_USAGE, NULL, -1,
		        "make all parts with the same verb and options",
		        "the parts answer different questions");
	if (a->joined_hash || b->joined_hash)
		return check_joined(ctx, a, b);
	for (size_t side = 0; side < a->n_sets; side++) {
		if (!ht_text_same(a->steps[side], b->steps[side]))
			return ht_fail(ctx, HT_USAGE, NULL, -1,
			        "give the steps, so that every part means the same",
			        "the parts were made over different steps");
		for (size_t i = 0; i < b->rosters[side].n; i++) {
			const struct ht_rank *rank = &b->rosters[side].ranks[i];
			if (ht_roster_find(&a->rosters[side], rank->number) != SIZE_MAX)
				return ht_fail(ctx, HT_USAGE, rank->path, -1,
				        "name ranks where files do not say theirs: 3=trace.json",
				        "rank %" PRId64 " is in two parts", rank->number);
		}
	}
	return HT_OK;
}

/* What ranks contributed under HTA's rules must have been made under the same facts. */
static enum ht_status merge_hta(ht_ctx *ctx, struct ht_bundle *into, const struct ht_bundle *from)
{
	for (size_t side = 0; side < into->n_sets; side++) {
		struct ht_set_facts *a = into->facts_of[side];
		const struct ht_set_facts *b = from->facts_of[side];
		if (!a || !b)
			continue;
		if (a->two_steps != b->two_steps || a->first_ts_ns != b->first_ts_ns ||
		        a->first_timed_ns != b->first_timed_ns)
			return ht_fail(ctx, HT_USAGE, NULL, -1,
			        "run over all ranks at once, or leave HTA's rules off",
			        "HTA's rules depend on all ranks, and the parts were made without the others");
	}
	return HT_OK;
}

static enum ht_status merge_parts(ht_ctx *ctx, struct ht_parts *into, struct ht_parts *from)
{
	size_t n = into->n + from->n;
	struct ht_part *list = ht_mem_zalloc(into->mem, (n ? n : 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(ctx);
	if (into->n)
		memcpy(list, into->list, into->n * sizeof *list);
	if (from->n)
		memcpy(list + into->n, from->list, from->n * sizeof *list);
	qsort(list, n, sizeof *list, compare_parts);
	if (into->list)
		ht_mem_free(into->mem, into->list, into->n * sizeof *list);
	if (from->list)
		ht_mem_free(from->mem, from->list, from->n * sizeof *list);
	*into = (struct ht_parts){ .list = n ? list : NULL, .n = n, .mem = into->mem };
	*from = (struct ht_parts){ .mem = from->mem };
	if (!n)
		ht_mem_free(into->mem, list, sizeof *list);
	return HT_OK;
}

enum ht_status ht_bundle_merge(ht_ctx *ctx, ht_bundle *into, ht_bundle *from)
{
	struct ht_roster rosters[HT_MAX_SETS] = { 0 };
	ht_error_clear(ctx);
	HT_TRY(check_fit(ctx, into, from));
	HT_TRY(merge_hta(ctx, into, from));
	for (size_t side = 0; !into->joined_hash && side < into->n_sets; side++)
		if (!copy_rosters(&into->arena, &into->rosters[side], &from->rosters[side],
		            &rosters[side]))
			return ht_fail_nomem(ctx);
	HT_TRY(merge_parts(ctx, &into->parts, &from->parts));
	HT_TRY(merge_parts(ctx, &into->calls, &from->calls));
	for (size_t side = 0; side < into->n_sets; side++)
		into->one_step[side] |= from->one_step[side];
	memcpy(into->rosters, rosters, sizeof rosters);
	memset(from->rosters, 0, sizeof from->rosters);
	return HT_OK;
}

enum ht_status ht_bundle_add_missing(
        ht_ctx *ctx, ht_bundle *bundle, const char *const *lines, size_t n_lines)
{
	struct ht_roster roster,
	        more = { .missing = (const char **)(uintptr_t)lines, .n_missing = n_lines };
	ht_error_clear(ctx);
	if (bundle->joined_hash)
		return ht_fail(ctx, HT_USAGE, NULL, -1, "describe what is missing, and join that",
		        "the parts are of joined sets");
	if (!bundle->n_sets)
		return HT_OK;
	if (!copy_rosters(&bundle->arena, &bundle->rosters[0], &more, &roster))
		return ht_fail_nomem(ctx);
	bundle->rosters[0] = roster;
	return HT_OK;
}

/* ---- finishing ---- */

/* The parts of the chosen ranks: others were not asked for after all. */
static enum ht_status pick_parts(
        struct ht_run *run, const struct ht_bundle *bundle, struct ht_parts *ret_parts)
{
	struct ht_parts parts = { .mem = bundle->mem };
	parts.list = ht_arena_alloc(run->scratch, (bundle->parts.n + 1) * sizeof *parts.list);
	if (!parts.list)
		return ht_fail_nomem(run->ctx);
	for (size_t side = 0; side < run->n_sets; side++) {
		for (size_t i = 0; i < run->chosen[side].n; i++) {
			int64_t rank = ht_run_chosen(run, side, i)->number;
			const struct ht_part *part = find_part(&bundle->parts, side, rank);
			if (!part)
				return ht_fail(run->ctx, HT_USAGE, NULL, -1,
				        "choose the ranks explicitly when making parts",
				        "there is no part of rank %" PRId64, rank);
			parts.list[parts.n++] = *part;
		}
	}
	*ret_parts = parts;
	return HT_OK;
}

static enum ht_status check_steps(struct ht_run *run, const struct ht_bundle *bundle)
{
	for (size_t side = 0; side < run->n_sets; side++)
		/* by default the last of several steps is left out, which who had one did not do */
		if (!ht_text_same(run->steps[side], bundle->steps[side]) ||
		        (!run->steps[side] && run->policy->select_rows && bundle->one_step[side] &&
		                run->rosters[side]->has_two_steps))
			return ht_fail(run->ctx, HT_USAGE, NULL, -1,
			        "give the steps when making parts",
			        "the ranks together mean other steps than the parts were made over");
	return HT_OK;
}

struct finishing {
	struct ht_run *run;
	const struct ht_bundle *bundle;
	ht_set *const *sets;
	struct ht_parts parts;
	ht_table *table;
};

static enum ht_status bring_together(void *user)
{
	struct finishing *f = user;
	if (ht_run_needs_clocks(f->run))
		HT_TRY(ht_run_fit_clocks(f->run, f->sets, &f->bundle->calls));
	return ht_run_make_table(f->run, &f->parts, &f->table);
}

static enum ht_status finish(struct ht_run *run, const struct ht_bundle *bundle,
        ht_set *const *sets, ht_table **ret_table)
{
	struct finishing f = { .run = run, .bundle = bundle, .sets = sets };
	HT_TRY(ht_run_read_args(run, bundle->question.args, bundle->question.n_args));
	if (sets)
		HT_TRY(ht_run_find_facts(run, sets));
	else
		HT_TRY(check_steps(run, bundle));
	HT_TRY(pick_parts(run, bundle, &f.parts));
	HT_TRY(ht_run_watch_table(run, bring_together, &f, &f.table));
	*ret_table = f.table;
	return HT_OK;
}

enum ht_status ht_bundle_table(ht_ctx *ctx, const ht_bundle *bundle, ht_table **ret_table)
{
	struct ht_arena scratch;
	struct ht_run run = { .ctx = ctx,
		.policy = &ht_own_policy,
		.scratch = &scratch,
		.n_sets = bundle->n_sets,
		.view = &bundle->question.view };
	ht_error_clear(ctx);
	if (bundle->joined_hash)
		return ht_fail(ctx, HT_USAGE, NULL, -1, "finish it with those sets",
		        "the parts are of joined sets");
	HT_TRY(ht_run_find_analysis(&run, bundle->question.name));
	for (size_t i = 0; i < bundle->n_sets; i++) {
		run.rosters[i] = &bundle->rosters[i];
		run.facts_of[i] = bundle->facts_of[i];
	}
	run.facts = run.facts_of[0];
	ht_arena_init(&scratch, ctx->mem);
	enum ht_status status = finish(&run, bundle, NULL, ret_table);
	ht_arena_done(&scratch);
	return status == HT_NOMEM ? ht_fail_nomem(ctx) : status;
}

enum ht_status ht_bundle_finish(ht_ctx *ctx, const ht_bundle *bundle, ht_set *const *sets,
        size_t n_sets, ht_table **ret_table)
{
	struct ht_arena scratch;
	struct ht_run run = { .ctx = ctx,
		.policy = &ht_own_policy,
		.scratch = &scratch,
		.view = &bundle->question.view };
	uint64_t hash;
	ht_error_clear(ctx);
	HT_TRY(ht_run_start(&run, bundle->question.name, sets, n_sets));
	HT_TRY(hash_sets(ctx, sets, n_sets, &hash));
	if (!hash || hash != bundle->joined_hash)
		return ht_fail(ctx, HT_USAGE, NULL, -1, NULL, "the parts are of other sets");
	ht_arena_init(&scratch, ctx->mem);
	enum ht_status status = finish(&run, bundle, sets, ret_table);
	ht_arena_done(&scratch);
	return status == HT_NOMEM ? ht_fail_nomem(ctx) : status;
}

enum ht_status ht_bundle_lacks_facts(ht_ctx *ctx, ht_set *const *sets, size_t n_sets,
        const struct ht_query *query, bool *ret_lacks)
{
	struct ht_arena scratch;
	struct ht_query q;
	struct ht_view taken;
	struct ht_run run = {
		.ctx = ctx, .policy = &ht_own_policy, .scratch = &scratch, .view = &taken
	};
	bool lacks = false;
	ht_error_clear(ctx);
	HT_TRY(ht_query_take(ctx, query, &q));
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_view, offset, q.view, &taken));
	HT_TRY(ht_run_start(&run, q.name, sets, n_sets));
	ht_arena_init(&scratch, ctx->mem);
	enum ht_status status = ht_run_read_args(&run, q.args, q.n_args);
	if (status == HT_OK && ht_run_wants_facts(&run))
		for (size_t i = 0; i < n_sets; i++)
			lacks |= sets[i]->joined_hash && !sets[i]->has_facts;
	ht_arena_done(&scratch);
	if (status != HT_OK)
		return status == HT_NOMEM ? ht_fail_nomem(ctx) : status;
	*ret_lacks = lacks;
	return HT_OK;
}
