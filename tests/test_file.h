/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_file.h - a file to write a trace into and read it back by name: in memory where the system has memfd,
 * so that nothing touches a disk, a temporary one elsewhere.
 */
#ifndef HT_TEST_FILE_H
#define HT_TEST_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__linux__) && !defined(HT_PORTABLE)
#define TEST_FILE_IN_MEMORY
#include <sys/mman.h>
#endif

#define TEST_FILE_PATH 64

/* Open an empty file; below 0 when that fails. path has room for TEST_FILE_PATH bytes. */
static inline int test_file_open(char *path)
{
#ifdef TEST_FILE_IN_MEMORY
	int fd = memfd_create("trace", MFD_CLOEXEC);
	snprintf(path, TEST_FILE_PATH, "/proc/self/fd/%d", fd);
	return fd;
#else
	snprintf(path, TEST_FILE_PATH, "/tmp/holotrace-test-XXXXXX");
	return mkstemp(path);
#endif
}

/* Close it, and it is gone. */
static inline void test_file_close(int fd, const char *path)
{
	close(fd);
#ifdef TEST_FILE_IN_MEMORY
	(void)path;
#else
	unlink(path);
#endif
}

#endif
