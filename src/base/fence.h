/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fence.h - folders that opening is confined to: what lies below them is opened from there, and no link leads out.
 */
#ifndef HT_BASE_FENCE_H
#define HT_BASE_FENCE_H

#include <fcntl.h>
#include <stddef.h>

/* Flags of open for what is only to be looked at. */
extern const int ht_look_only;

/* The path is below no folder. */
#define HT_FENCE_OUTSIDE (-2)

struct ht_fence;

/* The texts are copied; NULL when out of memory. A folder that is not there has nothing below it. */
struct ht_fence *ht_fence_new(const char *const *folders, size_t n_folders);
void ht_fence_free(struct ht_fence *fence);
/* A descriptor that the caller closes, -1 with errno, or HT_FENCE_OUTSIDE. Where folders lie in each other one of them is
 * enough. */
int ht_fence_open(const struct ht_fence *fence, const char *path, int flags);

#endif
