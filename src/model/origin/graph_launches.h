/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_launches.h - launches of graphs on a device: how many kernels each starts, and the device's idle time inside and between them.
 *
 *   span     from the first start to the last end of what a launch ran; spans that overlap are one
 *   inside   of the spans, when nothing runs on the device
 *   between  from the first span to the last, outside of spans, when nothing runs on the device: other work fills it
 */
#ifndef HT_MODEL_ORIGIN_GRAPH_LAUNCHES_H
#define HT_MODEL_ORIGIN_GRAPH_LAUNCHES_H

#include "model/rows/frame.h"

struct ht_graph_launches {
	int32_t device;
	const char *call; /* cudaGraphLaunch */
	int64_t n, n_kernels, n_activities;
	int64_t least, most; /* activities of one launch */
	int64_t cpu_ns;      /* of the calls */
	int64_t gpu_ns;      /* summed time of the activities */
	int64_t span_ns, inside_ns, between_ns;
};

/* Of the frame, by device and name of the call. Memory in scratch. */
enum ht_status ht_graph_launches_find(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_graph_launches **ret_list, size_t *ret_n) HT_MUST_USE;

#endif
