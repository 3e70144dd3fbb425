/*
 * chain_replay.h - the traces of a job replayed with other durations, from rank to rank at collectives.
 *
 * Every communication kernel began some time after another one, or after the start of the recording: the chain of what it waited for last
 * (graph/cp_across.h). So
 *     start of a kernel   end of the kernel that its chain leads to, plus the pieces of the chain; not before the one before it on its stream
 *     a collective        begins when the last of its ranks is there, and ends on each rank one transfer later
 *     end of a step       as the start of a kernel, by the chain of the step's end
 * With recorded durations these are the recorded times. What a chain does not lead through is not known: where less of the chain makes other
 * work the last one waited for, the step is longer than the replay has it, so what an edit saves is an upper bound.
 * The first step stays as recorded: the others are told from its end on.
 */
#ifndef HT_JOB_CHAIN_REPLAY_H
#define HT_JOB_CHAIN_REPLAY_H

#include "graph/cp_across.h"
#include "graph/cp_whatif.h"

struct ht_collective;

/* What is different. Zero-initialised nothing is. */
struct ht_chain_edit {
	bool like_peers; /* chains that take longer than the median of the collective's ranks take that */
	const bool *of_parts; /* ... of these parts only, by part; NULL: of all */
	bool scales_transfers;
	double transfer;   /* factor */
	const char *group; /* only of this process group; NULL: all */
	uint32_t instant;  /* a bit for each enum ht_cp_bound of pieces that take no time */
	const char *name;  /* pieces of events of this name ... */
	double name_factor;
	const struct ht_cp_rules *rules; /* of the grammar of critical-path; NULL: none */
};

struct ht_chain_job;
/* From parts with the tables of ht_cp_chains_put. Memory in scratch. */
enum ht_status ht_chain_job_make(struct ht_run *run, const struct ht_parts *parts,
        struct ht_chain_job **ret_job) HT_MUST_USE;
/* Steps of the job with a step before them, or all of them when there is one. */
size_t ht_chain_job_n_steps(const struct ht_chain_job *job);
int64_t ht_chain_job_step(const struct ht_chain_job *job, size_t i);
/* As recorded: from the last end of the step before it on any rank. */
double ht_chain_job_recorded_ns(const struct ht_chain_job *job, size_t i);
/* Fill the time of each step with the edit. */
void ht_chain_job_replay(
        struct ht_chain_job *job, const struct ht_chain_edit *edit, double *ret_steps_ns);
/* Transfers that would end before they begin, which count as 0: clocks that do not fit. */
size_t ht_chain_job_n_negative(const struct ht_chain_job *job);
/* By part: how much longer than the median its chains are, over all collectives. */
const double *ht_chain_job_excess_ns(const struct ht_chain_job *job);
/* The kernel that computes longest on all chains; NULL: none. */
const char *ht_chain_job_kernel(const struct ht_chain_job *job);
/* Communication kernels. */
size_t ht_chain_job_n_kernels(const struct ht_chain_job *job);
/* Does any piece have this bound? */
bool ht_chain_job_has(const struct ht_chain_job *job, enum ht_cp_bound bound);

#endif
