/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temp_test.c - whoever dies while writing, and however, leaves the old file or the new one and nothing else
 * that stays.
 */
#include "base/temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define N_BYTES 4096

typedef int (*open_fn)(const char *target, mode_t mode, struct ht_temp *ret_temp);
static const open_fn ways[] = { ht_temp_open, ht_temp_open_named };

struct fixture {
	char dir[64], target[96];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	assert_non_null(f);
	snprintf(f->dir, sizeof f->dir, "/tmp/holotrace-temp-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->target, sizeof f->target, "%s/out", f->dir);
	*state = f;
	return 0;
}

/* Files in the folder; removed on the way when told. */
static size_t count_files(const struct fixture *f, bool remove)
{
	size_t n = 0;
	DIR *stream = opendir(f->dir);
	assert_non_null(stream);
	for (struct dirent *item; (item = readdir(stream));) {
		if (item->d_name[0] == '.' && (!item->d_name[1] || item->d_name[1] == '.'))
			continue;
		n++;
		if (remove)
			unlinkat(dirfd(stream), item->d_name, 0);
	}
	closedir(stream);
	return n;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	count_files(f, true);
	assert_int_equal(rmdir(f->dir), 0);
	free(f);
	return 0;
}

/* The whole file is one letter; answers it, 0 when there is no file. */
static char letter_of(const char *path)
{
	char bytes[N_BYTES + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, bytes, sizeof bytes);
	close(fd);
	assert_int_equal(n, N_BYTES);
	for (ssize_t i = 1; i < n; i++)
		assert_int_equal(bytes[i], bytes[0]);
	return bytes[0];
}

static int write_letter(open_fn way, const char *target, char letter)
{
	struct ht_temp temp;
	int error = way(target, 0644, &temp);
	for (int i = 0; !error && i < N_BYTES; i++)
		error = write(temp.fd, &letter, 1) == 1 ? 0 : errno;
	return error ? error : ht_temp_commit(&temp);
}

static void takes_and_replaces_the_name(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		struct ht_temp temp;
		assert_int_equal(write_letter(ways[i], f->target, 'a'), 0);
		assert_int_equal(letter_of(f->target), 'a');
		assert_int_equal(write_letter(ways[i], f->target, 'b'), 0);
		assert_int_equal(letter_of(f->target), 'b');
		assert_int_equal(ways[i](f->target, 0644, &temp), 0);
		ht_temp_abort(&temp);
		ht_temp_abort(&temp);
		assert_int_equal(letter_of(f->target), 'b');
		assert_int_equal(count_files(f, true), 1);
		assert_int_equal(ways[i]("/nowhere/x", 0644, &temp), ENOENT);
	}
}

static void names_may_be_long(void **state)
{
	struct fixture *f = *state;
	char target[512];
	snprintf(target, sizeof target, "%s/%0255d", f->dir, 7);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		assert_int_equal(write_letter(ways[i], target, 'a'), 0);
		assert_int_equal(write_letter(ways[i], target, 'b'), 0);
		assert_int_equal(letter_of(target), 'b');
		assert_int_equal(count_files(f, true), 1);
	}
}

static void writers_do_not_meet(void **state)
{
	struct fixture *f = *state;
	struct ht_temp temps[4];
	for (int i = 0; i < 4; i++) {
		char letter = (char)('a' + i);
		assert_int_equal(ways[i % 2](f->target, 0644, &temps[i]), 0);
		for (int k = 0; k < N_BYTES; k++)
			assert_int_equal(write(temps[i].fd, &letter, 1), 1);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(ht_temp_commit(&temps[i]), 0);
		assert_int_equal(letter_of(f->target), 'a' + i);
	}
	assert_int_equal(count_files(f, false), 1);
}

/* Only what nobody holds is removed. */
static void the_dead_are_told_from_the_living(void **state)
{
	struct fixture *f = *state;
	struct ht_temp living, dead;
	assert_int_equal(ht_temp_open_named(f->target, 0644, &living), 0);
	assert_int_equal(ht_temp_open_named(f->target, 0644, &dead), 0);
	assert_int_equal(count_files(f, false), 2);
	close(dead.fd);
	close(dead.folder);
	assert_int_equal(write_letter(ht_temp_open, f->target, 'n'), 0);
	assert_int_equal(faccessat(living.folder, dead.name, F_OK, 0), -1);
	assert_int_equal(faccessat(living.folder, living.name, F_OK, 0), 0);
	assert_false(ht_temp_remove_dead(living.folder, living.name));
	int folder = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ht_temp_abort(&living);
	assert_true(ht_temp_remove_dead(folder, living.name));
	close(folder);
	assert_int_equal(count_files(f, false), 1);
}

/* Writers are killed in the midst of it, two at a time. The target is always one letter, and the next writer
 * that lives leaves nothing else. */
static void kills_leave_nothing(void **state)
{
	struct fixture *f = *state;
	for (int round = 0; round < 60; round++) {
		pid_t children[2];
		for (int i = 0; i < 2; i++) {
			children[i] = fork();
			assert_true(children[i] >= 0);
			for (char letter = 'a'; !children[i];
			        letter = letter == 'z' ? 'a' : letter + 1)
				if (write_letter(ways[(round + i) % 2], f->target, letter))
					_exit(1);
		}
		usleep(500 + (useconds_t)(round * 7919 % 5000));
		for (int i = 0; i < 2; i++) {
			int status;
			kill(children[i], SIGKILL);
			assert_int_equal(waitpid(children[i], &status, 0), children[i]);
			assert_true(WIFSIGNALED(status));
		}
		letter_of(f->target);
		assert_int_equal(write_letter(ways[round % 2], f->target, '!'), 0);
		assert_int_equal(letter_of(f->target), '!');
		assert_int_equal(count_files(f, false), 1);
	}
}

static void files_without_a_name_are_never_seen(void **state)
{
	struct fixture *f = *state;
	char back[4] = "";
	int fd;
	assert_int_equal(ht_temp_unnamed(f->dir, &fd), 0);
	assert_int_equal(count_files(f, false), 0);
	assert_int_equal(write(fd, "abc", 3), 3);
	assert_int_equal(pread(fd, back, 3, 0), 3);
	assert_string_equal(back, "abc");
	close(fd);
	assert_int_equal(ht_temp_unnamed(f->target, &fd), ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(takes_and_replaces_the_name),
		TEST(names_may_be_long),
		TEST(writers_do_not_meet),
		TEST(the_dead_are_told_from_the_living),
		TEST(kills_leave_nothing),
		TEST(files_without_a_name_are_never_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
