/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_steps.c - running an analysis: ranks on threads, each with memory of its own, then one table.
 *
 * Every chosen rank is a task: take its trace, compute its part, let the trace and the scratch memory go. Parts
 * are stored at the rank's place, so that order, number of threads and what was in memory do not matter.
 */
#include "registry/run_steps.h"

#include "attach/kind.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/thread.h"
#include "hta/hta_facts.h"
#include "model/rows/frame.h"
#include "model/clocks/clocks.h"
#include "registry/ahead.h"
#include "registry/kept_answer.h"
#include "registry/kept_part.h"
#include "registry/npu_words.h"
#include "registry/fill_origin.h"
#include "registry/question.h"
#include "store/trace_refs.h"

#include <inttypes.h>
#include <string.h>

/* ---- a rank in hand ---- */

static enum ht_status take_rank(struct ht_run *run, const struct ht_set *set, size_t i_rank)
{
	run->i_rank = i_rank;
	run->rank = run->rosters[run->side]->ranks[run->i_rank].number;
	run->step = run->steps[run->side];
	run->facts = run->facts_of[run->side];
	run->memo = set->memo;
	HT_TRY(ht_attached_of(run->ctx, set, run->i_rank, &run->attached));
	return ht_set_acquire(run->ctx, set, run->i_rank, &run->trace);
}

enum ht_status ht_run_take(struct ht_run *run, const struct ht_set *set, size_t i)
{
	return take_rank(run, set, run->chosen[run->side].at[i]);
}

void ht_run_let_go(struct ht_run *run)
{
	ht_trace_release(run->trace);
	run->trace = NULL;
}

/* ---- parts ---- */

/* A rank to look at. */
struct place {
	size_t side, i_rank;
	size_t i_part; /* SIZE_MAX: it was not chosen */
};

struct job {
	const struct ht_run *run;
	ht_set *const *sets;
	struct place *places;
	size_t n;
	struct ht_parts *parts;              /* NULL: not wanted */
	struct ht_parts *calls;              /* parallel to the places; NULL: not wanted */
	struct ht_arena_cache *arena_caches; /* by worker; NULL: each has one rank at most */
	atomic_ullong done;                  /* bytes of JSON behind the ranks that are done */
	uint64_t n_bytes;                    /* behind all of them */
};

/* What was made ahead, or before: no trace is needed for it. */
static bool find_part(
        const struct ht_run *run, const struct ht_set *set, size_t i_rank, struct ht_part *ret_part)
{
	return ht_ahead_take(run, set, i_rank, ret_part) ||
	       ht_kept_part_take(run, set, i_rank, ret_part);
}

static enum ht_status make_part(
        struct ht_run *run, const struct ht_set *set, struct ht_part *ret_part)
{
	*ret_part = (struct ht_part){ .side = run->side, .rank = run->rank };
	bool has_common = ht_kept_common_take(run, set, run->i_rank, ret_part);
	HT_TRY(ht_run_fill_part(run, has_common, ret_part));
	ht_kept_part_give(run, set, run->i_rank, has_common, ret_part);
	return HT_OK;
}

/* Everything that is wanted of a rank: what is there as it is, the rest from the trace. */
static enum ht_status fill_place(struct job *job, size_t i, struct ht_run *run)
{
	const struct place *place = &job->places[i];
	const struct ht_set *set = job->sets[place->side];
	struct ht_run all = *run;
	struct ht_part *calls = job->calls ? &job->calls->list[i] : NULL;
	struct ht_part *part = place->i_part == SIZE_MAX ? NULL : &job->parts->list[place->i_part];
	HT_TRY(ht_attached_of(run->ctx, set, place->i_rank, &run->attached));
	ht_run_set_analysis(&all, &ht_calls_analysis);
	all.attached = run->attached;
	if (calls && find_part(&all, set, place->i_rank, calls))
		calls = NULL;
	if (part && find_part(run, set, place->i_rank, part))
		part = NULL;
	if (!calls && !part)
		return HT_OK;
	HT_TRY(take_rank(run, set, place->i_rank));
	all = *run;
	ht_run_set_analysis(&all, &ht_calls_analysis);
	enum ht_status status = calls ? make_part(&all, set, calls) : HT_OK;
	if (status == HT_OK && part)
		status = make_part(run, set, part);
	ht_run_let_go(run);
	return status;
}

/* A task of its own context and memory; the answer is the same on any thread. */
static enum ht_status look_at(void *user, size_t i, int i_worker)
{
	struct job *job = user;
	const struct place *place = &job->places[i];
	ht_ctx *parent = job->run->ctx;
	ht_ctx child;
	struct ht_arena scratch;
	ht_ctx_begin_task(parent, &child);
	if (job->arena_caches)
		ht_arena_init_cached(&scratch, &job->arena_caches[i_worker]);
	else
		ht_arena_init(&scratch, child.mem);
	scratch.cancelled = &parent->cancelled;
	struct ht_run run = *job->run;
	run.ctx = &child;
	run.scratch = &scratch;
	run.side = place->side;
	run.i_rank = place->i_rank;
	enum ht_status status = fill_place(job, i, &run);
	ht_arena_done(&scratch);
	if (status == HT_NOMEM && child.error.status == HT_OK)
		status = ht_fail_nomem(&child);
	if (status == HT_NOMEM)
		ht_error_in_file(&child, ht_run_rank(&run)->path);
	atomic_fetch_add(&job->done, ht_run_rank(&run)->json_bytes);
	return ht_ctx_end_task(parent, &child, status);
}

/* The ranks of one side whose traces are here and of which something is wanted, ascending. */
static void find_places(struct job *job, size_t side, size_t *n_parts)
{
	const struct ht_run *run = job->run;
	const struct ht_chosen *chosen = &run->chosen[side];
	for (size_t i = 0, next = 0; i < run->rosters[side]->n; i++) {
		bool is_chosen = job->parts && next < chosen->n && chosen->at[next] == i;
		next += is_chosen;
		if (!ht_set_has(job->sets[side], i) || (!is_chosen && !job->calls))
			continue;
		job->places[job->n++] =
		        (struct place){ side, i, is_chosen ? (*n_parts)++ : SIZE_MAX };
		job->n_bytes += run->rosters[side]->ranks[i].json_bytes;
	}
}

static enum ht_status make_parts(ht_ctx *ctx, struct ht_parts *parts, size_t n)
{
	if (!parts || !n)
		return HT_OK;
	parts->list = ht_mem_zalloc(ctx->mem, n * sizeof *parts->list);
	parts->n = parts->list ? n : 0;
	return parts->list ? HT_OK : ht_fail_nomem(ctx);
}

/* Scratch memory goes from rank to rank, on each thread for itself. */
static enum ht_status run_job(ht_ctx *ctx, struct job *job)
{
	size_t n_workers = (size_t)ht_ctx_jobs(ctx);
	struct ht_watch watch = {
		.what = job->run->analysis->info.title, .done = &job->done, .total = job->n_bytes
	};
	if (job->n <= n_workers)
		return ht_parallel_watched(ctx, job->n, look_at, job, &watch);
	job->arena_caches = ht_mem_alloc(ctx->mem, n_workers * sizeof *job->arena_caches);
	if (!job->arena_caches)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n_workers; i++)
		ht_arena_cache_init(&job->arena_caches[i], ctx->mem);
	enum ht_status status = ht_parallel_watched(ctx, job->n, look_at, job, &watch);
	for (size_t i = 0; i < n_workers; i++)
		ht_arena_cache_done(&job->arena_caches[i]);
	ht_mem_free(ctx->mem, job->arena_caches, n_workers * sizeof *job->arena_caches);
	return status;
}

static enum ht_status compute(struct job *job)
{
	const struct ht_run *run = job->run;
	size_t n = 0, n_parts = 0;
	for (size_t side = 0; side < run->n_sets; side++)
		n += run->rosters[side]->n;
	job->places = ht_arena_alloc(run->scratch, (n + 1) * sizeof *job->places);
	if (!job->places)
		return ht_fail_nomem(run->ctx);
	for (size_t side = 0; side < run->n_sets; side++)
		find_places(job, side, &n_parts);
	HT_TRY(make_parts(run->ctx, job->parts, n_parts));
	HT_TRY(make_parts(run->ctx, job->calls, job->n));
	return run_job(run->ctx, job);
}

enum ht_status ht_run_compute(const struct ht_run *run, ht_set *const *sets,
        struct ht_parts *ret_parts, struct ht_parts *ret_calls)
{
	struct ht_parts parts = { .mem = run->ctx->mem }, calls = parts;
	struct job job = { .run = run,
		.sets = sets,
		.parts = ret_parts ? &parts : NULL,
		.calls = ret_calls ? &calls : NULL };
	enum ht_status status = compute(&job);
	if (status != HT_OK) {
		ht_parts_done(&parts);
		ht_parts_done(&calls);
		return status;
	}
	if (ret_parts)
		*ret_parts = parts;
	if (ret_calls)
		*ret_calls = calls;
	return HT_OK;
}

/* ---- bringing ranks together ---- */

/* While the calling thread tells that all ranks are looked at, and hears whether to stop. */
static enum ht_status call_watched(struct ht_run *run, enum ht_status (*fn)(void *user), void *user)
{
	uint64_t n_bytes = 0;
	for (size_t side = 0; side < run->n_sets; side++)
		for (size_t i = 0; i < run->rosters[side]->n; i++)
			n_bytes += run->rosters[side]->ranks[i].json_bytes;
	const atomic_ullong done = n_bytes;
	const struct ht_watch watch = { run->analysis->info.title, &done, n_bytes };
	run->scratch->cancelled = &run->ctx->cancelled;
	return ht_call_watched(run->ctx, fn, user, &watch);
}

/* ---- clocks ---- */

/* The parts of one side, which stand together. */
static struct ht_parts side_of(const struct ht_parts *parts, size_t side)
{
	struct ht_parts of = { .mem = parts->mem };
	for (size_t i = 0; i < parts->n; i++) {
		if (parts->list[i].side != side)
			continue;
		if (!of.n++)
			of.list = &parts->list[i];
	}
	return of;
}

static const char clocks_kind;
static const struct ht_memo_key clocks_key = { SIZE_MAX, &clocks_kind, 0 };

static void set_clocks(struct ht_run *run, size_t side, const struct ht_clocks *clocks)
{
	run->clocks[side] = clocks;
	run->matches[side] = clocks ? &clocks->matches : NULL;
	run->moves[side] = clocks ? clocks->moves : NULL;
}

/* Kept for the runs to come where that is possible; under a limit nothing is, or what one run keeps could make
 * another fail. */
static enum ht_status fit_side(
        struct ht_run *run, size_t side, const struct ht_parts *calls, struct ht_memo *memo)
{
	const struct ht_roster *roster = run->rosters[side];
	const struct ht_clocks *clocks = NULL;
	struct ht_arena arena;
	if (memo && !memo->mem->limit) {
		ht_arena_init(&arena, memo->mem);
		enum ht_status status =
		        ht_clocks_fit(run->ctx, &arena, run->scratch, roster, calls, &clocks);
		if (status != HT_OK) {
			ht_arena_done(&arena);
			return status;
		}
		clocks = ht_memo_keep(memo, clocks_key, &arena, clocks);
		set_clocks(run, side, clocks);
		if (clocks)
			return HT_OK;
		ht_arena_done(&arena);
	}
	HT_TRY(ht_clocks_fit(run->ctx, run->scratch, run->scratch, roster, calls, &clocks));
	set_clocks(run, side, clocks);
	return HT_OK;
}

enum ht_status ht_run_fit_clocks(
        struct ht_run *run, ht_set *const *sets, const struct ht_parts *calls)
{
	for (size_t side = 0; side < run->n_sets; side++) {
		struct ht_parts parts = side_of(calls, side);
		HT_TRY(fit_side(run, side, &parts, sets ? sets[side]->memo : NULL));
	}
	return HT_OK;
}

struct finish_job {
	struct ht_run *run;
	ht_set *const *sets;
	const struct ht_parts *parts, *calls; /* calls NULL: there are clocks, or none is needed */
	ht_table *table;
};

static enum ht_status fit_clocks(void *user)
{
	struct finish_job *finish = user;
	return finish->calls ? ht_run_fit_clocks(finish->run, finish->sets, finish->calls) : HT_OK;
}

/* Whether finishing needs clocks that are not kept from a run before. */
static bool lacks_clocks(struct ht_run *run, ht_set *const *sets)
{
	bool lacks = false;
	for (size_t i = 0; ht_run_needs_clocks(run) && i < run->n_sets; i++) {
		set_clocks(run, i, sets[i]->memo ? ht_memo_find(sets[i]->memo, clocks_key) : NULL);
		lacks |= !run->clocks[i];
	}
	return lacks;
}

enum ht_status ht_run_find_clocks(struct ht_run *run, ht_set *const *sets)
{
	struct ht_parts calls = { 0 };
	struct finish_job finish = { .run = run, .sets = sets, .calls = &calls };
	if (!lacks_clocks(run, sets))
		return HT_OK;
	HT_TRY(ht_run_compute(run, sets, NULL, &calls));
	enum ht_status status = call_watched(run, fit_clocks, &finish);
	ht_parts_done(&calls);
	return status;
}

enum ht_status ht_set_clocks(
        ht_ctx *ctx, ht_set *set, struct ht_arena *scratch, const struct ht_clocks **ret_clocks)
{
	struct ht_run run = { .ctx = ctx,
		.policy = &ht_own_policy,
		.scratch = scratch,
		.rosters = { &set->roster },
		.n_sets = 1,
		.across = true };
	ht_run_set_analysis(&run, &ht_calls_analysis);
	HT_TRY(ht_run_find_clocks(&run, &set));
	*ret_clocks = run.clocks[0];
	return HT_OK;
}

/* ---- the table ---- */

/* Are all traces of NPUs? Then what is said about them speaks of NPUs. */
static bool is_of_npus(const struct ht_run *run)
{
	size_t n = 0, n_npus = 0;
	for (size_t side = 0; side < run->n_sets; side++)
		for (size_t i = 0; i < run->rosters[side]->n; i++, n++)
			n_npus += ht_job_is_ascend(&run->rosters[side]->ranks[i].job);
	return n && n == n_npus;
}

static enum ht_status fill_table(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	if (run->analysis->of)
		HT_TRY(ht_frame_set_method(run, table, run->analysis->of));
	else
		HT_TRY(ht_table_set_method(table, run->analysis->info.method));
	if (run->analysis->finish)
		HT_TRY(run->analysis->finish(run, parts, table));
	else
		HT_TRY(ht_parts_rows(run, parts, 0, 0, table));
	for (size_t i = 0; i < run->n_sets; i++) {
		const struct ht_roster *roster = run->rosters[i];
		if (roster->n_repeated)
			HT_TRY(ht_table_add_note(table,
			        "files with several names are read once: %" PRIu64
			        " left out, info says which",
			        roster->n_repeated));
		if (roster->missing_note)
			HT_TRY(ht_table_add_warning(table, "%s", roster->missing_note));
		if (roster->job_note)
			HT_TRY(ht_table_add_note(table, "%s", roster->job_note));
		if (roster->loss_note)
			HT_TRY(ht_table_add_note(table, "%s", roster->loss_note));
	}
	return ht_table_finish(run->ctx, table);
}

/* What the user wants to see of a whole table, in the words of the vendor, and what it was made of. */
static enum ht_status show_table(struct ht_run *run, ht_table *table)
{
	if (is_of_npus(run))
		ht_npu_words_apply(table);
	if (run->view)
		HT_TRY(ht_table_apply_view(run->ctx, table, run->view));
	return ht_run_tell_origin(run, table);
}

/* A set whose cache may keep the whole table, or NULL. */
static enum ht_status make_table(struct ht_run *run, const struct ht_parts *parts,
        const struct ht_set *set, ht_table **ret_table)
{
	const struct ht_schema *schema = ht_run_schema(run);
	ht_table *table;
	HT_TRY(ht_table_new(
	        run->ctx, run->analysis->info.title, schema->columns, schema->n_columns, &table));
	enum ht_status status = fill_table(run, parts, table);
	if (status == HT_OK && set)
		ht_kept_answer_give(run, set, table);
	if (status == HT_OK)
		status = show_table(run, table);
	if (status != HT_OK) {
		ht_table_free(table);
		return status;
	}
	*ret_table = table;
	return HT_OK;
}

enum ht_status ht_run_make_table(
        struct ht_run *run, const struct ht_parts *parts, ht_table **ret_table)
{
	return make_table(run, parts, NULL, ret_table);
}

enum ht_status ht_run_watch_table(
        struct ht_run *run, enum ht_status (*make)(void *user), void *user, ht_table **ret_table)
{
	*ret_table = NULL;
	enum ht_status status = call_watched(run, make, user);
	if (status != HT_OK) {
		ht_table_free(*ret_table);
		*ret_table = NULL;
	}
	return status;
}

/* ---- running ---- */

static enum ht_status find_facts(struct ht_run *run, const struct ht_set *set, size_t side)
{
	if (!ht_run_wants_facts(run))
		return HT_OK;
	HT_TRY(ht_hta_facts_find(run, set, &run->facts_of[side]));
	run->facts = run->facts_of[0];
	return HT_OK;
}

enum ht_status ht_run_find_facts(struct ht_run *run, ht_set *const *sets)
{
	for (size_t i = 0; i < run->n_sets; i++)
		HT_TRY(find_facts(run, sets[i], i));
	return HT_OK;
}

/* Parts of ranks that are elsewhere cannot be made here. */
static enum ht_status refuse_elsewhere(ht_ctx *ctx, const struct ht_set *set)
{
	const struct ht_trace *none;
	for (size_t i = 0; i < set->roster.n; i++)
		if (!ht_set_has(set, i))
			return ht_set_acquire(ctx, set, i, &none);
	return HT_OK;
}

/* Where parts have more than one row for so many events the table may be long, too: then the pages of the traces make room
 * for it. */
#define LONG_SHARE 4

static void make_room(const struct ht_run *run, ht_set *const *sets, const struct ht_parts *parts)
{
	uint64_t n_rows = 0, n_events = 0;
	for (size_t i = 0; i < parts->n; i++)
		for (size_t k = 0; k < HT_PART_TABLES && parts->list[i].facts[k]; k++)
			n_rows += ht_table_n_rows(parts->list[i].facts[k]);
	for (size_t side = 0; side < run->n_sets; side++)
		for (size_t i = 0; i < run->rosters[side]->n; i++)
			n_events += run->rosters[side]->ranks[i].n_events;
	for (size_t side = 0; n_rows > n_events / LONG_SHARE && side < run->n_sets; side++)
		ht_set_rest(sets[side]);
}

static enum ht_status bring_together(void *user)
{
	struct finish_job *finish = user;
	HT_TRY(fit_clocks(finish));
	make_room(finish->run, finish->sets, finish->parts);
	return make_table(finish->run, finish->parts,
	        finish->run->n_sets == 1 ? finish->sets[0] : NULL, &finish->table);
}

/* As it was kept; NULL: it was not. */
static enum ht_status take_answer(
        struct ht_run *run, const struct ht_set *set, ht_table **ret_table)
{
	ht_table *table = ht_kept_answer_take(run, set);
	enum ht_status status = table ? show_table(run, table) : HT_OK;
	if (status != HT_OK)
		ht_table_free(table);
	else
		*ret_table = table;
	return status;
}

/* So much in small pieces would stand beside what the next question maps. */
#define GIVE_BACK_BYTES ((unsigned long long)64 << 20)

static void parts_done(ht_ctx *ctx, struct ht_parts *parts, struct ht_parts *calls)
{
	unsigned long long before = atomic_load(&ctx->mem->now);
	ht_parts_done(calls);
	ht_parts_done(parts);
	if (before - atomic_load(&ctx->mem->now) >= GIVE_BACK_BYTES)
		ht_mem_give_back();
}

static enum ht_status run_analysis(struct ht_run *run, ht_set *const *sets,
        const struct ht_arg *args, size_t n_args, ht_table **ret_table)
{
	struct ht_parts parts = { 0 }, calls = { 0 };
	for (size_t i = 0; i < run->n_sets; i++)
		HT_TRY(refuse_elsewhere(run->ctx, sets[i]));
	HT_TRY(ht_run_read_args(run, args, n_args));
	struct finish_job finish = { run, sets, &parts, NULL, NULL };
	if (run->n_sets == 1)
		HT_TRY(take_answer(run, sets[0], &finish.table));
	if (finish.table) {
		*ret_table = finish.table;
		return HT_OK;
	}
	HT_TRY(ht_run_find_facts(run, sets));
	bool lacks = lacks_clocks(run, sets);
	HT_TRY(ht_run_compute(run, sets, &parts, lacks ? &calls : NULL));
	parts.spent = true;
	finish.calls = lacks ? &calls : NULL;
	enum ht_status status = ht_run_watch_table(run, bring_together, &finish, &finish.table);
	parts_done(run->ctx, &parts, &calls);
	if (status == HT_OK)
		*ret_table = finish.table;
	return status;
}

enum ht_status ht_run_prepare(ht_ctx *ctx, const char *name, const struct ht_set *set,
        const struct ht_arg *args, size_t n_args, struct ht_arena *scratch, struct ht_run *ret_run)
{
	struct ht_run run = { .ctx = ctx,
		.policy = &ht_own_policy,
		.scratch = scratch,
		.rosters = { &set->roster },
		.n_sets = 1 };
	HT_TRY(ht_run_find_analysis(&run, name));
	HT_TRY(ht_run_read_args(&run, args, n_args));
	HT_TRY(find_facts(&run, set, 0));
	*ret_run = run;
	return HT_OK;
}

enum ht_status ht_run_start(
        struct ht_run *run, const char *name, ht_set *const *sets, size_t n_sets)
{
	HT_TRY(ht_run_find_analysis(run, name));
	const struct ht_analysis_info *info = &run->analysis->info;
	if (info->sides[0] && n_sets > HT_MAX_SETS)
		return ht_fail(run->ctx, HT_LIMIT, NULL, -1, NULL,
		        "%s takes up to %d runs, not %zu", name, HT_MAX_SETS, n_sets);
	bool reads_itself = info->input_param && !run->analysis->input_reader && !n_sets;
	if (!ht_analysis_takes(info, n_sets) && !reads_itself)
		return ht_fail(run->ctx, HT_USAGE, NULL, -1, NULL,
		        "%s takes %zu set%s of traces, not %zu", name, info->n_sets,
		        info->n_sets == 1 ? "" : "s", n_sets);
	run->n_sets = n_sets;
	for (size_t i = 0; i < n_sets; i++)
		run->rosters[i] = &sets[i]->roster;
	return HT_OK;
}

/* Attachments that show in place of the traces, as sources of a set; 0: there are none. */
static enum ht_status find_attached(ht_ctx *ctx, const struct ht_set *set, const char *kind,
        struct ht_arena *arena, const char **ret_sources, size_t *ret_n)
{
	const struct ht_attached *attached;
	*ret_n = 0;
	HT_TRY(ht_attached_of(ctx, set, 0, &attached));
	for (size_t i = 0; i < ht_attached_n(attached) && *ret_n < HT_MAX_SETS; i++) {
		const struct ht_attachment *a = ht_attached_at(attached, i);
		if (strcmp(a->kind->name, kind) != 0)
			continue;
		const char *source = a->rank == HT_NO_I64 ? a->files[0]
		                                          : ht_arena_printf(arena, "%" PRId64 "=%s",
		                                                    a->rank, a->files[0]);
		if (!source)
			return ht_fail_nomem(ctx);
		ret_sources[(*ret_n)++] = source;
	}
	return HT_OK;
}

enum ht_status ht_run_open_input(ht_ctx *ctx, const char *name, ht_set *const *sets, size_t n_sets,
        const struct ht_arg *args, size_t n_args, ht_set **ret_set)
{
	const struct ht_analysis *analysis;
	const char *sources[HT_MAX_SETS] = { NULL };
	struct ht_arena arena;
	size_t n = 0;
	HT_TRY(ht_analysis_get(ctx, name, &analysis));
	*ret_set = NULL;
	/* files that are no traces are for the analysis itself */
	if (!analysis->info.input_param || !analysis->input_reader || analysis->info.files)
		return HT_OK;
	for (size_t i = 0; i < n_args; i++)
		if (!strcmp(args[i].name, analysis->info.input_param))
			sources[0] = args[i].value;
	ht_arena_init(&arena, ctx->mem);
	enum ht_status status = HT_OK;
	if (sources[0] && *sources[0])
		n = 1;
	else if (n_sets)
		status = find_attached(ctx, sets[0], analysis->input_reader, &arena, sources, &n);
	struct ht_open_options options = {
		.struct_size = sizeof options, .no_cache = true, .reader = analysis->input_reader
	};
	if (status == HT_OK && n)
		status = ht_open(ctx, sources, n, &options, ret_set);
	ht_arena_done(&arena);
	return status;
}

enum ht_status ht_ask(ht_ctx *ctx, ht_set *const *sets, size_t n_sets, const struct ht_query *query,
        ht_table **ret_table)
{
	struct ht_arena scratch;
	struct ht_view taken = { 0 };
	struct ht_query q;
	ht_error_clear(ctx);
	HT_TRY(ht_query_take(ctx, query, &q));
	struct ht_question question = { .name = q.name, .args = q.args, .n_args = q.n_args };
	struct ht_run run = { .ctx = ctx,
		.policy = &ht_own_policy,
		.scratch = &scratch,
		.view = q.view ? &taken : NULL,
		.question = &question };
	ht_set *input;
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_view, offset, q.view, &taken));
	question.view = taken;
	HT_TRY(ht_run_open_input(ctx, q.name, sets, n_sets, q.args, q.n_args, &input));
	if (input) {
		sets = &input;
		n_sets = 1;
	}
	ht_arena_init(&scratch, ctx->mem);
	enum ht_status status = ht_run_start(&run, q.name, sets, n_sets);
	if (status == HT_OK)
		status = run_analysis(&run, sets, q.args, q.n_args, ret_table);
	ht_arena_done(&scratch);
	ht_close(input);
	/* tables are filled without a context at hand: give their failure its text here */
	return status == HT_NOMEM ? ht_fail_nomem(ctx) : status;
}
