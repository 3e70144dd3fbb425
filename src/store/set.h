/*
 * set.h - several ranks as one set; clock alignment lives here only.
 *
 * Every trace of a set gets an offset that turns its own time into the set's time:
 *     set time = trace time + offset_ns[i]
 * and set time 0 is the earliest event of all ranks. With baseTimeNanoseconds in every file, or absolute
 * times (before 2024), all ranks are on one clock. When clocks cannot be compared each trace starts at
 * its own first event, and `aligned` is false.
 */
#ifndef HT_STORE_SET_H
#define HT_STORE_SET_H

#include "base/memo.h"
#include "store/trace.h"

struct ht_set {
	struct ht_arena arena;    /* owns the arrays below */
	struct ht_trace **traces; /* ascending by rank */
	int64_t *ranks;
	int64_t *offset_ns; /* add to a trace's ts to get set time */
	size_t n;
	bool aligned;
	int64_t zero_unix_ns; /* unix time of set time 0, HT_NO_I64 when unknown */
	const char **notes;   /* skipped files, rank collisions: one line each */
	size_t n_notes;
	const char *loss_note; /* NULL: nothing was lost */
	struct ht_memo *memo;  /* what its runs share; NULL: nothing */
};

/* Choose the clock; called once, when all traces are in. */
void ht_set_align(struct ht_set *set);

#endif
