/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c - see pool.h.
 */
#include "pool.h"

#include "clock.h"

#include <pthread.h>
#include <stdlib.h>

struct job {
	pool_fn fn;
	void *argument;
	unsigned cost_ms;
	uint64_t due_ms; /* when it came, and what it costs: the earliest is taken first */
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct job *queue; /* in the order in which they came */
	int n, cap;
	int n_busy, n_threads;
	bool ends;
	struct worker {
		struct pool *pool;
		pthread_t thread;
		bool is_quick; /* takes what is quick alone */
	} workers[];
};

/* The job to be taken next, or -1; of equal ones the first that came. */
static int choose(const struct pool *pool, bool is_quick)
{
	int best = -1;
	for (int i = 0; i < pool->n; i++) {
		const struct job *job = &pool->queue[i];
		if (is_quick && job->cost_ms > POOL_QUICK_MS)
			continue;
		if (best < 0 || job->due_ms < pool->queue[best].due_ms)
			best = i;
	}
	return best;
}

static struct job take(struct pool *pool, int i)
{
	struct job job = pool->queue[i];
	for (pool->n--; i < pool->n; i++)
		pool->queue[i] = pool->queue[i + 1];
	return job;
}

static void *work(void *user)
{
	const struct worker *worker = user;
	struct pool *pool = worker->pool;
	pthread_mutex_lock(&pool->lock);
	for (;;) {
		int i = choose(pool, worker->is_quick);
		if (i < 0 && pool->ends)
			break;
		if (i < 0) {
			pthread_cond_wait(&pool->wake, &pool->lock);
			continue;
		}
		struct job job = take(pool, i);
		pool->n_busy++;
		pthread_mutex_unlock(&pool->lock);
		job.fn(job.argument);
		pthread_mutex_lock(&pool->lock);
		pool->n_busy--;
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

static bool start(struct pool *pool, bool is_quick)
{
	struct worker *worker = &pool->workers[pool->n_threads];
	*worker = (struct worker){ .pool = pool, .is_quick = is_quick };
	if (pthread_create(&worker->thread, NULL, work, worker) != 0)
		return false;
	pool->n_threads++;
	return true;
}

struct pool *pool_new(int n_threads, int n_quick, int max_queued)
{
	struct pool *pool =
	        calloc(1, sizeof(*pool) + (size_t)(n_threads + n_quick) * sizeof(struct worker));
	if (pool == NULL)
		return NULL;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->wake, NULL);
	pool->cap = max_queued;
	pool->queue = calloc((size_t)max_queued, sizeof(*pool->queue));
	/* those who take everything first: one of them is enough */
	while (pool->queue != NULL && pool->n_threads < n_threads && start(pool, false))
		;
	if (pool->n_threads == 0) {
		pool_free(pool);
		return NULL;
	}
	for (int i = 0; i < n_quick && start(pool, true); i++)
		;
	return pool;
}

bool pool_submit(struct pool *pool, pool_fn fn, void *job, unsigned cost_ms)
{
	pthread_mutex_lock(&pool->lock);
	bool fits = pool->n < pool->cap && !pool->ends;
	if (fits) {
		pool->queue[pool->n++] = (struct job){ fn, job, cost_ms, now_ms() + cost_ms };
		/* the one that wakes must be one that may take it */
		pthread_cond_broadcast(&pool->wake);
	}
	pthread_mutex_unlock(&pool->lock);
	return fits;
}

int pool_busy(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	int n = pool->n_busy;
	pthread_mutex_unlock(&pool->lock);
	return n;
}

void pool_stop(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->ends = true;
	pthread_cond_broadcast(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
	for (; pool->n_threads > 0; pool->n_threads--)
		pthread_join(pool->workers[pool->n_threads - 1].thread, NULL);
}

void pool_free(struct pool *pool)
{
	if (pool == NULL)
		return;
	pool_stop(pool);
	pthread_cond_destroy(&pool->wake);
	pthread_mutex_destroy(&pool->lock);
	free(pool->queue);
	free(pool);
}
