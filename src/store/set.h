/*
 * set.h - several ranks as one set: what is known of each, its trace on demand, one clock for all.
 *
 * A roster is what is known of ranks without their columns; it is small, plain data, so it can travel with
 * results where the traces cannot. A set is a roster whose traces can be had.
 *
 * Every rank gets an offset that turns its own time into the set's time:
 *     set time = trace time + offset_ns
 * and set time 0 is the earliest event of all ranks. With baseTimeNanoseconds in every file, or absolute
 * times (before 2024), all ranks are on one clock. When clocks cannot be compared each trace starts at
 * its own first event, and `aligned` is false.
 *
 * Traces are shared and counted: a set holds one reference to those that it keeps in memory. What can be had
 * again (from the cache or the file) is let go when the set keeps more than HT_SET_KEEP_BYTES; of mapped
 * cache files only the pages are given back.
 */
#ifndef HT_STORE_SET_H
#define HT_STORE_SET_H

#include "base/memo.h"
#include "store/job.h"
#include "store/trace.h"

#define HT_SET_KEEP_BYTES ((uint64_t)512 << 20)

struct ht_rank {
	int64_t number;
	int64_t claimed;   /* the number that the file says, HT_NO_I64 when it does not */
	const char *path;  /* as given by the user */
	int64_t offset_ns; /* add to a trace's ts to get set time */
	uint64_t n_events, json_bytes;
	int64_t base_ns;               /* HT_NO_I64: the file has none */
	int64_t min_ts_ns, max_end_ns; /* HT_NO_I64: no event has a time */
	const struct ht_step *steps;
	size_t n_steps;
	const struct ht_stat *stats;
	size_t n_stats;
	struct ht_job job;
};

struct ht_roster {
	struct ht_rank *ranks; /* ascending by number */
	size_t n;
	bool aligned;
	int64_t zero_unix_ns; /* unix time of set time 0, HT_NO_I64 when unknown */
	const char **notes;   /* skipped files, rank collisions: one line each */
	size_t n_notes;
	uint64_t n_repeated;   /* other names of the same files, left out */
	const char *loss_note; /* NULL: nothing was lost */
	const char *job_note;  /* NULL: nothing speaks against one job */
	bool has_two_steps;    /* two different step numbers anywhere */
};

/* What is known of a trace; lists are copied to the arena. HT_NOMEM without a text. */
enum ht_status ht_rank_describe(
        const struct ht_trace *trace, struct ht_arena *arena, struct ht_rank *ret_rank) HT_MUST_USE;
/* The same of another set; lists are copied. False when out of memory. */
bool ht_rank_copy(struct ht_arena *arena, const struct ht_rank *rank, struct ht_rank *ret_rank);
/* Choose the clock and say what was lost; when all ranks are in. Texts go to the arena. HT_NOMEM without a
 * text. */
enum ht_status ht_roster_complete(struct ht_roster *roster, struct ht_arena *arena) HT_MUST_USE;
/* Index of a rank by its number, SIZE_MAX when there is none. */
size_t ht_roster_find(const struct ht_roster *roster, int64_t number);

struct ht_set;
/* Reads the trace of rank i; from whoever opened the set. */
typedef enum ht_status (*ht_set_load_fn)(
        ht_ctx *ctx, const struct ht_set *set, size_t i, struct ht_trace **ret_trace);

/* The trace of a rank while it is kept. */
struct ht_kept {
	struct ht_trace *trace; /* NULL: let go */
	uint64_t bytes;         /* that count; 0 for a mapped file whose pages were given back */
	bool for_good;          /* cannot be had again: standard input */
};

struct ht_set {
	struct ht_arena arena; /* owns what the roster points to */
	struct ht_roster roster;
	pthread_mutex_t lock; /* guards the rest */
	struct ht_kept *kept; /* by rank */
	uint64_t kept_bytes;
	size_t hand; /* rank that is asked first for its memory */
	ht_set_load_fn load;
	void *load_user;
	void (*load_done)(struct ht_set *set); /* before the set goes; may be NULL */
	const int64_t *
	        claims; /* by rank: the number that it asked for, INT64_MIN for none; NULL: nobody knows */
	struct ht_memo *memo; /* what its runs share; NULL: nothing */
};

/* The trace of rank i, read again when it was let go. The caller ends with ht_trace_release. */
enum ht_status ht_set_acquire(ht_ctx *ctx, const struct ht_set *set, size_t i,
        const struct ht_trace **ret_trace) HT_MUST_USE;
/* Hand a trace to the set, which takes over the caller's reference. */
void ht_set_keep(struct ht_set *set, size_t i, struct ht_trace *trace, bool for_good);

#endif
