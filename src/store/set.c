/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.c - the traces of a set: kept, let go, read again; see set.h.
 */
#include "store/set.h"

#include "base/io.h"
#include "holotrace/own.h"
#include "base/mem.h"
#include "store/trace.h"
#include "store/trace_meta.h"
#include "store/trace_refs.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* So many mapped files stay mapped; systems allow some 65,000 in all. */
#define MAX_MAPPED      16384
#define GIVE_BACK_BYTES ((uint64_t)128 << 20)

/* Traces that nobody looks at and that are let go: chosen under the lock of the set, which others wait for, and let go
 * after it. */
#define MAX_IDLE 16
struct idle {
	size_t at[MAX_IDLE];
	struct ht_trace *traces[MAX_IDLE]; /* one reference each */
	size_t n;
};

/* In turn, until the rest is within bounds. The rank in hand stays, and so does what somebody looks at: its pages would
 * only be needed again at once. Stops at the last one that counts, so that the ranks there are do not matter. */
static void choose_idle(struct ht_set *set, size_t in_hand, struct idle *idle)
{
	size_t n_left = set->n_counted, at = set->hand, stays = SIZE_MAX;
	while (n_left && set->kept_bytes > set->keep_bytes && idle->n < MAX_IDLE) {
		struct ht_kept *kept = &set->kept[at];
		n_left -= kept->bytes != 0;
		if (kept->bytes && (kept->for_good || at == in_hand ||
		                           atomic_load(&ht_more(kept->trace)->n_sharers) > 0)) {
			stays = stays == SIZE_MAX ? at : stays;
		} else if (kept->bytes) {
			set->kept_bytes -= kept->bytes;
			set->n_counted--;
			kept->bytes = 0;
			idle->at[idle->n] = at;
			idle->traces[idle->n++] = ht_trace_retain(kept->trace);
		}
		at = (at + 1) % set->roster.n;
	}
	set->hand = stays == SIZE_MAX ? at : stays;
}

/* Mapped files stay mapped, without their pages. */
static void let_go_of(struct ht_set *set, size_t i, struct ht_trace *trace)
{
	uint64_t bytes = ht_trace_bytes(trace);
	bool is_forgotten = false, gives_back = false;
	if (set->roster.n > MAX_MAPPED || !ht_trace_rest(trace)) {
		pthread_mutex_lock(&set->lock);
		/* unless somebody asked for it since */
		is_forgotten = set->kept[i].trace == trace && !set->kept[i].bytes;
		if (is_forgotten)
			set->kept[i].trace = NULL;
		/* what follows may come mapped from the cache, and would stand beside what was freed */
		set->freed_bytes += is_forgotten ? bytes : 0;
		gives_back = set->freed_bytes >= GIVE_BACK_BYTES;
		set->freed_bytes = gives_back ? 0 : set->freed_bytes;
		pthread_mutex_unlock(&set->lock);
	}
	struct ht_mem *mem = ht_mem_retain(trace->more->mem);
	if (is_forgotten)
		ht_trace_release(trace);
	ht_trace_release(trace);
	/* of a set of which this one was joined: nobody takes blocks from there any more */
	if (is_forgotten && mem != set->arena.mem)
		ht_block_cache_trim(&mem->block_cache, 0);
	ht_mem_release(mem);
	if (gives_back)
		ht_mem_give_back();
}

static void let_go(struct ht_set *set, const struct idle *idle)
{
	for (size_t k = 0; k < idle->n; k++)
		let_go_of(set, idle->at[k], idle->traces[k]);
}

/* Counts from here on; others may have to go. */
static void count(struct ht_set *set, size_t i, struct idle *idle)
{
	struct ht_kept *kept = &set->kept[i];
	kept->bytes = ht_trace_bytes(kept->trace);
	set->kept_bytes += kept->bytes;
	set->n_counted += kept->bytes != 0;
	choose_idle(set, i, idle);
}

void ht_set_keep(struct ht_set *set, size_t i, struct ht_trace *trace, bool for_good)
{
	struct ht_kept *kept = &set->kept[i];
	struct idle idle = { .n = 0 };
	struct ht_trace *surplus = NULL;
	pthread_mutex_lock(&set->lock);
	if (kept->trace) {
		/* another thread was faster */
		surplus = trace;
	} else {
		*kept = (struct ht_kept){
			.trace = trace,
			.for_good = for_good,
			.ahead = kept->ahead,
			.cached = kept->cached,
		};
		count(set, i, &idle);
	}
	pthread_mutex_unlock(&set->lock);
	ht_trace_release(surplus);
	let_go(set, &idle);
}

enum ht_status ht_set_acquire(
        ht_ctx *ctx, const struct ht_set *set, size_t i, const struct ht_trace **ret_trace)
{
	/* keeping traces is not a change that anybody can see */
	struct ht_set *own = (struct ht_set *)(uintptr_t)set;
	struct ht_trace *trace = NULL;
	struct idle idle = { .n = 0 };
	if (set->origin_at && !ht_set_has(set, i))
		return ht_fail(ctx, HT_MISSING, set->roster.ranks[i].path, -1,
		        "ask for parts there and merge them",
		        "the trace of rank %" PRId64 " is with another process",
		        set->roster.ranks[i].number);
	if (set->origin_at)
		return ht_set_acquire(ctx, set->origin, set->origin_at[i], ret_trace);
	pthread_mutex_lock(&own->lock);
	if (own->kept[i].trace) {
		trace = ht_trace_retain(own->kept[i].trace);
		if (!own->kept[i].bytes)
			count(own, i, &idle);
		else
			/* when ranks were joined all of them were in use */
			choose_idle(own, i, &idle);
	}
	pthread_mutex_unlock(&own->lock);
	let_go(own, &idle);
	if (!trace) {
		HT_TRY(set->load(ctx, set, i, &trace));
		const struct ht_rank *rank = &set->roster.ranks[i];
		if (ht_n_events(trace) != rank->n_events ||
		        trace->meta->min_ts_ns != rank->min_ts_ns) {
			ht_trace_release(trace);
			return ht_fail(ctx, HT_IO, rank->path, -1, "open the traces again",
			        "the file has changed since it was opened");
		}
		ht_set_keep(own, i, ht_trace_retain(trace), false);
	}
	*ret_trace = trace;
	return HT_OK;
}

void ht_set_settle(ht_set *set)
{
	struct idle idle;
	do {
		idle.n = 0;
		pthread_mutex_lock(&set->lock);
		choose_idle(set, SIZE_MAX, &idle);
		pthread_mutex_unlock(&set->lock);
		let_go(set, &idle);
	} while (idle.n == MAX_IDLE);
}

void ht_set_rest(const struct ht_set *set)
{
	struct ht_set *own = (struct ht_set *)(uintptr_t)(set->origin ? set->origin : set);
	for (size_t i = 0; i < own->roster.n; i++) {
		pthread_mutex_lock(&own->lock);
		struct ht_trace *trace = own->kept[i].trace;
		if (trace)
			trace = atomic_load(&ht_more(trace)->n_sharers) ? NULL
			                                                : ht_trace_retain(trace);
		pthread_mutex_unlock(&own->lock);
		if (trace)
			ht_trace_rest(trace);
		ht_trace_release(trace);
	}
}

void ht_close(ht_set *set)
{
	if (!set)
		return;
	struct ht_mem *mem = set->arena.mem;
	if (set->memo)
		ht_memo_done(set->memo);
	for (size_t i = 0; set->kept && i < set->roster.n; i++) {
		ht_trace_release(set->kept[i].trace);
		if (set->kept[i].ahead)
			set->visitor.free_ahead(set->visitor.user, set->kept[i].ahead);
	}
	if (set->visitor.done)
		set->visitor.done(set->visitor.user);
	if (set->load_done)
		set->load_done(set);
	pthread_mutex_destroy(&set->lock);
	ht_arena_done(&set->arena);
	ht_mem_free(mem, set, sizeof *set);
	ht_block_cache_trim(&mem->block_cache, 0);
	ht_mem_release(mem);
}

size_t ht_set_n_ranks(const ht_set *set)
{
	return set->roster.n;
}

int64_t ht_set_rank(const ht_set *set, size_t i)
{
	return i < set->roster.n ? set->roster.ranks[i].number : HT_NO_I64;
}

const char *ht_set_path(const ht_set *set, size_t i)
{
	return i < set->roster.n ? set->roster.ranks[i].path : "";
}

bool ht_set_reads(const ht_set *set, const char *path)
{
	struct stat target, source;
	if (stat(path, &target) || !S_ISREG(target.st_mode))
		return false;
	char real[PATH_MAX], dir[PATH_MAX];
	const char *slash = realpath(path, real) ? strrchr(real, '/') : NULL;
	for (size_t i = 0; i < set->roster.n; i++) {
		const char *rank = set->roster.ranks[i].path;
		if (!ht_source_stat(rank, &source))
			continue;
		if (source.st_dev == target.st_dev && source.st_ino == target.st_ino)
			return true;
		/* a rank that is a directory is read from files in it, or in one below */
		if (slash && S_ISDIR(source.st_mode) && realpath(rank, dir) &&
		        !strncmp(real, dir, strlen(dir)) && real[strlen(dir)] == '/')
			return true;
	}
	return false;
}

uint64_t ht_set_n_events(const ht_set *set, size_t i)
{
	return i < set->roster.n ? set->roster.ranks[i].n_events : 0;
}

size_t ht_set_n_notes(const ht_set *set)
{
	return set->roster.n_notes + (set->roster.clock_note != NULL);
}

const char *ht_set_note(const ht_set *set, size_t i)
{
	const struct ht_roster *roster = &set->roster;
	return i < roster->n_notes    ? roster->notes[i]
	       : i == roster->n_notes ? roster->clock_note
	                              : NULL;
}

const char *ht_set_loss_note(const ht_set *set)
{
	return set->roster.loss_note;
}
