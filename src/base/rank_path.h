/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_path.h - names of files that are written per rank: "trace_{rank}.json".
 */
#ifndef HT_BASE_RANK_PATH_H
#define HT_BASE_RANK_PATH_H

#include "base/arena.h"

#define HT_RANK_PLACE "{rank}"

/* The path with the rank in place of "{rank}"; NULL when out of memory. */
const char *ht_rank_path(struct ht_arena *arena, const char *path, int64_t rank);

#endif
