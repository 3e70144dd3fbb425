/*
 * open.c - ht_open: find the files, read them, give them ranks, make the set.
 *
 * With at least as many files as threads each thread reads whole files; with fewer, files are read one
 * after the other and all threads work inside one. The set is the same either way.
 */
#include "base/thread.h"
#include "read/discover.h"
#include "read/read.h"
#include "store/set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct opening {
	ht_ctx *ctx;
	const struct ht_open_options *options;
	struct ht_discovery found;
	struct ht_kernel_rules rules;
	struct ht_trace **traces;
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

/* One file on one thread, with a context of its own so that its errors and thread count are its own. */
static enum ht_status read_alone(void *user, size_t i, int i_worker)
{
	struct opening *o = user;
	ht_ctx child = { .mem = o->ctx->mem, .n_jobs = 1 };
	(void)i_worker;
	pthread_mutex_init(&child.lock, NULL);
	ht_error_clear(&child);
	if (pthread_equal(pthread_self(), o->caller))
		ht_ctx_set_progress(&child, o->ctx->progress, o->ctx->progress_user);
	/* injected faults are one series over all files */
	atomic_store(&child.fail_io_in, atomic_load(&o->ctx->fail_io_in));
	enum ht_status status =
	        ht_read_trace(&child, o->found.found[i].path, o->options, &o->rules, &o->traces[i]);
	if (status != HT_OK)
		status = ht_fail(o->ctx, status, child.error.file, child.error.offset,
		        child.error.hint, "%s", child.message);
	pthread_mutex_destroy(&child.lock);
	return status;
}

static enum ht_status read_files(struct opening *o)
{
	size_t n = o->found.n_found;
	o->traces = ht_arena_alloc(&o->set->arena, (n + 1) * sizeof *o->traces);
	if (!o->traces)
		return ht_fail_nomem(o->ctx);
	if (n > 1 && n >= (size_t)ht_ctx_jobs(o->ctx))
		return ht_parallel(o->ctx, n, read_alone, o);
	for (size_t i = 0; i < n; i++)
		HT_TRY(ht_read_trace(
		        o->ctx, o->found.found[i].path, o->options, &o->rules, &o->traces[i]));
	return HT_OK;
}

static bool is_taken(const int64_t *ranks, size_t n, int64_t rank)
{
	for (size_t i = 0; i < n; i++)
		if (ranks[i] == rank)
			return true;
	return false;
}

/* Given, else in the file, else in its name; HT_NO_RANK when nobody says. */
static int64_t claimed_rank(const struct opening *o, size_t i)
{
	if (o->found.found[i].rank != HT_NO_RANK)
		return o->found.found[i].rank;
	if (o->traces[i]->meta->rank != HT_NO_I64)
		return o->traces[i]->meta->rank;
	return ht_rank_from_name(o->found.found[i].path);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Claims first, then the rest gets the lowest free numbers in order of path. */
static enum ht_status give_ranks(struct opening *o, int64_t *ranks)
{
	size_t n = o->found.n_found;
	struct ht_arena *arena = &o->set->arena;
	for (size_t i = 0; i < n; i++)
		ranks[i] = HT_NO_RANK;
	for (size_t i = 0; i < n; i++) {
		int64_t rank = claimed_rank(o, i);
		if (rank != HT_NO_RANK && !is_taken(ranks, i, rank))
			ranks[i] = rank;
	}
	int64_t next = 0;
	for (size_t i = 0; i < n; i++) {
		if (ranks[i] != HT_NO_RANK)
			continue;
		while (is_taken(ranks, n, next))
			next++;
		int64_t claim = claimed_rank(o, i);
		ranks[i] = next;
		if (claim != HT_NO_RANK)
			HT_TRY(add_note(
			        o, ht_arena_printf(arena,
			                   "%s also claims rank %" PRId64
			                   "; it is shown as rank %" PRId64,
			                   base_name(o->found.found[i].path), claim, next)));
		else if (n > 1)
			HT_TRY(add_note(
			        o, ht_arena_printf(arena,
			                   "%s does not say its rank; it is shown as rank %" PRId64,
			                   base_name(o->found.found[i].path), next)));
	}
	return HT_OK;
}

static int compare_ranks(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;
	return a[0] < b[0] ? -1 : a[0] > b[0];
}

static enum ht_status order_ranks(struct opening *o)
{
	struct ht_set *set = o->set;
	size_t n = o->found.n_found;
	int64_t *ranks = ht_arena_alloc(&set->arena, (n + 1) * sizeof *ranks);
	int64_t(*pairs)[2] = ht_arena_alloc(&set->arena, (n + 1) * sizeof *pairs);
	set->ranks = ht_arena_alloc(&set->arena, (n + 1) * sizeof *set->ranks);
	set->offset_ns = ht_arena_alloc(&set->arena, (n + 1) * sizeof *set->offset_ns);
	set->traces = ht_arena_alloc(&set->arena, (n + 1) * sizeof(struct ht_trace *));
	if (!ranks || !pairs || !set->ranks || !set->offset_ns || !set->traces)
		return ht_fail_nomem(o->ctx);
	HT_TRY(give_ranks(o, ranks));
	for (size_t i = 0; i < n; i++) {
		pairs[i][0] = ranks[i];
		pairs[i][1] = (int64_t)i;
	}
	qsort(pairs, n, sizeof *pairs, compare_ranks);
	for (size_t i = 0; i < n; i++) {
		set->ranks[i] = pairs[i][0];
		set->traces[i] = o->traces[pairs[i][1]];
		o->traces[pairs[i][1]] = NULL;
	}
	set->n = n;
	return HT_OK;
}

/* One line about what reading lost, over all ranks. */
static enum ht_status note_losses(struct opening *o)
{
	struct ht_set *set = o->set;
	uint64_t n = 0;
	size_t n_ranks = 0;
	const char *sentence = NULL;
	for (size_t i = 0; i < set->n; i++) {
		bool lost = false;
		for (size_t k = 0; k < set->traces[i]->n_stats; k++) {
			const struct ht_stat *stat = &set->traces[i]->stats[k];
			const struct ht_stat_info *info =
			        ht_stat_info((enum ht_stat_code)stat->code);
			if (info->severity < HT_DATA_LOSS)
				continue;
			if (!sentence)
				sentence = info->sentence;
			n += stat->count;
			lost = true;
		}
		n_ranks += lost;
	}
	if (!n)
		return HT_OK;
	set->loss_note =
	        ht_arena_printf(&set->arena, "data was lost while reading %zu of %zu traces: %s%s",
	                n_ranks, set->n, sentence, n > 1 ? ", and more" : "");
	return set->loss_note ? HT_OK : ht_fail_nomem(o->ctx);
}

static enum ht_status keep_notes(struct opening *o)
{
	struct ht_set *set = o->set;
	set->notes = ht_arena_alloc(&set->arena, (o->notes.n + 1) * sizeof *set->notes);
	if (!set->notes)
		return ht_fail_nomem(o->ctx);
	if (o->notes.n)
		memcpy(set->notes, o->notes.data, o->notes.n * sizeof *set->notes);
	set->n_notes = o->notes.n;
	return HT_OK;
}

static enum ht_status open_set(struct opening *o, const char *const *sources, size_t n_sources)
{
	if (o->options->kernel_rules)
		HT_TRY(ht_kernel_rules_read(
		        o->ctx, o->options->kernel_rules, &o->set->arena, &o->rules));
	HT_TRY(ht_discover(o->ctx, sources, n_sources, o->options->recursive, &o->found));
	for (size_t i = 0; i < o->found.n_notes; i++)
		HT_TRY(add_note(o, ht_arena_printf(&o->set->arena, "%s", o->found.notes[i])));
	HT_TRY(read_files(o));
	HT_TRY(order_ranks(o));
	ht_set_align(o->set);
	if (!o->set->aligned)
		HT_TRY(add_note(o,
		        ht_arena_printf(&o->set->arena,
		                "the ranks have no common clock; each starts at its own first event")));
	HT_TRY(note_losses(o));
	struct ht_memo *memo = ht_arena_alloc(&o->set->arena, sizeof *memo);
	if (!memo)
		return ht_fail_nomem(o->ctx);
	ht_memo_init(memo);
	o->set->memo = memo;
	return keep_notes(o);
}

enum ht_status ht_open(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, ht_set **ret_set)
{
	static const struct ht_open_options defaults = { 0 };
	ht_error_clear(ctx);
	if (!n_sources)
		return ht_fail(ctx, HT_USAGE, NULL, -1,
		        "give a trace file or a directory of traces", "no trace was named");
	struct ht_set *set = ht_mem_zalloc(ctx->mem, sizeof *set);
	if (!set)
		return ht_fail_nomem(ctx);
	ht_arena_init(&set->arena, ht_mem_retain(ctx->mem));
	struct opening o = { .ctx = ctx,
		.options = options ? options : &defaults,
		.set = set,
		.caller = pthread_self() };
	enum ht_status status = open_set(&o, sources, n_sources);
	for (size_t i = 0; status != HT_OK && o.traces && i < o.found.n_found; i++)
		ht_trace_free(o.traces[i]);
	ht_vec_free(ctx->mem, &o.notes, sizeof(const char *));
	ht_discovery_done(&o.found);
	if (status != HT_OK) {
		ht_close(set);
		return status;
	}
	*ret_set = set;
	return HT_OK;
}
