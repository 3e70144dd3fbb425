/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autograd.h - what belongs to work of the backward pass: who waited for it, and what it is the gradient of.
 *
 * PyTorch runs the backward pass of a GPU on a thread of its own while the thread that called backward
 * waits. What is around such work is therefore on two threads, and what it computes was decided by an
 * operator of the forward pass.
 *
 *   autograd thread   a thread with backward rows (name autograd::engine::evaluate_function..., or a
 *                     Fwd thread id), no profiler step, and most of whose forward operators are on other
 *                     threads. A backward pass that runs on the caller's own thread needs nothing.
 *   forward operator  of a backward row: the start of its fwdbwd flow; else, of the operators with its
 *                     Sequence number and no Fwd thread id, the last that starts before it. Rows inside
 *                     have what is around them.
 *   caller            of a top-level row of an autograd thread: the thread of its forward operator, else
 *                     the thread that most forward operators of the autograd thread are on, else the
 *                     only thread with profiler steps. When nothing is open there at that time, the
 *                     only thread with steps. Callers are never autograd threads: there are no circles.
 *
 * Everything that asks what is inside what reads its answers here, in inside.h or in annotate.h.
 */
#ifndef HT_MODEL_ROWS_AUTOGRAD_H
#define HT_MODEL_ROWS_AUTOGRAD_H

#include "model/run.h"

/* Arrays by row; callers and forward are NULL when the trace has no backward rows. */
struct ht_autograd {
	/* the call tree over threads: where the span of a top-level row of an autograd thread has no parent,
	 * the innermost span that is open on its caller when it starts */
	const uint32_t *parent;
	const uint32_t *callers; /* track; HT_NONE for rows that are on no autograd thread */
	const uint32_t *forward; /* HT_NONE: none */
};

/* Memory in scratch, or shared (run_memo.h). O(n log n). */
enum ht_status ht_autograd_make(
        struct ht_run *run, const struct ht_trace *trace, struct ht_autograd *ret) HT_MUST_USE;

static inline uint32_t ht_autograd_caller(const struct ht_autograd *a, uint32_t row)
{
	return a->callers ? a->callers[row] : HT_NONE;
}

static inline uint32_t ht_autograd_forward(const struct ht_autograd *a, uint32_t row)
{
	return a->forward ? a->forward[row] : HT_NONE;
}

/* Which way an answer was found. */
enum ht_autograd_link {
	HT_AUTOGRAD_LINK_NONE,
	HT_AUTOGRAD_LINK_LAUNCH,   /* around the launch, on its thread */
	HT_AUTOGRAD_LINK_BACKWARD, /* on the thread that waited for the backward pass */
	HT_AUTOGRAD_LINK_FORWARD,  /* around the forward operator */
	HT_AUTOGRAD_LINK_GPU,      /* drawn on the GPU, over the work */
};
/* "launch", "backward", "forward", "gpu"; NULL for none. */
const char *ht_autograd_link_name(enum ht_autograd_link link);

#endif
