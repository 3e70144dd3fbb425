/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skipped.h - files that were found and are not read.
 */
#ifndef HT_READ_SKIPPED_H
#define HT_READ_SKIPPED_H

#include <stdbool.h>

/* A file that has the name of a trace, and why it is none. */
struct ht_skipped {
	const char *path, *why;
};
/* The reason of those that nobody looked into. */
extern const char ht_not_by_name[];
/* Skipped for its name alone, and remembered for that of a database: only where what is there to open is listed. */
bool ht_is_unnamed_database(const struct ht_skipped *skipped);

#endif
