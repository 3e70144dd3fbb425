/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_quota_test.c - when a cache directory is looked at for room. A temporary file that nobody is writing shows it: whoever
 * looks removes it.
 */
#include "holotrace/own.h"
#include "base/mem.h"
#include "base/temp.h"
#include "store/cache_file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define MAX_BYTES (1 << 20)
#define DEAD      "00" HT_CACHE_SUFFIX HT_TEMP_MARK "0"

struct fixture {
	ht_ctx *ctx;
	char dir[64];
	int folder;
};

static void put(const struct fixture *f, const char *name, const void *bytes, size_t n)
{
	int fd = openat(f->folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

/* So many cache files of 100 bytes. */
static void fill(const struct fixture *f, int n)
{
	for (int i = 0; i < n; i++) {
		char name[64], bytes[100] = { 0 };
		snprintf(name, sizeof name, "%016d.trace" HT_CACHE_SUFFIX, i);
		put(f, name, bytes, sizeof bytes);
	}
}

/* Does room for so many bytes need a look? */
static bool looks(const struct fixture *f, uint64_t bytes)
{
	put(f, DEAD, "x", 1);
	assert_true(ht_cache_find_room(f->ctx, f->folder, "x" HT_CACHE_SUFFIX, bytes, MAX_BYTES));
	assert_false(ht_cache_land(f->ctx, NULL, bytes, false));
	return faccessat(f->folder, DEAD, F_OK, 0) != 0;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	assert_non_null(f);
	assert_int_equal(ht_ctx_new(&f->ctx), HT_OK);
	snprintf(f->dir, sizeof f->dir, "/tmp/holotrace-quota-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->folder = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(f->folder >= 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", f->dir);
	close(f->folder);
	ht_ctx_free(f->ctx);
	int status = system(command);
	free(f);
	return status;
}

static void test_few_files_are_looked_at_each_time(void **state)
{
	fill(*state, 5);
	assert_true(looks(*state, 100));
	assert_true(looks(*state, 100));
}

/* Also by another context, which stands for another process, until half of the room is used up. */
static void test_among_many_a_look_serves_all(void **state)
{
	struct fixture *f = *state;
	ht_ctx *first = f->ctx;
	fill(f, 100);
	assert_true(looks(f, 100));
	assert_false(looks(f, 100));
	assert_int_equal(ht_ctx_new(&f->ctx), HT_OK);
	assert_false(looks(f, MAX_BYTES / 4));
	assert_true(looks(f, MAX_BYTES / 4));
	ht_ctx_free(f->ctx);
	f->ctx = first;
}

/* What is in the place of the number, or another number than a look could leave, is not believed. */
static void test_what_is_no_allowance(void **state)
{
	struct fixture *f = *state;
	uint64_t forged[][2] = { { MAX_BYTES, UINT64_MAX }, { MAX_BYTES, MAX_BYTES / 2 + 1 },
		{ 2 * MAX_BYTES, 1000 }, { MAX_BYTES, 99 } };
	fill(f, 100);
	for (size_t i = 0; i < HT_COUNT(forged); i++) {
		put(f, "room", forged[i], sizeof forged[i]);
		assert_true(looks(f, 100));
		assert_false(looks(f, 100));
	}
	put(f, "room", forged, 9);
	assert_true(looks(f, 100));
	unlinkat(f->folder, "room", 0);
	assert_int_equal(mkfifoat(f->folder, "room", 0600), 0);
	assert_true(looks(f, 100));
	unlinkat(f->folder, "room", 0);
	put(f, "elsewhere", "kept", 4);
	assert_int_equal(symlinkat("elsewhere", f->folder, "room"), 0);
	assert_true(looks(f, 100));
	struct stat st;
	assert_int_equal(fstatat(f->folder, "elsewhere", &st, 0), 0);
	assert_int_equal(st.st_size, 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_few_files_are_looked_at_each_time),
		TEST(test_among_many_a_look_serves_all),
		TEST(test_what_is_no_allowance),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
