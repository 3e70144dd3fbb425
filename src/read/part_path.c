/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_path.c - see part_path.h.
 */
#include "read/part_path.h"

#include "base/door.h"
#include "store/event.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *find_mark(const char *path)
{
	const char *mark = strrchr(path, '#');
	size_t n = mark ? strspn(mark + 1, "0123456789") : 0;
	return mark && mark > path && n && n <= 18 && !mark[1 + n] ? mark : NULL;
}

bool ht_part_path_is(const char *path)
{
	return find_mark(path) != NULL;
}

const char *ht_part_path_split(
        const ht_ctx *ctx, const char *path, struct ht_arena *arena, int64_t *ret_part)
{
	const char *mark = find_mark(path);
	struct stat st;
	*ret_part = HT_NO_I64;
	if (!mark || !ht_door_stat(ctx, path, &st))
		return path;
	*ret_part = strtoll(mark + 1, NULL, 10);
	return ht_arena_strndup(arena, path, (size_t)(mark - path));
}
