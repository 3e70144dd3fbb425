/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_calls.h - the calls that launched GPU activity, with what they cost and how long their activity took.
 *
 * An activity counts at the operator that launched it (External id, else containment): the innermost one, so that wrappers such as
 * aten::linear repeat nothing. An operator without a formula whose caller is a matrix product belongs to that: it is how the
 * product is done. Time is the union of the activities of the call, work of several kernels at once counts once; the cost
 * belongs to the call once. Copies between host and device are limited by the link and have no cost here. Communication is
 * left out: it is measured by other means (collectives). Kernels of a graph launch count at the operator that they have in the
 * recording that the graph is read against (origin/origin.h), once for each launch; without one they have no operator.
 *
 * Recomputed are products of a forward pass that run inside the backward pass (activation checkpointing): the operator, or
 * one around it, has a sequence number of its own and stands below an autograd node. Operators of the backward pass itself
 * have none: they run without grad mode.
 */
#ifndef HT_MODEL_EFFICIENCY_OP_CALLS_H
#define HT_MODEL_EFFICIENCY_OP_CALLS_H

#include "model/efficiency/op_cost.h"
#include "model/efficiency/peaks.h"
#include "model/efficiency/waves.h"
#include "model/rows/frame.h"

struct ht_arg_cursor;

/* What limits a call at best. */
enum ht_roof_bound {
	HT_BOUND_UNKNOWN,
	HT_BOUND_COMPUTE,
	HT_BOUND_MEMORY,
	HT_BOUND_LATENCY, /* too short, or too few blocks to fill the device: no roof explains it */
	HT_BOUND_LINK,    /* a copy between host and device */
	HT_N_BOUND
};
const char *ht_roof_bound_name(enum ht_roof_bound bound); /* NULL: unknown */

struct ht_op_call {
	uint32_t op; /* row, HT_NONE: activity that no operator launched */
	const struct ht_trace
	        *op_trace;  /* that the row is of: the rank's, or a recording of its graph */
	const char *module; /* of a graph, as the recording says; NULL: the trace's own */
	uint32_t longest;   /* row of its longest activity */
	int64_t start_ns, gpu_ns;
	struct ht_op_cost cost;
	enum ht_dtype dtype; /* that the peak is of: float products by the kernel's instruction */
	enum ht_roof_bound bound;
	int64_t ideal_ns;  /* the roof: no faster than this; HT_NO_I64: not known */
	int64_t excess_ns; /* above an attainable time; 0 when not known */
	double wave_loss;  /* of its longest kernel (waves.h); NAN: not known */
	/* what the vendor says that the matrix and the vector units of an NPU work, of the time of its longest
	 * kernel; NAN: not recorded */
	double cube_ratio, vector_ratio;
	bool is_recomputed; /* a product of the forward pass that the backward pass repeats */
	size_t first, n;    /* slice of activities */
};

struct ht_op_calls {
	struct ht_op_call
	        *list; /* by row of the operator, those without last, each activity by itself */
	size_t n;
	const uint32_t *activities;  /* indexes into gpu[] of the trace */
	struct ht_peaks *peaks;      /* by device of the trace's list */
	struct ht_sm_limits *limits; /* likewise */
	size_t n_peaks;
};

struct ht_efficiency_options {
	enum ht_causal causal;
	const char *device_spec; /* NULL: none */
};

/* Of the frame. Memory in scratch. */
enum ht_status ht_op_calls_make(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_efficiency_options *options, struct ht_op_calls *ret) HT_MUST_USE;
/* The peaks of the device that a call ran on; NULL: it is not known. */
const struct ht_peaks *ht_op_call_peaks(const struct ht_trace *trace,
        const struct ht_op_calls *calls, const struct ht_op_call *call);
/* Of its operator, which it must have. */
const char *ht_op_call_name(const struct ht_op_call *call);
/* Whether the operator of a row is of a forward pass that the backward pass repeats; the cursor is of "Sequence number". */
bool ht_op_is_recomputed(const struct ht_trace *trace, struct ht_arg_cursor *sequence, uint32_t op);

#endif
