/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_time.h - whose time each moment of a step is.
 *
 * A step is a window on the thread that ran it. Every moment belongs to the innermost row of that thread; while
 * the thread is in no operator or call itself (it waits in loss.backward()), to the innermost row of the autograd
 * thread that it called (autograd.h), if one is open there. Python functions are rows of their own only where they are asked for. So the slices of a window add up to its
 * length, and no time is counted twice.
 *
 *     steps' thread   ├─ step ─┤ aten::mm ├──── step (backward()) ────┤ Optimizer.step ├─ step ─┤
 *     autograd                            │ AddmmBackward0 │ ReluB… │ │
 *     slices          step     │ aten::mm │ AddmmBackward0 │ ReluB… │s│ Optimizer.step │ step
 *
 * A rank without steps is one window over everything, on the thread with the most to do.
 */
#ifndef HT_MODEL_STEPS_STEP_TIME_H
#define HT_MODEL_STEPS_STEP_TIME_H

#include "model/rows/autograd.h"
#include "model/rows/frame.h"

struct ht_window {
	int64_t start, end;
	int64_t number; /* of the step, HT_NO_I64 for the whole trace */
	uint32_t track; /* of the thread, HT_NONE when the steps are on the GPU only */
};

struct ht_owned_time {
	int64_t start, end;
	uint32_t row; /* HT_NONE: inside nothing */
};

/* What the rows of one thread own, in time order. */
struct ht_owned_times {
	struct ht_owned_time *list;
	size_t n;
};

struct ht_step_time {
	struct ht_run *run;
	const struct ht_trace *trace;
	const bool *in_frame;      /* by row */
	struct ht_window *windows; /* ascending by start; one per number, the first in time */
	size_t n_windows;
	uint32_t *caller; /* by track: the thread that waits for this autograd thread, HT_NONE */
	bool *takes_part; /* by track: the thread of a window, or one that runs its backward pass */
	struct ht_owned_times *pieces; /* by track, of those that take part */
	struct ht_vec open,
	        left; /* struct ht_owned_time: what of a window may still go to another thread */
};

/* Of the steps that the run chose, over the rows of the frame; memory in scratch but for the vectors, which done
 * frees, also after a failure. */
enum ht_status ht_step_time_init(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_autograd *autograd, bool with_python,
        struct ht_step_time *ret_time) HT_MUST_USE;
void ht_step_time_done(struct ht_step_time *time);

/* Told of every slice of a window; false when out of memory. */
typedef bool (*ht_slice_fn)(void *user, uint32_t row, int64_t ns);
enum ht_status ht_step_time_walk(
        struct ht_step_time *time, size_t i_window, ht_slice_fn fn, void *user) HT_MUST_USE;

/* Own time of the rows of one track: adds to ns[row] what no row inside it has. */
enum ht_status ht_own_time_add(struct ht_step_time *time, uint32_t track, int64_t *ns) HT_MUST_USE;

#endif
