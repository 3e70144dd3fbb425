/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readers.c - the list of readers; see reader.h.
 */
#include "read/reader.h"

#include <string.h>

static const struct ht_reader *const readers[] = {
#define READER(x) &ht_reader_##x,
#include "read/readers.def"
#undef READER
};

const struct ht_reader *ht_reader_find(const struct ht_head *head)
{
	for (size_t i = 0; i < HT_COUNT(readers); i++)
		if (readers[i]->sniff(head))
			return readers[i];
	return NULL;
}

const struct ht_reader *ht_reader_named(const char *name)
{
	for (size_t i = 0; i < HT_COUNT(readers); i++)
		if (!strcmp(readers[i]->name, name))
			return readers[i];
	return NULL;
}

/* Is it one of the endings of a list? */
static bool ends_in_one(const char *name, const char *list)
{
	size_t n_name = strlen(name);
	for (const char *at = list; at && *at; at += strcspn(at, "|"), at += *at == '|') {
		size_t n = strcspn(at, "|");
		if (n_name >= n && !memcmp(name + n_name - n, at, n))
			return true;
	}
	return false;
}

const char *ht_reader_globs(struct ht_arena *arena)
{
	char *globs = ht_arena_printf(arena, "%s", "");
	for (size_t i = 0; globs && i < HT_COUNT(readers); i++) {
		const char *at = readers[i]->endings ? readers[i]->endings : "";
		for (size_t n; globs && *at; at += n + (at[n] == '|')) {
			n = strcspn(at, "|");
			globs = ht_arena_printf(
			        arena, "%s%s*%.*s", globs, *globs ? ", " : "", (int)n, at);
		}
	}
	return globs;
}

bool ht_reader_looks_for(const char *name)
{
	for (size_t i = 0; i < HT_COUNT(readers); i++)
		if (ends_in_one(name, readers[i]->endings))
			return true;
	return ends_in_one(name, ".gz|.zst");
}
