/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - threads that compute, and a queue of bounded length before them.
 *
 * What is expected to be done first is taken first, and who waits counts as that much cheaper, so that nothing waits for ever. Some of the
 * threads take only what is quick: it never waits behind something dear.
 */
#ifndef SERVE_POOL_H
#define SERVE_POOL_H

#include <stdbool.h>

struct pool;

typedef void (*pool_fn)(void *job);

/* A job of at most this many milliseconds is quick. */
#define POOL_QUICK_MS 150

/* NULL when out of memory or of threads. */
struct pool *pool_new(int n_threads, int n_quick, int max_queued);
/* cost_ms is how long it may take, as far as is known. False when the queue is full or the pool ends: nothing happens then. */
bool pool_submit(struct pool *pool, pool_fn fn, void *job, unsigned cost_ms);
/* Threads at work now. */
int pool_busy(struct pool *pool);
/* Finish what is queued, end the threads; nothing is taken any more. */
void pool_stop(struct pool *pool);
void pool_free(struct pool *pool);

#endif
