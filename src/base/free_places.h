/* SPDX-License-Identifier: Apache-2.0 */
/*
 * free_places.h - places of a list that are taken one by one: the nearest one on either side that is not.
 *
 * Places count from 1; 0 and the one behind the last are never taken, and are where a walk ends. A taken place leads to its neighbour, and whoever
 * walks makes the way shorter for the next.
 */
#ifndef HT_BASE_FREE_PLACES_H
#define HT_BASE_FREE_PLACES_H

#include <stddef.h>
#include <stdint.h>

struct ht_free_places {
	uint32_t *before, *behind; /* itself while it is free */
};

/* Of the room for n places. */
static inline size_t ht_free_places_bytes(size_t n)
{
	return 2 * (n + 2) * sizeof(uint32_t);
}

/* All of n places are free. */
static inline struct ht_free_places ht_free_places(void *room, size_t n)
{
	struct ht_free_places places = { room, (uint32_t *)room + n + 2 };
	for (uint32_t i = 0; i < n + 2; i++)
		places.before[i] = places.behind[i] = i;
	return places;
}

static inline uint32_t ht_free_walk(uint32_t *links, uint32_t place)
{
	while (links[place] != place)
		place = links[place] = links[links[place]];
	return place;
}

/* The nearest free place that is not behind this one, and not before it. */
static inline uint32_t ht_free_before(const struct ht_free_places *places, uint32_t place)
{
	return ht_free_walk(places->before, place);
}

static inline uint32_t ht_free_behind(const struct ht_free_places *places, uint32_t place)
{
	return ht_free_walk(places->behind, place);
}

static inline void ht_free_take(const struct ht_free_places *places, uint32_t place)
{
	places->before[place] = place - 1;
	places->behind[place] = place + 1;
}

#endif
