/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_path.h - names of parts: "FILE#17" is the part 17 of a file that holds several ranks (parts of reader.h).
 *
 * A file of that very name comes first.
 */
#ifndef HT_READ_PART_PATH_H
#define HT_READ_PART_PATH_H

#include "base/arena.h"
#include "base/status.h"

/* The file that a path means, and the part of it; the path itself and HT_NO_I64 when it names no part. The file is in the
 * arena; NULL when out of memory. */
const char *ht_part_path_split(
        const ht_ctx *ctx, const char *path, struct ht_arena *arena, int64_t *ret_part);
/* Whether a path names a part, whatever files there are. */
bool ht_part_path_is(const char *path);

#endif
