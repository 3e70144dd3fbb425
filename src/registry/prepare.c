/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepare.c - parts of ranks made and kept before anybody asks; see ht_prepare.
 *
 * A rank is looked at as if further ones were elsewhere, as by ahead.c, and its parts go to the cache: the set that it is
 * joined into finds them there, under the number that the file claims. What it would not find is not made: parts of ranks
 * without a number or a place in the cache, with files attached, or that need facts of all ranks.
 */
#include "attach/attach.h"
#include "base/mem.h"
#include "base/memo.h"
#include "base/options.h"
#include "holotrace/own.h"
#include "model/policy.h"
#include "registry/kept_part.h"
#include "registry/question.h"
#include "registry/run_part.h"
#include "store/set.h"
#include "store/trace_refs.h"

/* A rank in hand. */
struct prepared {
	ht_ctx *ctx;
	ht_set *set;
	size_t i;
	const struct ht_cached *cached;
	struct ht_rank rank;
	struct ht_roster roster; /* of that rank alone */
	struct ht_memo memo;     /* what its parts share */
	struct ht_arena scratch;
	const struct ht_attached *attached;
	const struct ht_trace *trace; /* NULL until it is needed */
};

/* The part of one question, or the calls that clocks are fitted by, unless it is there. */
static enum ht_status make_part(struct prepared *p, struct ht_run *run)
{
	struct ht_part part = { .rank = run->rank };
	if (ht_kept_part_is_there(run, p->cached))
		return HT_OK;
	if (!p->trace)
		HT_TRY(ht_set_acquire(p->ctx, p->set, p->i, &p->trace));
	run->trace = p->trace;
	bool has_common = ht_kept_common_take_new(run, p->cached, &part);
	enum ht_status status = ht_run_fill_part(run, has_common, &part);
	if (status == HT_OK)
		ht_kept_part_give_new(run, p->cached, has_common, &part);
	for (size_t k = 0; k < HT_PART_TABLES; k++)
		ht_table_free(part.facts[k]);
	return status;
}

static enum ht_status answer(struct prepared *p, const struct ht_query *query)
{
	struct ht_run run = { .ctx = p->ctx,
		.policy = &ht_own_policy,
		.scratch = &p->scratch,
		.rosters = { &p->roster },
		.n_sets = 1,
		.is_partial = true,
		.rank = p->rank.number,
		.memo = &p->memo,
		.shares_rank = true,
		.attached = p->attached };
	struct ht_query q;
	struct ht_view view;
	HT_TRY(ht_query_take(p->ctx, query, &q));
	HT_TRY(HT_OPTIONS_TAKE(p->ctx, ht_view, offset, q.view, &view));
	run.view = q.view ? &view : NULL;
	HT_TRY(ht_run_find_analysis(&run, q.name));
	HT_TRY(ht_run_read_args(&run, q.args, q.n_args));
	if (!run.chosen[0].n || !ht_kept_is_alone(&run))
		return HT_OK;
	if (ht_run_needs_clocks(&run)) {
		struct ht_run calls = run;
		ht_run_set_analysis(&calls, &ht_calls_analysis);
		HT_TRY(make_part(p, &calls));
	}
	return make_part(p, &run);
}

static enum ht_status answer_all(struct prepared *p, const struct ht_query *queries, size_t n)
{
	HT_TRY(ht_attached_of(p->ctx, p->set, p->i, &p->attached));
	for (size_t k = 0; k < n; k++)
		HT_TRY(answer(p, &queries[k]));
	return HT_OK;
}

static enum ht_status prepare_rank(
        ht_ctx *ctx, ht_set *set, size_t i, const struct ht_query *queries, size_t n)
{
	struct prepared p = { .ctx = ctx, .set = set, .i = i, .cached = &set->kept[i].cached };
	p.rank = set->roster.ranks[i];
	p.rank.number = ht_rank_claim(&p.rank);
	p.roster = (struct ht_roster){ .ranks = &p.rank, .n = 1 };
	ht_roster_find_steps(&p.roster);
	if (p.rank.number == HT_NO_I64 || !p.cached->place)
		return HT_OK;
	ht_memo_init(&p.memo, ctx->mem);
	ht_arena_init(&p.scratch, ctx->mem);
	enum ht_status status = answer_all(&p, queries, n);
	ht_arena_done(&p.scratch);
	ht_memo_done(&p.memo);
	if (p.trace)
		ht_trace_release(p.trace);
	return status == HT_NOMEM ? ht_fail_nomem(ctx) : status;
}

enum ht_status ht_prepare(ht_ctx *ctx, ht_set *set, const struct ht_query *queries, size_t n)
{
	enum ht_status status = HT_OK;
	ht_error_clear(ctx);
	for (size_t i = 0; i < set->roster.n && status == HT_OK && !set->origin_at; i++)
		status = prepare_rank(ctx, set, i, queries, n);
	/* who looks at the events opens the trace again; the set lives on, and would hold on to what was freed */
	set->keep_bytes = 0;
	ht_set_settle(set);
	ht_mem_trim(ctx->mem);
	return status;
}
