/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stages.h - where ranks stand in a job: the stage of the pipeline, the share of a tensor, and the replica.
 *
 * Process groups may say the first two (axes.h). Else the first transfer between two ranks goes forward, and a rank's stage is the longest
 * way of such transfers to it; ranks that neither send nor receive are stage 0, and transfers that lead in a circle from the first
 * on (a ring, no pipeline) make no stages. Ranks of one stage and share, ascending, are its replicas 0, 1 and so on.
 */
#ifndef HT_JOB_STAGES_H
#define HT_JOB_STAGES_H

#include "job/event_replay.h"

/* Fill stage, share and replica of the ranks of a job, and how many there are of stages and replicas. */
enum ht_status ht_event_job_stages(struct ht_event_job *job) HT_MUST_USE;

#endif
