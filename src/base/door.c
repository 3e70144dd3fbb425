/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.c - see door.h.
 *
 * On Linux openat2 opens below the folder in one call. An older kernel, and other systems, walk component by component,
 * each opened in the one before it with O_NOFOLLOW: a link in any place ends the walk.
 */
#include "base/door.h"

#include "base/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__) && !defined(HT_PORTABLE) && __has_include(<linux/openat2.h>)
#define HAS_OPENAT2 1
#include <linux/openat2.h>
#include <sys/syscall.h>
#else
#define HAS_OPENAT2 0
#endif

#ifdef O_PATH
#define LOOK_ONLY O_PATH
#else
#define LOOK_ONLY (O_RDONLY | O_NONBLOCK | O_NOCTTY)
#endif

/* A folder as it was named, as it is, and open; real is "" and fd -1 when it is not there. */
struct folder {
	char *named;
	char real[PATH_MAX];
	int fd;
};

struct ht_fence {
	size_t n;
	struct folder folders[];
};

/* ---- the folders ---- */

static void open_folder(struct folder *folder)
{
	folder->fd = open(folder->named, LOOK_ONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->fd >= 0 && !realpath(folder->named, folder->real))
		folder->real[0] = '\0';
}

void ht_fence_free(struct ht_fence *fence)
{
	for (size_t i = 0; fence && i < fence->n; i++) {
		if (fence->folders[i].fd >= 0)
			close(fence->folders[i].fd);
		free(fence->folders[i].named);
	}
	free(fence);
}

enum ht_status ht_ctx_confine(ht_ctx *ctx, const char *const *folders, size_t n_folders)
{
	ht_error_clear(ctx);
	struct ht_fence *fence = calloc(1, sizeof *fence + n_folders * sizeof fence->folders[0]);
	if (!fence)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n_folders; i++) {
		struct folder *folder = &fence->folders[fence->n++];
		folder->fd = -1;
		folder->named = strdup(folders[i]);
		if (!folder->named) {
			ht_fence_free(fence);
			return ht_fail_nomem(ctx);
		}
		open_folder(folder);
	}
	ht_fence_free(ctx->fence);
	ctx->fence = fence;
	return HT_OK;
}

/* The part of a path behind a folder and its slash; NULL when it is not below it. */
static const char *below(const char *path, const char *folder)
{
	size_t n = strlen(folder);
	while (n > 1 && folder[n - 1] == '/')
		n--;
	if (!n || strncmp(path, folder, n))
		return NULL;
	if (folder[n - 1] != '/' && path[n] != '/')
		return NULL;
	const char *rest = path + n;
	while (*rest == '/')
		rest++;
	return *rest ? rest : NULL;
}

/* ---- opening ---- */

/* One component after the other; none may be a link. */
static int walk(int folder, char *rest, int flags)
{
	int at = folder;
	for (;;) {
		char *slash = strchr(rest, '/');
		if (slash)
			*slash = '\0';
		int next = openat(at, rest,
		        (slash ? LOOK_ONLY | O_DIRECTORY : flags) | O_NOFOLLOW | O_CLOEXEC);
		int error = errno;
		if (at != folder)
			close(at);
		if (next < 0 || !slash) {
			errno = error;
			return next;
		}
		at = next;
		rest = slash + 1;
	}
}

/* Below the folder, without following any link. The text is used up. */
static int open_beneath(int folder, char *rest, int flags)
{
#if HAS_OPENAT2
	struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, folder, rest, &how, sizeof how);
	/* not known to the kernel, or not allowed by what confines this process */
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
#endif
	return walk(folder, rest, flags);
}

/* A link that came between looking and opening leads out as much as one that was seen. */
static int refused(int error)
{
	return error == ELOOP ? EXDEV : error;
}

static int open_inside(const struct folder *folder, const char *path, int flags)
{
	char real[PATH_MAX];
	if (folder->fd < 0) {
		errno = ENOENT;
		return -1;
	}
	if (!realpath(path, real))
		return -1;
	char *rest = (char *)(uintptr_t)below(real, folder->real);
	if (!rest) {
		errno = EXDEV;
		return -1;
	}
	int fd = open_beneath(folder->fd, rest, flags);
	if (fd < 0)
		errno = refused(errno);
	return fd;
}

static const struct ht_fence *fence_of(const ht_ctx *ctx)
{
	for (; ctx; ctx = ctx->parent)
		if (ctx->fence)
			return ctx->fence;
	return NULL;
}

/* -2 when the path is below no folder. Where folders lie in each other one of them is enough. */
static int open_fenced(const ht_ctx *ctx, const char *path, int flags)
{
	const struct ht_fence *fence = fence_of(ctx);
	int fd = -2;
	for (size_t i = 0; fence && fd < 0 && i < fence->n; i++)
		if (below(path, fence->folders[i].named))
			fd = open_inside(&fence->folders[i], path, flags);
	return fd;
}

int ht_door_open(const ht_ctx *ctx, const char *path, int flags)
{
	int fd = open_fenced(ctx, path, flags | O_RDONLY);
	return fd != -2 ? fd : open(path, flags | O_RDONLY | O_CLOEXEC);
}

int ht_door_stat(const ht_ctx *ctx, const char *path, struct stat *ret_stat)
{
	int fd = open_fenced(ctx, path, LOOK_ONLY);
	if (fd == -2)
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
