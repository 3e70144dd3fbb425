/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_axis.h - which way of splitting a job a process group belongs to, by its description.
 *
 * A description names an axis when it has a word of it and none of another one: "mesh_tp", "TENSOR_MODEL_PARALLEL_GROUP" split tensors,
 * "PIPELINE_MODEL_PARALLEL_GROUP" layers; "DATA_PARALLEL_GROUP_WITH_CP" names two and is of neither.
 */
#ifndef HT_MODEL_COMMUNICATION_GROUP_AXIS_H
#define HT_MODEL_COMMUNICATION_GROUP_AXIS_H

#include <stdint.h>

enum ht_axis {
	HT_AXIS_NONE,
	HT_AXIS_PIPELINE,
	HT_AXIS_TENSOR,
	HT_AXIS_CONTEXT,
	HT_AXIS_EXPERT,
	HT_AXIS_DATA,
	HT_AXIS_OTHER, /* a word that is of no axis, and keeps the others from being one: embeddings */
	HT_N_AXES
};

enum ht_axis ht_axis_of(const char *description);

/* Where a rank is in a list of ranks as JSON, "[0, 2]"; -1: nowhere. The first of the list and its length come with it. */
int64_t ht_group_place(const char *ranks, int64_t rank, int64_t *ret_first, int64_t *ret_size);

#endif
