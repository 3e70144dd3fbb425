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

#define MAX_WORKERS 256

struct failure {
	size_t i_task; /* SIZE_MAX: none */
	enum ht_status status;
	struct ht_error error; /* status HT_OK: the task failed without a text */
	char message[sizeof((ht_ctx *)0)->message];
	char file[sizeof((ht_ctx *)0)->file];
	char hint[sizeof((ht_ctx *)0)->hint];
};

struct run {
	ht_ctx *ctx;
	ht_task_fn fn;
	void *user;
	size_t n_tasks;
	atomic_size_t n_started;
	atomic_bool stop;
	struct failure lowest; /* guarded by the context's lock */
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
		lowest->error = ctx->error;
		memcpy(lowest->message, ctx->message, sizeof lowest->message);
		memcpy(lowest->file, ctx->file, sizeof lowest->file);
		memcpy(lowest->hint, ctx->hint, sizeof lowest->hint);
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
	if (lowest->error.status != HT_OK) {
		ctx->error = lowest->error;
		memcpy(ctx->message, lowest->message, sizeof ctx->message);
		memcpy(ctx->file, lowest->file, sizeof ctx->file);
		memcpy(ctx->hint, lowest->hint, sizeof ctx->hint);
	}
	pthread_mutex_unlock(&ctx->lock);
	return lowest->status;
}

static void work(struct run *run, int i_worker)
{
	while (!atomic_load(&run->stop)) {
		if (atomic_load(&run->ctx->cancelled))
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
	work(worker->run, worker->i_worker);
	return NULL;
}

/* Start helpers 1 .. n-1; returns how many run. They block all signals, so that a host program's
 * handlers keep running on its own threads. */
static int start(struct run *run, struct worker *workers, int n)
{
	sigset_t all, before;
	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before))
		return 0;
	int n_running = 0;
	for (int i = 1; i < n; i++) {
		struct worker *worker = &workers[n_running];
		*worker = (struct worker){ .run = run, .i_worker = i };
		if (pthread_create(&worker->thread, NULL, thread_main, worker))
			break;
		n_running++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return n_running;
}

enum ht_status ht_parallel(ht_ctx *ctx, size_t n_tasks, ht_task_fn fn, void *user)
{
	struct run run = {
		.ctx = ctx, .fn = fn, .user = user, .n_tasks = n_tasks, .lowest.i_task = SIZE_MAX
	};
	struct worker workers[MAX_WORKERS];
	int n = ht_ctx_jobs(ctx);
	if ((size_t)n > n_tasks)
		n = (int)n_tasks;
	int n_running = n > 1 ? start(&run, workers, n) : 0;
	work(&run, 0);
	for (int i = 0; i < n_running; i++)
		pthread_join(workers[i].thread, NULL);
	if (run.lowest.i_task != SIZE_MAX)
		return restore(&run);
	if (atomic_load(&run.n_started) < n_tasks)
		return ht_fail(ctx, HT_CANCELLED, NULL, -1, NULL, "cancelled");
	return HT_OK;
}
