/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temp.c - see temp.h.
 *
 * There are N_NAMES names per target, so whatever is left over is found without listing a
 * directory. Why no one removes a file that is being written:
 *
 *   - a name is removed only by who holds the lock of the very file that has it, and the lock of a file
 *     is its writer's from the first moment on. The moment before, between making and locking, costs
 *     the writer its file, which it notices: it looks for the name after locking, and tries again;
 *   - a name changes its file only after a removal, or by its own writer's rename. So while the lock is
 *     held, a name that is seen to lead to the file goes on doing so.
 *
 * Locks belong to open files, not to processes: they end with the last descriptor, also on kill -9.
 */
#include "base/temp.h"

#include "base/folder.h"
#include "base/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_NAMES    16  /* writers of one target at a time that need a name */
#define BASE_BYTES 200 /* of the target's own name, so that there is room for the mark */

/* The i-th name beside a target. */
static void name_beside(const char *target, int i, char ret_name[NAME_MAX + 1])
{
	snprintf(ret_name, NAME_MAX + 1, "%.*s" HT_TEMP_MARK "%d", BASE_BYTES, target, i);
}

static bool leads_to(int folder, const char *name, int fd)
{
	struct stat by_name, by_fd;
	return !fstatat(folder, name, &by_name, AT_SYMLINK_NOFOLLOW) && !fstat(fd, &by_fd) &&
	       by_name.st_dev == by_fd.st_dev && by_name.st_ino == by_fd.st_ino;
}

bool ht_temp_remove_dead(int folder, const char *name)
{
	/* for writing: network file systems lock nothing else */
	int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == ENOENT;
	bool gone = !flock(fd, LOCK_EX | LOCK_NB) &&
	            (!leads_to(folder, name, fd) || !unlinkat(folder, name, 0));
	close(fd);
	return gone;
}

#if HT_HAS_UNNAMED
/* Unnamed, where the file system and /proc allow to name it later. */
static int open_unnamed(int folder, mode_t mode)
{
	char link[64];
	int fd = openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	if (fd < 0)
		return -1;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if (!flock(fd, LOCK_EX | LOCK_NB) && !access(link, F_OK))
		return fd;
	close(fd);
	return -1;
}
#else
static int open_unnamed(int folder, mode_t mode)
{
	(void)folder;
	(void)mode;
	return -1;
}
#endif

static int open_named(struct ht_temp *temp, mode_t mode)
{
	for (int i = 0; i < N_NAMES;) {
		name_beside(temp->target, i, temp->name);
		temp->fd = openat(temp->folder, temp->name,
		        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (temp->fd >= 0) {
			/* where there are no locks the file is kept by its name alone */
			flock(temp->fd, LOCK_EX);
			if (leads_to(temp->folder, temp->name, temp->fd))
				return 0;
			close(temp->fd);
			continue;
		}
		if (errno != EEXIST)
			return errno;
		i++;
	}
	return EEXIST;
}

/* The folder is the temporary file's from here on, also when this fails. */
static int begin(int folder, const char *target, mode_t mode, bool named, struct ht_temp *ret_temp)
{
	struct ht_temp temp = { .fd = -1, .folder = folder };
	size_t n = strlen(target);
	int error = folder < 0 ? errno : !n ? ENOENT : n > NAME_MAX ? ENAMETOOLONG : 0;
	if (!error) {
		memcpy(temp.target, target, n + 1);
		for (int i = 0; i < N_NAMES; i++) {
			name_beside(target, i, temp.name);
			ht_temp_remove_dead(folder, temp.name);
		}
		temp.name[0] = '\0';
		if (named || (temp.fd = open_unnamed(folder, mode)) < 0)
			error = open_named(&temp, mode);
	}
	if (!error)
		*ret_temp = temp;
	else if (folder >= 0)
		close(folder);
	return error;
}

int ht_temp_open_named(const char *target, mode_t mode, struct ht_temp *ret_temp)
{
	const char *name = "";
	int folder = ht_folder_of(target, &name);
	return begin(folder, name, mode, true, ret_temp);
}

int ht_temp_open(const char *target, mode_t mode, struct ht_temp *ret_temp)
{
	const char *name = "";
	int folder = ht_folder_of(target, &name);
	return begin(folder, name, mode, false, ret_temp);
}

int ht_temp_open_at(int folder, const char *target, mode_t mode, struct ht_temp *ret_temp)
{
	return begin(fcntl(folder, F_DUPFD_CLOEXEC, 0), target, mode, false, ret_temp);
}

int ht_temp_unnamed(const char *dir, int *ret_fd)
{
	char name[PATH_MAX];
#if HT_HAS_UNNAMED
	*ret_fd = open(dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	if (*ret_fd >= 0)
		return 0;
#endif
	int n = snprintf(name, sizeof name, "%s/holotrace-XXXXXX", dir);
	if (n < 0 || (size_t)n >= sizeof name)
		return ENAMETOOLONG;
	*ret_fd = mkstemp(name);
	if (*ret_fd < 0)
		return errno;
	unlink(name);
	return fcntl(*ret_fd, F_SETFD, FD_CLOEXEC) < 0 ? errno : 0;
}

/* A name for an unnamed file: the target's when it is free, else one beside it. */
static int give_name(struct ht_temp *temp)
{
	char link[64];
	snprintf(link, sizeof link, "/proc/self/fd/%d", temp->fd);
	if (!linkat(AT_FDCWD, link, temp->folder, temp->target, AT_SYMLINK_FOLLOW))
		return 0;
	for (int i = 0; errno == EEXIST && i < N_NAMES; i++) {
		name_beside(temp->target, i, temp->name);
		if (!linkat(AT_FDCWD, link, temp->folder, temp->name, AT_SYMLINK_FOLLOW))
			return 0;
	}
	temp->name[0] = '\0';
	return errno;
}

int ht_temp_commit(struct ht_temp *temp)
{
	/* Network file systems report a full disk only when a descriptor is closed; this one is still
	 * needed for its lock. */
	int copy = dup(temp->fd);
	int error = copy < 0 || (close(copy) && errno != EINTR) ? errno : 0;
	if (!error && !temp->name[0])
		error = give_name(temp);
	if (!error && temp->name[0] &&
	        renameat(temp->folder, temp->name, temp->folder, temp->target))
		error = errno;
	if (!error)
		temp->name[0] = '\0';
	ht_temp_abort(temp);
	return error;
}

void ht_temp_abort(struct ht_temp *temp)
{
	if (temp->fd < 0)
		return;
	if (temp->name[0])
		unlinkat(temp->folder, temp->name, 0);
	close(temp->fd);
	close(temp->folder);
	temp->fd = temp->folder = -1;
}
