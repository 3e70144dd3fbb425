/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fence.c - see fence.h.
 *
 * On Linux openat2 opens below the folder in one call. An older kernel, and other systems, walk component by component,
 * each opened in the one before it with O_NOFOLLOW: a link in any place ends the walk.
 */
#include "base/fence.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
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
const int ht_look_only = O_PATH;
#else
const int ht_look_only = O_RDONLY | O_NONBLOCK | O_NOCTTY;
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
	folder->fd = open(folder->named, ht_look_only | O_DIRECTORY | O_CLOEXEC);
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

struct ht_fence *ht_fence_new(const char *const *folders, size_t n_folders)
{
	struct ht_fence *fence = calloc(1, sizeof *fence + n_folders * sizeof fence->folders[0]);
	for (size_t i = 0; fence && i < n_folders; i++) {
		struct folder *folder = &fence->folders[fence->n++];
		folder->fd = -1;
		folder->named = strdup(folders[i]);
		if (!folder->named) {
			ht_fence_free(fence);
			return NULL;
		}
		open_folder(folder);
	}
	return fence;
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
		        (slash ? ht_look_only | O_DIRECTORY : flags) | O_NOFOLLOW | O_CLOEXEC);
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

int ht_fence_open(const struct ht_fence *fence, const char *path, int flags)
{
	int fd = HT_FENCE_OUTSIDE;
	for (size_t i = 0; fd < 0 && i < fence->n; i++)
		if (below(path, fence->folders[i].named))
			fd = open_inside(&fence->folders[i], path, flags);
	return fd;
}
