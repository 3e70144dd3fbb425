/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_bands.c - see memory_bands.h. O(n log n) in the allocations.
 */
#include "model/memory/memory_bands.h"

#include "base/checked.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

static const char others[] = "(others)";

/* An allocation of the curve. */
struct holding {
	const char *name;
	const struct ht_memory_pair *pair;
	int64_t bytes;
	double weight;
};

struct owner {
	const char *name;
	double weight;
	size_t first, end; /* its holdings */
};

static int by_name(const void *a, const void *b)
{
	const struct holding *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static int by_weight(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;
	int order = ht_compare_f64(&y->weight, &x->weight);
	return order ? order : strcmp(x->name, y->name);
}

static enum ht_status list_holdings(struct ht_run *run, const struct ht_memory_owners *o,
        size_t first, size_t end, struct holding **ret_list, size_t *ret_n)
{
	const struct ht_memory_event *list = o->events->list;
	struct holding *held = ht_arena_room(run->scratch, (o->n_pairs + 1) * sizeof *held);
	size_t n = 0;
	if (!held)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < o->n_pairs; i++) {
		const struct ht_memory_pair *pair = &o->pairs[i];
		if (pair->alloc == SIZE_MAX || pair->alloc < first || pair->alloc >= end)
			continue;
		const struct ht_memory_event *alloc = &list[pair->alloc];
		const struct ht_memory_event *freed =
		        pair->free == SIZE_MAX ? NULL : &list[pair->free];
		int64_t until_ns = freed ? freed->ts_ns : list[end - 1].ts_ns;
		int64_t bytes = freed ? ht_sub_sat(0, freed->bytes) : alloc->bytes;
		const char *name = ht_memory_op_name(run, &o->ops[pair->alloc]);
		if (!name)
			return ht_fail_nomem(run->ctx);
		held[n++] = (struct holding){ name, pair, bytes,
			(double)bytes * (double)ht_sub_sat(until_ns, alloc->ts_ns) };
	}
	qsort(held, n, sizeof *held, by_name);
	*ret_list = held;
	*ret_n = n;
	return HT_OK;
}

/* Holdings of the same name, the heaviest name first. */
static size_t list_owners(const struct holding *held, size_t n, struct owner *list)
{
	size_t n_owners = 0;
	for (size_t i = 0; i < n; i++) {
		struct owner *last = n_owners ? &list[n_owners - 1] : NULL;
		if (!last || strcmp(last->name, held[i].name) != 0) {
			last = &list[n_owners++];
			*last = (struct owner){ .name = held[i].name, .first = i };
		}
		last->weight += held[i].weight;
		last->end = i + 1;
	}
	qsort(list, n_owners, sizeof *list, by_weight);
	return n_owners;
}

static void mark(struct ht_memory_bands *bands, size_t first, size_t end,
        const struct holding *held, uint32_t band)
{
	size_t freed = held->pair->free;
	bands->band_of[held->pair->alloc - first] = band;
	bands->bytes[held->pair->alloc - first] = held->bytes;
	if (freed == SIZE_MAX || freed < first || freed >= end)
		return;
	bands->band_of[freed - first] = band;
	bands->bytes[freed - first] = ht_sub_sat(0, held->bytes);
}

enum ht_status ht_memory_bands_make(struct ht_run *run, const struct ht_memory_owners *owners,
        size_t first, size_t end, size_t max_bands, struct ht_memory_bands *ret_bands)
{
	struct holding *held = NULL;
	size_t n = 0;
	HT_TRY(list_holdings(run, owners, first, end, &held, &n));
	struct owner *list = ht_arena_room(run->scratch, (n + 1) * sizeof *list);
	size_t n_events = end - first, n_owners = list ? list_owners(held, n, list) : 0;
	size_t n_bands = n_owners < max_bands ? n_owners : max_bands;
	struct ht_memory_bands bands = { .n = n_bands + (n_owners > n_bands) };
	bands.names = ht_arena_alloc(run->scratch, (bands.n + 1) * sizeof *bands.names);
	bands.band_of = ht_arena_room(run->scratch, (n_events + 1) * sizeof *bands.band_of);
	bands.bytes = ht_arena_alloc(run->scratch, (n_events + 1) * sizeof *bands.bytes);
	if (!list || !bands.names || !bands.band_of || !bands.bytes)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n_events; i++)
		bands.band_of[i] = HT_NONE;
	for (size_t i = 0; i < n_owners; i++) {
		size_t band = i < n_bands ? i : n_bands;
		bands.names[band] = i < n_bands ? list[i].name : others;
		for (size_t k = list[i].first; k < list[i].end; k++)
			mark(&bands, first, end, &held[k], (uint32_t)band);
	}
	*ret_bands = bands;
	return HT_OK;
}

struct ht_part *ht_memory_fullest(const struct ht_parts *parts, size_t column)
{
	size_t fullest = 0;
	int64_t most = HT_NO_I64;
	for (size_t p = 0; p < parts->n; p++)
		for (size_t i = 0; i < ht_table_n_rows(parts->list[p].facts[0]); i++) {
			int64_t bytes = ht_table_i64(parts->list[p].facts[0], i, column);
			fullest = bytes > most ? p : fullest;
			most = bytes > most ? bytes : most;
		}
	return &parts->list[fullest];
}
