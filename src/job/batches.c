/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batches.c - see batches.h.
 */
#include "job/batches.h"

#include <math.h>

#define MIN_CORRELATION 0.8
#define MIN_SPREAD      0.03
#define MIN_WITHIN      0.5
#define MIN_PAIRS       4

void ht_batches_add(struct ht_batches *b, double x, double y)
{
	b->n++;
	b->x += x;
	b->y += y;
	b->xx += x * x;
	b->yy += y * y;
	b->xy += x * y;
}

void ht_batches_add_worker(struct ht_batches *b, double mean)
{
	b->n_workers++;
	b->means += mean;
	b->squares += mean * mean;
}

static double variance(double n, double sum, double squares)
{
	return n > 0 ? fmax(squares / n - (sum / n) * (sum / n), 0) : 0;
}

bool ht_batches_differ(const struct ht_batches *b)
{
	double x = variance(b->n, b->x, b->xx), y = variance(b->n, b->y, b->yy);
	double between = variance(b->n_workers, b->means, b->squares);
	if (b->n < MIN_PAIRS || !(x > MIN_SPREAD * MIN_SPREAD) || !(y > 0))
		return false;
	double together = b->xy / b->n - b->x / b->n * (b->y / b->n);
	return together / (sqrt(x) * sqrt(y)) >= MIN_CORRELATION && 1 - between / x >= MIN_WITHIN;
}
