/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack_test.c - a compressed file is unpacked once for all that were announced, and let go then.
 */
#include "read/unpack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* "first", compressed by gzip. */
static const unsigned char first[] = { 0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
	0x4b, 0xcb, 0x2c, 0x2a, 0x2e, 0x01, 0x00, 0x57, 0xee, 0x71, 0x92, 0x05, 0x00, 0x00, 0x00 };

static void write_file(const char *path, const void *bytes, size_t n)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

/* The number of the file that the path is unpacked into. */
static ino_t unpack(ht_ctx *ctx, const char *path)
{
	struct stat info;
	char text[8] = { 0 };
	int fd, packed = open(path, O_RDONLY);
	assert_true(packed >= 0 && ht_is_packed(packed));
	assert_int_equal(ht_unpack(ctx, path, packed, &fd), HT_OK);
	assert_int_equal(pread(fd, text, sizeof text, 0), 5);
	assert_string_equal(text, "first");
	assert_int_equal(fstat(fd, &info), 0);
	close(packed);
	/* kept open, so that no other file has its number */
	return info.st_ino;
}

static void once_for_all_that_are_announced(void **state)
{
	char dir[] = "/tmp/ht-unpack-XXXXXX", one[64], two[64];
	ht_ctx *ctx;
	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(one, sizeof one, "%s/one.gz", dir);
	(void)snprintf(two, sizeof two, "%s/two.gz", dir);
	write_file(one, first, sizeof first);
	write_file(two, first, sizeof first);
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	ino_t at = unpack(ctx, one);
	ht_unpack_again(ctx, one, 2);
	ht_unpack_done();
	assert_true(unpack(ctx, one) == at);
	ht_unpack_done();
	assert_true(unpack(ctx, one) == at);
	/* that was the last one */
	ht_unpack_done();
	ino_t next = unpack(ctx, one);
	assert_true(next != at);
	/* nobody announced more */
	ht_unpack_done();
	assert_true(unpack(ctx, one) != next);
	/* another file takes its place, and one that was written again is another */
	ht_unpack_again(ctx, one, 5);
	at = unpack(ctx, two);
	ht_unpack_again(ctx, one, 5);
	ht_unpack_again(ctx, two, 5);
	assert_true(unpack(ctx, two) == at);
	const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };
	assert_int_equal(utimensat(AT_FDCWD, two, times, 0), 0);
	assert_true(unpack(ctx, two) != at);
	ht_ctx_free(ctx);
	unlink(one);
	unlink(two);
	rmdir(dir);
}

/* As where a trace is opened: a frame that zstd skips may be the first, and a file may be shorter than a signature. */
static void packed_by_first_bytes(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		bool is_packed;
	} heads[] = { { "\x28\xb5\x2f\xfd", 4, true }, { "\x5f\x2a\x4d\x18", 4, true },
		{ "\x1f\x8b", 2, true }, { "\x1f", 1, false }, { "", 0, false },
		{ "SQLite", 6, false } };
	char path[] = "/tmp/ht-unpack-XXXXXX";
	int fd = mkstemp(path);
	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		write_file(path, heads[i].bytes, heads[i].n);
		assert_int_equal(ht_is_packed(fd), heads[i].is_packed);
	}
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(once_for_all_that_are_announced),
		cmocka_unit_test(packed_by_first_bytes) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
