/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door_test.c - what is below a folder can be opened, and nothing else, whatever links say.
 */
#include "base/door.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
	ht_ctx *ctx;
	char dir[64];
	ino_t secret_id;
};

static const char *in(const struct fixture *f, const char *name)
{
	static char path[4][256];
	static int turn;
	char *to = path[turn++ % 4];
	snprintf(to, sizeof path[0], "%s/%s", f->dir, name);
	return to;
}

/* What a file holds says whether it may be read. */
static void write_file(const struct fixture *f, const char *name)
{
	int fd = open(in(f, name), O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, strstr(name, "secret") ? "s" : "x", 1), 1);
	close(fd);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	assert_non_null(f);
	assert_int_equal(ht_ctx_new(&f->ctx), HT_OK);
	snprintf(f->dir, sizeof f->dir, "/tmp/holotrace-door-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_int_equal(mkdir(in(f, "logs"), 0700), 0);
	assert_int_equal(mkdir(in(f, "logs/run"), 0700), 0);
	assert_int_equal(mkdir(in(f, "logs2"), 0700), 0);
	write_file(f, "logs/run/own");
	write_file(f, "secret");
	struct stat st;
	assert_int_equal(stat(in(f, "secret"), &st), 0);
	f->secret_id = st.st_ino;
	write_file(f, "logs2/near");
	assert_int_equal(symlink("../../secret", in(f, "logs/run/out")), 0);
	assert_int_equal(symlink(in(f, "logs/run/own"), in(f, "logs/inside")), 0);
	assert_int_equal(symlink("..", in(f, "logs/up")), 0);
	const char *folder = in(f, "logs");
	assert_int_equal(ht_ctx_confine(f->ctx, &folder, 1), HT_OK);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = { "logs/run/own", "logs/run/out", "logs/run/new",
		"logs/inside", "logs/up", "logs/race/now", "logs/race/next", "logs/race/kept",
		"logs/race", "logs/d/now/secret", "logs/d/link", "logs/d/now", "logs/d",
		"logs2/near", "secret", "logs/run", "logs", "logs2", "" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		(void)remove(in(f, names[i]));
	ht_ctx_free(f->ctx);
	free(f);
	return 0;
}

static int error_of(const struct fixture *f, const char *name)
{
	errno = 0;
	int fd = ht_door_open(f->ctx, in(f, name), O_NONBLOCK);
	int error = errno;
	if (fd < 0)
		return error;
	close(fd);
	return 0;
}

static void test_open(void **state)
{
	const struct fixture *f = *state;
	assert_int_equal(error_of(f, "logs/run/own"), 0);
	assert_int_equal(error_of(f, "logs/inside"), 0);
	assert_int_equal(error_of(f, "logs//run/../run/own"), 0);
	assert_int_equal(error_of(f, "logs/none"), ENOENT);
	assert_int_equal(error_of(f, "logs/run/out"), EXDEV);
	assert_int_equal(error_of(f, "logs/up/secret"), EXDEV);
	assert_int_equal(error_of(f, "logs/../secret"), EXDEV);
	/* a folder whose name begins alike is another one, and what is not below is not confined */
	assert_int_equal(error_of(f, "logs2/near"), 0);
	assert_int_equal(error_of(f, "secret"), 0);
}

static void test_stat_and_list(void **state)
{
	const struct fixture *f = *state;
	struct stat st;
	assert_int_equal(ht_door_stat(f->ctx, in(f, "logs/run/own"), &st), 0);
	assert_int_equal(st.st_size, 1);
	assert_int_equal(ht_door_stat(f->ctx, in(f, "logs/run/out"), &st), -1);
	assert_int_equal(errno, EXDEV);
	DIR *stream = ht_door_list(f->ctx, in(f, "logs/run"));
	assert_non_null(stream);
	closedir(stream);
	assert_null(ht_door_list(f->ctx, in(f, "logs/up")));
}

static void test_lifted(void **state)
{
	const struct fixture *f = *state;
	assert_int_equal(ht_ctx_confine(f->ctx, NULL, 0), HT_OK);
	assert_int_equal(error_of(f, "logs/run/out"), 0);
}

/* ---- whoever writes to the folder swaps links in between any two calls ---- */

struct swapper {
	const struct fixture *f;
	_Atomic bool is_done;
	_Atomic unsigned n_swaps;
};

/* A file and a folder are what they seem and links out of the folder by turns. rename replaces in one step, so that the
 * file is there at every moment; a folder cannot be replaced, and is missing for some. */
static void *swap(void *arg)
{
	struct swapper *swapper = arg;
	const struct fixture *f = swapper->f;
	char file[3][256], dir[3][256];
	static const char *const names[] = { "logs/race/now", "logs/race/next", "logs/race/kept" };
	static const char *const dirs[] = { "logs/d/now", "logs/d/link", "logs/d/own" };
	for (int i = 0; i < 3; i++) {
		snprintf(file[i], sizeof file[i], "%s/%s", f->dir, names[i]);
		snprintf(dir[i], sizeof dir[i], "%s/%s", f->dir, dirs[i]);
	}
	while (!atomic_load(&swapper->is_done)) {
		(void)!symlink("../../secret", file[1]);
		(void)rename(file[1], file[0]);
		(void)!link(file[2], file[1]);
		(void)rename(file[1], file[0]);
		(void)rename(dir[0], dir[2]);
		(void)rename(dir[1], dir[0]);
		(void)rename(dir[0], dir[1]);
		(void)rename(dir[2], dir[0]);
		atomic_fetch_add(&swapper->n_swaps, 1);
	}
	return NULL;
}

struct seen {
	unsigned n_own, n_refused, n_secret;
};

static void look(const struct fixture *f, const char *path, struct seen *seen)
{
	char byte = 0;
	struct stat st;
	int fd = ht_door_open(f->ctx, path, O_NONBLOCK);
	if (fd >= 0) {
		assert_int_equal(read(fd, &byte, 1), 1);
		close(fd);
	}
	seen->n_own += byte == 'x';
	seen->n_refused += fd < 0;
	seen->n_secret += byte == 's';
	if (!ht_door_stat(f->ctx, path, &st))
		seen->n_secret += st.st_ino == f->secret_id;
}

static void test_race(void **state)
{
	const struct fixture *f = *state;
	struct swapper swapper = { .f = f };
	struct seen files = { 0 }, dirs = { 0 };
	char file[256], dir[256];
	snprintf(file, sizeof file, "%s", in(f, "logs/race/now"));
	snprintf(dir, sizeof dir, "%s", in(f, "logs/d/now/secret"));
	assert_int_equal(mkdir(in(f, "logs/race"), 0700), 0);
	assert_int_equal(mkdir(in(f, "logs/d"), 0700), 0);
	assert_int_equal(mkdir(in(f, "logs/d/now"), 0700), 0);
	write_file(f, "logs/race/kept");
	write_file(f, "logs/race/now");
	assert_int_equal(link(in(f, "logs/race/kept"), dir), 0);
	assert_int_equal(symlink("../..", in(f, "logs/d/link")), 0);
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, swap, &swapper), 0);
	/* enough of both for a check and an open in two calls to be caught between them hundreds of times */
	for (unsigned i = 0; i < 20000 || atomic_load(&swapper.n_swaps) < 5000; i++) {
		look(f, file, &files);
		look(f, dir, &dirs);
	}
	atomic_store(&swapper.is_done, true);
	pthread_join(thread, NULL);
	assert_int_equal(files.n_secret, 0);
	assert_int_equal(dirs.n_secret, 0);
	assert_true(files.n_own > 0 && files.n_refused > 0 && dirs.n_own > 0 && dirs.n_refused > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_open, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stat_and_list, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lifted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_race, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
