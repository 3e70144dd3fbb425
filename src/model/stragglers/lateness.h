/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lateness.h - which ranks arrive late at collectives, and whether that is more than chance.
 *
 * For a collective that makes all ranks wait for the last (not sends, receives, broadcasts and the like, where an
 * order of arrival is no lateness), on the clocks of clocks.h:
 *     late of a rank   = its start - the earliest start
 *     delay of a rank  = its start - the last start of the others, for the last rank; 0 for others. Of several
 *                        collectives: the time that one or more wait for it so
 *     uncertainty      = how far the two starts can be compared: the smaller of what the bounds leave open
 *                        between the two clocks and of how far the two ranks leave the collectives of the group
 *                        apart at most. A rank whose clock is off, or whose kernels are held up, leaves late as
 *                        well; one that others waited for leaves with them.
 * Those describe; the verdict (own_time.h) needs no clocks.
 */
#ifndef HT_MODEL_STRAGGLERS_LATENESS_H
#define HT_MODEL_STRAGGLERS_LATENESS_H

#include "model/communication/chosen_calls.h"

struct ht_arrival {
	const struct ht_collective *collective;
	const struct ht_chosen_call *calls; /* chosen ones, by rank; two or more */
	size_t n;
	size_t first, last;                   /* positions in calls */
	int64_t late_ns, delay_ns, before_ns; /* before: when the last but one starts */
	int64_t uncertainty_ns;               /* of both */
};

struct ht_late_rank {
	size_t i_part;
	int64_t rank;
	size_t n_collectives, n_last;
	int64_t late_ns, late_max_ns; /* sum and maximum */
	const struct ht_collective *worst;
	const struct ht_comm_call *worst_call;
	/* over the collectives at which it was last; those that wait for it at the same time count once */
	int64_t delay_ns, uncertainty_ns;
};

struct ht_lateness {
	const struct ht_chosen_call *calls; /* all chosen ones */
	size_t n_calls;
	struct ht_alone_calls alone; /* of them */
	struct ht_arrival *arrivals; /* by start of the collective */
	size_t n;
	struct ht_late_rank *ranks; /* by part */
};

/* facts[calls_k] has the chosen calls, and run->clocks[0] is there. Memory in scratch. */
enum ht_status ht_lateness_find(struct ht_run *run, const struct ht_parts *parts, size_t calls_k,
        struct ht_lateness *ret_lateness) HT_MUST_USE;

#endif
