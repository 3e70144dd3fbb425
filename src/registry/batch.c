/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.c - several analyses over one set, answered together; see ht_ask_all.
 *
 * Every rank is opened once. What several analyses have to find out about it is found by the first and kept until the
 * last is done with the rank (model/run_memo.h, ht_common_facts); then it is let go. Finishing is a task per analysis.
 *
 *     rank 0:  open ─ [ summary | steps | kernels | ... ] ─ let go ─┐
 *     rank 1:  open ─ [ summary | steps | kernels | ... ] ─ let go ─┼─► [ finish summary | finish steps | ... ]
 *
 * With at least as many ranks as threads a rank is a task, and one thread finds everything in its own hands; with fewer
 * an analysis of a rank is a task. What an analysis answers depends on neither: its parts stand at the rank's place,
 * and its failure is that of the first rank that has one.
 *
 * Under a memory limit the analyses run one after the other, as by themselves: what one keeps could make another fail.
 */
#include "registry/kept_part.h"
#include "registry/question.h"
#include "registry/run_steps.h"
#include "store/trace_refs.h"

#include "attach/attach.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/search.h"
#include "base/text_compare.h"
#include "base/thread.h"

#include <string.h>

/* ---- questions ---- */

struct question {
	struct ht_run run;
	struct ht_arena scratch; /* of the run, until its table is made */
	struct ht_view view;
	struct ht_parts parts;
	pthread_mutex_t lock;  /* guards what follows while ranks are computed */
	enum ht_status status; /* HT_OK while there is hope */
	size_t i_failed;       /* rank of the failure; SIZE_MAX: none */
	struct ht_error_text why;
	ht_table *table;
};

/* What a rank has beside its trace while analyses look at it. */
struct common {
	const struct ht_common_facts *of;
	uint32_t selection;
	ht_table *facts[HT_PART_TABLES];
};

struct rank {
	pthread_mutex_t lock; /* guards trace, n_left and common */
	const struct ht_trace *trace;
	struct ht_memo memo;
	struct common *common; /* room for one per question; NULL until there is one */
	size_t n_common;
	size_t n_left; /* questions that are not done with it */
};

struct batch {
	ht_ctx *ctx;
	ht_set *set;
	struct question *questions;
	size_t n;
	struct rank *ranks;                  /* by index in the roster */
	struct ht_arena_cache *arena_caches; /* by worker */
	bool by_rank;
	atomic_ullong done; /* bytes of JSON, once per question */
};

static const char watched[] = "Analyses";

static void fail(struct question *q, size_t i_rank, enum ht_status status, const ht_ctx *why)
{
	pthread_mutex_lock(&q->lock);
	if (q->status == HT_OK || i_rank < q->i_failed) {
		q->status = status;
		q->i_failed = i_rank;
		ht_error_save(why, &q->why);
	}
	pthread_mutex_unlock(&q->lock);
}

/* Whether rank i need not be looked at any more. */
static bool is_lost(struct question *q, size_t i_rank)
{
	pthread_mutex_lock(&q->lock);
	bool lost = q->status != HT_OK && q->i_failed <= i_rank;
	pthread_mutex_unlock(&q->lock);
	return lost;
}

static bool same_selection(const struct ht_run *a, const struct ht_run *b)
{
	return ht_text_same(a->step, b->step) && ht_text_same(a->annotation, b->annotation) &&
	       a->policy == b->policy && a->chosen[0].n == b->chosen[0].n &&
	       (!a->chosen[0].n || !memcmp(a->chosen[0].at, b->chosen[0].at,
	                                   a->chosen[0].n * sizeof *a->chosen[0].at));
}

/* The i-th of a list, whose places are as far apart as the caller's struct is long. */
static enum ht_status take_query(
        ht_ctx *ctx, const struct ht_query *list, size_t i, struct ht_query *ret_query)
{
	/* 0: as long as it was at first */
	size_t first = offsetof(struct ht_query, view) + sizeof list->view;
	size_t n_bytes = list->struct_size ? list->struct_size : first;
	const void *at = (const char *)list + i * n_bytes;
	return ht_query_take(ctx, at, ret_query);
}

static enum ht_status prepare(struct batch *batch, struct question *q, const struct ht_query *asked)
{
	ht_ctx *ctx = batch->ctx;
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_view, offset, asked->view, &q->view));
	q->run = (struct ht_run){ .ctx = ctx,
		.policy = &ht_own_policy,
		.scratch = &q->scratch,
		.view = asked->view ? &q->view : NULL };
	HT_TRY(ht_run_start(&q->run, asked->name, &batch->set, 1));
	HT_TRY(ht_run_read_args(&q->run, asked->args, asked->n_args));
	HT_TRY(ht_run_find_facts(&q->run, &batch->set));
	HT_TRY(ht_run_find_clocks(&q->run, &batch->set));
	q->parts = (struct ht_parts){ .mem = ctx->mem, .n = q->run.chosen[0].n };
	if (q->parts.n)
		q->parts.list = ht_mem_zalloc(ctx->mem, q->parts.n * sizeof *q->parts.list);
	return q->parts.n && !q->parts.list ? ht_fail_nomem(ctx) : HT_OK;
}

static void choose_selection(struct batch *batch, size_t i)
{
	struct question *q = &batch->questions[i];
	size_t first = 0;
	while (first < i && (batch->questions[first].status != HT_OK ||
	                            !same_selection(&batch->questions[first].run, &q->run)))
		first++;
	q->run.selection = (uint32_t)first;
}

/* ---- one rank ---- */

/* The rank's trace, which stays until its last question is done. */
static enum ht_status open_rank(ht_ctx *ctx, struct batch *batch, size_t i_rank)
{
	struct rank *rank = &batch->ranks[i_rank];
	pthread_mutex_lock(&rank->lock);
	enum ht_status status =
	        rank->trace ? HT_OK : ht_set_acquire(ctx, batch->set, i_rank, &rank->trace);
	pthread_mutex_unlock(&rank->lock);
	return status;
}

static void leave_rank(const struct batch *batch, struct rank *rank)
{
	pthread_mutex_lock(&rank->lock);
	bool last = !--rank->n_left;
	pthread_mutex_unlock(&rank->lock);
	if (!last)
		return;
	for (size_t i = 0; i < rank->n_common; i++)
		for (size_t k = 0; k < HT_PART_TABLES; k++)
			ht_table_free(rank->common[i].facts[k]);
	ht_mem_free(batch->ctx->mem, rank->common, batch->n * sizeof *rank->common);
	ht_memo_done(&rank->memo);
	ht_trace_release(rank->trace);
	rank->trace = NULL;
}

static struct common *find_common(struct rank *rank, const struct ht_run *run)
{
	for (size_t i = 0; i < rank->n_common; i++)
		if (rank->common[i].of == run->analysis->common &&
		        rank->common[i].selection == run->selection)
			return &rank->common[i];
	return NULL;
}

/* The tables that another analysis has filled; false: none has. */
static bool take_common(struct rank *rank, const struct ht_run *run, struct ht_part *part)
{
	pthread_mutex_lock(&rank->lock);
	const struct common *common = find_common(rank, run);
	for (size_t k = 0; common && k < run->analysis->common->n; k++)
		part->facts[k] = ht_table_retain(common->facts[k]);
	pthread_mutex_unlock(&rank->lock);
	return common != NULL;
}

/* Without memory others fill their own. */
static void give_common(const struct batch *batch, struct rank *rank, const struct ht_run *run,
        const struct ht_part *part)
{
	pthread_mutex_lock(&rank->lock);
	if (!rank->common)
		rank->common = ht_mem_zalloc(batch->ctx->mem, batch->n * sizeof *rank->common);
	if (rank->common && !find_common(rank, run)) {
		struct common *common = &rank->common[rank->n_common++];
		*common =
		        (struct common){ .of = run->analysis->common, .selection = run->selection };
		for (size_t k = 0; k < run->analysis->common->n; k++)
			common->facts[k] = ht_table_retain(part->facts[k]);
	}
	pthread_mutex_unlock(&rank->lock);
}

static enum ht_status fill(struct batch *batch, struct ht_run *run, struct ht_part *part)
{
	struct rank *rank = &batch->ranks[run->i_rank];
	*part = (struct ht_part){ .rank = run->rank };
	if (ht_kept_part_take(run, batch->set, run->i_rank, part))
		return HT_OK;
	HT_TRY(open_rank(run->ctx, batch, run->i_rank));
	run->trace = rank->trace;
	bool is_shared = run->analysis->common && take_common(rank, run, part);
	bool has_common = is_shared || ht_kept_common_take(run, batch->set, run->i_rank, part);
	HT_TRY(ht_run_fill_part(run, has_common, part));
	if (run->analysis->common && !is_shared)
		give_common(batch, rank, run, part);
	ht_kept_part_give(run, batch->set, run->i_rank, has_common, part);
	return HT_OK;
}

/* The part of one rank for one question. */
static void compute(struct batch *batch, struct question *q, size_t i_chosen, int i_worker)
{
	struct ht_run run = q->run;
	struct ht_arena scratch;
	ht_ctx child;
	ht_ctx_begin_task(batch->ctx, &child);
	ht_arena_init_cached(&scratch, &batch->arena_caches[i_worker]);
	scratch.cancelled = &batch->ctx->cancelled;
	run.ctx = &child;
	run.scratch = &scratch;
	run.i_rank = q->run.chosen[0].at[i_chosen];
	run.rank = run.rosters[0]->ranks[run.i_rank].number;
	run.step = run.steps[0];
	run.facts = run.facts_of[0];
	run.memo = &batch->ranks[run.i_rank].memo;
	run.shares_rank = true;
	/* what is shared dies on the thread of its rank where a rank has one */
	run.arena_cache = batch->by_rank ? &batch->arena_caches[i_worker] : NULL;
	enum ht_status status = ht_attached_of(&child, batch->set, run.i_rank, &run.attached);
	if (status == HT_OK)
		status = fill(batch, &run, &q->parts.list[i_chosen]);
	ht_arena_done(&scratch);
	if (status == HT_NOMEM && child.error.status == HT_OK)
		status = ht_fail_nomem(&child);
	if (status == HT_NOMEM)
		ht_error_in_file(&child, ht_run_rank(&run)->path);
	if (status != HT_OK)
		fail(q, run.i_rank, status, &child);
	pthread_mutex_destroy(&child.lock);
}

/* Where a rank stands among the chosen ones; n: it was not chosen. */
static size_t find_chosen(const struct question *q, size_t i_rank)
{
	const struct ht_chosen *chosen = &q->run.chosen[0];
	size_t at = HT_LOWER_BOUND(i, chosen->n, chosen->at[i] < i_rank);
	return at < chosen->n && chosen->at[at] == i_rank ? at : chosen->n;
}

static void ask(struct batch *batch, size_t i_rank, struct question *q, int i_worker)
{
	size_t at = find_chosen(q, i_rank);
	if (at < q->run.chosen[0].n && !is_lost(q, i_rank) && !ht_ctx_is_cancelled(batch->ctx))
		compute(batch, q, at, i_worker);
	atomic_fetch_add(&batch->done, batch->set->roster.ranks[i_rank].json_bytes);
	leave_rank(batch, &batch->ranks[i_rank]);
}

static enum ht_status look_at_rank(void *user, size_t i_task, int i_worker)
{
	struct batch *batch = user;
	for (size_t i = 0; batch->by_rank && i < batch->n; i++)
		ask(batch, i_task, &batch->questions[i], i_worker);
	if (!batch->by_rank)
		ask(batch, i_task / batch->n, &batch->questions[i_task % batch->n], i_worker);
	return HT_OK;
}

static enum ht_status look_at_ranks(struct batch *batch)
{
	size_t n_ranks = batch->set->roster.n;
	struct ht_watch watch = { .what = watched, .done = &batch->done };
	batch->by_rank = n_ranks >= (size_t)ht_ctx_jobs(batch->ctx);
	for (int i = 0; i < ht_ctx_jobs(batch->ctx); i++)
		ht_arena_cache_init(&batch->arena_caches[i], batch->ctx->mem);
	for (size_t i = 0; i < n_ranks; i++) {
		struct rank *rank = &batch->ranks[i];
		*rank = (struct rank){ .n_left = batch->n };
		pthread_mutex_init(&rank->lock, NULL);
		ht_memo_init(&rank->memo, batch->ctx->mem);
		watch.total += batch->n * batch->set->roster.ranks[i].json_bytes;
	}
	enum ht_status status = ht_parallel_watched(batch->ctx,
	        batch->by_rank ? n_ranks : n_ranks * batch->n, look_at_rank, batch, &watch);
	for (size_t i = 0; i < n_ranks; i++) {
		/* what was not started is left here */
		while (batch->ranks[i].n_left)
			leave_rank(batch, &batch->ranks[i]);
		pthread_mutex_destroy(&batch->ranks[i].lock);
	}
	for (int i = 0; i < ht_ctx_jobs(batch->ctx); i++)
		ht_arena_cache_done(&batch->arena_caches[i]);
	return status;
}

/* ---- the tables ---- */

static enum ht_status finish(void *user, size_t i_task, int i_worker)
{
	struct batch *batch = user;
	struct question *q = &batch->questions[i_task];
	ht_ctx child;
	(void)i_worker;
	if (q->status != HT_OK)
		return HT_OK;
	ht_ctx_begin_task(batch->ctx, &child);
	q->run.ctx = &child;
	q->parts.spent = true;
	enum ht_status status = ht_run_make_table(&q->run, &q->parts, &q->table);
	ht_parts_done(&q->parts);
	/* tables are filled without a context at hand: give their failure its text here */
	if (status == HT_NOMEM)
		status = ht_fail_nomem(&child);
	if (status != HT_OK)
		fail(q, 0, status, &child);
	pthread_mutex_destroy(&child.lock);
	return HT_OK;
}

static enum ht_status answer_together(struct batch *batch)
{
	struct ht_arena arena;
	size_t n_ranks = batch->set->roster.n;
	ht_arena_init(&arena, batch->ctx->mem);
	batch->ranks = ht_arena_alloc(&arena, (n_ranks + 1) * sizeof *batch->ranks);
	batch->arena_caches = ht_arena_alloc(
	        &arena, (size_t)ht_ctx_jobs(batch->ctx) * sizeof *batch->arena_caches);
	bool ok = batch->ranks && batch->arena_caches;
	enum ht_status status = ok ? look_at_ranks(batch) : ht_fail_nomem(batch->ctx);
	ht_arena_done(&arena);
	HT_TRY(status);
	struct ht_watch watch = { watched, &batch->done, atomic_load(&batch->done) };
	HT_TRY(ht_parallel_watched(batch->ctx, batch->n, finish, batch, &watch));
	return ht_ctx_is_cancelled(batch->ctx)
	               ? ht_fail(batch->ctx, HT_CANCELLED, NULL, -1, NULL, "cancelled")
	               : HT_OK;
}

/* ---- running ---- */

/* Hand an answer over; false: the caller has heard enough. */
static bool tell(struct batch *batch, size_t i, ht_answer_fn fn, void *user)
{
	struct question *q = &batch->questions[i];
	ht_table *table = q->table;
	q->table = NULL;
	ht_error_clear(batch->ctx);
	if (q->status != HT_OK)
		ht_error_load(batch->ctx, &q->why);
	return fn(user, i, q->status, table);
}

static enum ht_status run_together(struct batch *batch, const struct ht_query *asked)
{
	for (size_t i = 0; i < batch->n; i++) {
		struct question *q = &batch->questions[i];
		ht_arena_init(&q->scratch, batch->ctx->mem);
		q->scratch.cancelled = &batch->ctx->cancelled;
		pthread_mutex_init(&q->lock, NULL);
		q->i_failed = SIZE_MAX;
	}
	for (size_t i = 0; i < batch->n; i++) {
		struct question *q = &batch->questions[i];
		ht_error_clear(batch->ctx);
		struct ht_query query;
		enum ht_status status = take_query(batch->ctx, asked, i, &query);
		if (status == HT_OK)
			status = prepare(batch, q, &query);
		if (status == HT_NOMEM)
			status = ht_fail_nomem(batch->ctx);
		if (status == HT_CANCELLED)
			return status;
		if (status != HT_OK)
			fail(q, 0, status, batch->ctx);
		else
			choose_selection(batch, i);
	}
	ht_error_clear(batch->ctx);
	return answer_together(batch);
}

static void batch_done(struct batch *batch)
{
	for (size_t i = 0; i < batch->n; i++) {
		struct question *q = &batch->questions[i];
		ht_table_free(q->table);
		ht_parts_done(&q->parts);
		ht_arena_done(&q->scratch);
		pthread_mutex_destroy(&q->lock);
	}
}

static enum ht_status run_apart(ht_ctx *ctx, ht_set *set, const struct ht_query *questions,
        size_t n, ht_answer_fn fn, void *user)
{
	for (size_t i = 0; i < n; i++) {
		struct ht_query query;
		ht_table *table = NULL;
		ht_error_clear(ctx);
		enum ht_status status = take_query(ctx, questions, i, &query);
		if (status == HT_OK)
			status = ht_ask(ctx, &set, 1, &query, &table);
		if (status == HT_CANCELLED)
			return status;
		if (!fn(user, i, status, status == HT_OK ? table : NULL))
			break;
	}
	return HT_OK;
}

enum ht_status ht_ask_all(ht_ctx *ctx, ht_set *set, const struct ht_query *questions, size_t n,
        ht_answer_fn fn, void *user)
{
	struct batch batch = { .ctx = ctx, .set = set, .n = n };
	ht_error_clear(ctx);
	if (ctx->mem->limit)
		return run_apart(ctx, set, questions, n, fn, user);
	batch.questions = ht_mem_zalloc(ctx->mem, (n + 1) * sizeof *batch.questions);
	if (!batch.questions)
		return ht_fail_nomem(ctx);
	enum ht_status status = run_together(&batch, questions);
	for (size_t i = 0; status == HT_OK && i < n; i++)
		if (!tell(&batch, i, fn, user))
			break;
	batch_done(&batch);
	ht_mem_free(ctx->mem, batch.questions, (n + 1) * sizeof *batch.questions);
	return status;
}
