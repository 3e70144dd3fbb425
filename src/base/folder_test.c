/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder_test.c - where a walk ends, and which links end it.
 */
#include "base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
	char dir[64];
	int fd; /* of dir */
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	assert_non_null(f);
	snprintf(f->dir, sizeof f->dir, "/tmp/holotrace-folder-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(f->fd >= 0);
	assert_int_equal(mkdirat(f->fd, "own", 0700), 0);
	assert_int_equal(mkdirat(f->fd, "own/deep", 0700), 0);
	assert_int_equal(mkdirat(f->fd, "shared", 0700), 0);
	assert_int_equal(fchmodat(f->fd, "shared", 0777, 0), 0);
	assert_int_equal(symlinkat("../own", f->fd, "shared/link"), 0);
	assert_int_equal(symlinkat("own//deep/", f->fd, "link"), 0);
	assert_int_equal(symlinkat(f->dir, f->fd, "own/back"), 0);
	assert_int_equal(symlinkat("round", f->fd, "round"), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	static const char *const files[] = { "shared/link", "link", "own/back", "round" };
	static const char *const folders[] = { "own/deep", "own", "shared", "new/a", "new" };
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		unlinkat(f->fd, files[i], 0);
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		unlinkat(f->fd, folders[i], AT_REMOVEDIR);
	close(f->fd);
	assert_int_equal(rmdir(f->dir), 0);
	free(f);
	return 0;
}

/* The walk of a path in the folder ends at the place, which is one in the folder, or by an error. */
static void expect(const struct fixture *f, const char *path, const char *place, int error)
{
	char full[256];
	struct stat got, wanted;
	snprintf(full, sizeof full, "%s/%s", f->dir, path);
	errno = 0;
	int fd = ht_folder_open(full, 0);
	assert_int_equal(fd < 0 ? errno : 0, error);
	if (fd < 0)
		return;
	assert_int_equal(fstat(fd, &got), 0);
	assert_int_equal(fstatat(f->fd, place, &wanted, 0), 0);
	assert_true(got.st_ino == wanted.st_ino && got.st_dev == wanted.st_dev);
	close(fd);
}

static void walks_and_follows_own_links(void **state)
{
	const struct fixture *f = *state;
	expect(f, "", ".", 0);
	expect(f, "own/./deep//", "own/deep", 0);
	expect(f, "link", "own/deep", 0);
	expect(f, "link/..", "own", 0);
	expect(f, "own/back/own/back/link", "own/deep", 0);
	expect(f, "round", NULL, ELOOP);
	expect(f, "none", NULL, ENOENT);
}

static void others_links_end_it(void **state)
{
	const struct fixture *f = *state;
	expect(f, "shared", "shared", 0);
	expect(f, "shared/link", NULL, ELOOP);
	expect(f, "own/back/shared/link/deep", NULL, ELOOP);
}

static void nothing_is_followed_below(void **state)
{
	const struct fixture *f = *state;
	int fd = ht_folder_below(f->fd, "own/deep", 0);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(ht_folder_below(f->fd, "link", 0), -1);
	assert_int_equal(errno, ELOOP);
	assert_int_equal(ht_folder_below(f->fd, "own/back/own", 0), -1);
	assert_int_equal(errno, ELOOP);
}

static void missing_ones_are_made(void **state)
{
	const struct fixture *f = *state;
	const char *name;
	char path[128];
	int fd = ht_folder_below(f->fd, "new/a", 0700);
	assert_true(fd >= 0);
	close(fd);
	snprintf(path, sizeof path, "%s/new/a/file", f->dir);
	fd = ht_folder_of(path, &name);
	assert_true(fd >= 0);
	assert_string_equal(name, "file");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(walks_and_follows_own_links, setup, teardown),
		cmocka_unit_test_setup_teardown(others_links_end_it, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_followed_below, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_ones_are_made, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
