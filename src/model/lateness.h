/*
 * lateness.h - which ranks arrive late at collectives, and whether that is more than chance.
 *
 * For a collective that makes all ranks wait for the last (not sends, receives, broadcasts and the like, where an
 * order of arrival is no lateness):
 *     late of a rank   = its start - the earliest start
 *     delay of a rank  = its start - the last start of the others, for the last rank; 0 for others
 *     uncertainty      = how far the two starts can be compared: the smaller of what the bounds leave open
 *                        between the two clocks (clocks.h) and of how far the two ranks leave the collectives of
 *                        the group apart at most. A rank whose clock is off, or whose kernels are held up, leaves
 *                        late as well; one that others waited for leaves with them.
 *
 * By step:
 *     excess           = sum of (delay - uncertainty) where positive, less the median of the other ranks:
 *                        everybody is last now and then
 *     own time         = span of the GPU work of the step - waits for others in it
 *     variation        = what the own time varies by, over the middle half of the rank's steps
 * A rank is late in a step when its excess is above its variation, and a candidate when it is late in more than
 * half of its steps, of which there must be two.
 */
#ifndef HT_MODEL_LATENESS_H
#define HT_MODEL_LATENESS_H

#include "model/chosen_calls.h"
#include "model/interval.h"

struct ht_arrival {
	const struct ht_collective *collective;
	const struct ht_chosen_call *calls; /* chosen ones, by rank; two or more */
	size_t n;
	size_t first, last; /* positions in calls */
	int64_t late_ns, delay_ns;
	int64_t uncertainty_ns; /* of both */
};

struct ht_late_rank {
	size_t i_part;
	int64_t rank;
	size_t n_collectives, n_last;
	int64_t late_ns, late_max_ns; /* sum and maximum */
	const struct ht_collective *worst;
	const struct ht_comm_call *worst_call;
	int64_t delay_ns, uncertainty_ns; /* sums over the collectives at which it was last */
	size_t n_steps, n_late_steps;
	int64_t least_ns, most_ns; /* delays beyond uncertainty in the steps in which it is late */
	int64_t late_steps_ns;     /* and their sum */
	bool is_candidate;
};

/* The columns of the GPU work by step of one rank, and writing them: what per_rank contributes. */
extern const struct ht_column ht_step_work_columns[];
enum { HT_N_STEP_WORK_COLUMNS = 2 };
enum ht_status ht_step_work_put(
        struct ht_run *run, const struct ht_frame *frame, ht_table *table) HT_MUST_USE;

/* Arrivals in the order of collectives, and one rank per part; memory in scratch. facts[calls_k] has the chosen
 * calls, facts[steps_k] the steps. run->clocks[0] is there. */
enum ht_status ht_lateness_find(struct ht_run *run, const struct ht_parts *parts, size_t calls_k,
        size_t steps_k, struct ht_arrival **ret_arrivals, size_t *ret_n,
        struct ht_late_rank **ret_ranks) HT_MUST_USE;

#endif
