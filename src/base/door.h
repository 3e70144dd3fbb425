/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.h - where files come in that others may have put there: below a folder, and from nowhere else.
 *
 * A context may have folders that it is confined to (ht_ctx_confine). A path that begins with one of them is resolved, and
 * what it resolves to is opened from the folder on without following any link: a link that leads to another place below the
 * folder is fine, one that leads out is refused with EXDEV, and one that is swapped in between looking and opening is
 * refused as well, as the kernel does both at once. Paths that are not below such a folder are opened as they stand: the
 * user named them.
 */
#ifndef HT_BASE_DOOR_H
#define HT_BASE_DOOR_H

#include "base/status.h"

#include <dirent.h>
#include <sys/stat.h>

/* A descriptor of the path, opened to read, that the caller closes; -1 with errno. flags: O_DIRECTORY, O_NONBLOCK and such. */
int ht_door_open(const ht_ctx *ctx, const char *path, int flags);
/* What stat says of it; 0, or -1 with errno. */
int ht_door_stat(const ht_ctx *ctx, const char *path, struct stat *ret_stat);
/* The folder as a stream that the caller closes with closedir; NULL with errno. */
DIR *ht_door_list(const ht_ctx *ctx, const char *path);

#endif
