/*
 * door_test.c - what is below a folder can be opened, and nothing else, whatever links say.
 */
#include "base/door.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
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
};

static const char *in(const struct fixture *f, const char *name)
{
	static char path[4][256];
	static int turn;
	char *to = path[turn++ % 4];
	snprintf(to, sizeof path[0], "%s/%s", f->dir, name);
	return to;
}

static void write_file(const struct fixture *f, const char *name)
{
	int fd = open(in(f, name), O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
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
		"logs/inside", "logs/up", "logs2/near", "secret", "logs/run", "logs", "logs2", "" };
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_open, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stat_and_list, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lifted, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
