/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.c - see thread.h.
 *
 * The threads of a context are a crew: they are started by the outermost run (or by ht_with_crew, for many),
 * look for runs that have tasks left, the newest first, and end with it. There is no standing crew: what
 * starts one lasts far longer than the some 20 us a thread costs, and nothing outlives the call.
 *
 * Numbers of tasks are handed out from one atomic counter in order, so when task i fails every task below i has
 * been started; waiting for those makes the lowest failure the same whatever the timing. Its text is kept
 * aside, as the context has room for one error only.
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
	/* guarded by the crew's lock: */
	struct run *older; /* that is open, too */
	int n_inside;      /* threads that came to help */
};

struct member {
	struct crew *crew;
	pthread_t thread;
	int i_worker;
};

struct crew {
	ht_ctx *ctx;
	pthread_mutex_t lock;
	pthread_cond_t opened; /* a run, or the crew ends */
	pthread_cond_t left;   /* by the last that came to help */
	struct run *open;      /* the newest run that may have tasks left */
	int n_idle;
	bool ends;
	int n_members;
	struct member
	        members[MAX_WORKERS]; /* without the caller, who is worker 0, unless he watches */
};

/* Which worker of which crew this thread is. */
struct place {
	struct crew *crew; /* NULL: of none */
	int i_worker;
};
static _Thread_local struct place me;

/* Move the context's error into the record of the lowest failure, and make room for the next. */
static void record(struct run *run, size_t i_task, enum ht_status status)
{
	ht_ctx *ctx = run->ctx;
	struct failure *lowest = &run->lowest;
	pthread_mutex_lock(&ctx->lock);
	if (i_task < lowest->i_task) {
		lowest->i_task = i_task;
		lowest->status = status;
		/* of two that fail at once the first recorded has the text of both */
		if (ctx->error.status != HT_OK || lowest->text.error.status == HT_OK)
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
	bool has_text = lowest->text.error.status != HT_OK;
	pthread_mutex_lock(&ctx->lock);
	if (has_text)
		ht_error_load(ctx, &lowest->text);
	pthread_mutex_unlock(&ctx->lock);
	/* of runs that fail side by side one may have taken the text of the other */
	bool is_memory = lowest->status == HT_NOMEM || lowest->status == HT_LIMIT;
	return is_memory && !has_text ? ht_fail_nomem(ctx) : lowest->status;
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

/* ---- runs of a crew; all called with its lock held ---- */

/* n_wanted: tasks that the caller does not do himself. */
static void open_run(struct crew *crew, struct run *run, size_t n_wanted)
{
	run->older = crew->open;
	crew->open = run;
	if (n_wanted >= (size_t)crew->n_idle)
		pthread_cond_broadcast(&crew->opened);
	for (size_t i = 0; n_wanted < (size_t)crew->n_idle && i < n_wanted; i++)
		pthread_cond_signal(&crew->opened);
}

static void close_run(struct crew *crew, const struct run *run)
{
	for (struct run **at = &crew->open; *at; at = &(*at)->older)
		if (*at == run) {
			*at = run->older;
			return;
		}
}

static struct run *find_run(const struct crew *crew)
{
	struct run *run = crew->open;
	while (run && (atomic_load(&run->n_started) >= run->n_tasks || atomic_load(&run->stop)))
		run = run->older;
	return run;
}

static void *member_main(void *arg)
{
	const struct member *member = arg;
	struct crew *crew = member->crew;
	me = (struct place){ crew, member->i_worker };
	pthread_mutex_lock(&crew->lock);
	while (!crew->ends) {
		struct run *run = find_run(crew);
		if (!run) {
			crew->n_idle++;
			pthread_cond_wait(&crew->opened, &crew->lock);
			crew->n_idle--;
			continue;
		}
		run->n_inside++;
		pthread_mutex_unlock(&crew->lock);
		work(run, member->i_worker);
		pthread_mutex_lock(&crew->lock);
		/* nobody looks at a run again that has no tasks left */
		close_run(crew, run);
		if (!--run->n_inside)
			pthread_cond_broadcast(&crew->left);
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

/* ---- the crew ---- */

/* Start workers first .. n-1. They block all signals, so that a host program's handlers keep running on its own
 * threads. */
static void start(struct crew *crew, ht_ctx *ctx, int first, int n)
{
	sigset_t all, before;
	crew->ctx = ctx;
	crew->open = NULL;
	crew->ends = false;
	crew->n_idle = crew->n_members = 0;
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->opened, NULL);
	pthread_cond_init(&crew->left, NULL);
	sigfillset(&all);
	if (n <= first || pthread_sigmask(SIG_SETMASK, &all, &before))
		return;
	for (int i = first; i < n; i++) {
		struct member *member = &crew->members[crew->n_members];
		*member = (struct member){ .crew = crew, .i_worker = i };
		if (pthread_create(&member->thread, NULL, member_main, member))
			break;
		crew->n_members++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->ends = true;
	pthread_cond_broadcast(&crew->opened);
	pthread_mutex_unlock(&crew->lock);
	for (int i = 0; i < crew->n_members; i++)
		pthread_join(crew->members[i].thread, NULL);
	pthread_cond_destroy(&crew->left);
	pthread_cond_destroy(&crew->opened);
	pthread_mutex_destroy(&crew->lock);
}

/* The caller does not work: he tells his callback how far the tasks are, some 20 times a second, until they are
 * done. Called with the crew's lock held. */
static void watch_run(struct crew *crew, const struct run *run, const struct ht_watch *watch)
{
	const long interval_ns = 50 * 1000 * 1000;
	while (run->n_inside || crew->open) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += interval_ns;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&crew->left, &crew->lock, &until);
		pthread_mutex_unlock(&crew->lock);
		/* a refusal is remembered in the context, where the workers see it */
		(void)!ht_progress(run->ctx, watch->what, atomic_load(watch->done), watch->total);
		pthread_mutex_lock(&crew->lock);
	}
}

/* Have a run done by the crew that this thread is of. */
static enum ht_status do_run(struct run *run, const struct ht_watch *watch)
{
	struct crew *crew = me.crew;
	pthread_mutex_lock(&crew->lock);
	if (crew->n_members && (run->n_tasks > 1 || watch))
		open_run(crew, run, watch ? run->n_tasks : run->n_tasks - 1);
	if (watch)
		watch_run(crew, run, watch);
	pthread_mutex_unlock(&crew->lock);
	/* what is left: all of it, or nothing when it was watched */
	work(run, me.i_worker);
	pthread_mutex_lock(&crew->lock);
	close_run(crew, run);
	while (run->n_inside)
		pthread_cond_wait(&crew->left, &crew->lock);
	pthread_mutex_unlock(&crew->lock);
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
	if (me.crew && me.crew->ctx == ctx)
		return do_run(&run, NULL);
	struct crew crew;
	struct place before = me;
	int n = ht_ctx_jobs(ctx);
	n = (size_t)n > n_tasks ? (int)n_tasks : n;
	watch = ctx->progress ? watch : NULL;
	start(&crew, ctx, watch ? 0 : 1, n);
	me = (struct place){ &crew, 0 };
	enum ht_status status = do_run(&run, watch);
	me = before;
	end(&crew);
	return status;
}

enum ht_status ht_parallel(ht_ctx *ctx, size_t n_tasks, ht_task_fn fn, void *user)
{
	return ht_parallel_watched(ctx, n_tasks, fn, user, NULL);
}

struct call {
	enum ht_status (*fn)(void *user);
	void *user;
};

/* One thread calls; the others have nothing to do, and take what it starts. */
static enum ht_status call_once(void *user, size_t i_task, int i_worker)
{
	const struct call *call = user;
	(void)i_worker;
	return i_task ? HT_OK : call->fn(call->user);
}

enum ht_status ht_call_watched(
        ht_ctx *ctx, enum ht_status (*fn)(void *user), void *user, const struct ht_watch *watch)
{
	struct call call = { fn, user };
	bool is_watched = ctx->progress && !(me.crew && me.crew->ctx == ctx);
	size_t n_tasks = is_watched ? (size_t)ht_ctx_jobs(ctx) : 1;
	enum ht_status status = ht_parallel_watched(ctx, n_tasks, call_once, &call, watch);
	if (status == HT_OK && ht_ctx_is_cancelled(ctx))
		return ht_fail(ctx, HT_CANCELLED, NULL, -1, NULL, "cancelled");
	return status;
}

enum ht_status ht_with_crew(
        ht_ctx *ctx, size_t n_most, enum ht_status (*fn)(void *user), void *user)
{
	int n = ht_ctx_jobs(ctx);
	struct crew crew;
	struct place before = me;
	if (me.crew && me.crew->ctx == ctx)
		return fn(user);
	start(&crew, ctx, 1, (size_t)n > n_most ? (int)n_most : n);
	me = (struct place){ &crew, 0 };
	enum ht_status status = fn(user);
	me = before;
	end(&crew);
	return status;
}
