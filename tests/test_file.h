/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_file.h - a file to write a trace into and read it back by name: in memory where the system has /dev/shm,
 * so that nothing touches a disk, a temporary one elsewhere.
 */
#ifndef HT_TEST_FILE_H
#define HT_TEST_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEST_FILE_PATH 64

/* Open an empty file; below 0 when that fails. path has room for TEST_FILE_PATH bytes. */
static inline int test_file_open(char *path)
{
	const char *folder = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
	snprintf(path, TEST_FILE_PATH, "%s/holotrace-test-XXXXXX", folder);
	return mkstemp(path);
}

/* Close it, and it is gone. */
static inline void test_file_close(int fd, const char *path)
{
	close(fd);
	unlink(path);
}

#endif
