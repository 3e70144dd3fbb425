/*
 * set.c - the traces of a set: kept, let go, read again; see set.h.
 */
#include "store/set.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* So many mapped files stay mapped; systems allow some 65,000 in all. */
#define MAX_MAPPED      16384
#define GIVE_BACK_BYTES ((uint64_t)128 << 20)

static void let_go_of(struct ht_set *set, struct ht_kept *kept)
{
	uint64_t bytes = kept->bytes;
	set->kept_bytes -= bytes;
	kept->bytes = 0;
	if (set->roster.n <= MAX_MAPPED && ht_trace_rest(kept->trace))
		return;
	ht_trace_release(kept->trace);
	kept->trace = NULL;
	/* what follows may come mapped from the cache, and would stand beside what was freed */
	set->freed_bytes += bytes;
	if (set->freed_bytes < GIVE_BACK_BYTES)
		return;
	set->freed_bytes = 0;
	ht_mem_give_back();
}

/* In turn, until the rest is within bounds; the rank in hand stays. */
static void let_go(struct ht_set *set, size_t in_hand)
{
	for (size_t n = 0; n < set->roster.n && set->kept_bytes > set->keep_bytes; n++) {
		struct ht_kept *kept = &set->kept[set->hand];
		if (kept->bytes && !kept->for_good && set->hand != in_hand)
			let_go_of(set, kept);
		set->hand = (set->hand + 1) % set->roster.n;
	}
}

void ht_set_keep(struct ht_set *set, size_t i, struct ht_trace *trace, bool for_good)
{
	struct ht_kept *kept = &set->kept[i];
	pthread_mutex_lock(&set->lock);
	if (kept->trace) {
		/* another thread was faster */
		ht_trace_release(trace);
	} else {
		*kept = (struct ht_kept){ trace, ht_trace_bytes(trace), for_good, kept->ahead };
		set->kept_bytes += kept->bytes;
		let_go(set, i);
	}
	pthread_mutex_unlock(&set->lock);
}

enum ht_status ht_set_acquire(
        ht_ctx *ctx, const struct ht_set *set, size_t i, const struct ht_trace **ret_trace)
{
	/* keeping traces is not a change that anybody can see */
	struct ht_set *own = (struct ht_set *)(uintptr_t)set;
	struct ht_trace *trace = NULL;
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
		if (!own->kept[i].bytes) {
			own->kept[i].bytes = ht_trace_bytes(trace);
			own->kept_bytes += own->kept[i].bytes;
			let_go(own, i);
		}
	}
	pthread_mutex_unlock(&own->lock);
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
	ht_keep_trim(&mem->keep, 0);
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
		if (stat(rank, &source))
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
