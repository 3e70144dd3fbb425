/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_snapshot.c - see run_snapshot.h.
 */
#include "run_snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add_timelines(struct timelines *all, struct span_set *of)
{
	of->timelines = rank_timelines_new(all, of->set);
	of->overlays = serve_overlays_new();
	return of->timelines != NULL && of->overlays != NULL;
}

static void close_span(struct span_set *of)
{
	rank_timelines_free(of->timelines);
	serve_overlays_free(of->overlays);
	ht_close(of->set);
}

static void free_snapshot(struct snapshot *snapshot)
{
	close_span(&snapshot->all);
	for (size_t i = 0; i < snapshot->n_spans; i++)
		close_span(&snapshot->spans[i]);
	free(snapshot->spans);
	free(snapshot);
}

struct snapshot *snapshot_new(struct timelines *timelines, uint64_t generation, ht_set *all,
        struct span_set *spans, size_t n_spans)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	if (snapshot == NULL) {
		ht_close(all);
		for (size_t i = 0; i < n_spans; i++)
			ht_close(spans[i].set);
		free(spans);
		return NULL;
	}
	*snapshot = (struct snapshot){ .n_refs = 1,
		.generation = generation,
		.all = { .set = all },
		.spans = spans,
		.n_spans = n_spans };
	bool is_made = add_timelines(timelines, &snapshot->all);
	for (size_t i = 0; i < n_spans; i++)
		is_made &= add_timelines(timelines, &spans[i]);
	if (!is_made) {
		free_snapshot(snapshot);
		return NULL;
	}
	return snapshot;
}

struct snapshot *snapshot_hold(struct snapshot *snapshot)
{
	atomic_fetch_add(&snapshot->n_refs, 1);
	return snapshot;
}

void snapshot_release(struct snapshot *snapshot)
{
	if (snapshot != NULL && atomic_fetch_sub(&snapshot->n_refs, 1) == 1)
		free_snapshot(snapshot);
}

struct span_set *snapshot_span(struct snapshot *snapshot, const char *span)
{
	if (span == NULL || *span == '\0')
		return &snapshot->all;
	for (size_t i = 0; i < snapshot->n_spans; i++) {
		char name[24] = "default";
		if (snapshot->spans[i].span > 0)
			snprintf(name, sizeof(name), "%" PRId64, snapshot->spans[i].span);
		if (strcmp(name, span) == 0)
			return &snapshot->spans[i];
	}
	return NULL;
}
