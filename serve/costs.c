/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costs.c - see costs.h. Per analysis the time per million events of the last answers, the newest half of it; views and options of one
 * analysis are taken together.
 */
#include "costs.h"

#include "holotrace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MOST_MS 600000

struct costs {
	pthread_mutex_t lock;
	size_t n;
	double ms[]; /* per million events; below 0: unknown */
};

struct costs *costs_new(void)
{
	size_t n = ht_n_analyses();
	struct costs *costs = malloc(sizeof(*costs) + n * sizeof(costs->ms[0]));
	if (costs == NULL)
		return NULL;
	pthread_mutex_init(&costs->lock, NULL);
	costs->n = n;
	for (size_t i = 0; i < n; i++)
		costs->ms[i] = -1;
	return costs;
}

void costs_free(struct costs *costs)
{
	if (costs == NULL)
		return;
	pthread_mutex_destroy(&costs->lock);
	free(costs);
}

static size_t find(const struct costs *costs, const char *name)
{
	size_t i = 0;
	while (i < costs->n && strcmp(ht_analysis_at(i)->name, name) != 0)
		i++;
	return i;
}

/* A small run costs what every question does: it says little about large ones. */
static double millions(uint64_t n_events)
{
	return n_events > 100000 ? (double)n_events / 1e6 : 0.1;
}

void costs_note(struct costs *costs, const char *name, uint64_t n_events, uint64_t ms)
{
	size_t i = find(costs, name);
	double own = (double)ms / millions(n_events);
	if (i == costs->n)
		return;
	pthread_mutex_lock(&costs->lock);
	costs->ms[i] = costs->ms[i] < 0 ? own : (costs->ms[i] + own) / 2;
	pthread_mutex_unlock(&costs->lock);
}

unsigned costs_guess(struct costs *costs, const char *name, uint64_t n_events)
{
	size_t i = find(costs, name);
	double ms = -1;
	if (i < costs->n) {
		pthread_mutex_lock(&costs->lock);
		ms = costs->ms[i];
		pthread_mutex_unlock(&costs->lock);
	}
	if (ms < 0)
		return COSTS_UNKNOWN_MS;
	ms *= millions(n_events);
	return ms < MOST_MS ? (unsigned)ms : MOST_MS;
}
