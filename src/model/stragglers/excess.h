/* SPDX-License-Identifier: Apache-2.0 */
/*
 * excess.h - what one rank does more of than the others.
 *
 * Two profiles per rank, time by name over the frame:
 *   gpu   durations of GPU work except communication, by short name
 *   host  time inside an annotation, or a function of the user's own code (own_line.h), without those nested in it and without runtime and driver
 *         calls (a host that waits for the GPU waits in one of those), and without the time in which the host's own
 *         calls communicate (comm_calls.h), which a thread waits for in nothing that is recorded; ProfilerStep rows
 *         count as one
 * Time is that of a step, on average, as recordings of ranks may have different numbers of them.
 * Excess of a rank = its time - the median of the other members of its group for that name (of two, the larger):
 * ranks of other groups may do other work, as the stages of a pipeline do. The largest is what to look at first.
 * Its total is over all names, those with less time than the median taken off.
 */
#ifndef HT_MODEL_STRAGGLERS_EXCESS_H
#define HT_MODEL_STRAGGLERS_EXCESS_H

#include "model/rows/frame.h"
#include "model/part.h"

struct ht_excess {
	const char *name; /* NULL: none above the median */
	int64_t ns;
	int64_t row;      /* the longest event of that name */
	int64_t total_ns; /* over all names */
};

/* The columns of the two profiles of one rank, and writing them: what per_rank contributes. */
#define HT_EXCESS_COLUMNS(COLUMN)                                                                  \
	COLUMN(HT_EXCESS_HOST, "host", HT_BOOL, HT_KEY, "on the host, or on the GPU", NULL)        \
	COLUMN(HT_EXCESS_NAME, "name", HT_STR, HT_KEY, "annotation, function or GPU activity",     \
	        NULL)                                                                              \
	COLUMN(HT_EXCESS_NS, "ns", HT_DURATION, HT_MEASURE, "time of that name", NULL)             \
	COLUMN(HT_EXCESS_ROW, "row", HT_I64, HT_DETAIL, "its longest event", NULL)                 \
	COLUMN(HT_EXCESS_LONGEST_NS, "longest_ns", HT_DURATION, HT_DETAIL,                         \
	        "duration of that event", NULL)
HT_COLUMN_NUMBERS(HT_EXCESS_COLUMNS, HT_N_EXCESS_COLUMNS);
extern const struct ht_column ht_excess_columns[HT_N_EXCESS_COLUMNS];
enum ht_status ht_excess_put(
        struct ht_run *run, const struct ht_frame *frame, ht_table *table) HT_MUST_USE;

/* Who is compared with whom. */
struct ht_members {
	const size_t *parts;
	size_t n;
	const bool *
	        is_late; /* by part: nobody is compared with those, unless all are late; NULL: none is */
};

/* The largest excess of each member, on the host and on the GPU; facts[k] of the parts has the profiles, facts[steps_k] a row
 * per step. Memory in scratch; names belong to the parts. */
enum ht_status ht_excess_find(struct ht_run *run, const struct ht_parts *parts, size_t k,
        size_t steps_k, const struct ht_members *members, struct ht_excess *ret_host,
        struct ht_excess *ret_gpu) HT_MUST_USE;

#endif
