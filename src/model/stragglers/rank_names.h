/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_names.h - ranks in words: "rank 2", "ranks 4–7 (node gpu-3)", and those that are not there.
 */
#ifndef HT_MODEL_STRAGGLERS_RANK_NAMES_H
#define HT_MODEL_STRAGGLERS_RANK_NAMES_H

#include "model/stragglers/own_time.h"

/* Of ascending numbers, which are shown as ranges; n is not 0. Memory in scratch; NULL when out of it. */
const char *ht_ranks_text(struct ht_arena *scratch, const int64_t *numbers, size_t n);

/* The candidates of a group, and the node that they are, or are part of. A node is the host in the names of files as
 * tensorboard_trace_handler writes them (HOST_PID.TIME.pt.trace.json); else eight ranks in a row from a multiple of eight,
 * where a process group of a larger job has just those. Memory in scratch; NULL when out of it. */
const char *ht_late_set_text(struct ht_run *run, const struct ht_parts *parts,
        const struct ht_lateness *lateness, const struct ht_late_set *set);

/* The ranks of the job that collectives need and that are not there; "" when none is missing. Memory in scratch; NULL when out
 * of it. */
const char *ht_missing_ranks_text(struct ht_run *run, const struct ht_lateness *lateness);

#endif
