/*
 * open.c - ht_open: find the files, read them, give them ranks, make the set.
 *
 * With at least as many files as threads each thread reads whole files; with fewer, files are read one
 * after the other and all threads work inside one. The set is the same either way.
 */
#include "base/options.h"
#include "base/thread.h"
#include "read/discover.h"
#include "read/read.h"
#include "read/reader.h"
#include "read/give_ranks.h"
#include "read/reload.h"
#include "read/set_make.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct opening {
	ht_ctx *ctx;
	const struct ht_open_options *options;
	struct ht_discovery found;
	struct ht_reload *reload;
	struct ht_set *set;
	struct ht_vec notes; /* const char *, in set->arena */
	pthread_t caller;
};

static enum ht_status add_note(struct opening *o, char *note)
{
	if (!note || !HT_VEC_PUSH(o->ctx->mem, &o->notes, const char *, note))
		return ht_fail_nomem(o->ctx);
	return HT_OK;
}

/* Read a file and hand it to the set, which keeps what there is room for. */
static enum ht_status read_one(struct opening *o, ht_ctx *ctx, size_t i)
{
	struct ht_set *set = o->set;
	struct ht_trace *trace = NULL;
	HT_TRY(ht_read_trace(ctx, o->found.found[i].path, o->options, &o->reload->rules, &trace));
	pthread_mutex_lock(&set->lock);
	enum ht_status status = ht_rank_describe(trace, &set->arena, &set->roster.ranks[i]);
	pthread_mutex_unlock(&set->lock);
	if (status != HT_OK) {
		ht_trace_release(trace);
		return ht_fail_nomem(ctx);
	}
	ht_set_keep(set, i, trace, !strcmp(trace->path, "-"));
	return HT_OK;
}

static enum ht_status read_alone(void *user, size_t i, int i_worker)
{
	struct opening *o = user;
	ht_ctx child;
	(void)i_worker;
	ht_ctx_begin_task(o->ctx, &child);
	if (pthread_equal(pthread_self(), o->caller))
		ht_ctx_set_progress(&child, o->ctx->progress, o->ctx->progress_user);
	return ht_ctx_end_task(o->ctx, &child, read_one(o, &child, i));
}

static enum ht_status read_files(struct opening *o)
{
	struct ht_set *set = o->set;
	size_t n = o->found.n_found;
	set->roster.ranks = ht_arena_alloc(&set->arena, (n + 1) * sizeof *set->roster.ranks);
	set->kept = ht_arena_alloc(&set->arena, (n + 1) * sizeof *set->kept);
	if (!set->roster.ranks || !set->kept)
		return ht_fail_nomem(o->ctx);
	set->roster.n = n;
	if (n > 1 && n >= (size_t)ht_ctx_jobs(o->ctx))
		return ht_parallel(o->ctx, n, read_alone, o);
	for (size_t i = 0; i < n; i++)
		HT_TRY(read_one(o, o->ctx, i));
	return HT_OK;
}

/* Given, else in the file, else in its name; HT_NO_RANK when nobody says. */
static int64_t claimed_rank(const struct opening *o, size_t i)
{
	if (o->found.found[i].rank != HT_NO_RANK)
		return o->found.found[i].rank;
	if (o->set->roster.ranks[i].claimed != HT_NO_I64)
		return o->set->roster.ranks[i].claimed;
	return ht_rank_from_name(o->found.found[i].path);
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

/* What a user says twice is a mistake, told before anything is read; what files say twice is sorted out below. */
static enum ht_status refuse_repeated(const struct opening *o)
{
	const struct ht_found *found = o->found.found;
	struct claim *claims =
	        ht_arena_alloc(&o->set->arena, (o->found.n_found + 1) * sizeof *claims);
	size_t n = 0;
	if (!claims)
		return ht_fail_nomem(o->ctx);
	for (size_t i = 0; i < o->found.n_found; i++)
		if (found[i].rank != HT_NO_RANK)
			claims[n++] = (struct claim){ found[i].rank, i };
	qsort(claims, n, sizeof *claims, compare_claims);
	for (size_t k = 1; k < n; k++)
		if (claims[k].rank == claims[k - 1].rank)
			return ht_fail(o->ctx, HT_USAGE, NULL, -1, "give each file its own rank",
			        "rank %" PRId64 " is given twice: %s and %s", claims[k].rank,
			        found[claims[k - 1].i].path, found[claims[k].i].path);
	return HT_OK;
}

static int compare_numbers(const void *x, const void *y)
{
	const struct ht_rank *a = x, *b = y;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Ranks and what is kept of them, in ascending order of numbers. */
static enum ht_status order_ranks(struct opening *o)
{
	struct ht_set *set = o->set;
	struct ht_rank *ranks = set->roster.ranks;
	size_t n = set->roster.n;
	int64_t *numbers = ht_arena_alloc(&set->arena, (n + 1) * sizeof *numbers);
	int64_t *claimed = ht_arena_alloc(&set->arena, (n + 1) * sizeof *claimed);
	struct ht_claim *claims = ht_arena_alloc(&set->arena, (n + 1) * sizeof *claims);
	struct ht_kept *kept = ht_arena_alloc(&set->arena, (n + 1) * sizeof *kept);
	if (!numbers || !claimed || !claims || !kept)
		return ht_fail_nomem(o->ctx);
	for (size_t i = 0; i < n; i++)
		claims[i] = (struct ht_claim){ o->found.found[i].path, claimed_rank(o, i) };
	HT_TRY(ht_give_ranks(o->ctx, claims, n, &set->arena, &o->notes, numbers));
	for (size_t i = 0; i < n; i++) {
		ranks[i].number = numbers[i];
		ranks[i].offset_ns = (int64_t)i; /* where it was, until clocks are chosen */
	}
	qsort(ranks, n, sizeof *ranks, compare_numbers);
	for (size_t i = 0; i < n; i++) {
		kept[i] = set->kept[ranks[i].offset_ns];
		claimed[i] = claims[ranks[i].offset_ns].rank;
	}
	set->kept = kept;
	set->claims = claimed;
	return HT_OK;
}

/* All ranks are read again in the same way. */
static enum ht_status share_reload(struct opening *o)
{
	size_t n = o->set->roster.n;
	struct ht_reload **list = ht_arena_alloc(&o->set->arena, (n + 1) * sizeof(*list));
	if (!list)
		return ht_fail_nomem(o->ctx);
	for (size_t i = 0; i < n; i++)
		list[i] = ht_reload_retain(o->reload);
	ht_reload_use(o->set, list);
	return HT_OK;
}

static enum ht_status open_set(struct opening *o, const char *const *sources, size_t n_sources)
{
	HT_TRY(ht_reload_new(o->ctx, o->options, &o->reload));
	HT_TRY(ht_discover(o->ctx, sources, n_sources, o->options->recursive, &o->found));
	for (size_t i = 0; i < o->found.n_notes; i++)
		HT_TRY(add_note(o, ht_arena_printf(&o->set->arena, "%s", o->found.notes[i])));
	HT_TRY(refuse_repeated(o));
	HT_TRY(read_files(o));
	HT_TRY(order_ranks(o));
	o->set->roster.n_repeated = o->found.n_repeated;
	HT_TRY(share_reload(o));
	return ht_set_finish(o->ctx, o->set, &o->notes);
}

enum ht_status ht_open(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, ht_set **ret_set)
{
	struct ht_open_options taken;
	ht_error_clear(ctx);
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_open_options, prefer_db, options, &taken));
	if (!n_sources)
		return ht_fail(ctx, HT_USAGE, NULL, -1,
		        "give a trace file or a directory of traces", "no trace was named");
	if (taken.reader && !ht_reader_named(taken.reader))
		return ht_fail(
		        ctx, HT_USAGE, NULL, -1, NULL, "there is no reader %s", taken.reader);
	struct ht_set *set;
	HT_TRY(ht_set_new(ctx, &set));
	struct opening o = { .ctx = ctx, .options = &taken, .set = set, .caller = pthread_self() };
	enum ht_status status = open_set(&o, sources, n_sources);
	ht_vec_free(ctx->mem, &o.notes, sizeof(const char *));
	ht_discovery_done(&o.found);
	ht_reload_release(o.reload);
	if (status != HT_OK) {
		ht_close(set);
		return status;
	}
	*ret_set = set;
	return HT_OK;
}
