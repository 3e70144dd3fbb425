/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batches.h - whether batches differ: forward and backward passes of a worker take longer together, on one worker in some steps and on another in
 * others, as they do when sequences have different lengths.
 *
 * Pairs are forward and backward time of one batch, each over what is usual for it. Batches differ when the two vary together (correlation of 0.8),
 * by 3 % at least, and mostly within workers, not between them.
 */
#ifndef HT_JOB_BATCHES_H
#define HT_JOB_BATCHES_H

#include <stdbool.h>

struct ht_batches {
	double n, x, y, xx, yy, xy;       /* over all pairs */
	double n_workers, means, squares; /* of forward times, over the means of workers */
};

void ht_batches_add(struct ht_batches *batches, double forward, double backward);
/* The mean forward time of a worker. */
void ht_batches_add_worker(struct ht_batches *batches, double mean);
bool ht_batches_differ(const struct ht_batches *batches);

#endif
