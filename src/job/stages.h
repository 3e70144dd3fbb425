/*
 * stages.h - where ranks stand in a job: the stage of the pipeline, and the replica, from who sends to whom first.
 *
 * The first transfer between two ranks goes forward. A rank's stage is the longest way of such transfers to it; ranks that neither send nor
 * receive are stage 0. Ranks of one stage, ascending, are its replicas 0, 1 and so on. Transfers that lead in a circle from the first
 * on (a ring, no pipeline) make no stages.
 */
#ifndef HT_JOB_STAGES_H
#define HT_JOB_STAGES_H

#include "job/event_replay.h"

/* Fill stage and replica of the ranks of a job, and how many there are of each. */
enum ht_status ht_event_job_stages(struct ht_event_job *job) HT_MUST_USE;

#endif
