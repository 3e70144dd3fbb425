/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timelines.c - see timelines.h. A list in the order of use, from which the oldest that nobody holds are closed.
 */
#include "timelines.h"

#include "use.h"

#include <pthread.h>
#include <stdlib.h>

/* What a span costs: its places in the index, and its links to others once an event of the rank was asked for. */
#define SPAN_BYTES  40
#define TRACK_BYTES 200

struct entry {
	struct use use;        /* of those that are open */
	ht_timeline *timeline; /* NULL: not open */
	unsigned n_holders;
	uint64_t n_bytes;
};

struct timelines {
	pthread_mutex_t lock; /* of the list, and of all entries */
	struct use_list open;
	uint64_t n_bytes, max_bytes;
};

struct rank_timelines {
	struct timelines *all;
	ht_set *set;
	pthread_mutex_t
	        lock; /* while one is opened: who asks for the same meanwhile waits for it */
	size_t n;
	struct entry entries[];
};

struct timelines *timelines_new(uint64_t max_bytes)
{
	struct timelines *all = calloc(1, sizeof(*all));
	if (all != NULL) {
		pthread_mutex_init(&all->lock, NULL);
		all->max_bytes = max_bytes;
	}
	return all;
}

void timelines_free(struct timelines *all)
{
	if (all == NULL)
		return;
	pthread_mutex_destroy(&all->lock);
	free(all);
}

uint64_t timelines_bytes(struct timelines *all)
{
	pthread_mutex_lock(&all->lock);
	uint64_t n_bytes = all->n_bytes;
	pthread_mutex_unlock(&all->lock);
	return n_bytes;
}

struct rank_timelines *rank_timelines_new(struct timelines *all, ht_set *set)
{
	size_t n = ht_set_n_ranks(set);
	struct rank_timelines *of = calloc(1, sizeof(*of) + n * sizeof(of->entries[0]));
	if (of == NULL)
		return NULL;
	pthread_mutex_init(&of->lock, NULL);
	of->all = all;
	of->set = set;
	of->n = n;
	return of;
}

/* ---- the list; under its lock ---- */

static void close_entry(struct timelines *all, struct entry *entry)
{
	use_remove(&all->open, &entry->use);
	all->n_bytes -= entry->n_bytes;
	ht_timeline_close(entry->timeline);
	entry->timeline = NULL;
}

static void close_oldest(struct timelines *all)
{
	for (struct use *use = all->open.oldest; use != NULL && all->n_bytes > all->max_bytes;) {
		struct entry *entry = (struct entry *)use;
		use = use->newer;
		if (entry->n_holders == 0)
			close_entry(all, entry);
	}
}

/* What is open already, held; NULL when it is not. */
static const ht_timeline *hold_open(struct timelines *all, struct entry *entry)
{
	pthread_mutex_lock(&all->lock);
	ht_timeline *timeline = entry->timeline;
	if (timeline != NULL) {
		entry->n_holders++;
		use_touch(&all->open, &entry->use);
	}
	pthread_mutex_unlock(&all->lock);
	return timeline;
}

static uint64_t bytes_of(const ht_timeline *timeline)
{
	struct ht_track_info track = { .struct_size = sizeof(track) };
	uint64_t n_bytes = 0;
	for (size_t i = 0; ht_timeline_track(timeline, i, &track); i++)
		n_bytes += TRACK_BYTES + SPAN_BYTES * (uint64_t)track.n_spans;
	return n_bytes;
}

static void add_open(struct timelines *all, struct entry *entry, ht_timeline *timeline)
{
	uint64_t n_bytes = bytes_of(timeline);
	pthread_mutex_lock(&all->lock);
	entry->timeline = timeline;
	entry->n_bytes = n_bytes;
	entry->n_holders = 1;
	all->n_bytes += n_bytes;
	use_add(&all->open, &entry->use);
	close_oldest(all);
	pthread_mutex_unlock(&all->lock);
}

/* ---- of a set ---- */

enum ht_status rank_timeline_hold(
        ht_ctx *ctx, struct rank_timelines *of, size_t i, const ht_timeline **ret_timeline)
{
	struct entry *entry = &of->entries[i];
	enum ht_status status = HT_OK;
	const ht_timeline *timeline = hold_open(of->all, entry);
	if (timeline == NULL) {
		pthread_mutex_lock(&of->lock);
		timeline = hold_open(of->all, entry);
		if (timeline == NULL) {
			ht_timeline *opened;
			status = ht_timeline_open(ctx, of->set, i, &opened);
			if (status == HT_OK) {
				add_open(of->all, entry, opened);
				timeline = opened;
			}
		}
		pthread_mutex_unlock(&of->lock);
	}
	if (status == HT_OK)
		*ret_timeline = timeline;
	return status;
}

const ht_timeline *rank_timeline_hold_open(struct rank_timelines *of, size_t i)
{
	return hold_open(of->all, &of->entries[i]);
}

void rank_timeline_release(struct rank_timelines *of, size_t i)
{
	pthread_mutex_lock(&of->all->lock);
	of->entries[i].n_holders--;
	close_oldest(of->all);
	pthread_mutex_unlock(&of->all->lock);
}

void rank_timelines_free(struct rank_timelines *of)
{
	if (of == NULL)
		return;
	pthread_mutex_lock(&of->all->lock);
	for (size_t i = 0; i < of->n; i++)
		if (of->entries[i].timeline != NULL)
			close_entry(of->all, &of->entries[i]);
	pthread_mutex_unlock(&of->all->lock);
	pthread_mutex_destroy(&of->lock);
	free(of);
}
