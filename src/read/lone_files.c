/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lone_files.c - see lone_files.h.
 */
#include "read/lone_files.h"

#include "base/search.h"

#include <stdlib.h>
#include <string.h>

static size_t length_of_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) : 0;
}

/* By the text before the last slash. */
static int compare_dirs(const char *a, const char *b)
{
	size_t n_a = length_of_dir(a), n_b = length_of_dir(b);
	int order = memcmp(a, b, n_a < n_b ? n_a : n_b);
	return order ? order : (n_a > n_b) - (n_a < n_b);
}

static int compare(const void *a, const void *b)
{
	return compare_dirs(*(const char *const *)a, *(const char *const *)b);
}

bool ht_dirs_list(
        struct ht_dirs *dirs, struct ht_arena *arena, const void *files, size_t n, size_t step)
{
	dirs->paths = ht_arena_room(arena, (n + 1) * sizeof *dirs->paths);
	dirs->n = dirs->paths ? n : 0;
	for (size_t i = 0; i < dirs->n; i++)
		dirs->paths[i] = *(const char *const *)((const char *)files + i * step);
	if (dirs->n)
		qsort(dirs->paths, dirs->n, sizeof *dirs->paths, compare);
	return dirs->paths != NULL;
}

bool ht_dirs_has(const struct ht_dirs *dirs, const char *path)
{
	size_t i = HT_LOWER_BOUND(at, dirs->n, compare_dirs(dirs->paths[at], path) < 0);
	return i < dirs->n && !compare_dirs(dirs->paths[i], path);
}
