/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_threads.h - which step a moment on a thread belongs to.
 *
 * Steps are those of the threads that mark them. A row belongs to the step that is open on its thread when it starts: of
 * several the one that began last. Between two steps the earlier has it; before the first step and after the last one it
 * belongs to none.
 *
 *     thread 1    | step 2 |   | step 3 |          rows at   ^a  ^b ^c    ^d
 *                                                            none 2  2     none
 *
 * A thread that marks no steps has those of another:
 *     1. of the only thread that marks any, or the only one of its process
 *     2. the backward pass: of the thread that ran the forward operator (its fwdbwd flow, for a top-level call and all
 *        inside it; a call without one goes with the one before it)
 *     3. of the thread of its process that launches most; of the file, when its process marks none
 * Steps that only the GPU shows, or that work names, are those of one thread.
 */
#ifndef HT_STORE_STEP_THREADS_H
#define HT_STORE_STEP_THREADS_H

#include "store/columns.h"

/* A thread that marks steps: places first to first + n of the list. */
struct ht_step_thread {
	uint32_t track; /* HT_NONE: steps of the GPU */
	size_t first, n;
	uint64_t n_launches; /* on the thread itself */
};

struct ht_step_threads {
	const struct ht_trace *t;
	struct ht_step_thread *list; /* in the order of their first steps */
	size_t n;
	uint32_t *steps;    /* of the trace, by thread, then start */
	uint32_t *of_track; /* by track: which thread its rows have the steps of */
	uint32_t *of_row;   /* the same by row, where a track has those of several; may be NULL */
};

/* Of a trace with steps whose GPU work and flows are linked. Memory in the arena. */
enum ht_status ht_step_threads_make(ht_ctx *ctx, const struct ht_trace *trace,
        struct ht_arena *arena, struct ht_step_threads *ret_threads) HT_MUST_USE;
/* The thread whose steps a host row has. */
static inline uint32_t ht_step_thread_of(const struct ht_step_threads *threads, uint32_t row)
{
	uint32_t of = threads->of_row ? threads->of_row[row] : HT_NONE;
	return of != HT_NONE ? of : threads->of_track[threads->t->track[row]];
}
/* The step of a thread at a time; HT_NONE: none. hint: a step that may be it again, or HT_NONE. */
uint32_t ht_step_thread_at(
        const struct ht_step_threads *threads, uint32_t thread, int64_t ts_ns, uint32_t hint);
/* The thread that launches most. */
uint32_t ht_step_threads_first(const struct ht_step_threads *threads);

#endif
