/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h - texts to things, for lists that are looked up while they are merged: found in constant time.
 */
#ifndef SERVE_INDEX_H
#define SERVE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_entry {
	const char *text; /* the owner's; NULL: free */
	int64_t number;   /* belongs to the text */
	void *thing;
};

struct index {
	struct index_entry *list;
	size_t n, cap;
};

/* NULL: not there. */
void *index_find(const struct index *index, const char *text, int64_t number);
/* Of a text that is not there yet; false when out of memory. */
bool index_add(struct index *index, const char *text, int64_t number, void *thing);
void index_done(struct index *index);

#endif
