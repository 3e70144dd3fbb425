/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_path.c - see rank_path.h.
 */
#include "base/rank_path.h"

#include <string.h>

const char *ht_rank_path(struct ht_arena *arena, const char *path, int64_t rank)
{
	const char *done = "", *place;
	while (done && (place = strstr(path, HT_RANK_PLACE))) {
		done = ht_arena_printf(
		        arena, "%s%.*s%lld", done, (int)(place - path), path, (long long)rank);
		path = place + strlen(HT_RANK_PLACE);
	}
	return done ? ht_arena_printf(arena, "%s%s", done, path) : NULL;
}
