/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replays.h - graph launches of a trace, each read against the recording that fits it.
 *
 * Which one: by the size that the annotation around the launch says (execute_32_..., bs=32), padded to the next size that was
 * captured; otherwise by number and names of activities, and then it must be the only one. A capture comes before an eager run. Less
 * than half that matches is no match; of an eager run, which may have other kernels, less than 80 % of the GPU time.
 */
#ifndef HT_MODEL_ORIGIN_REPLAYS_H
#define HT_MODEL_ORIGIN_REPLAYS_H

#include "model/origin/origin.h"

/* Fill in what origins know of graphs. */
enum ht_status ht_replays_read(struct ht_run *run, struct ht_origins *origins) HT_MUST_USE;
/* Whether the trace launches graphs. Without any, nobody needs to ask for what is in them. */
bool ht_has_graph_launches(const struct ht_trace *trace);

#endif
