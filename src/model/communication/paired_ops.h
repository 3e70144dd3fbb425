/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paired_ops.h - calls of one collective on all ranks, and what of each is transfer.
 *
 * Calls (comm_ops.h) are paired by the matching of collectives; without it by name and order, when all ranks have as many. As long
 * as the fastest rank needs is transfer on all of them, range by range and at its end. That needs no common clock.
 * Example: ranges of 5 and 9 us are 5 of transfer each, and 0 and 4 of waiting. O(n log n).
 */
#ifndef HT_MODEL_COMMUNICATION_PAIRED_OPS_H
#define HT_MODEL_COMMUNICATION_PAIRED_OPS_H

#include "model/communication/collective_match.h"
#include "model/part.h"
#include "model/run.h"

struct ht_interval;

struct ht_paired_range {
	int64_t start, end;
	int64_t transfer; /* when that begins, HT_NO_I64: not paired */
	int64_t row;
};

struct ht_paired_op {
	size_t i_part, first, n; /* ranges */
	const char *name;
	int64_t bytes, step;                    /* HT_NO_I64 */
	const struct ht_collective *collective; /* that all ranks are known of; NULL */
	size_t nth, n_alike; /* without one: which of the rank's calls of that name, and how many */
	bool is_paired;
};

struct ht_paired_ops {
	struct ht_run *run;
	const struct ht_parts *parts;
	size_t i_facts;
	struct ht_paired_op *ops; /* by part, in time */
	size_t n_ops;
	struct ht_paired_range *ranges;
	size_t n_unpaired;
	struct ht_interval *room; /* two for each range */
};

/* Of the selected steps; i_facts is the table of comm_ops.h in each part. Lives in the scratch of the run. */
enum ht_status ht_paired_ops_make(struct ht_run *run, const struct ht_parts *parts, size_t i_facts,
        struct ht_paired_ops *ret_pairs) HT_MUST_USE;
/* The place of a range in the matching, NULL: none. */
const struct ht_call_place *ht_paired_place(
        const struct ht_paired_ops *pairs, size_t i_part, const struct ht_paired_range *range);

/* Time of some calls, and of their transfers. */
struct ht_paired_time {
	int64_t all, transfer;
};
struct ht_paired_time ht_paired_measure(
        const struct ht_paired_ops *pairs, struct ht_paired_op *const *list, size_t n);

#endif
