/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - threads that compute, and a queue of bounded length before them.
 */
#ifndef SERVE_POOL_H
#define SERVE_POOL_H

#include <stdbool.h>

struct pool;

typedef void (*pool_fn)(void *job);

/* NULL when out of memory or of threads. */
struct pool *pool_new(int n_threads, int max_queued);
/* False when the queue is full or the pool ends: nothing happens then. */
bool pool_submit(struct pool *pool, pool_fn fn, void *job);
/* Threads at work now. */
int pool_busy(struct pool *pool);
/* Finish what is queued, end the threads; nothing is taken any more. */
void pool_stop(struct pool *pool);
void pool_free(struct pool *pool);

#endif
