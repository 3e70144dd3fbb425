/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_test.c - whatever happens to a file, its bytes stay as they were.
 */
#include "base/map.h"
#include "base/mem.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LARGE ((size_t)8 << 20)

struct fixture {
	ht_ctx *ctx;
	char path[64];
	char *bytes; /* what the file holds */
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	assert_non_null(f);
	assert_int_equal(ht_ctx_new(&f->ctx), HT_OK);
	f->bytes = malloc(LARGE);
	assert_non_null(f->bytes);
	for (size_t i = 0; i < LARGE; i++)
		f->bytes[i] = (char)(i * 2654435761u >> 13);
	snprintf(f->path, sizeof f->path, "/tmp/holotrace-map-test-XXXXXX");
	int fd = mkstemp(f->path);
	assert_true(fd >= 0);
	close(fd);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	uint64_t now, peak;
	ht_ctx_memory(f->ctx, &now, &peak);
	assert_int_equal(now, 0);
	ht_ctx_free(f->ctx);
	unlink(f->path);
	free(f->bytes);
	free(f);
	return 0;
}

static void fill(struct fixture *f, size_t n)
{
	int fd = open(f->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, f->bytes, n), n);
	close(fd);
}

typedef enum ht_status (*map_fn)(ht_ctx *ctx, int fd, struct ht_map *ret_map);
static const map_fn ways[] = { ht_map_open, ht_map_copy };

static struct ht_map map_file(struct fixture *f, map_fn way)
{
	struct ht_map map;
	int fd = open(f->path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(way(f->ctx, fd, &map), HT_OK);
	return map;
}

static size_t n_descriptors(void)
{
	size_t n = 0;
	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void gives_the_bytes(void **state)
{
	struct fixture *f = *state;
	static const size_t sizes[] = { 1, 4096, 1 << 20, (1 << 20) + 1, LARGE };
	size_t n_before = n_descriptors();
	for (size_t i = 0; i < HT_COUNT(sizes); i++)
		for (size_t k = 0; k < HT_COUNT(ways); k++) {
			fill(f, sizes[i]);
			struct ht_map map = map_file(f, ways[k]);
			assert_int_equal(map.n, sizes[i]);
			assert_memory_equal(map.bytes, f->bytes, sizes[i]);
			ht_map_close(&map);
			assert_null(map.bytes);
			ht_map_close(&map);
		}
	fill(f, 0);
	struct ht_map map = map_file(f, ht_map_open);
	assert_null(map.bytes);
	assert_int_equal(n_descriptors(), n_before);
}

/* Every way to change a file from outside, first by itself and then while it is mapped twice. */
static void change(struct fixture *f, int how)
{
	int fd;
	switch (how) {
	case 0: assert_int_equal(truncate(f->path, 0), 0); break;
	case 1: assert_int_equal(truncate(f->path, LARGE / 2), 0); break;
	case 2:
		fd = open(f->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
		assert_true(fd >= 0);
		close(fd);
		break;
	case 3:
		fd = open(f->path, O_WRONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		for (size_t i = 0; i < LARGE; i += 4096)
			assert_int_equal(pwrite(fd, "changed", 7, (off_t)i), 7);
		close(fd);
		break;
	default: assert_int_equal(unlink(f->path), 0); break;
	}
}

static void changes_are_not_seen(void **state)
{
	struct fixture *f = *state;
	for (int how = 0; how < 4; how++) {
		fill(f, LARGE);
		struct ht_map first = map_file(f, ht_map_open), second = map_file(f, ht_map_open);
		change(f, how);
		assert_memory_equal(first.bytes, f->bytes, LARGE);
		assert_memory_equal(second.bytes, f->bytes, LARGE);
		/* and again: nothing waits for a lease that was given back */
		change(f, how);
		assert_memory_equal(first.bytes, f->bytes, LARGE);
		ht_map_close(&first);
		ht_map_close(&second);
	}
	fill(f, LARGE);
	struct ht_map map = map_file(f, ht_map_open);
	change(f, 4);
	assert_memory_equal(map.bytes, f->bytes, LARGE);
	ht_map_close(&map);
}

/* Another process cuts the file while threads of this one read it. */
static void *read_on(void *user)
{
	const struct ht_map *map = user;
	uintptr_t sum = 0;
	for (int round = 0; round < 200; round++)
		for (size_t i = 0; i < map->n; i += 4096)
			sum += (unsigned char)map->bytes[i];
	return (void *)sum;
}

static void readers_go_on(void **state)
{
	struct fixture *f = *state;
	fill(f, LARGE);
	uintptr_t want = 0;
	for (size_t i = 0; i < LARGE; i += 4096)
		want += (unsigned char)f->bytes[i];
	struct ht_map map = map_file(f, ht_map_open);
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_on, &map), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(truncate(f->path, 0) != 0);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	for (int i = 0; i < 2; i++) {
		void *sum;
		assert_int_equal(pthread_join(threads[i], &sum), 0);
		assert_int_equal((uintptr_t)sum, 200 * want);
	}
	ht_map_close(&map);
}

/* A file that somebody has open for writing has no lease; nor has one too many. */
static void copies_when_it_must(void **state)
{
	struct fixture *f = *state;
	fill(f, LARGE);
	int fd = open(f->path, O_WRONLY | O_CLOEXEC);
	struct ht_map map = map_file(f, ht_map_open);
	assert_non_null(map.mem);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_memory_equal(map.bytes, f->bytes, LARGE);
	ht_map_close(&map);
	close(fd);
	struct rlimit limit, low;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = (struct rlimit){ 40, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	fill(f, LARGE);
	struct ht_map maps[30];
	size_t n_copies = 0;
	for (size_t i = 0; i < HT_COUNT(maps); i++) {
		maps[i] = map_file(f, ht_map_open);
		assert_int_equal(maps[i].n, LARGE);
		n_copies += maps[i].mem != NULL;
	}
	assert_true(n_copies >= 20 && n_copies <= HT_COUNT(maps));
	assert_int_equal(truncate(f->path, 0), 0);
	for (size_t i = 0; i < HT_COUNT(maps); i++) {
		assert_memory_equal(maps[i].bytes, f->bytes, LARGE);
		ht_map_close(&maps[i]);
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* A child can close what it inherited, and map files of its own. */
static void forked_children_work(void **state)
{
	struct fixture *f = *state;
#ifdef __SANITIZE_THREAD__
	skip(); /* ThreadSanitizer cannot follow threads of a child */
#endif
	fill(f, LARGE);
	struct ht_map map = map_file(f, ht_map_open);
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct ht_map own = map_file(f, ht_map_open);
		bool same = own.n == LARGE && !memcmp(own.bytes, f->bytes, LARGE) &&
		            !memcmp(map.bytes, f->bytes, LARGE);
		ht_map_close(&map);
		ht_map_close(&own);
		_exit(!same);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	assert_int_equal(truncate(f->path, 0), 0);
	assert_memory_equal(map.bytes, f->bytes, LARGE);
	ht_map_close(&map);
}

/* Pages may go and come again, but not those of a copy. */
static void rests(void **state)
{
	struct fixture *f = *state;
	fill(f, LARGE);
	struct ht_map map = map_file(f, ht_map_open), copy = map_file(f, ht_map_copy);
	assert_true(map.mem || ht_map_rest(&map));
	assert_false(ht_map_rest(&copy));
	assert_memory_equal(map.bytes, f->bytes, LARGE);
	change(f, 0);
	assert_false(ht_map_rest(&map));
	assert_memory_equal(map.bytes, f->bytes, LARGE);
	assert_memory_equal(copy.bytes, f->bytes, LARGE);
	ht_map_close(&map);
	ht_map_close(&copy);
	assert_false(ht_map_rest(&map));
}

static void failures_are_clean(void **state)
{
	struct fixture *f = *state;
	fill(f, LARGE);
	for (size_t k = 0; k < HT_COUNT(ways); k++) {
		struct ht_map map;
		atomic_store(&f->ctx->mem->fail_in, 1);
		int fd = open(f->path, O_RDONLY | O_CLOEXEC);
		enum ht_status status = ways[k](f->ctx, fd, &map);
		assert_true(status == (map.bytes ? HT_OK : HT_NOMEM));
		ht_map_close(&map);
		atomic_store(&f->ctx->mem->fail_in, 0);
		ht_error_clear(f->ctx);
		atomic_store(&f->ctx->fail_io_in, 1);
		fd = open(f->path, O_RDONLY | O_CLOEXEC);
		assert_int_equal(ways[k](f->ctx, fd, &map), HT_OK);
		ht_map_close(&map);
		atomic_store(&f->ctx->fail_io_in, 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gives_the_bytes),
		TEST(changes_are_not_seen),
		TEST(readers_go_on),
		TEST(copies_when_it_must),
		TEST(forked_children_work),
		TEST(rests),
		TEST(failures_are_clean),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
