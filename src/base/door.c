/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.c - see door.h.
 */
#include "base/door.h"

#include "base/fence.h"

#include <errno.h>
#include <unistd.h>

enum ht_status ht_ctx_confine(ht_ctx *ctx, const char *const *folders, size_t n_folders)
{
	ht_error_clear(ctx);
	struct ht_fence *fence = ht_fence_new(folders, n_folders);
	if (!fence)
		return ht_fail_nomem(ctx);
	ht_fence_free(ctx->fence);
	ctx->fence = fence;
	return HT_OK;
}

static const struct ht_fence *fence_of(const ht_ctx *ctx)
{
	for (; ctx; ctx = ctx->parent)
		if (ctx->fence)
			return ctx->fence;
	return NULL;
}

static int open_fenced(const ht_ctx *ctx, const char *path, int flags)
{
	const struct ht_fence *fence = fence_of(ctx);
	return fence ? ht_fence_open(fence, path, flags) : HT_FENCE_OUTSIDE;
}

int ht_door_open(const ht_ctx *ctx, const char *path, int flags)
{
	int fd = open_fenced(ctx, path, flags | O_RDONLY);
	return fd != HT_FENCE_OUTSIDE ? fd : open(path, flags | O_RDONLY | O_CLOEXEC);
}

int ht_door_stat(const ht_ctx *ctx, const char *path, struct stat *ret_stat)
{
	int fd = open_fenced(ctx, path, ht_look_only);
	if (fd == HT_FENCE_OUTSIDE)
		return stat(path, ret_stat);
	if (fd < 0)
		return -1;
	int failed = fstat(fd, ret_stat), error = errno;
	close(fd);
	errno = error;
	return failed;
}

DIR *ht_door_list(const ht_ctx *ctx, const char *path)
{
	int fd = ht_door_open(ctx, path, O_DIRECTORY | O_NONBLOCK);
	DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
	if (fd >= 0 && !stream) {
		int error = errno;
		close(fd);
		errno = error;
	}
	return stream;
}
