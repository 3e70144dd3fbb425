/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.h - several ranks as one set: each with its trace on demand.
 *
 * A set is a roster (roster.h) whose traces can be had.
 *
 * Traces are shared and counted: a set holds one reference to those that it keeps in memory. What can be had
 * again (from the cache or the file) is let go when the set keeps more than HT_SET_KEEP_BYTES; of mapped
 * cache files only the pages are given back.
 */
#ifndef HT_STORE_SET_H
#define HT_STORE_SET_H

#include "base/memo.h"
#include "store/cache_key.h"
#include "store/roster.h"

#define HT_SET_KEEP_BYTES ((uint64_t)512 << 20)

struct ht_set;
struct ht_trace;
/* Reads the trace of rank i; from whoever opened the set. */
typedef enum ht_status (*ht_set_load_fn)(
        ht_ctx *ctx, const struct ht_set *set, size_t i, struct ht_trace **ret_trace);

/* The trace of a rank while it is kept. */
struct ht_kept {
	struct ht_trace *trace;  /* NULL: let go */
	uint64_t bytes;          /* that count; 0 for a mapped file whose pages were given back */
	bool for_good;           /* cannot be had again: standard input */
	void *ahead;             /* what a visitor found out about it; NULL: nothing */
	struct ht_cached cached; /* where the cache has it */
};

struct ht_reload;

/* Sees every trace of a set that is being opened, while it is at hand. */
struct ht_visitor {
	void *user;
	/* On the thread that read it, i_worker < ht_ctx_jobs; the rank has no number yet. What is to be kept with the
	 * rank, NULL for nothing. Only HT_CANCELLED ends the opening. */
	enum ht_status (*visit)(void *user, ht_ctx *ctx, int i_worker, const struct ht_trace *trace,
	        const struct ht_rank *rank, const struct ht_cached *cached,
	        struct ht_reload *reload, void **ret_ahead);
	/* The end of what it kept, and with the set of itself. */
	void (*free_ahead)(void *user, void *ahead);
	void (*done)(void *user);
};

struct ht_set {
	struct ht_arena arena; /* owns what the roster points to */
	struct ht_roster roster;
	pthread_mutex_t lock; /* guards the rest */
	struct ht_kept *kept; /* by rank */
	size_t n_counted;     /* of them that have bytes that count */
	uint64_t kept_bytes;
	uint64_t freed_bytes;      /* of traces that were let go since memory was given back */
	uint64_t keep_bytes;       /* so much of traces that can be had again is kept */
	size_t hand;               /* rank that is asked first for its memory */
	struct ht_visitor visitor; /* who was shown the traces; zero: nobody */
	ht_set_load_fn load;
	void *load_user;
	void (*load_done)(struct ht_set *set); /* before the set goes; may be NULL */
	const int64_t *
	        claims; /* by rank: the number that it asked for, INT64_MIN for none; NULL: nobody knows */
	struct ht_memo *memo; /* what its runs share; NULL: nothing */
	/* Of a set of which other processes hold the rest: its own ranks, NULL when it has none, and where each
	 * rank of the roster is there, SIZE_MAX for those elsewhere. Both NULL for a set of its own. */
	const struct ht_set *origin;
	const size_t *origin_at;
	uint64_t
	        joined_hash; /* of the descriptions that it was joined of, not 0; 0 for a set of its own */
	size_t n_found_notes; /* so many of the notes, the first, are about finding files */
	bool has_facts;       /* the memo holds what HTA's rules have to know of all ranks */
};

/* Whether the trace of rank i can be had in this process. */
static inline bool ht_set_has(const struct ht_set *set, size_t i)
{
	return !set->origin_at || set->origin_at[i] != SIZE_MAX;
}

/* The trace of rank i, read again when it was let go. The caller ends with ht_trace_release. */
enum ht_status ht_set_acquire(ht_ctx *ctx, const struct ht_set *set, size_t i,
        const struct ht_trace **ret_trace) HT_MUST_USE;
/* Give the pages of mapped traces back that nobody looks at just now; they come again when they are looked at. */
void ht_set_rest(const struct ht_set *set);
/* Hand a trace to the set, which takes over the caller's reference. */
void ht_set_keep(struct ht_set *set, size_t i, struct ht_trace *trace, bool for_good);

#endif
