/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axes.h - what process groups say about where a rank stands: its stage of the pipeline, and its share of a tensor.
 *
 * A group is of an axis when its description names that axis and no other: "mesh_pp", "PIPELINE_MODEL_PARALLEL_GROUP" the pipeline;
 * "mesh_tp", "TENSOR_MODEL_PARALLEL_GROUP", "CONTEXT_PARALLEL_GROUP" shares of tensors. The position of a rank in the list of its group is
 * its place there. Without descriptions, a group that reduces in the forward pass again and again shares tensors: copies of a model first
 * reduce in the backward pass.
 */
#ifndef HT_JOB_AXES_H
#define HT_JOB_AXES_H

#include "job/event_replay.h"

/* Fill share, and stage where all ranks have one; else it is 0. */
enum ht_status ht_event_job_axes(struct ht_event_job *job, bool *ret_has_stages) HT_MUST_USE;

#endif
