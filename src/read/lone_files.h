/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lone_files.h - files in directories where no trace is: memory snapshots and timelines are runs of their own there.
 */
#ifndef HT_READ_LONE_FILES_H
#define HT_READ_LONE_FILES_H

#include "base/arena.h"

/* Directories of some files. */
struct ht_dirs {
	const char **paths; /* sorted */
	size_t n;
};

/* False when out of memory. A path is the text that a step of so many bytes has at its start. */
bool ht_dirs_list(
        struct ht_dirs *dirs, struct ht_arena *arena, const void *files, size_t n, size_t step);
/* Is the directory of a file among them? */
bool ht_dirs_has(const struct ht_dirs *dirs, const char *path);

#endif
