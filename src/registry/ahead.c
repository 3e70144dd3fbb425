/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead.c - see ahead.h.
 *
 * Before all ranks are known, one is looked at as if further ones were elsewhere, the way `holotrace part` does. What
 * that could get wrong is kept with the part and compared when the question is asked: the number that the rank got,
 * whether there are several steps (the last is left out then), and what the analysis chose. A part that does not fit is
 * left, and the rank is looked at again. What needs facts of all ranks is not made ahead.
 */
#include "registry/ahead.h"

#include "attach/attach.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/options.h"
#include "model/part.h"
#include "model/policy.h"
#include "read/open.h"
#include "registry/kept_part.h"
#include "registry/question.h"
#include "registry/run_part.h"

#include <string.h>

/* Traces are not needed again, unless something else is asked. */
#define KEEP_BYTES ((uint64_t)64 << 20)

/* Of a set: the question, and memory for those who work on it. */
struct ahead {
	struct ht_mem *mem;
	struct ht_arena arena; /* owns the question */
	struct ht_question question;
	const struct ht_analysis *analysis;
	struct ht_arena_cache *arena_caches; /* by worker, while the set is opened */
	size_t n_workers;
};

/* Of a rank. */
struct prefetched_part {
	struct ht_part part, calls; /* facts are NULL where there is none, or it was taken */
	bool has_part, has_calls;
	bool two_steps;
	uint64_t choice; /* hash_choice */
};

static void free_facts(struct ht_part *part)
{
	for (size_t k = 0; k < HT_PART_TABLES; k++)
		ht_table_free(part->facts[k]);
}

static void free_prefetched(void *user, void *ahead)
{
	const struct ahead *a = user;
	struct prefetched_part *prefetched = ahead;
	if (prefetched->has_part)
		free_facts(&prefetched->part);
	if (prefetched->has_calls)
		free_facts(&prefetched->calls);
	ht_mem_free(a->mem, prefetched, sizeof *prefetched);
}

static void drop_arena_caches(struct ahead *a)
{
	for (size_t i = 0; i < a->n_workers; i++)
		ht_arena_cache_done(&a->arena_caches[i]);
	ht_mem_free(a->mem, a->arena_caches, a->n_workers * sizeof *a->arena_caches);
	a->arena_caches = NULL;
	a->n_workers = 0;
}

static void free_ahead(void *user)
{
	struct ahead *a = user;
	struct ht_mem *mem = a->mem;
	drop_arena_caches(a);
	ht_arena_done(&a->arena);
	ht_mem_free(mem, a, sizeof *a);
	ht_mem_release(mem);
}

/* What an analysis makes of its arguments may depend on the ranks that are there. */
static uint64_t hash_choice(const struct ht_run *run)
{
	uint64_t hash = run->across;
	size_t n = run->analysis->info.n_params;
	for (size_t i = 0; i < n + 2; i++) {
		const char *text = i < n    ? run->values[i]
		                   : i == n ? run->steps[0]
		                            : run->annotation;
		hash = ht_hash_mix(hash, text ? ht_hash(text, strlen(text)) : 0);
	}
	return hash;
}

/* ---- making ---- */

/* What is there after a failure is freed with the rest. */
static enum ht_status make(struct ahead *a, struct ht_run *run, const struct ht_cached *cached,
        struct prefetched_part *prefetched)
{
	HT_TRY(ht_run_read_args(run, a->question.args, a->question.n_args));
	if (ht_run_wants_facts(run))
		return HT_OK;
	prefetched->choice = hash_choice(run);
	prefetched->two_steps = run->rosters[0]->has_two_steps;
	if (ht_run_needs_clocks(run)) {
		prefetched->has_calls = true;
		HT_TRY(ht_run_fill(run, &ht_calls_analysis, &prefetched->calls));
		struct ht_run all = *run;
		ht_run_set_analysis(&all, &ht_calls_analysis);
		ht_kept_part_give_new(&all, cached, false, &prefetched->calls);
	}
	if (!run->chosen[0].n)
		return HT_OK;
	prefetched->has_part = true;
	HT_TRY(ht_run_fill(run, run->analysis, &prefetched->part));
	ht_kept_part_give_new(run, cached, false, &prefetched->part);
	return HT_OK;
}

static enum ht_status visit(void *user, ht_ctx *ctx, int i_worker, const struct ht_trace *trace,
        const struct ht_rank *rank, const struct ht_cached *cached, struct ht_reload *reload,
        void **ret_ahead)
{
	struct ahead *a = user;
	struct ht_rank own = *rank;
	struct ht_roster roster = { .ranks = &own, .n = 1 };
	struct ht_arena scratch;
	ht_roster_find_steps(&roster);
	own.number = ht_rank_claim(rank);
	if (own.number == HT_NO_I64)
		return HT_OK;
	struct prefetched_part *prefetched = ht_mem_zalloc(a->mem, sizeof *prefetched);
	if (!prefetched)
		return ht_fail_nomem(ctx);
	ht_arena_init_cached(&scratch, &a->arena_caches[i_worker]);
	scratch.cancelled = ctx->parent ? &ctx->parent->cancelled : &ctx->cancelled;
	struct ht_run run = { .ctx = ctx,
		.policy = &ht_own_policy,
		.scratch = &scratch,
		.view = &a->question.view,
		.question = &a->question,
		.rosters = { &roster },
		.n_sets = 1,
		.is_partial = true,
		.trace = trace,
		.rank = own.number };
	ht_run_set_analysis(&run, a->analysis);
	enum ht_status status = ht_attached_to(ctx, reload, rank->path, &run.attached);
	if (status == HT_OK)
		status = make(a, &run, cached, prefetched);
	ht_arena_done(&scratch);
	if (status == HT_OK)
		*ret_ahead = prefetched;
	else
		free_prefetched(a, prefetched);
	return status;
}

/* ---- taking ---- */

static bool fits(
        const struct ahead *a, const struct prefetched_part *prefetched, const struct ht_run *run)
{
	const struct ht_roster *roster = run->rosters[run->side];
	/* steps that are named do not depend on what others have */
	bool same_steps = run->steps[0] || !run->policy->select_rows ||
	                  prefetched->two_steps == roster->has_two_steps;
	return prefetched->has_part && run->question &&
	       ht_question_same(run->question, &a->question) && same_steps &&
	       (roster->n > 1 || run->is_partial) && prefetched->choice == hash_choice(run);
}

bool ht_ahead_take(
        const struct ht_run *run, const struct ht_set *set, size_t i, struct ht_part *ret_part)
{
	int64_t number = run->rosters[run->side]->ranks[i].number;
	if (set->origin_at) {
		i = set->origin_at[i];
		set = set->origin;
	}
	if (!set || i == SIZE_MAX || set->visitor.visit != visit || run->side)
		return false;
	/* who takes a part is not seen by others */
	struct ht_set *own = (struct ht_set *)(uintptr_t)set;
	bool is_calls = run->analysis == &ht_calls_analysis, taken = false;
	pthread_mutex_lock(&own->lock);
	struct prefetched_part *prefetched = own->kept[i].ahead;
	struct ht_part *part = !prefetched ? NULL
	                       : is_calls  ? &prefetched->calls
	                                   : &prefetched->part;
	if (part && part->rank == number &&
	        (is_calls ? prefetched->has_calls : fits(own->visitor.user, prefetched, run))) {
		*ret_part = *part;
		*(is_calls ? &prefetched->has_calls : &prefetched->has_part) = false;
		taken = true;
	}
	pthread_mutex_unlock(&own->lock);
	return taken;
}

/* ---- opening ---- */

/* Whether looking at ranks of one set by themselves is all that it takes. */
static bool can_be_ahead(const struct ht_analysis *analysis)
{
	const struct ht_analysis_info *info = &analysis->info;
	return info->n_sets == 1 && !info->sides[0] && !info->input_param && !info->files;
}

static enum ht_status make_ahead(ht_ctx *ctx, const struct ht_analysis *analysis,
        const struct ht_arg *args, size_t n_args, const struct ht_view *view,
        struct ahead **ret_ahead)
{
	struct ahead *a = ht_mem_zalloc(ctx->mem, sizeof *a);
	if (!a)
		return ht_fail_nomem(ctx);
	a->mem = ht_mem_retain(ctx->mem);
	ht_arena_init(&a->arena, a->mem);
	a->analysis = analysis;
	size_t n = (size_t)ht_ctx_jobs(ctx);
	a->arena_caches = ht_mem_zalloc(a->mem, n * sizeof *a->arena_caches);
	if (!a->arena_caches || !ht_question_copy(&a->arena, analysis->info.name, args, n_args,
	                                view, &a->question)) {
		ht_mem_free(a->mem, a->arena_caches, n * sizeof *a->arena_caches);
		a->arena_caches = NULL;
		free_ahead(a);
		return ht_fail_nomem(ctx);
	}
	a->n_workers = n;
	for (size_t i = 0; i < n; i++)
		ht_arena_cache_init(&a->arena_caches[i], a->mem);
	*ret_ahead = a;
	return HT_OK;
}

enum ht_status ht_open_for(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, const struct ht_query *query, ht_set **ret_set)
{
	struct ht_query q;
	const struct ht_analysis *analysis;
	struct ht_view taken;
	struct ahead *a = NULL;
	ht_set *set;
	ht_error_clear(ctx);
	HT_TRY(ht_query_take(ctx, query, &q));
	HT_TRY(ht_analysis_get(ctx, q.name, &analysis));
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_view, offset, q.view, &taken));
	if (!can_be_ahead(analysis))
		return ht_open(ctx, sources, n_sources, options, ret_set);
	HT_TRY(make_ahead(ctx, analysis, q.args, q.n_args, &taken, &a));
	struct ht_visitor visitor = { a, visit, free_prefetched, free_ahead };
	HT_TRY(ht_open_visited(ctx, sources, n_sources, options, &visitor, KEEP_BYTES, &set));
	drop_arena_caches(a);
	*ret_set = set;
	return HT_OK;
}
