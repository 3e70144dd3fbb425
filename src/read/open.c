/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.c - ht_open: find the files, read them, give them ranks, make the set.
 *
 * With at least as many files as threads each thread reads whole files, and what the cache knows of one is enough: its
 * trace is opened when it is asked for, by the thread that looks at it. With fewer, files are read one after the other
 * and all threads work inside one. The set is the same either way.
 */
#include "read/open.h"

#include "base/options.h"
#include "base/thread.h"
#include "read/discover.h"
#include "read/own_options.h"
#include "read/part_path.h"
#include "read/read.h"
#include "read/reader.h"
#include "store/rank_numbering.h"
#include "read/reload.h"
#include "read/set_make.h"
#include "store/columns.h"
#include "store/trace_refs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct opening {
	ht_ctx *ctx;
	const struct ht_open_options *options;
	struct ht_discovery found;
	struct ht_reload *reload;
	struct ht_set *set;
	struct ht_vec notes;  /* const char *, in set->arena */
	const char **missing; /* by file: why it is done without, NULL: it is there */
	bool *elsewhere;      /* by file: another process has it */
	bool by_file;         /* a thread per file */
	pthread_t caller;
};

static enum ht_status add_note(struct opening *o, char *note)
{
	if (!note || !HT_VEC_PUSH(o->ctx->mem, &o->notes, const char *, note))
		return ht_fail_nomem(o->ctx);
	return HT_OK;
}

/* Where the cache is: the text lives with the reload, which goes where the rank goes. */
static void place_rank(struct opening *o, size_t i)
{
	const struct ht_open_options *options = &o->reload->options;
	o->set->kept[i].cached.dir = options->cache_dir;
	o->set->kept[i].cached.max_bytes = ht_cache_max_bytes(options);
}

/* What the cache knows of a file. */
static enum ht_status describe_one(struct opening *o, ht_ctx *ctx, size_t i, bool *ret_known)
{
	struct ht_set *set = o->set;
	struct ht_arena arena;
	struct ht_rank rank;
	ht_arena_init(&arena, ctx->mem);
	enum ht_status status = ht_read_known(ctx, o->found.found[i].path, o->options,
	        &o->reload->rules, &arena, &rank, &set->kept[i].cached, ret_known);
	place_rank(o, i);
	pthread_mutex_lock(&set->lock);
	if (*ret_known && status == HT_OK &&
	        !ht_rank_copy(&set->arena, &rank, &set->roster.ranks[i]))
		status = ht_fail_nomem(ctx);
	pthread_mutex_unlock(&set->lock);
	ht_arena_done(&arena);
	return status;
}

static void name_rank(struct opening *o, size_t i)
{
	const struct ht_found *found = &o->found.found[i];
	o->set->roster.ranks[i].given = found->rank;
	/* several parts of a file have one name */
	o->set->roster.ranks[i].named =
	        ht_part_path_is(found->path) ? HT_NO_RANK : ht_rank_from_name(found->path);
}

/* Opening goes on without what a visitor could not find out. */
static enum ht_status show(
        struct opening *o, ht_ctx *ctx, size_t i, const struct ht_trace *trace, int i_worker)
{
	const struct ht_visitor *visitor = &o->set->visitor;
	if (!visitor->visit || i_worker < 0)
		return HT_OK;
	enum ht_status status =
	        visitor->visit(visitor->user, ctx, i_worker, trace, &o->set->roster.ranks[i],
	                &o->set->kept[i].cached, o->reload, &o->set->kept[i].ahead);
	if (status == HT_OK || status == HT_CANCELLED)
		return status;
	ht_error_clear(ctx);
	return HT_OK;
}

/* Read a file and hand it to the set, which keeps what there is room for. */
static enum ht_status read_whole(struct opening *o, ht_ctx *ctx, size_t i, int i_worker)
{
	struct ht_set *set = o->set;
	struct ht_trace *trace = NULL;
	HT_TRY(ht_read_trace(ctx, o->found.found[i].path, o->options, &o->reload->rules, &trace,
	        &set->kept[i].cached));
	place_rank(o, i);
	pthread_mutex_lock(&set->lock);
	enum ht_status status =
	        ht_rank_describe(trace, trace->path, &set->arena, &set->roster.ranks[i]);
	pthread_mutex_unlock(&set->lock);
	name_rank(o, i);
	status = status == HT_OK ? show(o, ctx, i, trace, i_worker) : ht_fail_nomem(ctx);
	if (status != HT_OK) {
		ht_trace_release(trace);
		return status;
	}
	ht_set_keep(set, i, trace, !strcmp(trace->path, "-"));
	return HT_OK;
}

/* One thread that has a file to itself need not open what is known: that is done when it is asked for, once. */
static enum ht_status read_one(struct opening *o, ht_ctx *ctx, size_t i, int i_worker)
{
	bool known = false;
	if (i_worker >= 0 || ht_open_own(o->options).describes)
		HT_TRY(describe_one(o, ctx, i, &known));
	if (!known)
		return read_whole(o, ctx, i, i_worker);
	name_rank(o, i);
	return HT_OK;
}

/* With the option partial a file that cannot be read is done without. */
static enum ht_status read_or_miss(struct opening *o, ht_ctx *ctx, size_t i, int i_worker)
{
	struct ht_open_own own = ht_open_own(o->options);
	o->elsewhere[i] = own.claim && !own.claim(own.claim_user, i);
	if (o->elsewhere[i])
		return HT_OK;
	enum ht_status status = read_one(o, ctx, i, i_worker);
	if (!o->options->partial || !ht_is_missing(status))
		return status;
	pthread_mutex_lock(&o->set->lock);
	o->missing[i] = ht_missing_text(ctx, &o->set->arena, o->found.found[i].path);
	pthread_mutex_unlock(&o->set->lock);
	if (!o->missing[i])
		return ht_fail_nomem(ctx);
	ht_error_clear(ctx);
	return HT_OK;
}

static enum ht_status read_alone(void *user, size_t i, int i_worker)
{
	struct opening *o = user;
	ht_ctx child;
	ht_ctx_begin_task(o->ctx, &child);
	if (pthread_equal(pthread_self(), o->caller))
		ht_ctx_set_progress(&child, o->ctx->progress, o->ctx->progress_user);
	return ht_ctx_end_task(o->ctx, &child, read_or_miss(o, &child, i, i_worker));
}

static enum ht_status read_files(struct opening *o)
{
	struct ht_set *set = o->set;
	size_t n = o->found.n_found;
	set->roster.ranks = ht_arena_alloc(&set->arena, (n + 1) * sizeof *set->roster.ranks);
	set->kept = ht_arena_alloc(&set->arena, (n + 1) * sizeof *set->kept);
	o->missing = ht_arena_alloc(&set->arena, (n + 1) * sizeof *o->missing);
	o->elsewhere = ht_arena_alloc(&set->arena, (n + 1) * sizeof *o->elsewhere);
	if (!set->roster.ranks || !set->kept || !o->missing || !o->elsewhere)
		return ht_fail_nomem(o->ctx);
	set->roster.n = n;
	if (n > 1 && n >= (size_t)ht_ctx_jobs(o->ctx))
		return ht_parallel(o->ctx, n, read_alone, o);
	for (size_t i = 0; i < n; i++)
		HT_TRY(read_or_miss(o, o->ctx, i, -1));
	return HT_OK;
}

/* Close the gaps of files that others have, and of those that are done without, which join what was not even found. */
static enum ht_status leave_out_missing(struct opening *o)
{
	struct ht_set *set = o->set;
	struct ht_roster *roster = &set->roster;
	size_t n = 0, n_listed = o->found.n_missing;
	roster->missing =
	        ht_arena_alloc(&set->arena, (n_listed + roster->n + 1) * sizeof *roster->missing);
	if (!roster->missing)
		return ht_fail_nomem(o->ctx);
	for (size_t i = 0; i < n_listed; i++) {
		roster->missing[i] = ht_arena_printf(&set->arena, "%s", o->found.missing[i]);
		if (!roster->missing[i])
			return ht_fail_nomem(o->ctx);
	}
	roster->n_missing = n_listed;
	for (size_t i = 0; i < roster->n; i++) {
		if (o->elsewhere[i])
			continue;
		if (o->missing[i]) {
			roster->missing[roster->n_missing++] = o->missing[i];
			continue;
		}
		roster->ranks[n] = roster->ranks[i];
		set->kept[n++] = set->kept[i];
	}
	roster->n = n;
	if (!n && !ht_open_own(o->options).claim)
		return ht_fail(o->ctx, HT_MISSING, NULL, -1, NULL, "no trace could be read: %s",
		        roster->n_missing ? roster->missing[0] : "none was found");
	return HT_OK;
}

/* What is kept of the ranks, in the order of their numbers. */
static enum ht_status order_ranks(struct opening *o)
{
	struct ht_set *set = o->set;
	size_t n = set->roster.n;
	struct ht_kept *kept = ht_arena_alloc(&set->arena, (n + 1) * sizeof *kept);
	int64_t *claimed = ht_arena_alloc(&set->arena, (n + 1) * sizeof *claimed);
	const size_t *was_at;
	if (!kept || !claimed)
		return ht_fail_nomem(o->ctx);
	HT_TRY(ht_roster_number(o->ctx, &set->roster, &set->arena, &o->notes, &was_at));
	for (size_t i = 0; i < n; i++) {
		kept[i] = set->kept[was_at[i]];
		claimed[i] = ht_rank_claim(&set->roster.ranks[i]);
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
	HT_TRY(ht_find_files(o->ctx, sources, n_sources, o->options, &o->found));
	for (size_t i = 0; i < o->found.n_notes; i++)
		HT_TRY(add_note(o, ht_arena_printf(&o->set->arena, "%s", o->found.notes[i])));
	o->set->n_found_notes = o->notes.n;
	HT_TRY(read_files(o));
	HT_TRY(leave_out_missing(o));
	HT_TRY(order_ranks(o));
	o->set->roster.n_repeated = o->found.n_repeated;
	HT_TRY(share_reload(o));
	return ht_set_finish(o->ctx, o->set, &o->notes);
}

static enum ht_status check_sources(ht_ctx *ctx, size_t n_sources,
        const struct ht_open_options *options, struct ht_open_options *ret_taken)
{
	ht_error_clear(ctx);
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_open_options, own, options, ret_taken));
	if (!n_sources)
		return ht_fail(ctx, HT_USAGE, NULL, -1,
		        "give a trace file or a directory of traces", "no trace was named");
	if (ret_taken->reader && !ht_reader_named(ret_taken->reader))
		return ht_fail(
		        ctx, HT_USAGE, NULL, -1, NULL, "there is no reader %s", ret_taken->reader);
	return HT_OK;
}

enum ht_status ht_open(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, ht_set **ret_set)
{
	return ht_open_visited(ctx, sources, n_sources, options, NULL, HT_SET_KEEP_BYTES, ret_set);
}

bool ht_claim_all(void *user, size_t i_source)
{
	(void)user, (void)i_source;
	return true;
}

enum ht_status ht_open_listed(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, ht_set **ret_set)
{
	struct ht_open_options taken;
	ht_error_clear(ctx);
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_open_options, own, options, &taken));
	struct ht_open_own own = ht_open_own(&taken);
	own.claim = ht_claim_all;
	taken.own = &own;
	return ht_open(ctx, sources, n_sources, &taken, ret_set);
}

enum ht_status ht_open_path(ht_ctx *ctx, const char *path, ht_set **ret_set)
{
	return ht_open(ctx, &path, 1, NULL, ret_set);
}

enum ht_status ht_open_visited(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, const struct ht_visitor *visitor,
        uint64_t keep_bytes, ht_set **ret_set)
{
	struct ht_open_options taken;
	struct ht_set *set = NULL;
	enum ht_status status = check_sources(ctx, n_sources, options, &taken);
	if (status == HT_OK)
		status = ht_set_new(ctx, &set);
	if (status != HT_OK) {
		if (visitor)
			visitor->done(visitor->user);
		return status;
	}
	if (visitor)
		set->visitor = *visitor;
	set->keep_bytes = keep_bytes;
	struct opening o = { .ctx = ctx, .options = &taken, .set = set, .caller = pthread_self() };
	status = open_set(&o, sources, n_sources);
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
