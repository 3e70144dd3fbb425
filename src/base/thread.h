/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - run n independent tasks on the context's threads.
 *
 * The calling thread works too. Tasks are started in index order. The result of a run must not depend
 * on who ran which task: tasks write to their own slots only.
 *
 * A task may start a run itself, with the same context: its tasks are done by whichever of the context's threads
 * have nothing else to do. So work that goes on side by side can be split further, and no thread is idle while
 * any of it is left.
 */
#ifndef HT_BASE_THREAD_H
#define HT_BASE_THREAD_H

#include "base/status.h"

typedef enum ht_status (*ht_task_fn)(void *user, size_t i_task, int i_worker);

/* Run all tasks and wait. After a failure no further task is started; the status of the failed task
 * with the lowest index is returned. i_worker < ht_ctx_jobs(ctx). With one job everything runs on
 * the caller's thread. A thread that cannot be created is done without. */
enum ht_status ht_parallel(ht_ctx *ctx, size_t n_tasks, ht_task_fn fn, void *user) HT_MUST_USE;

/* Rows, or whatever is counted, as tasks: [first, end) of the i-th of ht_n_ranges(n). Ranges are the same whatever the
 * number of threads. */
#define HT_RANGE_ROWS ((uint32_t)16 << 10)
struct ht_range {
	uint32_t first, end;
};

static inline uint32_t ht_range_rows(const ht_ctx *ctx)
{
	return ctx->range_rows ? ctx->range_rows : HT_RANGE_ROWS;
}

static inline size_t ht_n_ranges(const ht_ctx *ctx, uint64_t n)
{
	uint32_t rows = ht_range_rows(ctx);
	return (size_t)(n / rows + (n % rows != 0));
}

static inline struct ht_range ht_range_at(const ht_ctx *ctx, uint64_t n, size_t i)
{
	uint32_t rows = ht_range_rows(ctx), first = (uint32_t)i * rows;
	return (struct ht_range){ first, n - first < rows ? (uint32_t)n : first + rows };
}

/* Which of n places are wanted, ascending, found by ranges. pick tells how many there are in a range, and writes them
 * when to is not NULL. */
typedef size_t (*ht_pick_fn)(const void *user, struct ht_range range, uint32_t *to);
enum ht_status ht_pick(ht_ctx *ctx, uint32_t n, ht_pick_fn pick, const void *user,
        struct ht_arena *arena, uint32_t **ret_picked, size_t *ret_n) HT_MUST_USE;

/* Call fn on this thread, with the context's threads at hand, n_most of them at most: they are started once for all runs
 * inside. */
enum ht_status ht_with_crew(
        ht_ctx *ctx, size_t n_most, enum ht_status (*fn)(void *user), void *user) HT_MUST_USE;

/* How far the tasks are; the caller's progress callback is shown it. */
struct ht_watch {
	const char *what;
	const atomic_ullong *done; /* tasks add to it */
	uint64_t total;
};

/* The same, while the calling thread only tells how far the tasks are and hears whether to stop: for work that
 * is long within one task. Without a progress callback, or inside another run, it is ht_parallel. */
enum ht_status ht_parallel_watched(ht_ctx *ctx, size_t n_tasks, ht_task_fn fn, void *user,
        const struct ht_watch *watch) HT_MUST_USE;
/* The same for one piece of work, which may use all of the context's threads. HT_CANCELLED whenever the callback said
 * stop, also when fn was done by then. */
enum ht_status ht_call_watched(ht_ctx *ctx, enum ht_status (*fn)(void *user), void *user,
        const struct ht_watch *watch) HT_MUST_USE;

#endif
