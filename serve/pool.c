/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c - see pool.h.
 */
#include "pool.h"

#include <pthread.h>
#include <stdlib.h>

struct job {
	pool_fn fn;
	void *argument;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct job *ring;
	int first, n, cap;
	int n_busy, n_threads;
	bool ends;
	pthread_t threads[];
};

static void *work(void *user)
{
	struct pool *pool = user;
	pthread_mutex_lock(&pool->lock);
	for (;;) {
		while (pool->n == 0 && !pool->ends)
			pthread_cond_wait(&pool->wake, &pool->lock);
		if (pool->n == 0)
			break;
		struct job job = pool->ring[pool->first];
		pool->first = (pool->first + 1) % pool->cap;
		pool->n--;
		pool->n_busy++;
		pthread_mutex_unlock(&pool->lock);
		job.fn(job.argument);
		pthread_mutex_lock(&pool->lock);
		pool->n_busy--;
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

struct pool *pool_new(int n_threads, int max_queued)
{
	struct pool *pool = calloc(1, sizeof(*pool) + (size_t)n_threads * sizeof(pthread_t));
	if (pool == NULL)
		return NULL;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->wake, NULL);
	pool->cap = max_queued;
	pool->ring = calloc((size_t)max_queued, sizeof(*pool->ring));
	while (pool->ring != NULL && pool->n_threads < n_threads &&
	        pthread_create(&pool->threads[pool->n_threads], NULL, work, pool) == 0)
		pool->n_threads++;
	if (pool->n_threads == 0) {
		pool_free(pool);
		return NULL;
	}
	return pool;
}

bool pool_submit(struct pool *pool, pool_fn fn, void *job)
{
	pthread_mutex_lock(&pool->lock);
	bool fits = pool->n < pool->cap && !pool->ends;
	if (fits) {
		pool->ring[(pool->first + pool->n++) % pool->cap] = (struct job){ fn, job };
		pthread_cond_signal(&pool->wake);
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
		pthread_join(pool->threads[pool->n_threads - 1], NULL);
}

void pool_free(struct pool *pool)
{
	if (pool == NULL)
		return;
	pool_stop(pool);
	pthread_cond_destroy(&pool->wake);
	pthread_mutex_destroy(&pool->lock);
	free(pool->ring);
	free(pool);
}
