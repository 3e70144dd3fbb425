/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roof_savings.h - what steps would be shorter by if operators took the time that well-tuned kernels attain.
 *
 * Of each group of calls (cost_groups.h) the activities get shorter by their share of what they take above an attainable time, and the
 * critical path is walked forward with that (cp_shorter.h): what is hidden behind other work, or behind the CPU, saves nothing.
 * Walking costs as much as the trace is long, so that of many groups the largest are walked one by one, and the others
 * together: each of those saves at most what all of them do.
 */
#ifndef HT_GRAPH_ROOF_SAVINGS_H
#define HT_GRAPH_ROOF_SAVINGS_H

#include "model/efficiency/cost_groups.h"

/* Fills could_save_ns of the groups; it stays unknown where the CPU was not recorded. */
enum ht_status ht_roof_savings_find(struct ht_run *run, const struct ht_op_calls *calls,
        struct ht_cost_groups *groups) HT_MUST_USE;

#endif
