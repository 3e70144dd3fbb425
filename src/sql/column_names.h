/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_names.h - names of columns that SQL can tell apart: it does not look at case, and a name exists once.
 */
#ifndef HT_SQL_COLUMN_NAMES_H
#define HT_SQL_COLUMN_NAMES_H

#include "base/intern.h"

struct ht_names {
	struct ht_arena *arena;
	struct ht_text_table taken; /* in lower case */
};

/* The name, else the other one, else that with a number: the first that nobody has. NULL when out of memory. */
const char *ht_names_add(struct ht_names *names, const char *name, const char *other);
void ht_names_done(struct ht_names *names);

#endif
