/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.c - see folder.h.
 *
 * The walk is one of component by component: a component that is a link, in a folder that is the user's own, is replaced by what
 * it says. What is swapped between looking at a component and opening it ends the walk, as opening follows no link.
 */
#include "base/folder.h"

#include "base/fence.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40

/* Where the walk is, and what is left of the path. */
struct walk {
	int at;
	int n_links; /* that were followed */
	char rest[PATH_MAX];
};

bool ht_folder_is_shared(int folder)
{
	struct stat st;
	return fstat(folder, &st) || (st.st_mode & S_IWOTH);
}

static int open_below(int at, const char *name)
{
	return openat(at, name, ht_look_only | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Put what a link says before the rest. An absolute one begins again. */
static int follow(struct walk *walk, const char *name, const char *rest)
{
	char text[PATH_MAX], all[PATH_MAX];
	if (walk->n_links++ >= MAX_LINKS || ht_folder_is_shared(walk->at))
		return ELOOP;
	ssize_t n = readlinkat(walk->at, name, text, sizeof text - 1);
	if (n < 0)
		return errno;
	text[n] = '\0';
	int n_all = snprintf(all, sizeof all, "%s/%s", text, rest);
	if (n_all < 0 || (size_t)n_all >= sizeof all)
		return ENAMETOOLONG;
	memcpy(walk->rest, all, (size_t)n_all + 1);
	if (all[0] != '/')
		return 0;
	close(walk->at);
	walk->at = open_below(AT_FDCWD, "/");
	return walk->at < 0 ? errno : 0;
}

/* One component further; 0, or errno. */
static int step(struct walk *walk, mode_t make)
{
	char name[PATH_MAX];
	struct stat st;
	size_t n_slash = strspn(walk->rest, "/"), n = strcspn(walk->rest + n_slash, "/");
	memcpy(name, walk->rest + n_slash, n);
	name[n] = '\0';
	const char *rest = walk->rest + n_slash + n;
	rest += strspn(rest, "/");
	if (n && !fstatat(walk->at, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode))
		return follow(walk, name, rest);
	if (n) {
		int next = open_below(walk->at, name);
		if (next < 0 && errno == ENOENT && make &&
		        (!mkdirat(walk->at, name, make) || errno == EEXIST))
			next = open_below(walk->at, name);
		if (next < 0)
			return errno;
		close(walk->at);
		walk->at = next;
	}
	memmove(walk->rest, rest, strlen(rest) + 1);
	return 0;
}

/* The descriptor at is the walk's from here on. */
static int walk_from(int at, int n_links, const char *path, mode_t make)
{
	struct walk walk = { .at = at, .n_links = n_links };
	size_t n = strlen(path);
	int error = at < 0 ? errno : n >= sizeof walk.rest ? ENAMETOOLONG : 0;
	if (!error)
		memcpy(walk.rest, path, n + 1);
	while (!error && walk.rest[0])
		error = step(&walk, make);
	if (!error)
		return walk.at;
	if (walk.at >= 0)
		close(walk.at);
	errno = error;
	return -1;
}

int ht_folder_open(const char *path, mode_t make)
{
	return walk_from(open_below(AT_FDCWD, path[0] == '/' ? "/" : "."), 0, path, make);
}

int ht_folder_below(int folder, const char *path, mode_t make)
{
	return walk_from(fcntl(folder, F_DUPFD_CLOEXEC, 0), MAX_LINKS, path, make);
}

int ht_folder_of(const char *path, const char **ret_name)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) + 1 : 0;
	if (n >= sizeof folder) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(folder, path, n);
	folder[n] = '\0';
	*ret_name = path + n;
	return ht_folder_open(folder, 0);
}
