/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.c - see index.h.
 */
#include "index.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const char *text, int64_t number)
{
	uint64_t hash = 14695981039346656037u ^ (uint64_t)number;
	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211u;
	return hash ^ hash >> 32;
}

/* Where the text is, or could be. */
static struct index_entry *place_of(const struct index *index, const char *text, int64_t number)
{
	size_t at = (size_t)hash_of(text, number) & (index->cap - 1);
	while (index->list[at].text != NULL &&
	        (index->list[at].number != number || strcmp(index->list[at].text, text) != 0))
		at = (at + 1) & (index->cap - 1);
	return &index->list[at];
}

void *index_find(const struct index *index, const char *text, int64_t number)
{
	return index->cap > 0 ? place_of(index, text, number)->thing : NULL;
}

static bool grow(struct index *index)
{
	struct index old = *index;
	index->cap = old.cap > 0 ? 2 * old.cap : 64;
	index->list = calloc(index->cap, sizeof(*index->list));
	if (index->list == NULL) {
		*index = old;
		return false;
	}
	for (size_t i = 0; i < old.cap; i++)
		if (old.list[i].text != NULL)
			*place_of(index, old.list[i].text, old.list[i].number) = old.list[i];
	free(old.list);
	return true;
}

bool index_add(struct index *index, const char *text, int64_t number, void *thing)
{
	if (2 * index->n >= index->cap && !grow(index))
		return false;
	*place_of(index, text, number) = (struct index_entry){ text, number, thing };
	index->n++;
	return true;
}

void index_done(struct index *index)
{
	free(index->list);
	*index = (struct index){ 0 };
}
