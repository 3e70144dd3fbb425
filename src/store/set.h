/*
 * set.h - several ranks as one set; clock alignment lives here only.
 *
 * Every trace of a set gets an offset that turns its own time into the set's time:
 *     set time = trace time + offset_ns[i]
 * and set time 0 is the earliest event of all ranks. With baseTimeNanoseconds in every file the
 * offset is base - zero (one clock). Otherwise, when absolute times are in the files (before 2024),
 * base counts as 0. When clocks cannot be compared each trace starts at its own first event, and
 * `aligned` is false.
 */
#ifndef HT_STORE_SET_H
#define HT_STORE_SET_H

#include "store/trace.h"

struct ht_set {
	struct ht_mem *mem;
	struct ht_trace **traces; /* ascending by rank */
	int64_t *ranks;
	int64_t *offset_ns;       /* add to a trace's ts to get set time */
	size_t n;
	bool aligned;
	int64_t zero_unix_ns;     /* unix time of set time 0, HT_NO_I64 when unknown */
	char **notes;             /* skipped files, rank collisions: one line each */
	size_t n_notes;
	char *loss_note;
	char **kernel_rules;      /* not owned strings */
};

#endif
