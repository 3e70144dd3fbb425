/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_replay.h - the graphs of all ranks of a job as one, and what its steps take with other durations.
 *
 *     start of a node    when all that it waits for is over (event_graph.h)
 *     a collective       begins when the last of its ranks is there, and ends on each rank one transfer later. A transfer is what
 *                        was recorded from the last arrival on. A send that was over before its receive began does not wait for it.
 *     end of a step      the last end of its nodes on any rank
 * A step takes from the end of the step before to its own. The first has none before it, and is not told where there are others.
 */
#ifndef HT_JOB_EVENT_REPLAY_H
#define HT_JOB_EVENT_REPLAY_H

#include "job/event_graph.h"

struct ht_event_unit {
	uint32_t first, n; /* slice of members */
	uint32_t left;     /* members that have not come, while sorting */
	const struct ht_collective *of;
};

struct ht_event_rank {
	int64_t number;
	const struct ht_part *part;
	uint32_t first, n; /* nodes */
	uint32_t first_edge;
	const uint32_t *text; /* by node: number of its name in its part's table */
	uint32_t n_texts;
	int64_t stage, replica, share; /* stages.h; 0 where there is none */
	uint64_t shape;                /* the same for ranks that do the same */
};

struct ht_event_job {
	struct ht_run *run;
	struct ht_event_rank *ranks;
	size_t n_ranks;
	int64_t n_stages, n_replicas;
	uint32_t n_nodes, n_units, n_order;
	/* by node */
	uint32_t *before, *launch, *unit, *i_rank, *step, *first_edge;
	uint8_t *flags;
	bool *is_free; /* member of a unit that does not wait for the others */
	double *recorded, *dur, *before_lag, *launch_lag; /* of a collective: dur is the transfer */
	uint64_t *rules;
	/* edges by node that waits */
	uint32_t *edge_from;
	double *edge_lag;
	uint8_t *edge_kind;
	struct ht_event_unit *units;
	uint32_t *members, *order; /* order: nodes, and n_nodes + unit where a unit is complete */
	/* steps that all ranks have */
	int64_t *steps;
	size_t n_steps; /* those that are told */
	double *ends,
	        *begins; /* by step from the first on: replayed last end; of the first, its start */
	double *recorded_ends;
	size_t n_windows; /* steps with the first */
	size_t n_negative, n_early, n_broken;
	const char *broken;  /* name of the first collective that was taken apart */
	double *start, *end; /* replayed, by node */
};

/* What is different. Zero-initialised nothing is. Arrays by node; NULL: as recorded. */
struct ht_event_edit {
	const double *dur;    /* durations; of collectives transfers */
	const float *scale;   /* factor of the lags of edges to it, and of its launch latency */
	const bool *is_apart; /* on another stream, with the others of its stream that are */
	const bool *is_fused; /* one with what is before it: neither launched nor paused for */
};

/* New arrays for so many nodes, edges and units, in run->scratch; false: no memory. Those of steps stay. */
bool ht_event_job_room(struct ht_event_job *job, size_t n, size_t n_edges, size_t n_units);
/* From parts with the tables of ht_event_graph_put. Memory in run->scratch. */
enum ht_status ht_event_job_make(
        struct ht_run *run, const struct ht_parts *parts, struct ht_event_job *ret_job) HT_MUST_USE;
/* Fill the time of each step with the edit. */
void ht_event_job_replay(
        struct ht_event_job *job, const struct ht_event_edit *edit, double *ret_steps_ns);
double ht_event_job_recorded_ns(const struct ht_event_job *job, size_t i_step);
const char *ht_event_job_name(const struct ht_event_job *job, uint32_t node); /* NULL: none */
/* The longest that a collective took from its last arrival on. */
double ht_event_unit_transfer(const struct ht_event_job *job, const struct ht_event_unit *unit);

/* ---- of graphs (event_order.c) ---- */

/* An order in which every node comes after what it waits for; units that wait for themselves are taken apart. */
enum ht_status ht_event_job_sort(struct ht_event_job *job) HT_MUST_USE;

#endif
