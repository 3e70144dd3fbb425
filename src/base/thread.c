/*
 * thread.c - see thread.h.
 *
 * A run starts its threads, hands out task numbers from one atomic counter and joins. There is no
 * standing pool: a run lasts far longer than the some 20 us a thread costs, and nothing outlives the
 * call.
 *
 * Numbers are handed out in order, so when task i fails every task below i has been started; waiting
 * for those makes the lowest failure the same whatever the timing. Its text is kept aside, as the
 * context has room for one error only.
 */
#include "base/thread.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#define MAX_WORKERS 256

struct failure {
	size_t i_task; /* SIZE_MAX: none */
	enum ht_status status;
	struct ht_error_text text; /* none: the task failed without one */
};

struct run {
	ht_ctx *ctx;
	ht_task_fn fn;
	void *user;
	size_t n_tasks;
	atomic_size_t n_started;
	atomic_bool stop;
	struct failure lowest; /* guarded by the context's lock */
	/* for a watching caller */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	int n_ended;
};

struct worker {
	struct run *run;
	pthread_t thread;
	int i_worker;
};

/* Move the context's error into the record of the lowest failure, and make room for the next. */
static void record(struct run *run, size_t i_task, enum ht_status status)
{
	ht_ctx *ctx = run->ctx;
	struct failure *lowest = &run->lowest;
	pthread_mutex_lock(&ctx->lock);
	if (i_task < lowest->i_task) {
		lowest->i_task = i_task;
		lowest->status = status;
		ht_error_save(ctx, &lowest->text);
	}
	ctx->error.status = HT_OK;
	pthread_mutex_unlock(&ctx->lock);
	atomic_store(&run->stop, true);
}

/* All workers have ended: what was recorded becomes the context's error again. */
static enum ht_status restore(struct run *run)
{
	ht_ctx *ctx = run->ctx;
	struct failure *lowest = &run->lowest;
	pthread_mutex_lock(&ctx->lock);
	if (lowest->text.error.status != HT_OK)
		ht_error_load(ctx, &lowest->text);
	pthread_mutex_unlock(&ctx->lock);
	return lowest->status;
}

static void work(struct run *run, int i_worker)
{
	while (!atomic_load(&run->stop)) {
		if (ht_ctx_is_cancelled(run->ctx))
			break;
		size_t i_task = atomic_fetch_add(&run->n_started, 1);
		if (i_task >= run->n_tasks)
			break;
		enum ht_status status = run->fn(run->user, i_task, i_worker);
		if (status != HT_OK)
			record(run, i_task, status);
	}
}

static void *thread_main(void *arg)
{
	struct worker *worker = arg;
	struct run *run = worker->run;
	work(run, worker->i_worker);
	pthread_mutex_lock(&run->lock);
	run->n_ended++;
	pthread_cond_signal(&run->ended);
	pthread_mutex_unlock(&run->lock);
	return NULL;
}

/* Start helpers first .. n-1; returns how many run. They block all signals, so that a host program's
 * handlers keep running on its own threads. */
static int start(struct run *run, struct worker *workers, int first, int n)
{
	sigset_t all, before;
	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before))
		return 0;
	int n_running = 0;
	for (int i = first; i < n; i++) {
		struct worker *worker = &workers[n_running];
		*worker = (struct worker){ .run = run, .i_worker = i };
		if (pthread_create(&worker->thread, NULL, thread_main, worker))
			break;
		n_running++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return n_running;
}

/* Tell the caller's callback how far the tasks are, some 20 times a second, until n workers have ended. */
static void watch_workers(struct run *run, int n, const struct ht_watch *watch)
{
	const long interval_ns = 50 * 1000 * 1000;
	pthread_mutex_lock(&run->lock);
	while (run->n_ended < n) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += interval_ns;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&run->ended, &run->lock, &until);
		pthread_mutex_unlock(&run->lock);
		/* a refusal is remembered in the context, where the workers see it */
		(void)!ht_progress(run->ctx, watch->what, atomic_load(watch->done), watch->total);
		pthread_mutex_lock(&run->lock);
	}
	pthread_mutex_unlock(&run->lock);
}

static enum ht_status run_all(struct run *run, const struct ht_watch *watch)
{
	struct worker workers[MAX_WORKERS];
	int n = ht_ctx_jobs(run->ctx), n_running = 0;
	if ((size_t)n > run->n_tasks)
		n = (int)run->n_tasks;
	if (watch)
		n_running = start(run, workers, 0, n);
	if (n_running)
		watch_workers(run, n_running, watch);
	else
		n_running = n > 1 ? start(run, workers, 1, n) : 0;
	/* what is left: all of it, or nothing when the workers have ended */
	work(run, 0);
	for (int i = 0; i < n_running; i++)
		pthread_join(workers[i].thread, NULL);
	if (run->lowest.i_task != SIZE_MAX)
		return restore(run);
	if (atomic_load(&run->n_started) < run->n_tasks)
		return ht_fail(run->ctx, HT_CANCELLED, NULL, -1, NULL, "cancelled");
	return HT_OK;
}

enum ht_status ht_parallel_watched(
        ht_ctx *ctx, size_t n_tasks, ht_task_fn fn, void *user, const struct ht_watch *watch)
{
	struct run run = {
		.ctx = ctx, .fn = fn, .user = user, .n_tasks = n_tasks, .lowest.i_task = SIZE_MAX
	};
	pthread_mutex_init(&run.lock, NULL);
	pthread_cond_init(&run.ended, NULL);
	enum ht_status status = run_all(&run, ctx->progress ? watch : NULL);
	pthread_cond_destroy(&run.ended);
	pthread_mutex_destroy(&run.lock);
	return status;
}

enum ht_status ht_parallel(ht_ctx *ctx, size_t n_tasks, ht_task_fn fn, void *user)
{
	return ht_parallel_watched(ctx, n_tasks, fn, user, NULL);
}
